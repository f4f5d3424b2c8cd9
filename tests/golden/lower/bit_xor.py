#! test: lower
def f(x: pi.BOOL, y: pi.BOOL) -> pi.BOOL:
    return x ^ y
#> ptir 1
#>
#> func @f(%x: bool[], %y: bool[]) -> bool[] {
#>   %0 = xor %x, %y : bool[]
#>   return %0
#> }
def f(x: pi.UINT8, y: pi.UINT8) -> pi.UINT8:
    return x ^ y
#> ptir 1
#>
#> func @f(%x: u8[], %y: u8[]) -> u8[] {
#>   %0 = xor %x, %y : u8[]
#>   return %0
#> }
