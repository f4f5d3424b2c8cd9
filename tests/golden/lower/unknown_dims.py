#! test: lower
def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n ** 2]), b: pi.BOOL) -> pi.TensorType(pi.BOOL, [n ** 2]):
    a = pi.typed(x * 2.0, pi.TensorType(pi.FP32, [n ** 2]))
    c = pi.typed(a > x, pi.TensorType(pi.BOOL, [n ** 2]))
    return pi.typed(b & c, pi.TensorType(pi.BOOL, [n ** 2]))
#> ptir 1
#>
#> func @f(%n: i64[], %x: f32[?x], %b: bool[]) -> bool[?x] {
#>   %0 = constant 2 : i64[]
#>   %1 = constant 0 : i64[1]
#>   %2 = constant 2.0 : f32[]
#>   %3 = pow %n, %0 : i64[]
#>   %4 = reshape %3 : i64[1]
#>   %5 = concat %4, %1 {axis = 0} : i64[2]
#>   %6 = dynamic_iota %5 {axis = 0} : u8[?x, 0]
#>   %7, %8 = optimization_barrier %n, %6 : i64[], u8[?x, 0]
#>   %9 = broadcast_to %2 : f32[?x]
#>   %a = mul %x, %9 : f32[?x]
#>   %c = compare %a, %x {direction = gt} : bool[?x]
#>   %10 = broadcast_to %b : bool[?x]
#>   %11 = and %10, %c : bool[?x]
#>   return %11
#> }
def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.TensorType(pi.FP32, [n]):
    n = n + 1
    return x
#> ptir 1
#>
#> func @f(%n: i64[], %x: f32[?n]) -> f32[?] {
#>   %0 = constant 0 : i64[1]
#>   %1 = constant 1 : i64[]
#>   %2 = reshape %n : i64[1]
#>   %3 = concat %2, %0 {axis = 0} : i64[2]
#>   %4 = dynamic_iota %3 {axis = 0} : u8[?n, 0]
#>   %5 = dims {values = [?n]} : i64[]
#>   %n_1 = add %5, %1 : i64[]
#>   return %x
#> }
