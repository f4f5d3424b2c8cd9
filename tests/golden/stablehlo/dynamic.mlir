//! test: stablehlo
// Shapes that are constant are read as such; the others are kept as they are.
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
//>     %0 = "stablehlo.dynamic_reshape"(%x, %shape) : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
//>     %1 = "stablehlo.dynamic_broadcast_in_dim"(%0, %shape) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
//>     %2 = "stablehlo.dynamic_iota"(%shape) <{iota_dimension = 0 : i64}> : (tensor<2xi64>) -> tensor<?x?xi32>
//>     %3 = stablehlo.exponential %1 : tensor<?x?xf32>
//>     return %3 : tensor<?x?xf32>
//>   }
//> }
