#! test: lower
def f(x: pi.INT64, y: pi.INT64) -> pi.INT64:
    return x >> y
#> ptir 1
#>
#> func @f(%x: i64[], %y: i64[]) -> i64[] {
#>   %0 = shr_arithmetic %x, %y : i64[]
#>   return %0
#> }
def f(x: pi.UINT8, y: pi.UINT8) -> pi.UINT8:
    return x >> y
#> ptir 1
#>
#> func @f(%x: u8[], %y: u8[]) -> u8[] {
#>   %0 = shr_logical %x, %y : u8[]
#>   return %0
#> }
