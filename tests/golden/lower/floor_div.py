#! test: lower
def f(x: pi.INT64, y: pi.INT64) -> pi.INT64:
    return x // y
#> ptir 1
#>
#> func @f(%x: i64[], %y: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = div %x, %y : i64[]
#>   %2 = rem %x, %y : i64[]
#>   %3 = sign %2 : i64[]
#>   %4 = sign %y : i64[]
#>   %5 = mul %3, %4 : i64[]
#>   %6 = compare %5, %0 {direction = lt} : bool[]
#>   %7 = cast %6 : i64[]
#>   %8 = sub %1, %7 : i64[]
#>   return %8
#> }
def f(x: pi.UINT8, y: pi.UINT8) -> pi.UINT8:
    return x // y
#> ptir 1
#>
#> func @f(%x: u8[], %y: u8[]) -> u8[] {
#>   %0 = div %x, %y : u8[]
#>   return %0
#> }
def f(x: pi.FP32, y: pi.FP32) -> pi.FP32:
    return x // y
#> ptir 1
#>
#> func @f(%x: f32[], %y: f32[]) -> f32[] {
#>   %0 = cast %x : f64[]
#>   %1 = cast %y : f64[]
#>   %2 = div %0, %1 : f64[]
#>   %3 = floor %2 : f64[]
#>   %4 = cast %3 : f32[]
#>   return %4
#> }
def f(x: pi.TensorType(pi.INT32, [4]), y: pi.TensorType(pi.INT32, [4])) -> pi.TensorType(pi.INT32, [4]):
    return x // y
#> ptir 1
#>
#> func @f(%x: i32[4], %y: i32[4]) -> i32[4] {
#>   %0 = constant 0 : i32[]
#>   %1 = div %x, %y : i32[4]
#>   %2 = rem %x, %y : i32[4]
#>   %3 = sign %2 : i32[4]
#>   %4 = sign %y : i32[4]
#>   %5 = mul %3, %4 : i32[4]
#>   %6 = broadcast_to %0 : i32[4]
#>   %7 = compare %5, %6 {direction = lt} : bool[4]
#>   %8 = cast %7 : i32[4]
#>   %9 = sub %1, %8 : i32[4]
#>   return %9
#> }
