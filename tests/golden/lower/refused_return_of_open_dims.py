#! test: lower
def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.TensorType(pi.FP32, [n]):
    while n > 0:
        return x
    return x + x
#> error: a return inside of a loop cannot be lowered where a result is f32[?n]: its dims must be known
#>  --> lower::refused_return_of_open_dims:3:9
#>   |
#> 3 |         return x
#>   |         ^^^^^^^^
#>   |
#>   = help: assign the value and return it at the end of the function
