//! test: stablehlo
func.func @products(%a: tensor<5x2x3xf32>, %b: tensor<5x3x4xf32>, %h: tensor<4x3xbf16>, %i: tensor<2x3xi8>, %v: tensor<3xf32>) -> tensor<5x2x4xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  %1 = stablehlo.dot_general %h, %h, contracting_dims = [1] x [1], precision = [HIGHEST, DEFAULT] : (tensor<4x3xbf16>, tensor<4x3xbf16>) -> tensor<4x4xf32>
  %2 = stablehlo.dot_general %i, %i, contracting_dims = [1] x [1] : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x2xi32>
  %3 = stablehlo.dot %v, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return %0 : tensor<5x2x4xf32>
}
func.func @convolutions(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x2x6xf32>, %y: tensor<1x2x16xf32>, %l: tensor<3x2x2xf32>) -> tensor<1x4x4x6xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x4x4x6xf32>
  %1 = stablehlo.convolution(%y, %l) dim_numbers = [b, f, 0]x[0, i, o]->[b, 0, f], window = {rhs_dilate = [2], lhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]} : (tensor<1x2x16xf32>, tensor<3x2x2xf32>) -> tensor<1x27x2xf32>
  return %0 : tensor<1x4x4x6xf32>
}
func.func @algebra(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>, %z: tensor<4x8xcomplex<f32>>) -> tensor<3x2xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>
  %2 = stablehlo.cholesky %a : tensor<3x3xf32>
  %3 = stablehlo.fft %z, type = FFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  %4 = stablehlo.fft %z, type =  IRFFT, length = [4, 14] : (tensor<4x8xcomplex<f32>>) -> tensor<4x14xf32>
  return %0 : tensor<3x2xf32>
}
//> module {
//>   func.func @products(%a: tensor<5x2x3xf32>, %b: tensor<5x3x4xf32>, %h: tensor<4x3xbf16>, %i: tensor<2x3xi8>, %v: tensor<3xf32>) -> tensor<5x2x4xf32> {
//>     %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
//>     %1 = stablehlo.dot_general %h, %h, contracting_dims = [1] x [1], precision = [HIGHEST, DEFAULT] : (tensor<4x3xbf16>, tensor<4x3xbf16>) -> tensor<4x4xf32>
//>     %2 = stablehlo.dot_general %i, %i, contracting_dims = [1] x [1] : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x2xi32>
//>     %3 = stablehlo.dot_general %v, %v, contracting_dims = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
//>     return %0 : tensor<5x2x4xf32>
//>   }
//>   func.func @convolutions(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x2x6xf32>, %y: tensor<1x2x16xf32>, %l: tensor<3x2x2xf32>) -> tensor<1x4x4x6xf32> {
//>     %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x4x4x6xf32>
//>     %1 = stablehlo.convolution(%y, %l) dim_numbers = [b, f, 0]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [2], rhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]} : (tensor<1x2x16xf32>, tensor<3x2x2xf32>) -> tensor<1x27x2xf32>
//>     return %0 : tensor<1x4x4x6xf32>
//>   }
//>   func.func @algebra(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>, %z: tensor<4x8xcomplex<f32>>) -> tensor<3x2xf32> {
//>     %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
//>     %1 = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>
//>     %2 = stablehlo.cholesky %a : tensor<3x3xf32>
//>     %3 = stablehlo.fft %z, type = FFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
//>     %4 = stablehlo.fft %z, type = IRFFT, length = [4, 14] : (tensor<4x8xcomplex<f32>>) -> tensor<4x14xf32>
//>     return %0 : tensor<3x2xf32>
//>   }
//> }
