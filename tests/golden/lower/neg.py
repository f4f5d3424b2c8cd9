#! test: lower
def f(x: pi.FP32) -> pi.FP32:
    return -x
#> ptir 1
#>
#> func @f(%x: f32[]) -> f32[] {
#>   %0 = neg %x : f32[]
#>   return %0
#> }
