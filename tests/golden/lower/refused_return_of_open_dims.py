#! test: lower
def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.TensorType(pi.FP32, [n ** 2]):
    while n > 0:
        return pi.typed(pi.op("twice")(x), pi.TensorType(pi.FP32, [n ** 2]))
    return pi.typed(pi.op("twice")(x), pi.TensorType(pi.FP32, [n ** 2]))
def g(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.INT64:
    for i in range(0, n, 1):
        if i > 5:
            return 1
        else:
            y = pi.typed(pi.op("twice")(x), pi.TensorType(pi.FP32, [n ** 2]))
        z = y
    return 4
#> error: a return inside a loop cannot be lowered where a result is f32[?]: its dims must be known
#>  --> lower::refused_return_of_open_dims:3:9
#>   |
#> 3 |         return pi.typed(pi.op("twice")(x), pi.TensorType(pi.FP32, [n ** 2]))
#>   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>   |
#>   = help: assign the value and return it at the end of the function
#>
#> error: `y` after a return on another path cannot be lowered where it is f32[?]: its dims must be known
#>   --> lower::refused_return_of_open_dims:11:9
#>    |
#> 11 |         z = y
#>    |         ^^^^^
#>    |
#>    = help: give `y` a value before the `if`
