//! test: stablehlo
func.func @main(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %cst) <{padding = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "stablehlo.select_and_scatter"(%x, %s, %cst) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<2x3xf32>
}
//> module {
//>   func.func @main(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>) -> tensor<2x3xf32> {
//>     %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
//>     %0 = "stablehlo.reduce_window"(%x, %cst) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> ({
//>     ^bb0(%a: tensor<f32>, %b: tensor<f32>):
//>       %1 = stablehlo.add %a, %b : tensor<f32>
//>       stablehlo.return %1 : tensor<f32>
//>     }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x3xf32>
//>     %2 = "stablehlo.select_and_scatter"(%x, %s, %cst) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
//>     ^bb0(%a_0: tensor<f32>, %b_0: tensor<f32>):
//>       %3 = stablehlo.compare GE, %a_0, %b_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
//>       stablehlo.return %3 : tensor<i1>
//>     }, {
//>     ^bb0(%a_1: tensor<f32>, %b_1: tensor<f32>):
//>       %4 = stablehlo.add %a_1, %b_1 : tensor<f32>
//>       stablehlo.return %4 : tensor<f32>
//>     }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
//>     return %0 : tensor<2x3xf32>
//>   }
//> }
