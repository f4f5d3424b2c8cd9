//! test: stablehlo
// Shapes that are constant are read as such; the others stay operands.
func.func @constant(%x: tensor<6xf32>, %p: tensor<f32>) -> tensor<3x2xf32> {
  %shape = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %zero = stablehlo.constant dense<[0]> : tensor<1xi64>
  %four = stablehlo.constant dense<[4]> : tensor<1xi64>
  %one = stablehlo.constant dense<[1]> : tensor<1xi64>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %p, %shape, dims = [] : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  %2 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<?x?xf32>
  %3 = stablehlo.dynamic_pad %x, %p, %one, %zero, %zero : (tensor<6xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %4 = stablehlo.real_dynamic_slice %x, %zero, %four, %one : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %5 = "stablehlo.dynamic_gather"(%x, %shape, %one) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<6xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<2xf32>
  %6 = stablehlo.add %0, %1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<3x2xf32>
  return %6 : tensor<3x2xf32>
}
func.func @open(%x: tensor<?xf32>, %shape: tensor<2xi64>, %at: tensor<1xi64>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %0, %shape, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %2 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi32>
  %3 = stablehlo.exponential %1 : tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}
func.func @pad_slice_gather(%x: tensor<?x4xf32>, %v: tensor<f32>, %n: tensor<2xi32>, %i: tensor<3xi32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<3x?xf32>) {
  %0 = stablehlo.dynamic_pad %x, %v, %n, %n, %n : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.real_dynamic_slice %x, %n, %n, %n : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %2 = "stablehlo.dynamic_gather"(%x, %i, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x4xf32>, tensor<3xi32>, tensor<2xi32>) -> tensor<3x?xf32>
  return %0, %1, %2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<3x?xf32>
}
func.func @conv(%x: tensor<?x?x3xf32>, %k: tensor<2x3x5xf32>, %p: tensor<1x2xi32>) -> tensor<?x?x5xf32> {
  %0 = "stablehlo.dynamic_conv"(%x, %k, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2>}> : (tensor<?x?x3xf32>, tensor<2x3x5xf32>, tensor<1x2xi32>) -> tensor<?x?x5xf32>
  return %0 : tensor<?x?x5xf32>
}
//> module {
//>   func.func @constant(%x: tensor<6xf32>, %p: tensor<f32>) -> tensor<3x2xf32> {
//>     %shape = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
//>     %zero = stablehlo.constant dense<0> : tensor<1xi64>
//>     %four = stablehlo.constant dense<4> : tensor<1xi64>
//>     %one = stablehlo.constant dense<1> : tensor<1xi64>
//>     %0 = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<3x2xf32>
//>     %1 = stablehlo.broadcast_in_dim %p, dims = [] : (tensor<f32>) -> tensor<3x2xf32>
//>     %2 = stablehlo.iota dim = 1 : tensor<3x2xf32>
//>     %3 = stablehlo.pad %x, %p, low = [1], high = [0], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<7xf32>
//>     %4 = stablehlo.slice %x [0:4] : (tensor<6xf32>) -> tensor<4xf32>
//>     %5 = "stablehlo.gather"(%x, %shape) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<2xi64>) -> tensor<2xf32>
//>     %6 = stablehlo.add %0, %1 : tensor<3x2xf32>
//>     return %6 : tensor<3x2xf32>
//>   }
//>   func.func @open(%x: tensor<?xf32>, %shape: tensor<2xi64>, %at: tensor<1xi64>) -> tensor<?x?xf32> {
//>     %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
//>     %1 = stablehlo.dynamic_broadcast_in_dim %0, %shape, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
//>     %2 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi32>
//>     %3 = stablehlo.exponential %1 : tensor<?x?xf32>
//>     return %3 : tensor<?x?xf32>
//>   }
//>   func.func @pad_slice_gather(%x: tensor<?x4xf32>, %v: tensor<f32>, %n: tensor<2xi32>, %i: tensor<3xi32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<3x?xf32>) {
//>     %0 = stablehlo.dynamic_pad %x, %v, %n, %n, %n : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
//>     %1 = stablehlo.real_dynamic_slice %x, %n, %n, %n : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
//>     %2 = "stablehlo.dynamic_gather"(%x, %i, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x4xf32>, tensor<3xi32>, tensor<2xi32>) -> tensor<3x?xf32>
//>     return %0, %1, %2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<3x?xf32>
//>   }
//>   func.func @conv(%x: tensor<?x?x3xf32>, %k: tensor<2x3x5xf32>, %p: tensor<1x2xi32>) -> tensor<?x?x5xf32> {
//>     %0 = "stablehlo.dynamic_conv"(%x, %k, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2>}> : (tensor<?x?x3xf32>, tensor<2x3x5xf32>, tensor<1x2xi32>) -> tensor<?x?x5xf32>
//>     return %0 : tensor<?x?x5xf32>
//>   }
//> }
