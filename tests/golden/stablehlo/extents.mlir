//! test: stablehlo
// A value is seen with the types that calls, returns and conversions state.
func.func private @open(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  return %x : tensor<?x2xf32>
}
func.func @main(%a: tensor<2x2xf32>, %d: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<2x2xf32>) {
  %0 = stablehlo.add %d, %a : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %1 = call @open(%0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %2 = stablehlo.convert %1 : (tensor<?x2xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.convert %a : (tensor<2x2xf32>) -> tensor<?x2xf32>
  %4 = stablehlo.add %2, %2 : tensor<2x2xf32>
  %5 = stablehlo.add %3, %4 : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  return %5, %4 : tensor<?x2xf32>, tensor<2x2xf32>
}
//> module {
//>   func.func private @open(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
//>     return %x : tensor<?x2xf32>
//>   }
//>   func.func @main(%a: tensor<2x2xf32>, %d: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<2x2xf32>) {
//>     %0 = stablehlo.add %d, %a : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
//>     %1 = stablehlo.convert %0 : (tensor<2x2xf32>) -> tensor<?x2xf32>
//>     %2 = func.call @open(%1) : (tensor<?x2xf32>) -> tensor<?x2xf32>
//>     %3 = stablehlo.convert %2 : (tensor<?x2xf32>) -> tensor<2x2xf32>
//>     %4 = stablehlo.convert %a : (tensor<2x2xf32>) -> tensor<?x2xf32>
//>     %5 = stablehlo.add %3, %3 : tensor<2x2xf32>
//>     %6 = stablehlo.add %4, %5 : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
//>     %7 = stablehlo.convert %6 : (tensor<2x2xf32>) -> tensor<?x2xf32>
//>     return %7, %5 : tensor<?x2xf32>, tensor<2x2xf32>
//>   }
//> }
