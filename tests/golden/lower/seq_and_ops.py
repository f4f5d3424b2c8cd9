#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    with pi.ops():
        a = x * x
        b = a + x
    with pi.seq():
        c = b - a
    return c
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %a = mul %x, %x : i64[]
#>   %b = add %a, %x : i64[]
#>   %c = sub %b, %a : i64[]
#>   return %c
#> }
