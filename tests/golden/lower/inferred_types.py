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
#>   %0 = constant 2.0 : f16[]
#>   %1 = reshape %n : i64[1]
#>   %2 = dynamic_iota %1 {axis = 0} : u8[?n]
#>   %3 = dims {values = [?n]} : i64[]
#>   %4 = broadcast_to %0 : f16[?n]
#>   %5 = div %t, %4 : f16[?n]
#>   return %5
#> }
#>
#> func @scale(%n: i64[], %t: f16[?n]) -> f16[?n] {
#>   %0 = constant 2.0 : f16[]
#>   %1 = constant 0.5 : f16[]
#>   %2 = reshape %n : i64[1]
#>   %3 = dynamic_iota %2 {axis = 0} : u8[?n]
#>   %4 = dims {values = [?n]} : i64[]
#>   %5 = broadcast_to %0 : f16[?n]
#>   %6 = mul %t, %5 : f16[?n]
#>   %7 = broadcast_to %1 : f16[?n]
#>   %8 = sub %6, %7 : f16[?n]
#>   %9 = call @halve %4, %8 {has_side_effect = false} : f16[?n]
#>   return %9
#> }
#>
#> func @square(%x: i32[]) -> i32[] {
#>   %0 = mul %x, %x : i32[]
#>   return %0
#> }
