#! test: lower
def f(x: pi.INT32) -> pi.INT32:
    if x == 0:
        return 0
    for i in range(x):
        x += i
    return square(x + 1) + 1

def scale(n: pi.INT64, t: pi.TensorType(pi.FP16, [n])) -> pi.TensorType(pi.FP16, [n]):
    return halve(n, t * 2 - 0.5)

def halve(n: pi.INT64, t: pi.TensorType(pi.FP16, [n])) -> pi.TensorType(pi.FP16, [n]):
    return t / 2

def square(x: pi.INT32) -> pi.INT32:
    return x * x
#> ptir 1
#>
#> func @f(%x: i32[]) -> i32[] {
#>   %0 = constant 0 : i32[]
#>   %1 = constant 1 : i32[]
#>   %2 = compare %x, %0 {direction = eq} : bool[]
#>   %3 = cond %2 () {
#>     yield %0
#>   } () {
#>     %i, %x_1 = while %0, %x (%i_1: i32[], %x_2: i32[]) {
#>       %4 = compare %i_1, %x {direction = lt} : bool[]
#>       yield %4
#>     } (%i_2: i32[], %x_3: i32[]) {
#>       %x_4 = add %x_3, %i_2 : i32[]
#>       %5 = add %i_2, %1 : i32[]
#>       yield %5, %x_4
#>     } : i32[], i32[]
#>     %6 = add %x_1, %1 : i32[]
#>     %7 = call @square %6 {has_side_effect = false} : i32[]
#>     %8 = add %7, %1 : i32[]
#>     yield %8
#>   } : i32[]
#>   return %3
#> }
#>
#> func @halve(%n: i64[], %t: f16[?n]) -> f16[?n] {
#>   %0 = constant 0 : i64[1]
#>   %1 = constant 2.0 : f16[]
#>   %2 = reshape %n : i64[1]
#>   %3 = concat %2, %0 {axis = 0} : i64[2]
#>   %4 = dynamic_iota %3 {axis = 0} : u8[?n, 0]
#>   %5 = dims {values = [?n]} : i64[]
#>   %6 = broadcast_to %1 : f16[?n]
#>   %7 = div %t, %6 : f16[?n]
#>   return %7
#> }
#>
#> func @scale(%n: i64[], %t: f16[?n]) -> f16[?n] {
#>   %0 = constant 0 : i64[1]
#>   %1 = constant 2.0 : f16[]
#>   %2 = constant 0.5 : f16[]
#>   %3 = reshape %n : i64[1]
#>   %4 = concat %3, %0 {axis = 0} : i64[2]
#>   %5 = dynamic_iota %4 {axis = 0} : u8[?n, 0]
#>   %6 = dims {values = [?n]} : i64[]
#>   %7 = broadcast_to %1 : f16[?n]
#>   %8 = mul %t, %7 : f16[?n]
#>   %9 = broadcast_to %2 : f16[?n]
#>   %10 = sub %8, %9 : f16[?n]
#>   %11 = call @halve %6, %10 {has_side_effect = false} : f16[?n]
#>   return %11
#> }
#>
#> func @square(%x: i32[]) -> i32[] {
#>   %0 = mul %x, %x : i32[]
#>   return %0
#> }
