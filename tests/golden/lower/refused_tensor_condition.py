#! test: lower
def f(x: pi.TensorType(pi.BOOL, [4])) -> pi.INT64:
    c: pi.UnknownType() = x
    y = 0
    if c:
        y = 1
    while c:
        y = 2
    return y
#> error: a condition is bool[4], expected a scalar
#>  --> lower::refused_tensor_condition:4:5
#>   |
#> 4 |     if c:
#>   |     ^^^^^
#>
#> error: a condition is bool[4], expected a scalar
#>  --> lower::refused_tensor_condition:6:5
#>   |
#> 6 |     while c:
#>   |     ^^^^^^^^
