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
#>   %0 = constant 0 : i64[1]
#>   %1 = constant 0 : i64[]
#>   %2 = constant false : bool[]
#>   %3 = constant 2 : i64[]
#>   %4 = constant 5 : i64[]
#>   %5 = constant 1 : i64[]
#>   %6 = constant true : bool[]
#>   %7 = constant 0.0 : f32[]
#>   %8 = constant 4 : i64[]
#>   %9 = reshape %n : i64[1]
#>   %10 = concat %9, %0 {axis = 0} : i64[2]
#>   %11 = dynamic_iota %10 {axis = 0} : u8[?n, 0]
#>   %12 = dims {values = [?n]} : i64[]
#>   %13 = compare %12, %3 {direction = gt} : bool[]
#>   %result, %returned, %z = cond %13 () {
#>     %14 = compare %12, %4 {direction = gt} : bool[]
#>     %result_1, %returned_1 = cond %14 () {
#>       yield %5, %6
#>     } () {
#>       yield %1, %2
#>     } : i64[], bool[]
#>     %z_1 = cond %returned_1 () {
#>       %15 = broadcast_to %7 : f32[?n]
#>       yield %15
#>     } () {
#>       yield %x
#>     } : f32[?n]
#>     yield %result_1, %returned_1, %z_1
#>   } () {
#>     yield %1, %2, %x
#>   } : i64[], bool[], f32[?n]
#>   %16 = cond %returned () {
#>     yield %result
#>   } () {
#>     yield %8
#>   } : i64[]
#>   return %16
#> }
#>
#> func @named(%n: i64[], %x: f32[?n]) -> f32[?n] {
#>   %0 = constant 0 : i64[1]
#>   %1 = constant 0.0 : f32[]
#>   %2 = constant false : bool[]
#>   %3 = constant 0 : i64[]
#>   %4 = constant true : bool[]
#>   %5 = reshape %n : i64[1]
#>   %6 = concat %5, %0 {axis = 0} : i64[2]
#>   %7 = dynamic_iota %6 {axis = 0} : u8[?n, 0]
#>   %8 = dims {values = [?n]} : i64[]
#>   %9 = broadcast_to %1 : f32[?n]
#>   %returned, %result = while %2, %9 (%returned_1: bool[], %result_1: f32[?n]) {
#>     %10 = cond %returned_1 () {
#>       yield %2
#>     } () {
#>       %11 = compare %8, %3 {direction = gt} : bool[]
#>       yield %11
#>     } : bool[]
#>     yield %10
#>   } (%returned_2: bool[], %result_2: f32[?n]) {
#>     yield %4, %x
#>   } : bool[], f32[?n]
#>   %12 = cond %returned () {
#>     yield %result
#>   } () {
#>     %13 = add %x, %x : f32[?n]
#>     yield %13
#>   } : f32[?n]
#>   return %12
#> }
#>
#> func @unknown(%n: i64[], %x: f32[?x]) -> f32[?x] {
#>   %0 = constant 2 : i64[]
#>   %1 = constant 0 : i64[1]
#>   %2 = constant 0.0 : f32[]
#>   %3 = constant false : bool[]
#>   %4 = constant 0 : i64[]
#>   %5 = constant 1 : i64[]
#>   %6 = constant 3 : i64[]
#>   %7 = constant true : bool[]
#>   %8 = pow %n, %0 : i64[]
#>   %9 = reshape %8 : i64[1]
#>   %10 = concat %9, %1 {axis = 0} : i64[2]
#>   %11 = dynamic_iota %10 {axis = 0} : u8[?x, 0]
#>   %12, %13 = optimization_barrier %n, %11 : i64[], u8[?x, 0]
#>   %14 = broadcast_to %2 : f32[?x]
#>   %i, %returned, %result = while %4, %3, %14 (%i_1: i64[], %returned_1: bool[], %result_1: f32[?x]) {
#>     %15 = compare %i_1, %12 {direction = lt} : bool[]
#>     %16 = select %returned_1, %3, %15 : bool[]
#>     yield %16
#>   } (%i_2: i64[], %returned_2: bool[], %result_2: f32[?x]) {
#>     %17 = compare %i_2, %6 {direction = gt} : bool[]
#>     %result_3, %returned_3 = cond %17 () {
#>       yield %x, %7
#>     } () {
#>       yield %result_2, %returned_2
#>     } : f32[?x], bool[]
#>     %18 = add %i_2, %5 : i64[]
#>     yield %18, %returned_3, %result_3
#>   } : i64[], bool[], f32[?x]
#>   %19 = cond %returned () {
#>     yield %result
#>   } () {
#>     %20 = neg %x : f32[?x]
#>     yield %20
#>   } : f32[?x]
#>   return %19
#> }
