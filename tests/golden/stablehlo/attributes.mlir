//! test: stablehlo
// Attributes in braces are written back, at whichever place the op has for them.
func.func @main(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.tuple %a, %z {note = 1 : i64} : tuple<tensor<4xf32>, tensor<f32>>
  %1 = stablehlo.get_tuple_element %0[0] {note = 2 : i64} : (tuple<tensor<4xf32>, tensor<f32>>) -> tensor<4xf32>
  %2:2 = chlo.top_k(%1, k = 2) {note = 3 : i64} : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %3 = stablehlo.after_all {note = 4 : i64} : !stablehlo.token
  %4:2 = stablehlo.optimization_barrier {note = 5 : i64} %1, %3 : tensor<4xf32>, !stablehlo.token
  %5 = stablehlo.dot %a, %a, precision = [HIGHEST, HIGHEST] {note = 6 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %6 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {note = 7 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %4#0 : tensor<4xf32>
}
//> module {
//>   func.func @main(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<4xf32> {
//>     %0 = stablehlo.tuple %a, %z {note = 1 : i64} : tuple<tensor<4xf32>, tensor<f32>>
//>     %1 = stablehlo.get_tuple_element %0[0] {note = 2 : i64} : (tuple<tensor<4xf32>, tensor<f32>>) -> tensor<4xf32>
//>     %2:2 = chlo.top_k(%1, k = 2) {note = 3 : i64} : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
//>     %3 = stablehlo.after_all {note = 4 : i64} : !stablehlo.token
//>     %4:2 = stablehlo.optimization_barrier {note = 5 : i64} %1, %3 : tensor<4xf32>, !stablehlo.token
//>     %5 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] {note = 6 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
//>     %6 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {note = 7 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
//>     return %4#0 : tensor<4xf32>
//>   }
//> }
