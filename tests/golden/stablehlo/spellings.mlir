//! test: stablehlo
// Other ways to write what is usual.
!f = tensor<2xf32>
!g = tensor <2x3xf32>
func.func @main(%a: !f, %b: !g) -> (!f, tensor<2x3xf32>) {
  %0 = stablehlo.constant dense<255> : tensor<2xi8>
  %1 = stablehlo.constant dense<[8, -8, 7, 15]> : tensor<4xi4>
  %2 = stablehlo.constant dense<[0xF, -0x1, 0x7]> : tensor<3xi4>
  %3 = stablehlo.constant dense<[18446744073709551615, -1]> : tensor<2xi64>
  %4 = stablehlo.constant dense<-0x7F> : tensor<i8>
  %t:2 = stablehlo.optimization_barrier %a, %b : !f, !g
  %5 = stablehlo.negate %t #0 : !f
  %6 = stablehlo.abs %t #1 : tensor <2x3xf32>
  %7 = stablehlo.compare LT, %3, %3, TOTALORDER : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
  %8 = stablehlo.compare LT, %a, %a, NOTYPE : (!f, !f) -> tensor<2xi1>
  %9 = stablehlo.constant dense<1.0> : !f
  %10 = "stablehlo.add"(%9, %5) : (!f, !f) -> !f
  %11 = stablehlo.dot_general %b, %b, contracting_dims = [1] x [1], precision = [HIGH, DEFAULT] {note = 1 : i64} : (!g, !g) -> tensor<2x2xf32>
  return %10, %6 : !f, !g
}
//> module {
//>   func.func @main(%a: tensor<2xf32>, %b: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
//>     %0 = stablehlo.constant dense<-1> : tensor<2xi8>
//>     %1 = stablehlo.constant dense<[-8, -8, 7, -1]> : tensor<4xi4>
//>     %2 = stablehlo.constant dense<[-1, -1, 7]> : tensor<3xi4>
//>     %3 = stablehlo.constant dense<-1> : tensor<2xi64>
//>     %4 = stablehlo.constant dense<-127> : tensor<i8>
//>     %t:2 = stablehlo.optimization_barrier %a, %b : tensor<2xf32>, tensor<2x3xf32>
//>     %5 = stablehlo.negate %t#0 : tensor<2xf32>
//>     %6 = stablehlo.abs %t#1 : tensor<2x3xf32>
//>     %7 = stablehlo.compare LT, %3, %3, SIGNED : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
//>     %8 = stablehlo.compare LT, %a, %a, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
//>     %9 = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
//>     %10 = stablehlo.add %9, %5 : tensor<2xf32>
//>     %11 = stablehlo.dot_general %b, %b, contracting_dims = [1] x [1], precision = [HIGH, DEFAULT] {note = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
//>     return %10, %6 : tensor<2xf32>, tensor<2x3xf32>
//>   }
//> }
