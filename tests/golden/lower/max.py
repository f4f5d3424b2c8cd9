#! test: lower
def f(x: pi.INT64, y: pi.INT64) -> pi.INT64:
    return max(x, y)
#> ptir 1
#>
#> func @f(%x: i64[], %y: i64[]) -> i64[] {
#>   %0 = max %x, %y : i64[]
#>   return %0
#> }
def f(x: pi.FP32, y: pi.FP32) -> pi.FP32:
    return max(x, y)
#> ptir 1
#>
#> func @f(%x: f32[], %y: f32[]) -> f32[] {
#>   %0 = max %x, %y : f32[]
#>   return %0
#> }
