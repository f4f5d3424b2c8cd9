//! test: stablehlo
"builtin.module"() <{sym_name = "generic"}> ({
  "func.func"() <{arg_attrs = [{jax.x = 1 : i32}, {}], function_type = (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2xf32>
    %3 = "stablehlo.compare"(%1, %2) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %4 = "stablehlo.slice"(%1) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<2x2xf32>) -> tensor<2x1xf32>
    %5 = "stablehlo.reduce"(%1, %0) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %9 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%9) : (tensor<f32>) -> ()
    }) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
    %6 = "func.call"(%1) <{callee = @relu}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %7 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xi32>
    %8 = "stablehlo.custom_call"(%6) <{call_target_name = "foo", has_side_effect = true}> {mhlo.note = "kept"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    "func.return"(%8) : (tensor<2x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x2xf32>) -> tensor<2x2xf32>, sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x2xf32>):
    "func.return"(%arg0) : (tensor<2x2xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32} : () -> ()
//> module @generic attributes {mhlo.num_partitions = 1 : i32} {
//>   func.func public @main(%arg0: tensor<2x3xf32> {jax.x = 1 : i32}, %arg1: tensor<3x2xf32>) -> tensor<2x2xf32> {
//>     %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
//>     %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
//>     %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
//>     %3 = stablehlo.compare LT, %1, %2, FLOAT : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
//>     %4 = stablehlo.slice %1 [0:2, 1:2] : (tensor<2x2xf32>) -> tensor<2x1xf32>
//>     %5 = stablehlo.reduce(%1 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
//>     %6 = func.call @relu(%1) : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>     %7 = stablehlo.iota dim = 0 : tensor<2xi32>
//>     %8 = stablehlo.custom_call @foo(%6) {has_side_effect = true, mhlo.note = "kept"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>     return %8 : tensor<2x2xf32>
//>   }
//>   func.func private @relu(%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {
//>     return %arg0 : tensor<2x2xf32>
//>   }
//> }
