//! test: stablehlo
func.func @more(%a: tensor<2xf32>) -> tensor<?xf32> {
  return %a : tensor<2xf32>
}
func.func @less(%d: tensor<?xf32>) -> tensor<2xf32> {
  return %d : tensor<?xf32>
}
//> error: return: operand 0 is tensor<2xf32>, but @more returns tensor<?xf32>
//>  --> stablehlo::returns_wrong:2:3
//>   |
//> 2 |   return %a : tensor<2xf32>
//>   |   ^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: return: operand 0 is tensor<?xf32>, but @less returns tensor<2xf32>
//>  --> stablehlo::returns_wrong:5:3
//>   |
//> 5 |   return %d : tensor<?xf32>
//>   |   ^^^^^^^^^^^^^^^^^^^^^^^^^
