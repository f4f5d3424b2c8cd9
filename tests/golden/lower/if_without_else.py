#! test: lower
def f(x: pi.INT64, c: pi.BOOL) -> pi.INT64:
    if c:
        x = x * 2
        y = x
    return x
#> ptir 1
#>
#> func @f(%x: i64[], %c: bool[]) -> i64[] {
#>   %0 = constant 2 : i64[]
#>   %x_1 = cond %c () {
#>     %x_2 = mul %x, %0 : i64[]
#>     yield %x_2
#>   } () {
#>     yield %x
#>   } : i64[]
#>   return %x_1
#> }
def f(x: pi.INT64, y: pi.INT64, c: pi.BOOL) -> pi.INT64:
    if c:
        x = y
    else:
        x = y
    return x
#> ptir 1
#>
#> func @f(%x: i64[], %y: i64[], %c: bool[]) -> i64[] {
#>   cond %c () {
#>     yield
#>   } () {
#>     yield
#>   }
#>   return %y
#> }
