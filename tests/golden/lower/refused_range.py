#! test: lower
def f(x: pi.FP32, n: pi.INT32):
    a: pi.UnknownType() = x
    for i in range(a, a, a, loop_type=pi.INT64):
        pass
    b: pi.UnknownType() = n
    for j in range(0, b, 1):
        pass
#> error: the start of a loop is f32[], expected an integer scalar
#>  --> lower::refused_range:3:5
#>   |
#> 3 |     for i in range(a, a, a, loop_type=pi.INT64):
#>   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>
#> error: the start of a loop is i64[] and its stop is i32[]
#>  --> lower::refused_range:6:5
#>   |
#> 6 |     for j in range(0, b, 1):
#>   |     ^^^^^^^^^^^^^^^^^^^^^^^^
#>   |
#>   = help: cast one of them
