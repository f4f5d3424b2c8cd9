#! test: lower
def f(x: pi.INT64) -> pi.INT64:
    while x > 100:
        x = x / 2
    return x
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = constant 100 : i64[]
#>   %1 = constant 2 : i64[]
#>   %x_1 = while %x (%x_2: i64[]) {
#>     %2 = compare %x_2, %0 {direction = gt} : bool[]
#>     yield %2
#>   } (%x_3: i64[]) {
#>     %x_4 = div %x_3, %1 : i64[]
#>     yield %x_4
#>   } : i64[]
#>   return %x_1
#> }
def f(x: pi.INT64) -> pi.INT64:
    for (n, a) in pi.while_(init_values=[x, 1]):
        pi.cond(n)
        x = x + a
        pi.yield_(n - 1, a * n)
    m: pi.INT64 = pi.result(0)
    p: pi.INT64 = pi.result(1)
    return p + x
#> ptir 1
#>
#> func @f(%x: i64[]) -> i64[] {
#>   %0 = constant 1 : i64[]
#>   %m, %p, %x_1 = while %x, %0, %x (%n: i64[], %a: i64[], %x_2: i64[]) {
#>     %1 = cast %n : bool[]
#>     yield %1
#>   } (%n_1: i64[], %a_1: i64[], %x_3: i64[]) {
#>     %x_4 = add %x_3, %a_1 : i64[]
#>     %2 = sub %n_1, %0 : i64[]
#>     %3 = mul %a_1, %n_1 : i64[]
#>     yield %2, %3, %x_4
#>   } : i64[], i64[], i64[]
#>   %4 = add %p, %x_1 : i64[]
#>   return %4
#> }
