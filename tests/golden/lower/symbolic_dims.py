#! test: lower
def odd(n: pi.INT64, x: pi.TensorType(pi.FP32, [2 * n + 1])) -> pi.TensorType(pi.FP32, [n + n + 1]):
    return pi.typed(x * x, pi.TensorType(pi.FP32, [1 + 2 * n]))

# The second parameter binds n, so that the quotient is known.
def half(n: pi.INT64, h: pi.TensorType(pi.FP32, [n // 2, n % 2, max(n, 8)]), x: pi.TensorType(pi.FP32, [n])) -> pi.TensorType(pi.FP32, [n // 2, n % 2, max(n, 8)]):
    return pi.typed(h + h, pi.TensorType(pi.FP32, [n // 2, n % 2, max(n, 8)]))

# Nothing determines n: a quotient does not, and a product of two unknown extents does not.
def open(n: pi.INT64, m: pi.INT64, x: pi.TensorType(pi.FP32, [n // 2]), y: pi.TensorType(pi.FP32, [n * m])) -> pi.TensorType(pi.FP32, [n // 2]):
    return x

# The first dim with n does not determine it, because m may be zero, but the last one does.
def after_product(n: pi.INT64, m: pi.INT64, a: pi.TensorType(pi.FP32, [m]), x: pi.TensorType(pi.FP32, [n * m]), z: pi.TensorType(pi.FP32, [n + 1])) -> pi.TensorType(pi.FP32, [n + 1]):
    return z
#> ptir 1
#>
#> func @after_product(%n: i64[], %m: i64[], %a: f32[?m], %x: f32[?m*?n], %z: f32[?n + 1]) -> f32[?n + 1] {
#>   %0 = reshape %m : i64[1]
#>   %1 = dynamic_iota %0 {axis = 0} : u8[?m]
#>   %2 = dims {values = [?m]} : i64[]
#>   %3 = reshape %n : i64[1]
#>   %4 = dynamic_iota %3 {axis = 0} : u8[?n]
#>   %5 = dims {values = [?n]} : i64[]
#>   return %z
#> }
#>
#> func @half(%n: i64[], %h: f32[floordiv(?n, 2), mod(?n, 2), max(?n, 8)], %x: f32[?n]) -> f32[floordiv(?n, 2), mod(?n, 2), max(?n, 8)] {
#>   %0 = reshape %n : i64[1]
#>   %1 = dynamic_iota %0 {axis = 0} : u8[?n]
#>   %2 = dims {values = [?n]} : i64[]
#>   %3 = add %h, %h : f32[floordiv(?n, 2), mod(?n, 2), max(?n, 8)]
#>   return %3
#> }
#>
#> func @odd(%n: i64[], %x: f32[2*?n + 1]) -> f32[2*?n + 1] {
#>   %0 = reshape %n : i64[1]
#>   %1 = dynamic_iota %0 {axis = 0} : u8[?n]
#>   %2 = dims {values = [?n]} : i64[]
#>   %3 = mul %x, %x : f32[2*?n + 1]
#>   return %3
#> }
#>
#> func @open(%n: i64[], %m: i64[], %x: f32[?x], %y: f32[?y]) -> f32[?x] {
#>   %0 = constant 2 : i64[]
#>   %1 = constant 0 : i64[]
#>   %2 = div %n, %0 : i64[]
#>   %3 = rem %n, %0 : i64[]
#>   %4 = compare %3, %1 {direction = lt} : bool[]
#>   %5 = cast %4 : i64[]
#>   %6 = sub %2, %5 : i64[]
#>   %7 = reshape %6 : i64[1]
#>   %8 = dynamic_iota %7 {axis = 0} : u8[?x]
#>   %9, %10 = optimization_barrier %n, %8 : i64[], u8[?x]
#>   %11 = mul %9, %m : i64[]
#>   %12 = reshape %11 : i64[1]
#>   %13 = dynamic_iota %12 {axis = 0} : u8[?y]
#>   %14, %15 = optimization_barrier %9, %13 : i64[], u8[?y]
#>   %16, %17 = optimization_barrier %m, %13 : i64[], u8[?y]
#>   return %x
#> }
