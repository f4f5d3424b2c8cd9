//! test: stablehlo
// What says one thing twice is refused, whichever of the two would be meant.
#numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_contracting_dimensions = [0]>
func.func @clauses(%a: tensor<2x2xf32>, %z: tensor<f32>) -> tensor<2x2xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0], permutation = array<i64: 0, 1> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.transpose %a, dims = [1, 0], dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.transpose %a, dims = [1, 0] {permutation = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.iota dim = 0, dim = 1 : tensor<2x2xi32>
  %4 = stablehlo.pad %a, %z, low = [0, 0], high = [1, 0], interior = [0, 0], low = [9, 9] : (tensor<2x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %5 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precision = [HIGH, HIGH], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %a : tensor<2x2xf32>
}
func.func @dictionaries(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.abs %a {x = 1, y = 2, "x" = 3} : tensor<2x2xf32>
  %1 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>, permutation = array<i64: 0, 1>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> {permutation = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = "stablehlo.dot_general"(%a, %a) <{dot_dimension_numbers = #numbers}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = "other.op"(%a) {list = [{k = 1, k = 2}]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %a : tensor<2x2xf32>
}
func.func @forms(%a: tensor<2x2xf32>, %i: tensor<1x4x4x1xf32>, %k: tensor<1x1x1x1xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.compare LT, %a, %a {comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  %1 = stablehlo.slice %a [0:1, 0:1] {start_indices = array<i64: 1, 1>} : (tensor<2x2xf32>) -> tensor<1x1xf32>
  %2 = stablehlo.slice %a [0:1, 0:1] [1:2, 1:2] : (tensor<2x2xf32>) -> tensor<1x1xf32>
  %3 = call @clauses(%a) {callee = @forms} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.custom_call @one(%a) {call_target_name = "two"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 2, 2>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>
  %6 = stablehlo.constant {value = dense<1.0> : tensor<f32>} dense<2.0> : tensor<f32>
  return %a : tensor<2x2xf32>
}
//> error: attribute `lhs_contracting_dimensions` is given twice
//>  --> stablehlo::twice:2:95
//>   |
//> 2 | #numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_contracting_dimensions = [0]>
//>   |                                                                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>   |
//> note: the first is in line 2
//>  --> stablehlo::twice:2:27
//>   |
//> 2 | #numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_contracting_dimensions = [0]>
//>   |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: attribute `permutation` is given twice, first as `dims`
//>  --> stablehlo::twice:4:47
//>   |
//> 4 |   %0 = stablehlo.transpose %a, dims = [1, 0], permutation = array<i64: 0, 1> : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>   |                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>   |
//> note: the first is in line 4
//>  --> stablehlo::twice:4:32
//>   |
//> 4 |   %0 = stablehlo.transpose %a, dims = [1, 0], permutation = array<i64: 0, 1> : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>   |                                ^^^^^^^^^^^^^
//>
//> error: attribute `dims` is given twice
//>  --> stablehlo::twice:5:47
//>   |
//> 5 |   %1 = stablehlo.transpose %a, dims = [1, 0], dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>   |                                               ^^^^^^^^^^^^^^
//>   |
//> note: the first is in line 5
//>  --> stablehlo::twice:5:32
//>   |
//> 5 |   %1 = stablehlo.transpose %a, dims = [1, 0], dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>   |                                ^^^^^^^^^^^^^
//>
//> error: attribute `permutation` is given twice, first as `dims`
//>  --> stablehlo::twice:6:47
//>   |
//> 6 |   %2 = stablehlo.transpose %a, dims = [1, 0] {permutation = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>   |                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>   |
//> note: the first is in line 6
//>  --> stablehlo::twice:6:32
//>   |
//> 6 |   %2 = stablehlo.transpose %a, dims = [1, 0] {permutation = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>   |                                ^^^^^^^^^^^^^^
//>
//> error: attribute `dim` is given twice
//>  --> stablehlo::twice:7:32
//>   |
//> 7 |   %3 = stablehlo.iota dim = 0, dim = 1 : tensor<2x2xi32>
//>   |                                ^^^^^^^
//>   |
//> note: the first is in line 7
//>  --> stablehlo::twice:7:23
//>   |
//> 7 |   %3 = stablehlo.iota dim = 0, dim = 1 : tensor<2x2xi32>
//>   |                       ^^^^^^^
//>
//> error: attribute `low` is given twice
//>  --> stablehlo::twice:8:78
//>   |
//> 8 | …, low = [0, 0], high = [1, 0], interior = [0, 0], low = [9, 9] : (tensor<2x2xf32>, tensor<f32>) -> tensor<3x2xf32>
//>   |                                                    ^^^^^^^^^^^^^
//>   |
//> note: the first is in line 8
//>  --> stablehlo::twice:8:30
//>   |
//> 8 |   %4 = stablehlo.pad %a, %z, low = [0, 0], high = [1, 0], interior = [0, 0], low = [9, 9] : (tensor<2x2xf32>, tensor<f32>) -> tensor<3x2xf32…
//>   |                              ^^^^^^^^^^^^
//>
//> error: attribute `precision` is given twice
//>  --> stablehlo::twice:9:94
//>   |
//> 9 | …cting_dims = [1] x [0], precision = [HIGH, HIGH], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
//>   |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>   |
//> note: the first is in line 9
//>  --> stablehlo::twice:9:68
//>   |
//> 9 | …dot_general %a, %a, contracting_dims = [1] x [0], precision = [HIGH, HIGH], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf3…
//>   |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: attribute `dot_dimension_numbers` is given twice, first as `contracting_dims`
//>   --> stablehlo::twice:10:68
//>    |
//> 10 | …dot_general %a, %a, contracting_dims = [1] x [0] {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_d…
//>    |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>    |
//> note: the first is in line 10
//>   --> stablehlo::twice:10:38
//>    |
//> 10 |   %6 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], …
//>    |                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: attribute `x` is given twice
//>   --> stablehlo::twice:14:40
//>    |
//> 14 |   %0 = stablehlo.abs %a {x = 1, y = 2, "x" = 3} : tensor<2x2xf32>
//>    |                                        ^^^^^^^
//>    |
//> note: the first is in line 14
//>   --> stablehlo::twice:14:26
//>    |
//> 14 |   %0 = stablehlo.abs %a {x = 1, y = 2, "x" = 3} : tensor<2x2xf32>
//>    |                          ^^^^^
//>
//> error: attribute `permutation` is given twice
//>   --> stablehlo::twice:15:68
//>    |
//> 15 |   %1 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>, permutation = array<i64: 0, 1>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>    |                                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>    |
//> note: the first is in line 15
//>   --> stablehlo::twice:15:36
//>    |
//> 15 |   %1 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>, permutation = array<i64: 0, 1>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>    |                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: attribute `permutation` is given twice
//>   --> stablehlo::twice:16:70
//>    |
//> 16 |   %2 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> {permutation = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>    |                                                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>    |
//> note: the first is in line 16
//>   --> stablehlo::twice:16:36
//>    |
//> 16 |   %2 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> {permutation = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>    |                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: attribute `k` is given twice
//>   --> stablehlo::twice:18:40
//>    |
//> 18 |   %4 = "other.op"(%a) {list = [{k = 1, k = 2}]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>    |                                        ^^^^^
//>    |
//> note: the first is in line 18
//>   --> stablehlo::twice:18:33
//>    |
//> 18 |   %4 = "other.op"(%a) {list = [{k = 1, k = 2}]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>    |                                 ^^^^^
//>
//> error: attribute `comparison_direction` is given twice, first as `LT`
//>   --> stablehlo::twice:22:38
//>    |
//> 22 |   %0 = stablehlo.compare LT, %a, %a {comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ten…
//>    |                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>    |
//> note: the first is in line 22
//>   --> stablehlo::twice:22:26
//>    |
//> 22 |   %0 = stablehlo.compare LT, %a, %a {comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ten…
//>    |                          ^^
//>
//> error: attribute `start_indices` is given twice, first as `[0:1, 0:1]`
//>   --> stablehlo::twice:23:39
//>    |
//> 23 |   %1 = stablehlo.slice %a [0:1, 0:1] {start_indices = array<i64: 1, 1>} : (tensor<2x2xf32>) -> tensor<1x1xf32>
//>    |                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>    |
//> note: the first is in line 23
//>   --> stablehlo::twice:23:27
//>    |
//> 23 |   %1 = stablehlo.slice %a [0:1, 0:1] {start_indices = array<i64: 1, 1>} : (tensor<2x2xf32>) -> tensor<1x1xf32>
//>    |                           ^^^^^^^^^^
//>
//> error: attribute `[1:2, 1:2]` is given twice, first as `[0:1, 0:1]`
//>   --> stablehlo::twice:24:38
//>    |
//> 24 |   %2 = stablehlo.slice %a [0:1, 0:1] [1:2, 1:2] : (tensor<2x2xf32>) -> tensor<1x1xf32>
//>    |                                      ^^^^^^^^^^
//>    |
//> note: the first is in line 24
//>   --> stablehlo::twice:24:27
//>    |
//> 24 |   %2 = stablehlo.slice %a [0:1, 0:1] [1:2, 1:2] : (tensor<2x2xf32>) -> tensor<1x1xf32>
//>    |                           ^^^^^^^^^^
//>
//> error: attribute `callee` is given twice, first as `@clauses`
//>   --> stablehlo::twice:25:27
//>    |
//> 25 |   %3 = call @clauses(%a) {callee = @forms} : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>    |                           ^^^^^^^^^^^^^^^
//>    |
//> note: the first is in line 25
//>   --> stablehlo::twice:25:13
//>    |
//> 25 |   %3 = call @clauses(%a) {callee = @forms} : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>    |             ^^^^^^^^
//>
//> error: attribute `call_target_name` is given twice, first as `@one`
//>   --> stablehlo::twice:26:40
//>    |
//> 26 |   %4 = stablehlo.custom_call @one(%a) {call_target_name = "two"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>    |                                        ^^^^^^^^^^^^^^^^^^^^^^^^
//>    |
//> note: the first is in line 26
//>   --> stablehlo::twice:26:30
//>    |
//> 26 |   %4 = stablehlo.custom_call @one(%a) {call_target_name = "two"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
//>    |                              ^^^^
//>
//> error: attribute `window_strides` is given twice, first as `stride`
//>   --> stablehlo::twice:27:181
//>    |
//> 27 | …p_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 2, 2>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<…
//>    |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>    |
//> note: the first is in line 27
//>   --> stablehlo::twice:27:103
//>    |
//> 27 | …b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strid…
//>    |                                                    ^^^^^^^^^^^^^^^
//>
//> error: attribute `dense<2.0> : tensor<f32>` is given twice, first as `value`
//>   --> stablehlo::twice:28:62
//>    |
//> 28 |   %6 = stablehlo.constant {value = dense<1.0> : tensor<f32>} dense<2.0> : tensor<f32>
//>    |                                                              ^^^^^^^^^^^^^^^^^^^^^^^^
//>    |
//> note: the first is in line 28
//>   --> stablehlo::twice:28:28
//>    |
//> 28 |   %6 = stablehlo.constant {value = dense<1.0> : tensor<f32>} dense<2.0> : tensor<f32>
//>    |                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
