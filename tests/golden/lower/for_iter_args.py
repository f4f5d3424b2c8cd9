#! test: lower
def f(n: pi.INT64, x: pi.FP32) -> (pi.INT64, pi.FP32):
    for i, (a, b) in pi.range(0, n, 1, init_values=[n, x]):
        c = b * x
        pi.yield_(a + i, c)
    d: pi.INT64 = pi.result(0)
    e: pi.FP32 = pi.result(1)
    return d, e
#> ptir 1
#>
#> func @f(%n: i64[], %x: f32[]) -> (i64[], f32[]) {
#>   %0 = constant 0 : i64[]
#>   %1 = constant 1 : i64[]
#>   %i, %d, %e = while %0, %n, %x (%i_1: i64[], %a: i64[], %b: f32[]) {
#>     %2 = compare %i_1, %n {direction = lt} : bool[]
#>     yield %2
#>   } (%i_2: i64[], %a_1: i64[], %b_1: f32[]) {
#>     %c = mul %b_1, %x : f32[]
#>     %3 = add %a_1, %i_2 : i64[]
#>     %4 = add %i_2, %1 : i64[]
#>     yield %4, %3, %c
#>   } : i64[], i64[], f32[]
#>   return %d, %e
#> }
