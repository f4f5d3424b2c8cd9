#! test: lower
def f(n: pi.INT64) -> pi.INT64:
    while True:
        n = n + 1
        if n > 5:
            return n
def g(n: pi.INT64) -> pi.INT64:
    if n > 3:
        while True:
            n = n * 2
            if n > 100:
                return n
    return n
#> ptir 1
#>
#> func @f(%n: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant false : bool[]
#>   %2 = constant true : bool[]
#>   %3 = constant 1 : i64[]
#>   %4 = constant 5 : i64[]
#>   %n_1, %returned, %result = while %n, %1, %0 (%n_2: i64[], %returned_1: bool[], %result_1: i64[]) {
#>     %5 = cond %returned_1 () {
#>       yield %1
#>     } () {
#>       yield %2
#>     } : bool[]
#>     yield %5
#>   } (%n_3: i64[], %returned_2: bool[], %result_2: i64[]) {
#>     %n_4 = add %n_3, %3 : i64[]
#>     %6 = compare %n_4, %4 {direction = gt} : bool[]
#>     %result_3, %returned_3 = cond %6 () {
#>       yield %n_4, %2
#>     } () {
#>       yield %result_2, %returned_2
#>     } : i64[], bool[]
#>     yield %n_4, %returned_3, %result_3
#>   } : i64[], bool[], i64[]
#>   return %result
#> }
#>
#> func @g(%n: i64[]) -> i64[] {
#>   %0 = constant 3 : i64[]
#>   %1 = constant 0 : i64[]
#>   %2 = constant false : bool[]
#>   %3 = constant true : bool[]
#>   %4 = constant 2 : i64[]
#>   %5 = constant 100 : i64[]
#>   %6 = compare %n, %0 {direction = gt} : bool[]
#>   %7 = cond %6 () {
#>     %n_1, %returned, %result = while %n, %2, %1 (%n_2: i64[], %returned_1: bool[], %result_1: i64[]) {
#>       %8 = cond %returned_1 () {
#>         yield %2
#>       } () {
#>         yield %3
#>       } : bool[]
#>       yield %8
#>     } (%n_3: i64[], %returned_2: bool[], %result_2: i64[]) {
#>       %n_4 = mul %n_3, %4 : i64[]
#>       %9 = compare %n_4, %5 {direction = gt} : bool[]
#>       %result_3, %returned_3 = cond %9 () {
#>         yield %n_4, %3
#>       } () {
#>         yield %result_2, %returned_2
#>       } : i64[], bool[]
#>       yield %n_4, %returned_3, %result_3
#>     } : i64[], bool[], i64[]
#>     yield %result
#>   } () {
#>     yield %n
#>   } : i64[]
#>   return %7
#> }
