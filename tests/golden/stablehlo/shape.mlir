//! test: stablehlo
func.func @main(%x: tensor<2x3xf32>, %s: tensor<f32>) -> tensor<3x2xf32> {
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3x4xui8>
  %2 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %3 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %4 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %5 = stablehlo.broadcast %x, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %6 = stablehlo.slice %x [0:2:2, 1:3] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  %7 = stablehlo.concatenate %x, %4, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %8 = stablehlo.pad %x, %s, low = [1, 0], high = [-1, 2], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x7xf32>
  %9 = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xf32>
  %10 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  %11 = arith.constant 3 : i32
  %12 = chlo.constant dense<1.0> : tensor<2xf32>
  return %3 : tensor<3x2xf32>
}
//> module {
//>   func.func @main(%x: tensor<2x3xf32>, %s: tensor<f32>) -> tensor<3x2xf32> {
//>     %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
//>     %1 = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3x4xui8>
//>     %2 = stablehlo.iota dim = 1 : tensor<2x3xi32>
//>     %3 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
//>     %4 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
//>     %5 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
//>     %6 = stablehlo.slice %x [0:2:2, 1:3] : (tensor<2x3xf32>) -> tensor<1x2xf32>
//>     %7 = stablehlo.concatenate %x, %4, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
//>     %8 = stablehlo.pad %x, %s, low = [1, 0], high = [-1, 2], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x7xf32>
//>     %9 = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xf32>
//>     %10 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
//>     %11 = stablehlo.constant dense<3> : tensor<i32>
//>     %12 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
//>     return %3 : tensor<3x2xf32>
//>   }
//> }
