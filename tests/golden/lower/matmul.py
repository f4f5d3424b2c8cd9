#! test: lower
def f(a: pi.TensorType(pi.FP32, [2, 3]), b: pi.TensorType(pi.FP32, [3, 4]), v: pi.TensorType(pi.FP32, [4])) -> pi.TensorType(pi.FP32, [2]):
    return pi.op.matmul(a, b) @ v

def stacks(n: pi.INT64, a: pi.TensorType(pi.FP32, [n, 2, 3]), b: pi.TensorType(pi.FP32, [n, 3, 4])) -> pi.TensorType(pi.FP32, [n, 2, 4]):
    return a @ b * 2
#> ptir 1
#>
#> func @f(%a: f32[2, 3], %b: f32[3, 4], %v: f32[4]) -> f32[2] {
#>   %0 = dot_general %a, %b {lhs_contract = [1], rhs_contract = [0]} : f32[2, 4]
#>   %1 = dot_general %0, %v {lhs_contract = [1], rhs_contract = [0]} : f32[2]
#>   return %1
#> }
#>
#> func @stacks(%n: i64[], %a: f32[?n, 2, 3], %b: f32[?n, 3, 4]) -> f32[?n, 2, 4] {
#>   %0 = constant 0 : i64[1]
#>   %1 = constant 2.0 : f32[]
#>   %2 = reshape %n : i64[1]
#>   %3 = concat %2, %0 {axis = 0} : i64[2]
#>   %4 = dynamic_iota %3 {axis = 0} : u8[?n, 0]
#>   %5 = dims {values = [?n]} : i64[]
#>   %6 = dot_general %a, %b {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]} : f32[?n, 2, 4]
#>   %7 = broadcast_to %1 : f32[?n, 2, 4]
#>   %8 = mul %6, %7 : f32[?n, 2, 4]
#>   return %8
#> }
