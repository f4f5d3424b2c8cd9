#! test: lower
def f(x: pi.INT64, t: pi.FP32) -> pi.FP32:
    if x:
        pi.yield_(x + 1, t)
    else:
        t = t * t
        pi.yield_(x, t + t)
    a: pi.INT64 = pi.result(0)
    b: pi.FP32 = pi.result(1)
    return b + pi.cast(a, pi.FP32) * t
#> ptir 1
#>
#> func @f(%x: i64[], %t: f32[]) -> f32[] {
#>   %0 = constant 1 : i64[]
#>   %1 = cast %x : bool[]
#>   %a, %b, %t_1 = cond %1 () {
#>     %2 = add %x, %0 : i64[]
#>     yield %2, %t, %t
#>   } () {
#>     %t_2 = mul %t, %t : f32[]
#>     %3 = add %t_2, %t_2 : f32[]
#>     yield %x, %3, %t_2
#>   } : i64[], f32[], f32[]
#>   %4 = cast %a : f32[]
#>   %5 = mul %4, %t_1 : f32[]
#>   %6 = add %b, %5 : f32[]
#>   return %6
#> }
