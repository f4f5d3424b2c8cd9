#! test: lower
def f(x: pi.BOOL) -> pi.BOOL:
    return not x
#> ptir 1
#>
#> func @f(%x: bool[]) -> bool[] {
#>   %0 = not %x : bool[]
#>   return %0
#> }
def f(x: pi.INT64) -> pi.INT32:
    return pi.typed(not x, pi.INT32)
#> ptir 1
#>
#> func @f(%x: i64[]) -> i32[] {
#>   %0 = cast %x : bool[]
#>   %1 = not %0 : bool[]
#>   %2 = cast %1 : i32[]
#>   return %2
#> }
