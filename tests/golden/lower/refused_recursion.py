#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    return pi.typed(g(x), pi.INT64)

def g(x: pi.INT64) -> pi.INT64:
    return pi.typed(f(x), pi.INT64)

def h(x: pi.INT64) -> pi.INT64:
    return pi.typed(h(x), pi.INT64)
#> error: `g` calls itself through `f`
#>  --> lower::refused_recursion:5:21
#>   |
#> 5 |     return pi.typed(f(x), pi.INT64)
#>   |                     ^^^^
#>   |
#>   = help: PTIR functions cannot recurse; use a loop
#>
#> error: `h` calls itself
#>  --> lower::refused_recursion:8:21
#>   |
#> 8 |     return pi.typed(h(x), pi.INT64)
#>   |                     ^^^^
#>   |
#>   = help: PTIR functions cannot recurse; use a loop
