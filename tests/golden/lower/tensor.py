#! test: lower
def f(x: pi.TensorType(pi.FP32, [4, 8]), y: pi.TensorType(pi.FP32, [4, 8]), s: pi.FP32) -> pi.TensorType(pi.FP32, [4, 8]):
    a = x * y + pi.typed(x * s, pi.TensorType(pi.FP32, [4, 8]))
    return pi.typed(1.0 - a, pi.TensorType(pi.FP32, [4, 8]))
#> ptir 1
#>
#> func @f(%x: f32[4, 8], %y: f32[4, 8], %s: f32[]) -> f32[4, 8] {
#>   %0 = constant 1.0 : f32[]
#>   %1 = mul %x, %y : f32[4, 8]
#>   %2 = broadcast_to %s : f32[4, 8]
#>   %3 = mul %x, %2 : f32[4, 8]
#>   %a = add %1, %3 : f32[4, 8]
#>   %4 = broadcast_to %0 : f32[4, 8]
#>   %5 = sub %4, %a : f32[4, 8]
#>   return %5
#> }
