//! test: stablehlo
// Lists have as many entries as they should, also where all entries are the usual one.
func.func @main(%a: tensor<2x2xf32>, %z: tensor<f32>, %i: tensor<1x4x4x1xf32>, %k: tensor<1x1x1x1xf32>, %s: tensor<2xi64>) -> tensor<2x2xf32> {
  %0 = stablehlo.pad %a, %z, low = [0, 0], high = [1, 0], interior = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %1 = stablehlo.pad %a, %z, low = [0, 0], high = [1, 0], interior = [] : (tensor<2x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %2 = stablehlo.pad %a, %z, low = [0, 0], high = [1, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %3 = "stablehlo.slice"(%a) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1, 2>, strides = array<i64: 1>}> : (tensor<2x2xf32>) -> tensor<1x2xf32>
  %4 = "stablehlo.slice"(%a) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1>, strides = array<i64: 1, 1>}> : (tensor<2x2xf32>) -> tensor<1x2xf32>
  %5 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %n = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %n : tensor<f32>
  }) : (tensor<2x2xf32>, tensor<f32>) -> tensor<1x1xf32>
  %6 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<4xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %n = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %n : tensor<f32>
  }) : (tensor<2x2xf32>, tensor<f32>) -> tensor<1x1xf32>
  %7 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1], pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>
  %8 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>
  %one = stablehlo.constant dense<[1]> : tensor<1xi64>
  %two = stablehlo.constant dense<[2, 2]> : tensor<2xi64>
  %none = stablehlo.constant dense<[0, 0]> : tensor<2xi64>
  %9 = stablehlo.real_dynamic_slice %a, %none, %two, %one : (tensor<2x2xf32>, tensor<2xi64>, tensor<2xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return %a : tensor<2x2xf32>
}
//> error: stablehlo.pad: `interior` has 1 entry, expected 2
//>  --> stablehlo::lists:3:59
//>   |
//> 3 |   %0 = stablehlo.pad %a, %z, low = [0, 0], high = [1, 0], interior = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<3x2xf32>
//>   |                                                           ^^^^^^^^^^^^^^^
//>
//> error: stablehlo.pad: `interior` has 0 entries, expected 2
//>  --> stablehlo::lists:4:59
//>   |
//> 4 |   %1 = stablehlo.pad %a, %z, low = [0, 0], high = [1, 0], interior = [] : (tensor<2x2xf32>, tensor<f32>) -> tensor<3x2xf32>
//>   |                                                           ^^^^^^^^^^^^^^
//>
//> error: stablehlo.pad: attribute `interior_padding` is missing
//>  --> stablehlo::lists:5:8
//>   |
//> 5 |   %2 = stablehlo.pad %a, %z, low = [0, 0], high = [1, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<3x2xf32>
//>   |        ^^^^^^^^^^^^^
//>
//> error: stablehlo.slice: `strides` has 1 entry, expected 2
//>  --> stablehlo::lists:6:100
//>   |
//> 6 | …ray<i64: 0, 0>, limit_indices = array<i64: 1, 2>, strides = array<i64: 1>}> : (tensor<2x2xf32>) -> tensor<1x2xf32>
//>   |                                                    ^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.slice: `limits` has 1 entry, but the operand has rank 2
//>  --> stablehlo::lists:7:8
//>   |
//> 7 |   %4 = "stablehlo.slice"(%a) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1>, strides = array<i64: 1, 1>}> : (tensor<2x2xf…
//>   |        ^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.reduce_window: `window_strides` has 3 entries, expected 2
//>  --> stablehlo::lists:8:82
//>   |
//> 8 |   %5 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1, 1>}> ({
//>   |                                                                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.reduce_window: attribute `padding` must be a list of pairs
//>   --> stablehlo::lists:13:82
//>    |
//> 13 |   %6 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<4xi64>}> ({
//>    |                                                                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.convolution: `stride` has 1 entry, expected 2
//>   --> stablehlo::lists:18:103
//>    |
//> 18 | …b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1], pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}…
//>    |                                                    ^^^^^^^^^^^^
//>
//> error: stablehlo.convolution: `pad` has 1 entry, expected 2
//>   --> stablehlo::lists:19:103
//>    |
//> 19 | …b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4…
//>    |                                                    ^^^^^^^^^^^^^^
//>
//> error: stablehlo.real_dynamic_slice: the operand of strides has 1 entry, expected 2
//>   --> stablehlo::lists:23:8
//>    |
//> 23 |   %9 = stablehlo.real_dynamic_slice %a, %none, %two, %one : (tensor<2x2xf32>, tensor<2xi64>, tensor<2xi64>, tensor<1xi64>) -> tensor<?x?xf32…
//>    |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
