#! test: lower
def f(x: pi.INT64, y: pi.INT64) -> pi.INT64:
    return x % y
#> ptir 1
#>
#> func @f(%x: i64[], %y: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = rem %x, %y : i64[]
#>   %2 = sign %1 : i64[]
#>   %3 = sign %y : i64[]
#>   %4 = mul %2, %3 : i64[]
#>   %5 = compare %4, %0 {direction = lt} : bool[]
#>   %6 = add %1, %y : i64[]
#>   %7 = select %5, %6, %1 : i64[]
#>   return %7
#> }
def f(x: pi.UINT8, y: pi.UINT8) -> pi.UINT8:
    return x % y
#> ptir 1
#>
#> func @f(%x: u8[], %y: u8[]) -> u8[] {
#>   %0 = rem %x, %y : u8[]
#>   return %0
#> }
def f(x: pi.FP32, y: pi.FP32) -> pi.FP32:
    return x % y
#> ptir 1
#>
#> func @f(%x: f32[], %y: f32[]) -> f32[] {
#>   %0 = constant 0.0 : f32[]
#>   %1 = rem %x, %y : f32[]
#>   %2 = sign %1 : f32[]
#>   %3 = sign %y : f32[]
#>   %4 = mul %2, %3 : f32[]
#>   %5 = compare %4, %0 {direction = lt} : bool[]
#>   %6 = add %1, %y : f32[]
#>   %7 = select %5, %6, %1 : f32[]
#>   return %7
#> }
def f(x: pi.TensorType(pi.INT32, [4]), y: pi.TensorType(pi.INT32, [4])) -> pi.TensorType(pi.INT32, [4]):
    return x % y
#> ptir 1
#>
#> func @f(%x: i32[4], %y: i32[4]) -> i32[4] {
#>   %0 = constant 0 : i32[]
#>   %1 = rem %x, %y : i32[4]
#>   %2 = broadcast_to %0 : i32[4]
#>   %3 = sign %1 : i32[4]
#>   %4 = sign %y : i32[4]
#>   %5 = mul %3, %4 : i32[4]
#>   %6 = compare %5, %2 {direction = lt} : bool[4]
#>   %7 = add %1, %y : i32[4]
#>   %8 = select %6, %7, %1 : i32[4]
#>   return %8
#> }
def f(x: pi.INT64) -> (pi.INT64, pi.INT64, pi.INT64):
    return x % 8, x % -8, x % 0
#> ptir 1
#>
#> func @f(%x: i64[]) -> (i64[], i64[], i64[]) {
#>   %0 = constant 8 : i64[]
#>   %1 = constant 0 : i64[]
#>   %2 = constant -8 : i64[]
#>   %3 = rem %x, %0 : i64[]
#>   %4 = compare %3, %1 {direction = lt} : bool[]
#>   %5 = add %3, %0 : i64[]
#>   %6 = select %4, %5, %3 : i64[]
#>   %7 = rem %x, %2 : i64[]
#>   %8 = compare %7, %1 {direction = gt} : bool[]
#>   %9 = add %7, %2 : i64[]
#>   %10 = select %8, %9, %7 : i64[]
#>   %11 = rem %x, %1 : i64[]
#>   %12 = sign %11 : i64[]
#>   %13 = sign %1 : i64[]
#>   %14 = mul %12, %13 : i64[]
#>   %15 = compare %14, %1 {direction = lt} : bool[]
#>   %16 = add %11, %1 : i64[]
#>   %17 = select %15, %16, %11 : i64[]
#>   return %6, %10, %17
#> }
