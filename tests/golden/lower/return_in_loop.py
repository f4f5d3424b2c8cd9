#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    for i in range(0, x, 1):
        if i > 3:
            return i
    return x
def g(x: pi.INT64) -> pi.INT64:
    while x > 0:
        x = x - 7
        if x == 3:
            return 1
        x = x + 1
    return 0
def h(x: pi.INT64) -> pi.INT64:
    for i, (a,) in pi.range(0, 10, 1, init_values=[x]):
        if a > 100:
            return i
        pi.yield_(a * a)
    b: pi.INT64 = pi.result(0)
    return b
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant false : bool[]
#>   %2 = constant 1 : i64[]
#>   %3 = constant 3 : i64[]
#>   %4 = constant true : bool[]
#>   %i, %returned, %result = while %0, %1, %0 (%i_1: i64[], %returned_1: bool[], %result_1: i64[]) {
#>     %5 = compare %i_1, %x {direction = lt} : bool[]
#>     %6 = select %returned_1, %1, %5 : bool[]
#>     yield %6
#>   } (%i_2: i64[], %returned_2: bool[], %result_2: i64[]) {
#>     %7 = compare %i_2, %3 {direction = gt} : bool[]
#>     %result_3, %returned_3 = cond %7 () {
#>       yield %i_2, %4
#>     } () {
#>       yield %result_2, %returned_2
#>     } : i64[], bool[]
#>     %8 = add %i_2, %2 : i64[]
#>     yield %8, %returned_3, %result_3
#>   } : i64[], bool[], i64[]
#>   %9 = cond %returned () {
#>     yield %result
#>   } () {
#>     yield %x
#>   } : i64[]
#>   return %9
#> }
#>
#> func @g(%x: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant false : bool[]
#>   %2 = constant 7 : i64[]
#>   %3 = constant 3 : i64[]
#>   %4 = constant 1 : i64[]
#>   %5 = constant true : bool[]
#>   %x_1, %returned, %result = while %x, %1, %0 (%x_2: i64[], %returned_1: bool[], %result_1: i64[]) {
#>     %6 = cond %returned_1 () {
#>       yield %1
#>     } () {
#>       %7 = compare %x_2, %0 {direction = gt} : bool[]
#>       yield %7
#>     } : bool[]
#>     yield %6
#>   } (%x_3: i64[], %returned_2: bool[], %result_2: i64[]) {
#>     %x_4 = sub %x_3, %2 : i64[]
#>     %8 = compare %x_4, %3 {direction = eq} : bool[]
#>     %result_3, %returned_3 = cond %8 () {
#>       yield %4, %5
#>     } () {
#>       yield %result_2, %returned_2
#>     } : i64[], bool[]
#>     %x_5 = cond %returned_3 () {
#>       yield %x_4
#>     } () {
#>       %x_6 = add %x_4, %4 : i64[]
#>       yield %x_6
#>     } : i64[]
#>     yield %x_5, %returned_3, %result_3
#>   } : i64[], bool[], i64[]
#>   %9 = cond %returned () {
#>     yield %result
#>   } () {
#>     yield %0
#>   } : i64[]
#>   return %9
#> }
#>
#> func @h(%x: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant false : bool[]
#>   %2 = constant 10 : i64[]
#>   %3 = constant 1 : i64[]
#>   %4 = constant 100 : i64[]
#>   %5 = constant true : bool[]
#>   %i, %b, %returned, %result = while %0, %x, %1, %0 (%i_1: i64[], %a: i64[], %returned_1: bool[], %result_1: i64[]) {
#>     %6 = compare %i_1, %2 {direction = lt} : bool[]
#>     %7 = select %returned_1, %1, %6 : bool[]
#>     yield %7
#>   } (%i_2: i64[], %a_1: i64[], %returned_2: bool[], %result_2: i64[]) {
#>     %8 = compare %a_1, %4 {direction = gt} : bool[]
#>     %result_3, %returned_3 = cond %8 () {
#>       yield %i_2, %5
#>     } () {
#>       yield %result_2, %returned_2
#>     } : i64[], bool[]
#>     %9 = cond %returned_3 () {
#>       yield %a_1
#>     } () {
#>       %10 = mul %a_1, %a_1 : i64[]
#>       yield %10
#>     } : i64[]
#>     %11 = add %i_2, %3 : i64[]
#>     yield %11, %9, %returned_3, %result_3
#>   } : i64[], i64[], bool[], i64[]
#>   %12 = cond %returned () {
#>     yield %result
#>   } () {
#>     yield %b
#>   } : i64[]
#>   return %12
#> }
