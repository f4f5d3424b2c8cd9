#! test: lower
def f(x: pi.INT64, a: pi.BOOL, b: pi.BOOL) -> pi.INT64:
    y = 0
    if a:
        if b:
            y = x
        else:
            y = x + 1
        x = y * 2
    else:
        y = 3
    return x + y
#> ptir 1
#>
#> func @f(%x: i64[], %a: bool[], %b: bool[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant 1 : i64[]
#>   %2 = constant 2 : i64[]
#>   %3 = constant 3 : i64[]
#>   %y, %x_1 = cond %a () {
#>     %y_1 = cond %b () {
#>       yield %x
#>     } () {
#>       %y_2 = add %x, %1 : i64[]
#>       yield %y_2
#>     } : i64[]
#>     %x_2 = mul %y_1, %2 : i64[]
#>     yield %y_1, %x_2
#>   } () {
#>     yield %3, %x
#>   } : i64[], i64[]
#>   %4 = add %x_1, %y : i64[]
#>   return %4
#> }
