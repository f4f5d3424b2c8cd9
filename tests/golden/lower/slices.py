#! test: lower
def constant(x: pi.TensorType(pi.FP32, [6, 8])) -> pi.TensorType(pi.FP32, [5, 4]):
    return x[1:, ::2]

def element(x: pi.TensorType(pi.FP32, [6, 8])) -> pi.FP32:
    return x[0, -1]

def row(x: pi.TensorType(pi.FP32, [6, 8]), i: pi.INT32) -> pi.TensorType(pi.FP32, [8]):
    return x[i]

def symbolic(n: pi.INT64, k: pi.INT64, x: pi.TensorType(pi.FP32, [n, 8]), y: pi.TensorType(pi.FP32, [k])) -> pi.TensorType(pi.FP32, [n - 1, k]):
    return x[1:, :k]

def transposed(x: pi.TensorType(pi.FP32, [6, 8])) -> pi.TensorType(pi.FP32, [8, 3]):
    return x[3:].T
#> ptir 1
#>
#> func @constant(%x: f32[6, 8]) -> f32[5, 4] {
#>   %0 = slice %x {starts = [1, 0], limits = [6, 8], strides = [1, 2]} : f32[5, 4]
#>   return %0
#> }
#>
#> func @element(%x: f32[6, 8]) -> f32[] {
#>   %0 = slice %x {starts = [0, 7], limits = [1, 8]} : f32[1, 1]
#>   %1 = reshape %0 : f32[]
#>   return %1
#> }
#>
#> func @row(%x: f32[6, 8], %i: i32[]) -> f32[8] {
#>   %0 = constant 0 : i32[]
#>   %1 = dynamic_slice %x, %i, %0 {sizes = [1, 8]} : f32[1, 8]
#>   %2 = reshape %1 : f32[8]
#>   return %2
#> }
#>
#> func @symbolic(%n: i64[], %k: i64[], %x: f32[?n, 8], %y: f32[?k]) -> f32[?n - 1, ?k] {
#>   %0 = constant 0 : i64[1]
#>   %1 = constant 1 : i64[]
#>   %2 = constant 0 : i64[]
#>   %3 = reshape %n : i64[1]
#>   %4 = concat %3, %0 {axis = 0} : i64[2]
#>   %5 = dynamic_iota %4 {axis = 0} : u8[?n, 0]
#>   %6 = dims {values = [?n]} : i64[]
#>   %7 = reshape %k : i64[1]
#>   %8 = concat %7, %0 {axis = 0} : i64[2]
#>   %9 = dynamic_iota %8 {axis = 0} : u8[?k, 0]
#>   %10 = dims {values = [?k]} : i64[]
#>   %11 = dynamic_slice %x, %1, %2 {sizes = [?n - 1, ?k]} : f32[?n - 1, ?k]
#>   return %11
#> }
#>
#> func @transposed(%x: f32[6, 8]) -> f32[8, 3] {
#>   %0 = slice %x {starts = [3, 0], limits = [6, 8]} : f32[3, 8]
#>   %1 = transpose %0 {perm = [1, 0]} : f32[8, 3]
#>   return %1
#> }
