#! test: lower
def pooled(x: pi.TensorType(pi.FP32, [4, 6])) -> pi.TensorType(pi.FP32, [2, 3]):
    return pi.op.reduce_window(x, pi.FP32("-inf"), body="max", window=[2, 2], strides=[2, 2])

def counted(n: pi.INT64, classes: pi.TensorType(pi.INT32, [n, 1])) -> pi.TensorType(pi.INT32, [5]):
    zeros = pi.op.broadcast_to(pi.INT32(0), shape=[5])
    ones = pi.op.broadcast_to(pi.INT32(1), shape=[n])
    return pi.op.scatter(zeros, classes, ones, body="add", update_window_dims=[], inserted_window_dims=[0], scatter_dims=[0], index_vector_dim=1)

def replaced(x: pi.TensorType(pi.FP32, [5, 2]), rows: pi.TensorType(pi.INT32, [3, 1]), y: pi.TensorType(pi.FP32, [3, 2])) -> pi.TensorType(pi.FP32, [5, 2]):
    return pi.op.scatter(x, rows, y, body="replace", update_window_dims=[1], inserted_window_dims=[0], scatter_dims=[0], index_vector_dim=1)

def sorted_(keys: pi.TensorType(pi.FP32, [7]), values: pi.TensorType(pi.INT32, [7])) -> (pi.TensorType(pi.FP32, [7]), pi.TensorType(pi.INT32, [7])):
    k, v = pi.op.sort(keys, values, comparator="gt", axis=0)
    return k, v

def extremes(n: pi.INT64, x: pi.TensorType(pi.INT32, [n])) -> (pi.INT32, pi.INT32):
    a, b = pi.op.reduce(x, -x, pi.INT32(-2147483648), pi.INT32(-2147483648), body="max", axes=[0])
    return a, -b

def unpooled(x: pi.TensorType(pi.FP32, [4]), y: pi.TensorType(pi.FP32, [2])) -> pi.TensorType(pi.FP32, [4]):
    return pi.op.select_and_scatter(x, y, 0, select="ge", scatter="add", window=[2], strides=[2])
#> ptir 1
#>
#> func @counted(%n: i64[], %classes: i32[?n, 1]) -> i32[5] {
#>   %0 = constant 0 : i64[1]
#>   %1 = constant 0 : i32[]
#>   %2 = constant 1 : i32[]
#>   %3 = reshape %n : i64[1]
#>   %4 = concat %3, %0 {axis = 0} : i64[2]
#>   %5 = dynamic_iota %4 {axis = 0} : u8[?n, 0]
#>   %6 = dims {values = [?n]} : i64[]
#>   %zeros = broadcast_to %1 : i32[5]
#>   %ones = broadcast_to %2 : i32[?n]
#>   %7 = scatter %zeros, %classes, %ones {update_window_dims = [], inserted_window_dims = [0], scatter_dims = [0], index_vector_dim = 1} (%8: i32[], %9: i32[]) {
#>     %10 = add %8, %9 : i32[]
#>     yield %10
#>   } : i32[5]
#>   return %7
#> }
#>
#> func @extremes(%n: i64[], %x: i32[?n]) -> (i32[], i32[]) {
#>   %0 = constant 0 : i64[1]
#>   %1 = constant -2147483648 : i32[]
#>   %2 = reshape %n : i64[1]
#>   %3 = concat %2, %0 {axis = 0} : i64[2]
#>   %4 = dynamic_iota %3 {axis = 0} : u8[?n, 0]
#>   %5 = dims {values = [?n]} : i64[]
#>   %6 = neg %x : i32[?n]
#>   %7, %8 = reduce %x, %6, %1, %1 {axes = [0]} (%9: i32[], %10: i32[], %11: i32[], %12: i32[]) {
#>     %13 = max %9, %11 : i32[]
#>     %14 = max %10, %12 : i32[]
#>     yield %13, %14
#>   } : i32[], i32[]
#>   %a_b = tuple %7, %8 : tuple<i32[], i32[]>
#>   %a = get_tuple_element %a_b {index = 0} : i32[]
#>   %b = get_tuple_element %a_b {index = 1} : i32[]
#>   %15 = neg %b : i32[]
#>   return %a, %15
#> }
#>
#> func @pooled(%x: f32[4, 6]) -> f32[2, 3] {
#>   %0 = constant -inf : f32[]
#>   %1 = reduce_window %x, %0 {window = [2, 2], strides = [2, 2]} (%2: f32[], %3: f32[]) {
#>     %4 = max %2, %3 : f32[]
#>     yield %4
#>   } : f32[2, 3]
#>   return %1
#> }
#>
#> func @replaced(%x: f32[5, 2], %rows: i32[3, 1], %y: f32[3, 2]) -> f32[5, 2] {
#>   %0 = scatter %x, %rows, %y {update_window_dims = [1], inserted_window_dims = [0], scatter_dims = [0], index_vector_dim = 1} (%1: f32[], %2: f32[]) {
#>     yield %2
#>   } : f32[5, 2]
#>   return %0
#> }
#>
#> func @sorted_(%keys: f32[7], %values: i32[7]) -> (f32[7], i32[7]) {
#>   %0, %1 = sort %keys, %values {axis = 0} (%2: f32[], %3: f32[], %4: i32[], %5: i32[]) {
#>     %6 = compare %2, %3 {direction = gt, order = total} : bool[]
#>     yield %6
#>   } : f32[7], i32[7]
#>   %k_v = tuple %0, %1 : tuple<f32[7], i32[7]>
#>   %k = get_tuple_element %k_v {index = 0} : f32[7]
#>   %v = get_tuple_element %k_v {index = 1} : i32[7]
#>   return %k, %v
#> }
#>
#> func @unpooled(%x: f32[4], %y: f32[2]) -> f32[4] {
#>   %0 = constant 0.0 : f32[]
#>   %1 = select_and_scatter %x, %y, %0 {window = [2], strides = [2]} (%2: f32[], %3: f32[]) {
#>     %4 = compare %2, %3 {direction = ge} : bool[]
#>     yield %4
#>   } (%5: f32[], %6: f32[]) {
#>     %7 = add %5, %6 : f32[]
#>     yield %7
#>   } : f32[4]
#>   return %1
#> }
