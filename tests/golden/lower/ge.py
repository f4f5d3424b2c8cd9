#! test: lower
def f(x: pi.FP32, y: pi.FP32) -> pi.BOOL:
    return x >= y
#> ptir 1
#>
#> func @f(%x: f32[], %y: f32[]) -> bool[] {
#>   %0 = compare %x, %y {direction = ge} : bool[]
#>   return %0
#> }
def f(x: pi.INT64, y: pi.INT64) -> pi.INT64:
    return pi.typed(x >= y, pi.INT64)
#> ptir 1
#>
#> func @f(%x: i64[], %y: i64[]) -> i64[] {
#>   %0 = compare %x, %y {direction = ge} : bool[]
#>   %1 = cast %0 : i64[]
#>   return %1
#> }
