#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    y = x
    x = x + 1
    z = x * y
    x = z - x
    return x
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = constant 1 : i64[]
#>   %x_1 = add %x, %0 : i64[]
#>   %z = mul %x_1, %x : i64[]
#>   %x_2 = sub %z, %x_1 : i64[]
#>   return %x_2
#> }
