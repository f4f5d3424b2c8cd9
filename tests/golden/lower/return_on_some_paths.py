#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    if x > 0:
        if x > 3:
            return x
        x = x + 1
        y = x * 2
    else:
        y = 0
    return y
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant false : bool[]
#>   %2 = constant 3 : i64[]
#>   %3 = constant true : bool[]
#>   %4 = constant 1 : i64[]
#>   %5 = constant 2 : i64[]
#>   %6 = compare %x, %0 {direction = gt} : bool[]
#>   %result, %returned, %x_1, %y = cond %6 () {
#>     %7 = compare %x, %2 {direction = gt} : bool[]
#>     %result_1, %returned_1 = cond %7 () {
#>       yield %x, %3
#>     } () {
#>       yield %0, %1
#>     } : i64[], bool[]
#>     %x_2, %y_1 = cond %returned_1 () {
#>       yield %x, %0
#>     } () {
#>       %x_3 = add %x, %4 : i64[]
#>       %y_2 = mul %x_3, %5 : i64[]
#>       yield %x_3, %y_2
#>     } : i64[], i64[]
#>     yield %result_1, %returned_1, %x_2, %y_1
#>   } () {
#>     yield %0, %1, %x, %0
#>   } : i64[], bool[], i64[], i64[]
#>   %8 = cond %returned () {
#>     yield %result
#>   } () {
#>     yield %y
#>   } : i64[]
#>   return %8
#> }
