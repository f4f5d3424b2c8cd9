#! test: lower
def f(x: pi.TensorType(pi.FP32, [4, 8])) -> pi.TensorType(pi.FP32, [4]):
    a = pi.typed(pi.op.tensor.norm(x), pi.TensorType(pi.FP32, [4]))
    b = pi.typed(pi.op("any name")(), pi.TensorType(pi.FP32, [4]))
    return a + b
#> ptir 1
#>
#> func @f(%x: f32[4, 8]) -> f32[4] {
#>   %a = tensor.norm %x : f32[4]
#>   %b = custom_call "any name" : f32[4]
#>   %0 = add %a, %b : f32[4]
#>   return %0
#> }
