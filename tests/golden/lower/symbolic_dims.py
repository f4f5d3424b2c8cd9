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
#>   %0 = constant 0 : i64[1]
#>   %1 = reshape %m : i64[1]
#>   %2 = concat %1, %0 {axis = 0} : i64[2]
#>   %3 = dynamic_iota %2 {axis = 0} : u8[?m, 0]
#>   %4 = dims {values = [?m]} : i64[]
#>   %5 = reshape %n : i64[1]
#>   %6 = concat %5, %0 {axis = 0} : i64[2]
#>   %7 = dynamic_iota %6 {axis = 0} : u8[?n, 0]
#>   %8 = dims {values = [?n]} : i64[]
#>   return %z
#> }
#>
#> func @half(%n: i64[], %h: f32[floordiv(?n, 2), mod(?n, 2), max(?n, 8)], %x: f32[?n]) -> f32[floordiv(?n, 2), mod(?n, 2), max(?n, 8)] {
#>   %0 = constant 0 : i64[1]
#>   %1 = reshape %n : i64[1]
#>   %2 = concat %1, %0 {axis = 0} : i64[2]
#>   %3 = dynamic_iota %2 {axis = 0} : u8[?n, 0]
#>   %4 = dims {values = [?n]} : i64[]
#>   %5 = add %h, %h : f32[floordiv(?n, 2), mod(?n, 2), max(?n, 8)]
#>   return %5
#> }
#>
#> func @odd(%n: i64[], %x: f32[2*?n + 1]) -> f32[2*?n + 1] {
#>   %0 = constant 0 : i64[1]
#>   %1 = reshape %n : i64[1]
#>   %2 = concat %1, %0 {axis = 0} : i64[2]
#>   %3 = dynamic_iota %2 {axis = 0} : u8[?n, 0]
#>   %4 = dims {values = [?n]} : i64[]
#>   %5 = mul %x, %x : f32[2*?n + 1]
#>   return %5
#> }
#>
#> func @open(%n: i64[], %m: i64[], %x: f32[?x], %y: f32[?y]) -> f32[?x] {
#>   %0 = constant 2 : i64[]
#>   %1 = constant 0 : i64[]
#>   %2 = constant 0 : i64[1]
#>   %3 = div %n, %0 : i64[]
#>   %4 = rem %n, %0 : i64[]
#>   %5 = compare %4, %1 {direction = lt} : bool[]
#>   %6 = cast %5 : i64[]
#>   %7 = sub %3, %6 : i64[]
#>   %8 = reshape %7 : i64[1]
#>   %9 = concat %8, %2 {axis = 0} : i64[2]
#>   %10 = dynamic_iota %9 {axis = 0} : u8[?x, 0]
#>   %11, %12 = optimization_barrier %n, %10 : i64[], u8[?x, 0]
#>   %13 = mul %11, %m : i64[]
#>   %14 = reshape %13 : i64[1]
#>   %15 = concat %14, %2 {axis = 0} : i64[2]
#>   %16 = dynamic_iota %15 {axis = 0} : u8[?y, 0]
#>   %17, %18 = optimization_barrier %11, %16 : i64[], u8[?y, 0]
#>   %19, %20 = optimization_barrier %m, %16 : i64[], u8[?y, 0]
#>   return %x
#> }
