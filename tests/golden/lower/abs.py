#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    return abs(x)
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = abs %x : i64[]
#>   return %0
#> }
