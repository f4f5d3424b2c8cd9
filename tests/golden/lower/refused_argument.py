#! test: lower
def f(x: pi.FP32) -> pi.INT64:
    a: pi.UnknownType() = x
    return g(a)

def g(x: pi.INT64) -> pi.INT64:
    return x

def h(x: pi.TensorType(pi.INT64, [4])) -> pi.INT64:
    a: pi.UnknownType() = x
    return a
#> error: call of `g`: argument 0 is f32[], expected i64[]
#>  --> lower::refused_argument:3:12
#>   |
#> 3 |     return g(a)
#>   |            ^^^^
#>
#> error: result 0 of `h` is i64[4], expected i64[]
#>   --> lower::refused_argument:10:5
#>    |
#> 10 |     return a
#>    |     ^^^^^^^^
