#! test: lower
def f(x: pi.TensorType(pi.FP32, [4, 8]), y: pi.FP32) -> pi.TensorType(pi.FP32, [32]):
    a = pi.op.exp(x)
    b = pi.op.atan2(a, x)
    c = pi.typed(pi.op.reshape(b), pi.TensorType(pi.FP32, [32]))
    return c
#> ptir 1
#>
#> func @f(%x: f32[4, 8], %y: f32[]) -> f32[32] {
#>   %a = exp %x : f32[4, 8]
#>   %b = atan2 %a, %x : f32[4, 8]
#>   %c = reshape %b : f32[32]
#>   return %c
#> }
