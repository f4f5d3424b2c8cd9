#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    if x < 0:
        return -1
    y = x * x
    if y > 100:
        z = y - 100
        pi.yield_(z)
    else:
        return y
    w: pi.INT64 = pi.result(0)
    return w + y
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant -1 : i64[]
#>   %2 = constant 100 : i64[]
#>   %3 = compare %x, %0 {direction = lt} : bool[]
#>   %4 = cond %3 () {
#>     yield %1
#>   } () {
#>     %y = mul %x, %x : i64[]
#>     %5 = compare %y, %2 {direction = gt} : bool[]
#>     %6 = cond %5 () {
#>       %z = sub %y, %2 : i64[]
#>       %7 = add %z, %y : i64[]
#>       yield %7
#>     } () {
#>       yield %y
#>     } : i64[]
#>     yield %6
#>   } : i64[]
#>   return %4
#> }
def f(x: pi.INT64) -> pi.INT64:
    if x < 0:
        return -1
    else:
        return 1
    return 0
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant -1 : i64[]
#>   %2 = constant 1 : i64[]
#>   %3 = compare %x, %0 {direction = lt} : bool[]
#>   %4 = cond %3 () {
#>     yield %1
#>   } () {
#>     yield %2
#>   } : i64[]
#>   return %4
#> }
