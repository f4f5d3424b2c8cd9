#! test: lower
def f(n: pi.INT64) -> pi.INT64:
    s = 0
    for i in range(0, n, 1):
        for j in range(0, 3, 1):
            if j < i:
                s = s + j
    return s
#> ptir 1
#>
#> func @f(%n: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant 1 : i64[]
#>   %i, %s = while %0, %0 (%i_1: i64[], %s_1: i64[]) {
#>     %2 = compare %i_1, %n {direction = lt} : bool[]
#>     yield %2
#>   } (%i_2: i64[], %s_2: i64[]) {
#>     %j, %s_3 = scan %0, %s_2 {carried = 2, length = 3} (%j_1: i64[], %s_4: i64[]) {
#>       %3 = compare %j_1, %i_2 {direction = lt} : bool[]
#>       %s_5 = cond %3 () {
#>         %s_6 = add %s_4, %j_1 : i64[]
#>         yield %s_6
#>       } () {
#>         yield %s_4
#>       } : i64[]
#>       %4 = add %j_1, %1 : i64[]
#>       yield %4, %s_5
#>     } : i64[], i64[]
#>     %5 = add %i_2, %1 : i64[]
#>     yield %5, %s_3
#>   } : i64[], i64[]
#>   return %s
#> }
