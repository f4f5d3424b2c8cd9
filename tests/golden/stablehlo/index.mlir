//! test: stablehlo
func.func @main(%x: tensor<8x3xf32>, %at: tensor<5x1xi32>, %u: tensor<5x3xf32>, %i: tensor<i64>) -> tensor<5x3xf32> {
  %0 = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 3>}> : (tensor<8x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  %1 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<8x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<8x3xf32>
  %2 = stablehlo.dynamic_slice %x, %i, %i, sizes = [5, 3] : (tensor<8x3xf32>, tensor<i64>, tensor<i64>) -> tensor<5x3xf32>
  %3 = stablehlo.dynamic_update_slice %x, %2, %i, %i : (tensor<8x3xf32>, tensor<5x3xf32>, tensor<i64>, tensor<i64>) -> tensor<8x3xf32>
  return %0 : tensor<5x3xf32>
}
//> module {
//>   func.func @main(%x: tensor<8x3xf32>, %at: tensor<5x1xi32>, %u: tensor<5x3xf32>, %i: tensor<i64>) -> tensor<5x3xf32> {
//>     %0 = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> {indices_are_sorted = true} : (tensor<8x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
//>     %1 = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
//>     ^bb0(%a: tensor<f32>, %b: tensor<f32>):
//>       %2 = stablehlo.add %a, %b : tensor<f32>
//>       stablehlo.return %2 : tensor<f32>
//>     }) {indices_are_sorted = false, unique_indices = true} : (tensor<8x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<8x3xf32>
//>     %3 = stablehlo.dynamic_slice %x, %i, %i, sizes = [5, 3] : (tensor<8x3xf32>, tensor<i64>, tensor<i64>) -> tensor<5x3xf32>
//>     %4 = stablehlo.dynamic_update_slice %x, %3, %i, %i : (tensor<8x3xf32>, tensor<5x3xf32>, tensor<i64>, tensor<i64>) -> tensor<8x3xf32>
//>     return %0 : tensor<5x3xf32>
//>   }
//> }
