#! test: lower
def f(x: pi.INT64):
    pi.op.print(x + 1)
    pi.op.debug.mark()
    x * 2
#> ptir 1
#>
#> func @f(%x: i64[]) {
#>   %0 = constant 1 : i64[]
#>   %1 = constant 2 : i64[]
#>   %2 = add %x, %0 : i64[]
#>   custom_call "print" %2
#>   debug.mark
#>   %3 = mul %x, %1 : i64[]
#>   return
#> }
