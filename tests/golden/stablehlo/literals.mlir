//! test: stablehlo
func.func @main() {
  %0 = stablehlo.constant dense<[[1, -2], [3, 127]]> : tensor<2x2xi8>
  %1 = stablehlo.constant dense<"0x01FE037F"> : tensor<2x2xi8>
  stablehlo.custom_call @check.expect_eq(%0, %1) {has_side_effect = true} : (tensor<2x2xi8>, tensor<2x2xi8>) -> ()
  %2 = stablehlo.constant dense<> : tensor<0x2xf32>
  %3 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %4 = stablehlo.constant dense<(1.5,-2.5)> : tensor<2xcomplex<f64>>
  %5 = stablehlo.constant dense<[1.0, 0x7F800000, 0xFFC00000, 1.17549435E-38, 3.0e+38]> : tensor<5xf32>
  %6 = stablehlo.constant dense<[0.1, 65504.0, 5.96e-8]> : tensor<3xf16>
  %7 = stablehlo.constant dense<[0.1, 3.38953139E+38]> : tensor<2xbf16>
  %8 = stablehlo.constant dense<0x7FF8000000000001> : tensor<f64>
  %9 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %10 = stablehlo.constant dense_resource<weights> : tensor<3xi16>
  %11 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi16>
  stablehlo.custom_call @check.expect_eq(%10, %11) {has_side_effect = true} : (tensor<3xi16>, tensor<3xi16>) -> ()
  %12 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %13 = stablehlo.constant dense<[0x3C, 0x7E]> : tensor<2xf8E5M2>
  return
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x02000000010002000300"
    }
  }
#-}
//> module {
//>   func.func @main() {
//>     %0 = stablehlo.constant dense<[[1, -2], [3, 127]]> : tensor<2x2xi8>
//>     %1 = stablehlo.constant dense<[[1, -2], [3, 127]]> : tensor<2x2xi8>
//>     stablehlo.custom_call @check.expect_eq(%0, %1) {has_side_effect = true} : (tensor<2x2xi8>, tensor<2x2xi8>) -> ()
//>     %2 = stablehlo.constant dense<> : tensor<0x2xf32>
//>     %3 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
//>     %4 = stablehlo.constant dense<(1.500000e+00,-2.500000e+00)> : tensor<2xcomplex<f64>>
//>     %5 = stablehlo.constant dense<[1.000000e+00, 0x7F800000, 0xFFC00000, 1.1754944e-38, 3.000000e+38]> : tensor<5xf32>
//>     %6 = stablehlo.constant dense<[9.997559e-02, 6.550400e+04, 5.960464e-08]> : tensor<3xf16>
//>     %7 = stablehlo.constant dense<[1.000977e-01, 3.389531e+38]> : tensor<2xbf16>
//>     %8 = stablehlo.constant dense<0x7FF8000000000001> : tensor<f64>
//>     %9 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
//>     %10 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi16>
//>     %11 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi16>
//>     stablehlo.custom_call @check.expect_eq(%10, %11) {has_side_effect = true} : (tensor<3xi16>, tensor<3xi16>) -> ()
//>     %12 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
//>     %13 = stablehlo.constant dense<[0x3C, 0x7E]> : tensor<2xf8E5M2>
//>     return
//>   }
//> }
