#! test: lower
def named(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.TensorType(pi.FP32, [n]):
    while n > 0:
        return x
    return x + x
def beside(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.INT64:
    if n > 2:
        if n > 5:
            return 1
        z = x
    else:
        z = x
    x = z
    return 4
def unknown(n: pi.INT64, x: pi.TensorType(pi.FP32, [n ** 2])) -> pi.TensorType(pi.FP32, [n ** 2]):
    for i in range(0, n, 1):
        if i > 3:
            return x
    return -x
#> ptir 1
#>
#> func @beside(%n: i64[], %x: f32[?n]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant false : bool[]
#>   %2 = constant 2 : i64[]
#>   %3 = constant 5 : i64[]
#>   %4 = constant 1 : i64[]
#>   %5 = constant true : bool[]
#>   %6 = constant 0.0 : f32[]
#>   %7 = constant 4 : i64[]
#>   %8 = compare %n, %2 {direction = gt} : bool[]
#>   %result, %returned, %z = cond %8 () {
#>     %9 = compare %n, %3 {direction = gt} : bool[]
#>     %result_1, %returned_1 = cond %9 () {
#>       yield %4, %5
#>     } () {
#>       yield %0, %1
#>     } : i64[], bool[]
#>     %z_1 = cond %returned_1 () {
#>       %10 = broadcast_to %6 : f32[?n]
#>       yield %10
#>     } () {
#>       yield %x
#>     } : f32[?n]
#>     yield %result_1, %returned_1, %z_1
#>   } () {
#>     yield %0, %1, %x
#>   } : i64[], bool[], f32[?n]
#>   %11 = cond %returned () {
#>     yield %result
#>   } () {
#>     yield %7
#>   } : i64[]
#>   return %11
#> }
#>
#> func @named(%n: i64[], %x: f32[?n]) -> f32[?n] {
#>   %0 = constant 0.0 : f32[]
#>   %1 = constant false : bool[]
#>   %2 = constant 0 : i64[]
#>   %3 = constant true : bool[]
#>   %4 = broadcast_to %0 : f32[?n]
#>   %returned, %result = while %1, %4 (%returned_1: bool[], %result_1: f32[?n]) {
#>     %5 = cond %returned_1 () {
#>       yield %1
#>     } () {
#>       %6 = compare %n, %2 {direction = gt} : bool[]
#>       yield %6
#>     } : bool[]
#>     yield %5
#>   } (%returned_2: bool[], %result_2: f32[?n]) {
#>     yield %3, %x
#>   } : bool[], f32[?n]
#>   %7 = cond %returned () {
#>     yield %result
#>   } () {
#>     %8 = add %x, %x : f32[?n]
#>     yield %8
#>   } : f32[?n]
#>   return %7
#> }
#>
#> func @unknown(%n: i64[], %x: f32[?]) -> f32[?] {
#>   %0 = constant false : bool[]
#>   %1 = constant 0 : i64[]
#>   %2 = constant 1 : i64[]
#>   %3 = constant 3 : i64[]
#>   %4 = constant true : bool[]
#>   %i, %returned, %result = while %1, %0, %x (%i_1: i64[], %returned_1: bool[], %result_1: f32[?]) {
#>     %5 = compare %i_1, %n {direction = lt} : bool[]
#>     %6 = select %returned_1, %0, %5 : bool[]
#>     yield %6
#>   } (%i_2: i64[], %returned_2: bool[], %result_2: f32[?]) {
#>     %7 = compare %i_2, %3 {direction = gt} : bool[]
#>     %result_3, %returned_3 = cond %7 () {
#>       yield %x, %4
#>     } () {
#>       yield %result_2, %returned_2
#>     } : f32[?], bool[]
#>     %8 = add %i_2, %2 : i64[]
#>     yield %8, %returned_3, %result_3
#>   } : i64[], bool[], f32[?]
#>   %9 = cond %returned () {
#>     yield %result
#>   } () {
#>     %10 = neg %x : f32[?]
#>     yield %10
#>   } : f32[?]
#>   return %9
#> }
