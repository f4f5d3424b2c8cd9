#! test: lower
def f(x: pi.INT64) -> pi.FP32:
    return pi.cast(x, pi.FP32)
#> ptir 1
#>
#> func @f(%x: i64[]) -> f32[] {
#>   %0 = cast %x : f32[]
#>   return %0
#> }
def f(x: pi.TensorType(pi.FP32, [2, 3])) -> pi.TensorType(pi.INT8, [2, 3]):
    return pi.cast(x, pi.TensorType(pi.INT8, [2, 3]))
#> ptir 1
#>
#> func @f(%x: f32[2, 3]) -> i8[2, 3] {
#>   %0 = cast %x : i8[2, 3]
#>   return %0
#> }
