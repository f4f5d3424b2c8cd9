//! test: stablehlo
// Values of the specification's interpreter, by tests/oracle/interpreter.py.
func.func @main() {
  %0_0 = stablehlo.constant dense<[(-0.0, 5.0), (0.0, 3.0), (1.5, 2.5), (3.5, 4.5), (-1.0, 2.0), (2.0, -0.5), (0.0, -1.0), (-3.0, 1.0)]> : tensor<8xcomplex<f32>>
  %0_1 = stablehlo.constant dense<[(0.0, 3.0), (-0.0, 5.0), (5.5, 7.5), (3.5, 3.5), (-1.0, 3.0), (2.0, -0.25), (-0.0, -2.0), (-4.0, 9.0)]> : tensor<8xcomplex<f32>>
  %r0 = stablehlo.maximum %0_0, %0_1 : tensor<8xcomplex<f32>>
  %r0_real = stablehlo.real %r0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %r0_imag = stablehlo.imag %r0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %r0_real_expected = stablehlo.constant dense<[-0.000000e+00, -0.000000e+00, 5.500000e+00, 3.500000e+00, -1.000000e+00, 2.000000e+00, 0.000000e+00, -3.000000e+00]> : tensor<8xf32>
  stablehlo.custom_call @check.expect_eq(%r0_real, %r0_real_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
  %r0_imag_expected = stablehlo.constant dense<[5.000000e+00, 5.000000e+00, 7.500000e+00, 4.500000e+00, 3.000000e+00, -2.500000e-01, -1.000000e+00, 1.000000e+00]> : tensor<8xf32>
  stablehlo.custom_call @check.expect_eq(%r0_imag, %r0_imag_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
  %1_0 = stablehlo.constant dense<[(-0.0, 5.0), (0.0, 3.0), (1.5, 2.5), (3.5, 4.5), (-1.0, 2.0), (2.0, -0.5), (0.0, -1.0), (-3.0, 1.0)]> : tensor<8xcomplex<f32>>
  %1_1 = stablehlo.constant dense<[(0.0, 3.0), (-0.0, 5.0), (5.5, 7.5), (3.5, 3.5), (-1.0, 3.0), (2.0, -0.25), (-0.0, -2.0), (-4.0, 9.0)]> : tensor<8xcomplex<f32>>
  %r1 = stablehlo.minimum %1_0, %1_1 : tensor<8xcomplex<f32>>
  %r1_real = stablehlo.real %r1 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %r1_imag = stablehlo.imag %r1 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %r1_real_expected = stablehlo.constant dense<[0.000000e+00, 0.000000e+00, 1.500000e+00, 3.500000e+00, -1.000000e+00, 2.000000e+00, -0.000000e+00, -4.000000e+00]> : tensor<8xf32>
  stablehlo.custom_call @check.expect_eq(%r1_real, %r1_real_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
  %r1_imag_expected = stablehlo.constant dense<[3.000000e+00, 3.000000e+00, 2.500000e+00, 3.500000e+00, 2.000000e+00, -5.000000e-01, -2.000000e+00, 9.000000e+00]> : tensor<8xf32>
  stablehlo.custom_call @check.expect_eq(%r1_imag, %r1_imag_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
  %2_0 = stablehlo.constant dense<[(0.0, 5.0), (1.0, 0.0), (0.0, 0.0), (-0.0, -1.0), (-2.0, 3.0), (0.5, 0.5), (0.0, 1.0), (1.0, 1.0)]> : tensor<8xcomplex<f32>>
  %r2 = stablehlo.convert %2_0 : (tensor<8xcomplex<f32>>) -> tensor<8xi1>
  %r2_expected = stablehlo.constant dense<[false, true, false, false, true, true, false, true]> : tensor<8xi1>
  stablehlo.custom_call @check.expect_eq(%r2, %r2_expected) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
  %3_0 = stablehlo.constant dense<[0x7FC00000, 1.5, 3.0, 0x7F800000, 0xFF800000, -0.0, 1.0e-40, 3.3e38, -1.0e-3]> : tensor<9xf32>
  %r3 = stablehlo.reduce_precision %3_0, format = e8m0 : tensor<9xf32>
  %r3_expected = stablehlo.constant dense<[0x7F800000, 2.000000e+00, 2.000000e+00, 0x7F800000, 0xFF800000, -0.000000e+00, 0.000000e+00, 0x7F800000, -9.765625E-4]> : tensor<9xf32>
  stablehlo.custom_call @check.expect_eq(%r3, %r3_expected) {has_side_effect = true} : (tensor<9xf32>, tensor<9xf32>) -> ()
  %4_0 = stablehlo.constant dense<[0x7FC00000, 1.5, 3.0, 0x7F800000, 0xFF800000, -0.0, 1.0e-40, 3.3e38, -1.0e-3]> : tensor<9xf32>
  %r4 = stablehlo.reduce_precision %4_0, format = e5m0 : tensor<9xf32>
  %r4_expected = stablehlo.constant dense<[0x7F800000, 2.000000e+00, 2.000000e+00, 0x7F800000, 0xFF800000, -0.000000e+00, 0.000000e+00, 0x7F800000, -9.765625E-4]> : tensor<9xf32>
  stablehlo.custom_call @check.expect_eq(%r4, %r4_expected) {has_side_effect = true} : (tensor<9xf32>, tensor<9xf32>) -> ()
  %5_0 = stablehlo.constant dense<[0x7FC00000, 1.5, 3.0, 0x7F800000, 0xFF800000, -0.0, 1.0e-40, 3.3e38, -1.0e-3]> : tensor<9xf32>
  %r5 = stablehlo.reduce_precision %5_0, format = e5m2 : tensor<9xf32>
  %r5_expected = stablehlo.constant dense<[0x7FC00000, 1.500000e+00, 3.000000e+00, 0x7F800000, 0xFF800000, -0.000000e+00, 0.000000e+00, 0x7F800000, -9.765625E-4]> : tensor<9xf32>
  stablehlo.custom_call @check.expect_eq(%r5, %r5_expected) {has_side_effect = true} : (tensor<9xf32>, tensor<9xf32>) -> ()
  %6_0 = stablehlo.constant dense<[0.0, 1.0e-300, 1.0e-20, -1.0e-16, -0.5, 1.0e16]> : tensor<6xf64>
  %r6 = stablehlo.log_plus_one %6_0 : tensor<6xf64>
  %r6_expected = stablehlo.constant dense<[0.000000e+00, 1.000000e-300, 9.9999999999999995E-21, -9.9999999999999997E-17, -0.69314718055994529, 36.841361487904734]> : tensor<6xf64>
  stablehlo.custom_call @check.expect_close(%r6, %r6_expected) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
  %7_0 = stablehlo.constant dense<[(1.0, 1.0e-3), (-0.25, 0.5), (-0.5, 1.0e-9), (3.0, -4.0), (-0.75, -2.0), (1.0e100, 1.0e90)]> : tensor<6xcomplex<f64>>
  %r7 = stablehlo.log_plus_one %7_0 : tensor<6xcomplex<f64>>
  %r7_real = stablehlo.real %r7 : (tensor<6xcomplex<f64>>) -> tensor<6xf64>
  %r7_imag = stablehlo.imag %r7 : (tensor<6xcomplex<f64>>) -> tensor<6xf64>
  %r7_real_expected = stablehlo.constant dense<[0.69314730555992965, -0.10381968238912226, -0.69314718055994529, 1.7328679513998633, 0.70089927382792783, 230.25850929940458]> : tensor<6xf64>
  stablehlo.custom_call @check.expect_close(%r7_real, %r7_real_expected) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
  %r7_imag_expected = stablehlo.constant dense<[4.9999995833333955E-4, 0.5880026035475675, 2.000000e-09, -0.78539816339744828, -1.4464413322481351, 9.999999999999999E-11]> : tensor<6xf64>
  stablehlo.custom_call @check.expect_close(%r7_imag, %r7_imag_expected) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
  %8_0 = stablehlo.constant dense<[(0.0, 5.0), (1.0, 0.0), (-8.0, 0.0), (1.0e-3, 2.0), (-2.0, -2.0), (27.0, 1.0e-9), (-1.0, 1.0), (0.0, -27.0)]> : tensor<8xcomplex<f32>>
  %r8 = stablehlo.cbrt %8_0 : tensor<8xcomplex<f32>>
  %r8_real = stablehlo.real %r8 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %r8_imag = stablehlo.imag %r8 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  %r8_real_expected = stablehlo.constant dense<[1.48088264, 1.000000e+00, 1.000000e+00, 1.0912286, 1.000000e+00, 3.000000e+00, 0.793700516, 2.59807611]> : tensor<8xf32>
  stablehlo.custom_call @check.expect_close(%r8_real, %r8_real_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
  %r8_imag_expected = stablehlo.constant dense<[0.854987978, 0.000000e+00, 1.73205078, 0.629778683, -1.000000e+00, 3.70370366E-11, 0.793700516, -1.500000e+00]> : tensor<8xf32>
  stablehlo.custom_call @check.expect_close(%r8_imag, %r8_imag_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
  %9_0 = stablehlo.constant dense<[true, false, true, true, false, false, false, true]> : tensor<8xi1>
  %r9 = stablehlo.bitcast_convert %9_0 : (tensor<8xi1>) -> tensor<i8>
  %r9_expected = stablehlo.constant dense<-115> : tensor<i8>
  stablehlo.custom_call @check.expect_eq(%r9, %r9_expected) {has_side_effect = true} : (tensor<i8>, tensor<i8>) -> ()
  %10_0 = stablehlo.constant dense<[3, 128]> : tensor<2xui8>
  %r10 = stablehlo.bitcast_convert %10_0 : (tensor<2xui8>) -> tensor<2x8xi1>
  %r10_expected = stablehlo.constant dense<[[true, true, false, false, false, false, false, false], [false, false, false, false, false, false, false, true]]> : tensor<2x8xi1>
  stablehlo.custom_call @check.expect_eq(%r10, %r10_expected) {has_side_effect = true} : (tensor<2x8xi1>, tensor<2x8xi1>) -> ()
  %11_0 = stablehlo.constant dense<[[true, false, false, true], [true, true, false, false]]> : tensor<2x4xi1>
  %r11 = stablehlo.bitcast_convert %11_0 : (tensor<2x4xi1>) -> tensor<2xi4>
  %r11_expected = stablehlo.constant dense<[-7, 3]> : tensor<2xi4>
  stablehlo.custom_call @check.expect_eq(%r11, %r11_expected) {has_side_effect = true} : (tensor<2xi4>, tensor<2xi4>) -> ()
  %12_0 = stablehlo.constant dense<1.0> : tensor<f16>
  %r12 = stablehlo.bitcast_convert %12_0 : (tensor<f16>) -> tensor<16xi1>
  %r12_expected = stablehlo.constant dense<[false, false, false, false, false, false, false, false, false, false, true, true, true, true, false, false]> : tensor<16xi1>
  stablehlo.custom_call @check.expect_eq(%r12, %r12_expected) {has_side_effect = true} : (tensor<16xi1>, tensor<16xi1>) -> ()
  %13_0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %r13 = stablehlo.bitcast_convert %13_0 : (tensor<2xi1>) -> tensor<2xi1>
  %r13_expected = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  stablehlo.custom_call @check.expect_eq(%r13, %r13_expected) {has_side_effect = true} : (tensor<2xi1>, tensor<2xi1>) -> ()
  %14_0 = stablehlo.constant dense<[[1.0, 2.5], [3.0, 4.0]]> : tensor<2x2xf32>
  %14_1 = stablehlo.constant dense<[[0.5, 1.0], [-2.0, 8.0]]> : tensor<2x2xf32>
  %r14 = stablehlo.dot_general %14_0, %14_1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r14_expected = stablehlo.constant dense<[[-4.500000e+00, 2.100000e+01], [-6.500000e+00, 3.500000e+01]]> : tensor<2x2xf32>
  stablehlo.custom_call @check.expect_eq(%r14, %r14_expected) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  %15_0 = stablehlo.constant dense<[[1.0, 2.5], [3.0, 4.0]]> : tensor<2x2xf32>
  %15_1 = stablehlo.constant dense<[[0.5, 1.0], [-2.0, 8.0]]> : tensor<2x2xf32>
  %r15 = stablehlo.dot_general %15_0, %15_1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r15_expected = stablehlo.constant dense<[[-4.500000e+00, 2.100000e+01], [-6.500000e+00, 3.500000e+01]]> : tensor<2x2xf32>
  stablehlo.custom_call @check.expect_eq(%r15, %r15_expected) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  %16_0 = stablehlo.constant dense<[[1.0, 2.5], [3.0, 4.0]]> : tensor<2x2xf16>
  %16_1 = stablehlo.constant dense<[[0.5, 1.0], [-2.0, 8.0]]> : tensor<2x2xf16>
  %r16 = stablehlo.dot_general %16_0, %16_1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f16, rhs_precision_type = f16, accumulation_type = f16, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  %r16_expected = stablehlo.constant dense<[[-4.500000e+00, 2.100000e+01], [-6.500000e+00, 3.500000e+01]]> : tensor<2x2xf16>
  stablehlo.custom_call @check.expect_eq(%r16, %r16_expected) {has_side_effect = true} : (tensor<2x2xf16>, tensor<2x2xf16>) -> ()
  %17_0 = stablehlo.constant dense<[[1.0, 2.5], [3.0, 4.0]]> : tensor<2x2xf16>
  %17_1 = stablehlo.constant dense<[[0.5, 1.0], [-2.0, 8.0]]> : tensor<2x2xf16>
  %r17 = stablehlo.dot_general %17_0, %17_1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f16, rhs_precision_type = f16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf32>
  %r17_expected = stablehlo.constant dense<[[-4.500000e+00, 2.100000e+01], [-6.500000e+00, 3.500000e+01]]> : tensor<2x2xf32>
  stablehlo.custom_call @check.expect_eq(%r17, %r17_expected) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  %18_0 = stablehlo.constant dense<[[1.0, 2.5], [3.0, 4.0]]> : tensor<2x2xf32>
  %18_1 = stablehlo.constant dense<[[0.5, 1.0], [-2.0, 8.0]]> : tensor<2x2xf32>
  %r18 = stablehlo.dot_general %18_0, %18_1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f64, rhs_precision_type = f64, accumulation_type = f64, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r18_expected = stablehlo.constant dense<[[-4.500000e+00, 2.100000e+01], [-6.500000e+00, 3.500000e+01]]> : tensor<2x2xf32>
  stablehlo.custom_call @check.expect_eq(%r18, %r18_expected) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  return
}
//> module {
//>   func.func @main() {
//>     %_0_0 = stablehlo.constant dense<[(-0.000000e+00,5.000000e+00), (0.000000e+00,3.000000e+00), (1.500000e+00,2.500000e+00), (3.500000e+00,4.500000e+00), (-1.000000e+00,2.000000e+00), (2.000000e+00,-5.000000e-01), (0.000000e+00,-1.000000e+00), (-3.000000e+00,1.000000e+00)]> : tensor<8xcomplex<f32>>
//>     %_0_1 = stablehlo.constant dense<[(0.000000e+00,3.000000e+00), (-0.000000e+00,5.000000e+00), (5.500000e+00,7.500000e+00), (3.500000e+00,3.500000e+00), (-1.000000e+00,3.000000e+00), (2.000000e+00,-2.500000e-01), (-0.000000e+00,-2.000000e+00), (-4.000000e+00,9.000000e+00)]> : tensor<8xcomplex<f32>>
//>     %r0 = stablehlo.maximum %_0_0, %_0_1 : tensor<8xcomplex<f32>>
//>     %r0_real = stablehlo.real %r0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
//>     %r0_imag = stablehlo.imag %r0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
//>     %r0_real_expected = stablehlo.constant dense<[-0.000000e+00, -0.000000e+00, 5.500000e+00, 3.500000e+00, -1.000000e+00, 2.000000e+00, 0.000000e+00, -3.000000e+00]> : tensor<8xf32>
//>     stablehlo.custom_call @check.expect_eq(%r0_real, %r0_real_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
//>     %r0_imag_expected = stablehlo.constant dense<[5.000000e+00, 5.000000e+00, 7.500000e+00, 4.500000e+00, 3.000000e+00, -2.500000e-01, -1.000000e+00, 1.000000e+00]> : tensor<8xf32>
//>     stablehlo.custom_call @check.expect_eq(%r0_imag, %r0_imag_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
//>     %_1_0 = stablehlo.constant dense<[(-0.000000e+00,5.000000e+00), (0.000000e+00,3.000000e+00), (1.500000e+00,2.500000e+00), (3.500000e+00,4.500000e+00), (-1.000000e+00,2.000000e+00), (2.000000e+00,-5.000000e-01), (0.000000e+00,-1.000000e+00), (-3.000000e+00,1.000000e+00)]> : tensor<8xcomplex<f32>>
//>     %_1_1 = stablehlo.constant dense<[(0.000000e+00,3.000000e+00), (-0.000000e+00,5.000000e+00), (5.500000e+00,7.500000e+00), (3.500000e+00,3.500000e+00), (-1.000000e+00,3.000000e+00), (2.000000e+00,-2.500000e-01), (-0.000000e+00,-2.000000e+00), (-4.000000e+00,9.000000e+00)]> : tensor<8xcomplex<f32>>
//>     %r1 = stablehlo.minimum %_1_0, %_1_1 : tensor<8xcomplex<f32>>
//>     %r1_real = stablehlo.real %r1 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
//>     %r1_imag = stablehlo.imag %r1 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
//>     %r1_real_expected = stablehlo.constant dense<[0.000000e+00, 0.000000e+00, 1.500000e+00, 3.500000e+00, -1.000000e+00, 2.000000e+00, -0.000000e+00, -4.000000e+00]> : tensor<8xf32>
//>     stablehlo.custom_call @check.expect_eq(%r1_real, %r1_real_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
//>     %r1_imag_expected = stablehlo.constant dense<[3.000000e+00, 3.000000e+00, 2.500000e+00, 3.500000e+00, 2.000000e+00, -5.000000e-01, -2.000000e+00, 9.000000e+00]> : tensor<8xf32>
//>     stablehlo.custom_call @check.expect_eq(%r1_imag, %r1_imag_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
//>     %_2_0 = stablehlo.constant dense<[(0.000000e+00,5.000000e+00), (1.000000e+00,0.000000e+00), (0.000000e+00,0.000000e+00), (-0.000000e+00,-1.000000e+00), (-2.000000e+00,3.000000e+00), (5.000000e-01,5.000000e-01), (0.000000e+00,1.000000e+00), (1.000000e+00,1.000000e+00)]> : tensor<8xcomplex<f32>>
//>     %r2 = stablehlo.convert %_2_0 : (tensor<8xcomplex<f32>>) -> tensor<8xi1>
//>     %r2_expected = stablehlo.constant dense<[false, true, false, false, true, true, false, true]> : tensor<8xi1>
//>     stablehlo.custom_call @check.expect_eq(%r2, %r2_expected) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
//>     %_3_0 = stablehlo.constant dense<[0x7FC00000, 1.500000e+00, 3.000000e+00, 0x7F800000, 0xFF800000, -0.000000e+00, 9.999946e-41, 3.300000e+38, -1.000000e-03]> : tensor<9xf32>
//>     %r3 = stablehlo.reduce_precision %_3_0, format = e8m0 : tensor<9xf32>
//>     %r3_expected = stablehlo.constant dense<[0x7F800000, 2.000000e+00, 2.000000e+00, 0x7F800000, 0xFF800000, -0.000000e+00, 0.000000e+00, 0x7F800000, -9.765625e-04]> : tensor<9xf32>
//>     stablehlo.custom_call @check.expect_eq(%r3, %r3_expected) {has_side_effect = true} : (tensor<9xf32>, tensor<9xf32>) -> ()
//>     %_4_0 = stablehlo.constant dense<[0x7FC00000, 1.500000e+00, 3.000000e+00, 0x7F800000, 0xFF800000, -0.000000e+00, 9.999946e-41, 3.300000e+38, -1.000000e-03]> : tensor<9xf32>
//>     %r4 = stablehlo.reduce_precision %_4_0, format = e5m0 : tensor<9xf32>
//>     %r4_expected = stablehlo.constant dense<[0x7F800000, 2.000000e+00, 2.000000e+00, 0x7F800000, 0xFF800000, -0.000000e+00, 0.000000e+00, 0x7F800000, -9.765625e-04]> : tensor<9xf32>
//>     stablehlo.custom_call @check.expect_eq(%r4, %r4_expected) {has_side_effect = true} : (tensor<9xf32>, tensor<9xf32>) -> ()
//>     %_5_0 = stablehlo.constant dense<[0x7FC00000, 1.500000e+00, 3.000000e+00, 0x7F800000, 0xFF800000, -0.000000e+00, 9.999946e-41, 3.300000e+38, -1.000000e-03]> : tensor<9xf32>
//>     %r5 = stablehlo.reduce_precision %_5_0, format = e5m2 : tensor<9xf32>
//>     %r5_expected = stablehlo.constant dense<[0x7FC00000, 1.500000e+00, 3.000000e+00, 0x7F800000, 0xFF800000, -0.000000e+00, 0.000000e+00, 0x7F800000, -9.765625e-04]> : tensor<9xf32>
//>     stablehlo.custom_call @check.expect_eq(%r5, %r5_expected) {has_side_effect = true} : (tensor<9xf32>, tensor<9xf32>) -> ()
//>     %_6_0 = stablehlo.constant dense<[0.000000e+00, 1.000000e-300, 1.000000e-20, -1.000000e-16, -5.000000e-01, 1.000000e+16]> : tensor<6xf64>
//>     %r6 = stablehlo.log_plus_one %_6_0 : tensor<6xf64>
//>     %r6_expected = stablehlo.constant dense<[0.000000e+00, 1.000000e-300, 1.000000e-20, -1.000000e-16, -6.931471805599453e-01, 3.6841361487904734e+01]> : tensor<6xf64>
//>     stablehlo.custom_call @check.expect_close(%r6, %r6_expected) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
//>     %_7_0 = stablehlo.constant dense<[(1.000000e+00,1.000000e-03), (-2.500000e-01,5.000000e-01), (-5.000000e-01,1.000000e-09), (3.000000e+00,-4.000000e+00), (-7.500000e-01,-2.000000e+00), (1.000000e+100,1.000000e+90)]> : tensor<6xcomplex<f64>>
//>     %r7 = stablehlo.log_plus_one %_7_0 : tensor<6xcomplex<f64>>
//>     %r7_real = stablehlo.real %r7 : (tensor<6xcomplex<f64>>) -> tensor<6xf64>
//>     %r7_imag = stablehlo.imag %r7 : (tensor<6xcomplex<f64>>) -> tensor<6xf64>
//>     %r7_real_expected = stablehlo.constant dense<[6.931473055599296e-01, -1.0381968238912226e-01, -6.931471805599453e-01, 1.7328679513998633e+00, 7.008992738279278e-01, 2.3025850929940458e+02]> : tensor<6xf64>
//>     stablehlo.custom_call @check.expect_close(%r7_real, %r7_real_expected) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
//>     %r7_imag_expected = stablehlo.constant dense<[4.999999583333395e-04, 5.880026035475675e-01, 2.000000e-09, -7.853981633974483e-01, -1.446441332248135e+00, 9.999999999999999e-11]> : tensor<6xf64>
//>     stablehlo.custom_call @check.expect_close(%r7_imag, %r7_imag_expected) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
//>     %_8_0 = stablehlo.constant dense<[(0.000000e+00,5.000000e+00), (1.000000e+00,0.000000e+00), (-8.000000e+00,0.000000e+00), (1.000000e-03,2.000000e+00), (-2.000000e+00,-2.000000e+00), (2.700000e+01,1.000000e-09), (-1.000000e+00,1.000000e+00), (0.000000e+00,-2.700000e+01)]> : tensor<8xcomplex<f32>>
//>     %r8 = stablehlo.cbrt %_8_0 : tensor<8xcomplex<f32>>
//>     %r8_real = stablehlo.real %r8 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
//>     %r8_imag = stablehlo.imag %r8 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
//>     %r8_real_expected = stablehlo.constant dense<[1.4808826e+00, 1.000000e+00, 1.000000e+00, 1.0912286e+00, 1.000000e+00, 3.000000e+00, 7.937005e-01, 2.598076e+00]> : tensor<8xf32>
//>     stablehlo.custom_call @check.expect_close(%r8_real, %r8_real_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
//>     %r8_imag_expected = stablehlo.constant dense<[8.549880e-01, 0.000000e+00, 1.7320508e+00, 6.297787e-01, -1.000000e+00, 3.7037037e-11, 7.937005e-01, -1.500000e+00]> : tensor<8xf32>
//>     stablehlo.custom_call @check.expect_close(%r8_imag, %r8_imag_expected) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
//>     %_9_0 = stablehlo.constant dense<[true, false, true, true, false, false, false, true]> : tensor<8xi1>
//>     %r9 = stablehlo.bitcast_convert %_9_0 : (tensor<8xi1>) -> tensor<i8>
//>     %r9_expected = stablehlo.constant dense<-115> : tensor<i8>
//>     stablehlo.custom_call @check.expect_eq(%r9, %r9_expected) {has_side_effect = true} : (tensor<i8>, tensor<i8>) -> ()
//>     %_10_0 = stablehlo.constant dense<[3, 128]> : tensor<2xui8>
//>     %r10 = stablehlo.bitcast_convert %_10_0 : (tensor<2xui8>) -> tensor<2x8xi1>
//>     %r10_expected = stablehlo.constant dense<[[true, true, false, false, false, false, false, false], [false, false, false, false, false, false, false, true]]> : tensor<2x8xi1>
//>     stablehlo.custom_call @check.expect_eq(%r10, %r10_expected) {has_side_effect = true} : (tensor<2x8xi1>, tensor<2x8xi1>) -> ()
//>     %_11_0 = stablehlo.constant dense<[[true, false, false, true], [true, true, false, false]]> : tensor<2x4xi1>
//>     %r11 = stablehlo.bitcast_convert %_11_0 : (tensor<2x4xi1>) -> tensor<2xi4>
//>     %r11_expected = stablehlo.constant dense<[-7, 3]> : tensor<2xi4>
//>     stablehlo.custom_call @check.expect_eq(%r11, %r11_expected) {has_side_effect = true} : (tensor<2xi4>, tensor<2xi4>) -> ()
//>     %_12_0 = stablehlo.constant dense<1.000000e+00> : tensor<f16>
//>     %r12 = stablehlo.bitcast_convert %_12_0 : (tensor<f16>) -> tensor<16xi1>
//>     %r12_expected = stablehlo.constant dense<[false, false, false, false, false, false, false, false, false, false, true, true, true, true, false, false]> : tensor<16xi1>
//>     stablehlo.custom_call @check.expect_eq(%r12, %r12_expected) {has_side_effect = true} : (tensor<16xi1>, tensor<16xi1>) -> ()
//>     %_13_0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
//>     %r13 = stablehlo.bitcast_convert %_13_0 : (tensor<2xi1>) -> tensor<2xi1>
//>     %r13_expected = stablehlo.constant dense<[true, false]> : tensor<2xi1>
//>     stablehlo.custom_call @check.expect_eq(%r13, %r13_expected) {has_side_effect = true} : (tensor<2xi1>, tensor<2xi1>) -> ()
//>     %_14_0 = stablehlo.constant dense<[[1.000000e+00, 2.500000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
//>     %_14_1 = stablehlo.constant dense<[[5.000000e-01, 1.000000e+00], [-2.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>
//>     %r14 = stablehlo.dot_general %_14_0, %_14_1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
//>     %r14_expected = stablehlo.constant dense<[[-4.500000e+00, 2.100000e+01], [-6.500000e+00, 3.500000e+01]]> : tensor<2x2xf32>
//>     stablehlo.custom_call @check.expect_eq(%r14, %r14_expected) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
//>     %_15_0 = stablehlo.constant dense<[[1.000000e+00, 2.500000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
//>     %_15_1 = stablehlo.constant dense<[[5.000000e-01, 1.000000e+00], [-2.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>
//>     %r15 = stablehlo.dot_general %_15_0, %_15_1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
//>     %r15_expected = stablehlo.constant dense<[[-4.500000e+00, 2.100000e+01], [-6.500000e+00, 3.500000e+01]]> : tensor<2x2xf32>
//>     stablehlo.custom_call @check.expect_eq(%r15, %r15_expected) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
//>     %_16_0 = stablehlo.constant dense<[[1.000000e+00, 2.500000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf16>
//>     %_16_1 = stablehlo.constant dense<[[5.000000e-01, 1.000000e+00], [-2.000000e+00, 8.000000e+00]]> : tensor<2x2xf16>
//>     %r16 = stablehlo.dot_general %_16_0, %_16_1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f16, rhs_precision_type = f16, accumulation_type = f16, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
//>     %r16_expected = stablehlo.constant dense<[[-4.500000e+00, 2.100000e+01], [-6.500000e+00, 3.500000e+01]]> : tensor<2x2xf16>
//>     stablehlo.custom_call @check.expect_eq(%r16, %r16_expected) {has_side_effect = true} : (tensor<2x2xf16>, tensor<2x2xf16>) -> ()
//>     %_17_0 = stablehlo.constant dense<[[1.000000e+00, 2.500000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf16>
//>     %_17_1 = stablehlo.constant dense<[[5.000000e-01, 1.000000e+00], [-2.000000e+00, 8.000000e+00]]> : tensor<2x2xf16>
//>     %r17 = stablehlo.dot_general %_17_0, %_17_1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f16, rhs_precision_type = f16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf32>
//>     %r17_expected = stablehlo.constant dense<[[-4.500000e+00, 2.100000e+01], [-6.500000e+00, 3.500000e+01]]> : tensor<2x2xf32>
//>     stablehlo.custom_call @check.expect_eq(%r17, %r17_expected) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
//>     %_18_0 = stablehlo.constant dense<[[1.000000e+00, 2.500000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
//>     %_18_1 = stablehlo.constant dense<[[5.000000e-01, 1.000000e+00], [-2.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>
//>     %0 = stablehlo.convert %_18_0 : (tensor<2x2xf32>) -> tensor<2x2xf64>
//>     %1 = stablehlo.convert %_18_1 : (tensor<2x2xf32>) -> tensor<2x2xf64>
//>     %r18 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f64, rhs_precision_type = f64, accumulation_type = f64, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf32>
//>     %r18_expected = stablehlo.constant dense<[[-4.500000e+00, 2.100000e+01], [-6.500000e+00, 3.500000e+01]]> : tensor<2x2xf32>
//>     stablehlo.custom_call @check.expect_eq(%r18, %r18_expected) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
//>     return
//>   }
//> }
