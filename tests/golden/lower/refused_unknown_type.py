#! test: lower
def f(x, h: pi.FunctionType([pi.INT64], [])) -> (pi.INT64, pi.UnknownType()):
    return 1, x

def g(x: pi.INT64) -> pi.INT64:
    h: pi.UnknownType() = x
    return f(x, h)[0]
#> error: result 1 of `f`: the type is not known
#>  --> lower::refused_unknown_type:1:1
#>   |
#> 1 | def f(x, h: pi.FunctionType([pi.INT64], [])) -> (pi.INT64, pi.UnknownType()):
#>   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#>   |
#>   = help: declare the types of all parameters and results
#>
#> error: parameter `x`: the type is not known
#>  --> lower::refused_unknown_type:1:7
#>   |
#> 1 | def f(x, h: pi.FunctionType([pi.INT64], [])) -> (pi.INT64, pi.UnknownType()):
#>   |       ^
#>   |
#>   = help: declare the types of all parameters and results
#>
#> error: parameter `h`: a function is not a value
#>  --> lower::refused_unknown_type:1:10
#>   |
#> 1 | def f(x, h: pi.FunctionType([pi.INT64], [])) -> (pi.INT64, pi.UnknownType()):
#>   |          ^
#>   |
#>   = help: declare the types of all parameters and results
#>
#> error: call of `f`: its types cannot be lowered
#>  --> lower::refused_unknown_type:6:12
#>   |
#> 6 |     return f(x, h)[0]
#>   |            ^^^^^^^
