#! test: lower
def f(x: pi.BOOL, y: pi.BOOL) -> pi.BOOL:
    return pi.xor(x, y)
#> ptir 1
#>
#> func @f(%x: bool[], %y: bool[]) -> bool[] {
#>   %0 = xor %x, %y : bool[]
#>   return %0
#> }
def f(x: pi.BOOL, y: pi.INT64) -> pi.INT32:
    return pi.typed(pi.xor(x, y), pi.INT32)
#> ptir 1
#>
#> func @f(%x: bool[], %y: i64[]) -> i32[] {
#>   %0 = cast %y : bool[]
#>   %1 = xor %x, %0 : bool[]
#>   %2 = cast %1 : i32[]
#>   return %2
#> }
