#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    (s0 := x * x + x * x + x * x)
    a = s0 + 1
    b = s0 * s0
    x = a
    return b + x
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = constant 1 : i64[]
#>   %1 = mul %x, %x : i64[]
#>   %2 = mul %x, %x : i64[]
#>   %3 = add %1, %2 : i64[]
#>   %4 = mul %x, %x : i64[]
#>   %5 = add %3, %4 : i64[]
#>   %a = add %5, %0 : i64[]
#>   %b = mul %5, %5 : i64[]
#>   %6 = add %b, %a : i64[]
#>   return %6
#> }
