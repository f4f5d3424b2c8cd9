#! test: lower
def f(n: pi.INT64) -> pi.INT64:
    s = 0
    for i in range(n, 0, -1):
        t = i * i
        s = s + t
    s = pi.result(0)
    return s
#> ptir 1
#>
#> func @f(%n: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant -1 : i64[]
#>   %i, %s = while %n, %0 (%i_1: i64[], %s_1: i64[]) {
#>     %2 = compare %i_1, %0 {direction = gt} : bool[]
#>     yield %2
#>   } (%i_2: i64[], %s_2: i64[]) {
#>     %t = mul %i_2, %i_2 : i64[]
#>     %s_3 = add %s_2, %t : i64[]
#>     %3 = add %i_2, %1 : i64[]
#>     yield %3, %s_3
#>   } : i64[], i64[]
#>   return %s
#> }
