#! test: lower
def f(x: pi.FP32) -> pi.FP32:
    for i in range(0, 10, 3):
        x = x + pi.cast(i, pi.FP32)
    return x
#> ptir 1
#>
#> func @f(%x: f32[]) -> f32[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant 3 : i64[]
#>   %i, %x_1 = scan %0, %x {carried = 2, length = 4} (%i_1: i64[], %x_2: f32[]) {
#>     %2 = cast %i_1 : f32[]
#>     %x_3 = add %x_2, %2 : f32[]
#>     %3 = add %i_1, %1 : i64[]
#>     yield %3, %x_3
#>   } : i64[], f32[]
#>   return %x_1
#> }
def f(x: pi.FP32) -> pi.FP32:
    for i in range(10, 0, -1):
        x = x * x
    return x
#> ptir 1
#>
#> func @f(%x: f32[]) -> f32[] {
#>   %0 = constant 10 : i64[]
#>   %x_1 = scan %x {carried = 1, length = 10} (%x_2: f32[]) {
#>     %x_3 = mul %x_2, %x_2 : f32[]
#>     yield %x_3
#>   } : f32[]
#>   return %x_1
#> }
def f(x: pi.FP32) -> pi.FP32:
    for i in range(5, 0, 1):
        x = x * x
    return x
#> ptir 1
#>
#> func @f(%x: f32[]) -> f32[] {
#>   %0 = constant 5 : i64[]
#>   %x_1 = scan %x {carried = 1, length = 0} (%x_2: f32[]) {
#>     %x_3 = mul %x_2, %x_2 : f32[]
#>     yield %x_3
#>   } : f32[]
#>   return %x_1
#> }
