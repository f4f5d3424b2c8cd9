//! test: stablehlo
module @calls attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {jax.arg_info = "x", mhlo.layout_mode = "default"}, %arg1: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}, tuple<tensor<4xf32>, tensor<i32>>) attributes {jax.note = "kept"} {
    %c = stablehlo.constant dense<7> : tensor<i32>
    %0:2 = call @"<lambda>"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %one, %two = func.call @"<lambda>"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    stablehlo.custom_call @effect(%0#0) {has_side_effect = true} : (tensor<4xf32>) -> ()
    %2 = stablehlo.custom_call @pure(%0#0) {backend_config = "a \"quoted\" word"} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = stablehlo.custom_call @more(%0#1) {api_version = 4 : i32, backend_config = {n = 1 : i64}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
    %4 = stablehlo.tuple %2, %c : tuple<tensor<4xf32>, tensor<i32>>
    %5 = stablehlo.get_tuple_element %4[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
    %6:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<4xf32>, tensor<4xf32>
    %7 = stablehlo.create_token : !stablehlo.token
    %8 = stablehlo.after_all %7, %7 : !stablehlo.token
    %9 = stablehlo.composite "my.op" %arg0 {composite_attributes = {k = 1 : i32}, decomposition = @half, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %3, %4 : tensor<4xf32>, tuple<tensor<4xf32>, tensor<i32>>
  }
  func.func private @"<lambda>"(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    return %arg1, %arg0 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @half(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
//> module @calls attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
//>   func.func public @main(%arg0: tensor<4xf32> {jax.arg_info = "x", mhlo.layout_mode = "default"}, %arg1: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}, tuple<tensor<4xf32>, tensor<i32>>) attributes {jax.note = "kept"} {
//>     %c = stablehlo.constant dense<7> : tensor<i32>
//>     %0:2 = func.call @"<lambda>"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
//>     %one:2 = func.call @"<lambda>"(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
//>     stablehlo.custom_call @effect(%0#0) {has_side_effect = true} : (tensor<4xf32>) -> ()
//>     %1 = stablehlo.custom_call @pure(%0#0) {backend_config = "a \"quoted\" word"} : (tensor<4xf32>) -> tensor<4xf32>
//>     %2 = stablehlo.custom_call @more(%0#1) {api_version = 4 : i32, backend_config = {n = 1 : i64}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
//>     %3 = stablehlo.tuple %1, %c : tuple<tensor<4xf32>, tensor<i32>>
//>     %4 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
//>     %5:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<4xf32>, tensor<4xf32>
//>     %6 = stablehlo.after_all : !stablehlo.token
//>     %7 = stablehlo.after_all %6, %6 : !stablehlo.token
//>     %8 = func.call @half(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
//>     return %2, %3 : tensor<4xf32>, tuple<tensor<4xf32>, tensor<i32>>
//>   }
//>   func.func private @"<lambda>"(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
//>     return %arg1, %arg0 : tensor<4xf32>, tensor<4xf32>
//>   }
//>   func.func private @half(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//>     return %arg0 : tensor<4xf32>
//>   }
//> }
