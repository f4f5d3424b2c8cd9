#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    if x >= 0:
        r = x
        t = 1
    else:
        r = -x
    r = pi.result(0)
    return r
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant 1 : i64[]
#>   %2 = compare %x, %0 {direction = ge} : bool[]
#>   %r = cond %2 () {
#>     yield %x
#>   } () {
#>     %r_1 = neg %x : i64[]
#>     yield %r_1
#>   } : i64[]
#>   return %r
#> }
