#! test: lower
def f(i: pi.INT64, n: pi.INT64) -> pi.INT64:
    for i in range(0, n, 1):
        pass
    return i
#> ptir 1
#>
#> func @f(%i: i64[], %n: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant 1 : i64[]
#>   %i_1, %i_2 = while %0, %i (%i_3: i64[], %i_4: i64[]) {
#>     %2 = compare %i_3, %n {direction = lt} : bool[]
#>     yield %2
#>   } (%i_5: i64[], %i_6: i64[]) {
#>     %3 = add %i_5, %1 : i64[]
#>     yield %3, %i_5
#>   } : i64[], i64[]
#>   return %i_2
#> }
