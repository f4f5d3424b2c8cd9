//! test: stablehlo
// Calls and returns state the types of the function, also where only extents are not known.
func.func private @open(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func private @closed(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @calls(%a: tensor<2xf32>, %d: tensor<?xf32>) {
  %0 = call @open(%a) : (tensor<2xf32>) -> tensor<?xf32>
  %1 = call @open(%d) : (tensor<?xf32>) -> tensor<2xf32>
  %2 = call @closed(%d) : (tensor<?xf32>) -> tensor<2xf32>
  return
}
//> error: call: operand 0 is tensor<2xf32>, but @open takes tensor<?xf32>
//>  --> stablehlo::extents_wrong:9:8
//>   |
//> 9 |   %0 = call @open(%a) : (tensor<2xf32>) -> tensor<?xf32>
//>   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: call: result 0 is tensor<2xf32>, but @open returns tensor<?xf32>
//>   --> stablehlo::extents_wrong:10:8
//>    |
//> 10 |   %1 = call @open(%d) : (tensor<?xf32>) -> tensor<2xf32>
//>    |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: call: operand 0 is tensor<?xf32>, but @closed takes tensor<2xf32>
//>   --> stablehlo::extents_wrong:11:8
//>    |
//> 11 |   %2 = call @closed(%d) : (tensor<?xf32>) -> tensor<2xf32>
//>    |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
