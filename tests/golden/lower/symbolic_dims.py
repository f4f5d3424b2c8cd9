#! test: lower
def odd(n: pi.INT64, x: pi.TensorType(pi.FP32, [2 * n + 1])) -> pi.TensorType(pi.FP32, [n + n + 1]):
    return pi.typed(x * x, pi.TensorType(pi.FP32, [1 + 2 * n]))

# The second parameter binds n, so that the quotient is known.
def half(n: pi.INT64, h: pi.TensorType(pi.FP32, [n // 2, n % 2, max(n, 8)]), x: pi.TensorType(pi.FP32, [n])) -> pi.TensorType(pi.FP32, [n // 2, n % 2, max(n, 8)]):
    return pi.typed(h + h, pi.TensorType(pi.FP32, [n // 2, n % 2, max(n, 8)]))

# Nothing determines n: a quotient does not, and a product of two unknown extents does not.
def open(n: pi.INT64, m: pi.INT64, x: pi.TensorType(pi.FP32, [n // 2]), y: pi.TensorType(pi.FP32, [n * m])) -> pi.TensorType(pi.FP32, [n // 2]):
    return x
#> ptir 1
#>
#> func @half(%n: i64[], %h: f32[floordiv(?n, 2), mod(?n, 2), max(?n, 8)], %x: f32[?n]) -> f32[floordiv(?n, 2), mod(?n, 2), max(?n, 8)] {
#>   %0 = add %h, %h : f32[floordiv(?n, 2), mod(?n, 2), max(?n, 8)]
#>   return %0
#> }
#>
#> func @odd(%n: i64[], %x: f32[2*?n + 1]) -> f32[2*?n + 1] {
#>   %0 = mul %x, %x : f32[2*?n + 1]
#>   return %0
#> }
#>
#> func @open(%n: i64[], %m: i64[], %x: f32[?], %y: f32[?]) -> f32[?] {
#>   return %x
#> }
