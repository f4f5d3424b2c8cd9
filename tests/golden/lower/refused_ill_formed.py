#! test: lower
def f(x: pi.FP32) -> pi.INT64:
    return x
#> error: value 0 of the return has the type pi.FP32; the function returns pi.INT64
#>  --> lower::refused_ill_formed:2:5
#>   |
#> 2 |     return x
#>   |     ^^^^^^^^
