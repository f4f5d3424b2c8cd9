#! test: lower
def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n ** 2]), b: pi.BOOL) -> pi.TensorType(pi.BOOL, [n ** 2]):
    a = pi.typed(x * 2.0, pi.TensorType(pi.FP32, [n ** 2]))
    c = pi.typed(a > x, pi.TensorType(pi.BOOL, [n ** 2]))
    return pi.typed(b & c, pi.TensorType(pi.BOOL, [n ** 2]))
#> ptir 1
#>
#> func @f(%n: i64[], %x: f32[?], %b: bool[]) -> bool[?] {
#>   %0 = constant 2.0 : f32[]
#>   %1 = compare %x, %x {direction = ne} : bool[?]
#>   %2 = cast %1 : f32[?]
#>   %3 = clamp %0, %2, %0 : f32[?]
#>   %a = mul %x, %3 : f32[?]
#>   %c = compare %a, %x {direction = gt} : bool[?]
#>   %4 = compare %c, %c {direction = ne} : bool[?]
#>   %5 = not %4 : bool[?]
#>   %6 = or %4, %5 : bool[?]
#>   %7 = and %4, %5 : bool[?]
#>   %8 = select %b, %6, %7 : bool[?]
#>   %9 = and %8, %c : bool[?]
#>   return %9
#> }
def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.TensorType(pi.FP32, [n]):
    n = n + 1
    return x
#> ptir 1
#>
#> func @f(%n: i64[], %x: f32[?]) -> f32[?] {
#>   %0 = constant 1 : i64[]
#>   %n_1 = add %n, %0 : i64[]
#>   return %x
#> }
