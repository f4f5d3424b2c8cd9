#! test: lower
def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 2 * 4]), y: pi.TensorType(pi.FP32, [n, 8])) -> pi.TensorType(pi.FP32, [n, 8]):
    a = pi.typed(x + y, pi.TensorType(pi.FP32, [n, 8]))
    for i, (b,) in pi.range(0, n, 1, init_values=[a]):
        pi.yield_(pi.typed(b * 0.5, pi.TensorType(pi.FP32, [n, 8])))
    c: pi.TensorType(pi.FP32, [n, 8]) = pi.result(0)
    return c

def g(z: pi.TensorType(pi.FP32, [3, 8])) -> pi.TensorType(pi.FP32, [3, 8]):
    return f(3, z, z)
#> ptir 1
#>
#> func @f(%n: i64[], %x: f32[?n, 8], %y: f32[?n, 8]) -> f32[?n, 8] {
#>   %0 = constant 0 : i64[1]
#>   %1 = constant 0 : i64[]
#>   %2 = constant 1 : i64[]
#>   %3 = constant 0.5 : f32[]
#>   %4 = reshape %n : i64[1]
#>   %5 = concat %4, %0 {axis = 0} : i64[2]
#>   %6 = dynamic_iota %5 {axis = 0} : u8[?n, 0]
#>   %7 = dims {values = [?n]} : i64[]
#>   %a = add %x, %y : f32[?n, 8]
#>   %i, %c = while %1, %a (%i_1: i64[], %b: f32[?n, 8]) {
#>     %8 = compare %i_1, %7 {direction = lt} : bool[]
#>     yield %8
#>   } (%i_2: i64[], %b_1: f32[?n, 8]) {
#>     %9 = broadcast_to %3 : f32[?n, 8]
#>     %10 = mul %b_1, %9 : f32[?n, 8]
#>     %11 = add %i_2, %2 : i64[]
#>     yield %11, %10
#>   } : i64[], f32[?n, 8]
#>   return %c
#> }
#>
#> func @g(%z: f32[3, 8]) -> f32[3, 8] {
#>   %0 = constant 3 : i64[]
#>   %1 = call @f %0, %z, %z {has_side_effect = false} : f32[3, 8]
#>   return %1
#> }
