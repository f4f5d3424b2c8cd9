#! test: lower
def f(x: pi.INT64) -> pi.FP32:
    y = x + 1

def g(x: pi.INT64) -> pi.INT64:
    if x:
        x = 1
#> error: `f` returns 1 value, but ends without a return, and its last statement binds no variables of these types
#>  --> lower::refused_without_return:2:5
#>   |
#> 2 |     y = x + 1
#>   |     ^^^^^^^^^
#>   |
#>   = help: end it with a return
#>
#> error: `g` returns 1 value, but ends without a return, and its last statement binds no variables of these types
#>  --> lower::refused_without_return:5:5
#>   |
#> 5 |     if x:
#>   |     ^^^^^
#>   |
#>   = help: end it with a return
