#! test: lower
def f(n: pi.INT64) -> pi.INT64:
    s = 0
    for i in range(0, 10, 1):
        if i == n:
            return s
        else:
            y = i * 2
        s = s + y
    return -s
def g(n: pi.INT64, x: pi.FP32) -> pi.FP32:
    for i, (a,) in pi.range(0, 10, 1, init_values=[n]):
        if a > 3:
            return x
        else:
            pi.yield_(x * 2.0)
        b: pi.FP32 = pi.result(0)
        x = b
        pi.yield_(a + 1)
    c: pi.INT64 = pi.result(0)
    return x + 0.5
#> ptir 1
#>
#> func @f(%n: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant false : bool[]
#>   %2 = constant 10 : i64[]
#>   %3 = constant 1 : i64[]
#>   %4 = constant true : bool[]
#>   %5 = constant 2 : i64[]
#>   %i, %returned, %result, %s = while %0, %1, %0, %0 (%i_1: i64[], %returned_1: bool[], %result_1: i64[], %s_1: i64[]) {
#>     %6 = compare %i_1, %2 {direction = lt} : bool[]
#>     %7 = select %returned_1, %1, %6 : bool[]
#>     yield %7
#>   } (%i_2: i64[], %returned_2: bool[], %result_2: i64[], %s_2: i64[]) {
#>     %8 = compare %i_2, %n {direction = eq} : bool[]
#>     %result_3, %returned_3, %y = cond %8 () {
#>       yield %s_2, %4, %0
#>     } () {
#>       %y_1 = mul %i_2, %5 : i64[]
#>       yield %result_2, %returned_2, %y_1
#>     } : i64[], bool[], i64[]
#>     %s_3 = cond %returned_3 () {
#>       yield %s_2
#>     } () {
#>       %s_4 = add %s_2, %y : i64[]
#>       yield %s_4
#>     } : i64[]
#>     %9 = add %i_2, %3 : i64[]
#>     yield %9, %returned_3, %result_3, %s_3
#>   } : i64[], bool[], i64[], i64[]
#>   %10 = cond %returned () {
#>     yield %result
#>   } () {
#>     %11 = neg %s : i64[]
#>     yield %11
#>   } : i64[]
#>   return %10
#> }
#>
#> func @g(%n: i64[], %x: f32[]) -> f32[] {
#>   %0 = constant 0.0 : f32[]
#>   %1 = constant false : bool[]
#>   %2 = constant 0 : i64[]
#>   %3 = constant 10 : i64[]
#>   %4 = constant 1 : i64[]
#>   %5 = constant 3 : i64[]
#>   %6 = constant true : bool[]
#>   %7 = constant 2.0 : f32[]
#>   %8 = constant 0.5 : f32[]
#>   %i, %c, %returned, %result, %x_1 = while %2, %n, %1, %0, %x (%i_1: i64[], %a: i64[], %returned_1: bool[], %result_1: f32[], %x_2: f32[]) {
#>     %9 = compare %i_1, %3 {direction = lt} : bool[]
#>     %10 = select %returned_1, %1, %9 : bool[]
#>     yield %10
#>   } (%i_2: i64[], %a_1: i64[], %returned_2: bool[], %result_2: f32[], %x_3: f32[]) {
#>     %11 = compare %a_1, %5 {direction = gt} : bool[]
#>     %b, %result_3, %returned_3 = cond %11 () {
#>       yield %0, %x_3, %6
#>     } () {
#>       %12 = mul %x_3, %7 : f32[]
#>       yield %12, %result_2, %returned_2
#>     } : f32[], f32[], bool[]
#>     %13, %x_4 = cond %returned_3 () {
#>       yield %a_1, %x_3
#>     } () {
#>       %14 = add %a_1, %4 : i64[]
#>       yield %14, %b
#>     } : i64[], f32[]
#>     %15 = add %i_2, %4 : i64[]
#>     yield %15, %13, %returned_3, %result_3, %x_4
#>   } : i64[], i64[], bool[], f32[], f32[]
#>   %16 = cond %returned () {
#>     yield %result
#>   } () {
#>     %17 = add %x_1, %8 : f32[]
#>     yield %17
#>   } : f32[]
#>   return %16
#> }
