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
#>   %3 = broadcast_to %0 : i32[4]
#>   %4 = sign %2 : i32[4]
#>   %5 = sign %y : i32[4]
#>   %6 = mul %4, %5 : i32[4]
#>   %7 = compare %6, %3 {direction = lt} : bool[4]
#>   %8 = cast %7 : i32[4]
#>   %9 = sub %1, %8 : i32[4]
#>   return %9
#> }
def f(x: pi.INT64) -> (pi.INT64, pi.INT64, pi.INT64):
    return x // 8, x // -8, x // 0
#> ptir 1
#>
#> func @f(%x: i64[]) -> (i64[], i64[], i64[]) {
#>   %0 = constant 8 : i64[]
#>   %1 = constant 0 : i64[]
#>   %2 = constant -8 : i64[]
#>   %3 = div %x, %0 : i64[]
#>   %4 = rem %x, %0 : i64[]
#>   %5 = compare %4, %1 {direction = lt} : bool[]
#>   %6 = cast %5 : i64[]
#>   %7 = sub %3, %6 : i64[]
#>   %8 = div %x, %2 : i64[]
#>   %9 = rem %x, %2 : i64[]
#>   %10 = compare %9, %1 {direction = gt} : bool[]
#>   %11 = cast %10 : i64[]
#>   %12 = sub %8, %11 : i64[]
#>   %13 = div %x, %1 : i64[]
#>   %14 = rem %x, %1 : i64[]
#>   %15 = sign %14 : i64[]
#>   %16 = sign %1 : i64[]
#>   %17 = mul %15, %16 : i64[]
#>   %18 = compare %17, %1 {direction = lt} : bool[]
#>   %19 = cast %18 : i64[]
#>   %20 = sub %13, %19 : i64[]
#>   return %7, %12, %20
#> }
