#! test: lower
def f(x: pi.UINT8) -> pi.UINT8:
    return ~x
#> ptir 1
#>
#> func @f(%x: u8[]) -> u8[] {
#>   %0 = not %x : u8[]
#>   return %0
#> }
