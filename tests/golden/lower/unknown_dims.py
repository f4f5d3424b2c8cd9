#! test: lower
def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n ** 2]), b: pi.BOOL) -> pi.TensorType(pi.BOOL, [n ** 2]):
    a = pi.typed(x * 2.0, pi.TensorType(pi.FP32, [n ** 2]))
    c = pi.typed(a > x, pi.TensorType(pi.BOOL, [n ** 2]))
    return pi.typed(b & c, pi.TensorType(pi.BOOL, [n ** 2]))
#> ptir 1
#>
#> func @f(%n: i64[], %x: f32[?x], %b: bool[]) -> bool[?x] {
#>   %0 = constant 2 : i64[]
#>   %1 = constant 2.0 : f32[]
#>   %2 = pow %n, %0 : i64[]
#>   %3 = reshape %2 : i64[1]
#>   %4 = dynamic_iota %3 {axis = 0} : u8[?x]
#>   %5, %6 = optimization_barrier %n, %4 : i64[], u8[?x]
#>   %7 = broadcast_to %1 : f32[?x]
#>   %a = mul %x, %7 : f32[?x]
#>   %c = compare %a, %x {direction = gt} : bool[?x]
#>   %8 = broadcast_to %b : bool[?x]
#>   %9 = and %8, %c : bool[?x]
#>   return %9
#> }
def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.TensorType(pi.FP32, [n]):
    n = n + 1
    return x
#> ptir 1
#>
#> func @f(%n: i64[], %x: f32[?n]) -> f32[?] {
#>   %0 = constant 1 : i64[]
#>   %1 = reshape %n : i64[1]
#>   %2 = dynamic_iota %1 {axis = 0} : u8[?n]
#>   %3 = dims {values = [?n]} : i64[]
#>   %n_1 = add %3, %0 : i64[]
#>   return %x
#> }
