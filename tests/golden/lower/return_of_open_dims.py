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
#>   %8 = reshape %n : i64[1]
#>   %9 = dynamic_iota %8 {axis = 0} : u8[?n]
#>   %10 = dims {values = [?n]} : i64[]
#>   %11 = compare %10, %2 {direction = gt} : bool[]
#>   %result, %returned, %z = cond %11 () {
#>     %12 = compare %10, %3 {direction = gt} : bool[]
#>     %result_1, %returned_1 = cond %12 () {
#>       yield %4, %5
#>     } () {
#>       yield %0, %1
#>     } : i64[], bool[]
#>     %z_1 = cond %returned_1 () {
#>       %13 = broadcast_to %6 : f32[?n]
#>       yield %13
#>     } () {
#>       yield %x
#>     } : f32[?n]
#>     yield %result_1, %returned_1, %z_1
#>   } () {
#>     yield %0, %1, %x
#>   } : i64[], bool[], f32[?n]
#>   %14 = cond %returned () {
#>     yield %result
#>   } () {
#>     yield %7
#>   } : i64[]
#>   return %14
#> }
#>
#> func @named(%n: i64[], %x: f32[?n]) -> f32[?n] {
#>   %0 = constant 0.0 : f32[]
#>   %1 = constant false : bool[]
#>   %2 = constant 0 : i64[]
#>   %3 = constant true : bool[]
#>   %4 = reshape %n : i64[1]
#>   %5 = dynamic_iota %4 {axis = 0} : u8[?n]
#>   %6 = dims {values = [?n]} : i64[]
#>   %7 = broadcast_to %0 : f32[?n]
#>   %returned, %result = while %1, %7 (%returned_1: bool[], %result_1: f32[?n]) {
#>     %8 = cond %returned_1 () {
#>       yield %1
#>     } () {
#>       %9 = compare %6, %2 {direction = gt} : bool[]
#>       yield %9
#>     } : bool[]
#>     yield %8
#>   } (%returned_2: bool[], %result_2: f32[?n]) {
#>     yield %3, %x
#>   } : bool[], f32[?n]
#>   %10 = cond %returned () {
#>     yield %result
#>   } () {
#>     %11 = add %x, %x : f32[?n]
#>     yield %11
#>   } : f32[?n]
#>   return %10
#> }
#>
#> func @unknown(%n: i64[], %x: f32[?x]) -> f32[?x] {
#>   %0 = constant 2 : i64[]
#>   %1 = constant 0.0 : f32[]
#>   %2 = constant false : bool[]
#>   %3 = constant 0 : i64[]
#>   %4 = constant 1 : i64[]
#>   %5 = constant 3 : i64[]
#>   %6 = constant true : bool[]
#>   %7 = pow %n, %0 : i64[]
#>   %8 = reshape %7 : i64[1]
#>   %9 = dynamic_iota %8 {axis = 0} : u8[?x]
#>   %10, %11 = optimization_barrier %n, %9 : i64[], u8[?x]
#>   %12 = broadcast_to %1 : f32[?x]
#>   %i, %returned, %result = while %3, %2, %12 (%i_1: i64[], %returned_1: bool[], %result_1: f32[?x]) {
#>     %13 = compare %i_1, %10 {direction = lt} : bool[]
#>     %14 = select %returned_1, %2, %13 : bool[]
#>     yield %14
#>   } (%i_2: i64[], %returned_2: bool[], %result_2: f32[?x]) {
#>     %15 = compare %i_2, %5 {direction = gt} : bool[]
#>     %result_3, %returned_3 = cond %15 () {
#>       yield %x, %6
#>     } () {
#>       yield %result_2, %returned_2
#>     } : f32[?x], bool[]
#>     %16 = add %i_2, %4 : i64[]
#>     yield %16, %returned_3, %result_3
#>   } : i64[], bool[], f32[?x]
#>   %17 = cond %returned () {
#>     yield %result
#>   } () {
#>     %18 = neg %x : f32[?x]
#>     yield %18
#>   } : f32[?x]
#>   return %17
#> }
