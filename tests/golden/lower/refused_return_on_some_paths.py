#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    if x > 0:
        if x > 3:
            return x
        x = x + 1
    return x
#> error: a return in a branch that goes on on other paths cannot be lowered
#>  --> lower::refused_return_on_some_paths:4:13
#>   |
#> 4 |             return x
#>   |             ^^^^^^^^
#>   |
#>   = help: assign the value and return it at the end of the function
