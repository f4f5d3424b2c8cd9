#! test: lower
def f(x: pi.TensorType(pi.FP32, [4, 8])) -> (pi.TensorType(pi.FP32, [4, 1]), pi.TensorType(pi.INT64, [4])):
    m = pi.op.reduce_max(x, axes=[1], keepdims=True)
    i = pi.op.arg_max(x, axis=1, index=pi.INT64)
    return m, i

def pooled(x: pi.TensorType(pi.FP32, [1, 4, 4, 2]), k: pi.TensorType(pi.FP32, [3, 3, 2, 5])) -> pi.TensorType(pi.FP32, [1, 4, 4, 5]):
    y = pi.op.convolution(x, k, input_dims=[0, 3, 1, 2], kernel_dims=[2, 3, 0, 1], output_dims=[0, 3, 1, 2], pads=[[1, 1], [1, 1]])
    return y

def best(x: pi.TensorType(pi.FP32, [8])) -> (pi.TensorType(pi.FP32, [2]), pi.TensorType(pi.INT32, [2])):
    values, places = pi.op.top_k(x, k=2)
    return values, places

def table() -> pi.TensorType(pi.FP32, [2, 2]):
    return pi.op.constant(value=[[1.0, 2.0], [3.0, 4.5]])

def counted(n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 2])) -> pi.TensorType(pi.FP32, [n * 2]):
    y = pi.op.reshape(x, shape=[n * 2])
    return y + pi.op.iota(axis=0, shape=[n * 2], dtype=pi.FP32)
#> ptir 1
#>
#> func @best(%x: f32[8]) -> (f32[2], i32[2]) {
#>   %0, %1 = top_k %x {k = 2} : f32[2], i32[2]
#>   %values_places = tuple %0, %1 : tuple<f32[2], i32[2]>
#>   %values = get_tuple_element %values_places {index = 0} : f32[2]
#>   %places = get_tuple_element %values_places {index = 1} : i32[2]
#>   return %values, %places
#> }
#>
#> func @counted(%n: i64[], %x: f32[?n, 2]) -> f32[2*?n] {
#>   %0 = constant 0 : i64[1]
#>   %1 = reshape %n : i64[1]
#>   %2 = concat %1, %0 {axis = 0} : i64[2]
#>   %3 = dynamic_iota %2 {axis = 0} : u8[?n, 0]
#>   %4 = dims {values = [?n]} : i64[]
#>   %y = reshape %x : f32[2*?n]
#>   %5 = iota {axis = 0} : f32[2*?n]
#>   %6 = add %y, %5 : f32[2*?n]
#>   return %6
#> }
#>
#> func @f(%x: f32[4, 8]) -> (f32[4, 1], i64[4]) {
#>   %m = reduce_max %x {axes = [1], keepdims = true} : f32[4, 1]
#>   %i = arg_max %x {axis = 1, index = i64} : i64[4]
#>   return %m, %i
#> }
#>
#> func @pooled(%x: f32[1, 4, 4, 2], %k: f32[3, 3, 2, 5]) -> f32[1, 4, 4, 5] {
#>   %y = convolution %x, %k {input_dims = [0, 3, 1, 2], kernel_dims = [2, 3, 0, 1], output_dims = [0, 3, 1, 2], pads = [[1, 1], [1, 1]]} : f32[1, 4, 4, 5]
#>   return %y
#> }
#>
#> func @table() -> f32[2, 2] {
#>   %0 = constant [[1.0, 2.0], [3.0, 4.5]] : f32[2, 2]
#>   return %0
#> }
