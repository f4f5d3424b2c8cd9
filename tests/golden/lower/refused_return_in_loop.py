#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    for i in range(0, x, 1):
        if i > 3:
            return i
    return x
#> error: a return inside of a loop cannot be lowered
#>  --> lower::refused_return_in_loop:4:13
#>   |
#> 4 |             return i
#>   |             ^^^^^^^^
#>   |
#>   = help: assign the value and return it at the end of the function
