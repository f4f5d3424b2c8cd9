//! test: stablehlo
func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precision = [HIGH, HIGH], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = i32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision = f32> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = 3 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = 0> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//> error: stablehlo.dot_general: `lhs_component_count` is 0, expected at least 1
//>  --> stablehlo::algorithm_wrong:2:68
//>   |
//> 2 | …dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32…
//>   |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.dot_general: field `accumulation_type` is missing
//>  --> stablehlo::algorithm_wrong:3:68
//>   |
//> 3 | …dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32> : (tensor<2x2xf32>, ten…
//>   |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.dot_general: with `algorithm`, the precision must be DEFAULT
//>  --> stablehlo::algorithm_wrong:4:94
//>   |
//> 4 | …cting_dims = [1] x [0], precision = [HIGH, HIGH], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32…
//>   |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.dot_general: `lhs_precision_type` is `i32`, expected a float type or tf32
//>  --> stablehlo::algorithm_wrong:5:68
//>   |
//> 5 | …dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = i32, rhs_precision_type = tf32, accumulation_type = f32,…
//>   |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.dot_general: field `lhs_precision` is not known; did you mean `lhs_precision_type`?
//>  --> stablehlo::algorithm_wrong:6:68
//>   |
//> 6 | …dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision = f32> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
//>   |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.dot_general: attribute `algorithm` must be a struct
//>  --> stablehlo::algorithm_wrong:7:68
//>   |
//> 7 |   %5 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], algorithm = 3 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
//>   |                                                                    ^^^^^^^^^^^^^
//>
//> error: stablehlo.dot_general: `allow_imprecise_accumulation` must be true or false
//>  --> stablehlo::algorithm_wrong:8:68
//>   |
//> 8 | …dot_general %a, %a, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32…
//>   |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
