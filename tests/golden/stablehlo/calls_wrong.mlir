//! test: stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @missing(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @again(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
//> error: call: unknown function @missing
//>  --> stablehlo::calls_wrong:2:8
//>   |
//> 2 |   %0 = call @missing(%x) : (tensor<4xf32>) -> tensor<4xf32>
//>   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: call: @again calls itself
//>  --> stablehlo::calls_wrong:7:8
//>   |
//> 7 |   %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
//>   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>   |
//>   = help: functions do not recurse; use `while`
