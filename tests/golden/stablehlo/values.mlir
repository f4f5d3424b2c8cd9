//! test: stablehlo
// What each composed op gives, against values worked out by hand.
func.func @main() {
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 6.0]]> : tensor<2x2xf32>
  %s = stablehlo.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %o = stablehlo.constant dense<[0.5, 0.0]> : tensor<2xf32>
  %m = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %v = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.constant dense<[[-1.5, -1.0], [2.5, 1.0]]> : tensor<2x2xf32>
  stablehlo.custom_call @check.expect_close(%0, %1) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  %2:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  stablehlo.custom_call @check.expect_close(%2#0, %1) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  stablehlo.custom_call @check.expect_eq(%2#1, %m) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  stablehlo.custom_call @check.expect_eq(%2#2, %v) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  %g = stablehlo.constant dense<[[1.0, 0.0], [1.0, 2.0]]> : tensor<2x2xf32>
  %3:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  %4 = stablehlo.constant dense<0.0> : tensor<2x2xf32>
  stablehlo.custom_call @check.expect_close(%3#0, %4) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  %5 = stablehlo.constant dense<[0.0, 2.0]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_close(%3#1, %5) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  %6 = stablehlo.constant dense<2.0> : tensor<2xf32>
  stablehlo.custom_call @check.expect_close(%3#2, %6) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  %7 = chlo.square %s : tensor<2xf32> -> tensor<2xf32>
  %8 = stablehlo.constant dense<[4.0, 1.0]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_eq(%7, %8) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  %z = stablehlo.constant dense<[(1.0, 2.0), (0.0, -1.0)]> : tensor<2xcomplex<f32>>
  %9 = chlo.conj %z : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  %10 = stablehlo.constant dense<[(1.0, -2.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  stablehlo.custom_call @check.expect_eq(%9, %10) {has_side_effect = true} : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> ()
  %inf = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]> : tensor<4xf32>
  %11 = chlo.is_inf %inf : tensor<4xf32> -> tensor<4xi1>
  %12 = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
  stablehlo.custom_call @check.expect_eq(%11, %12) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
  %13 = chlo.is_pos_inf %inf : tensor<4xf32> -> tensor<4xi1>
  %14 = chlo.is_neg_inf %inf : tensor<4xf32> -> tensor<4xi1>
  %15 = stablehlo.xor %13, %14 : tensor<4xi1>
  stablehlo.custom_call @check.expect_eq(%15, %12) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
  %16 = chlo.broadcast_add %x, %s : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %17 = stablehlo.constant dense<[[3.0, 3.0], [5.0, 7.0]]> : tensor<2x2xf32>
  stablehlo.custom_call @check.expect_eq(%16, %17) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  %18 = chlo.broadcast_subtract %x, %s : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %19 = chlo.broadcast_multiply %x, %s : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %20 = chlo.broadcast_divide %x, %s : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %21 = chlo.broadcast_maximum %x, %s : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %22 = chlo.broadcast_minimum %x, %s : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %23 = chlo.broadcast_power %x, %s : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %24 = chlo.broadcast_remainder %x, %s : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %25 = chlo.broadcast_and %12, %12 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %26 = chlo.broadcast_or %12, %12 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %27 = chlo.broadcast_xor %12, %12 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}
//> module {
//>   func.func @main() {
//>     %x = stablehlo.constant dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 6.000000e+00]]> : tensor<2x2xf32>
//>     %s = stablehlo.constant dense<[2.000000e+00, 1.000000e+00]> : tensor<2xf32>
//>     %o = stablehlo.constant dense<[5.000000e-01, 0.000000e+00]> : tensor<2xf32>
//>     %m = stablehlo.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
//>     %v = stablehlo.constant dense<[1.000000e+00, 4.000000e+00]> : tensor<2xf32>
//>     %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
//>     %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2xf32>
//>     %2 = stablehlo.add %v, %1 : tensor<2xf32>
//>     %3 = stablehlo.sqrt %2 : tensor<2xf32>
//>     %4 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %5 = stablehlo.broadcast_in_dim %o, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %6 = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %7 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %8 = stablehlo.subtract %x, %6 : tensor<2x2xf32>
//>     %9 = stablehlo.divide %8, %7 : tensor<2x2xf32>
//>     %10 = stablehlo.multiply %9, %4 : tensor<2x2xf32>
//>     %11 = stablehlo.add %10, %5 : tensor<2x2xf32>
//>     %12 = stablehlo.constant dense<[[-1.500000e+00, -1.000000e+00], [2.500000e+00, 1.000000e+00]]> : tensor<2x2xf32>
//>     stablehlo.custom_call @check.expect_close(%11, %12) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
//>     %13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
//>     %14 = stablehlo.reduce(%x init: %13) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
//>     %15 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
//>     %16 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<f32>) -> tensor<2xf32>
//>     %17 = stablehlo.divide %14, %16 : tensor<2xf32>
//>     %18 = stablehlo.broadcast_in_dim %17, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %19 = stablehlo.subtract %x, %18 : tensor<2x2xf32>
//>     %20 = stablehlo.multiply %19, %19 : tensor<2x2xf32>
//>     %21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
//>     %22 = stablehlo.reduce(%20 init: %21) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
//>     %23 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
//>     %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<2xf32>
//>     %25 = stablehlo.divide %22, %24 : tensor<2xf32>
//>     %26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
//>     %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<2xf32>
//>     %28 = stablehlo.add %25, %27 : tensor<2xf32>
//>     %29 = stablehlo.sqrt %28 : tensor<2xf32>
//>     %30 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %31 = stablehlo.broadcast_in_dim %o, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %32 = stablehlo.broadcast_in_dim %17, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %33 = stablehlo.broadcast_in_dim %29, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %34 = stablehlo.subtract %x, %32 : tensor<2x2xf32>
//>     %35 = stablehlo.divide %34, %33 : tensor<2x2xf32>
//>     %36 = stablehlo.multiply %35, %30 : tensor<2x2xf32>
//>     %37 = stablehlo.add %36, %31 : tensor<2x2xf32>
//>     stablehlo.custom_call @check.expect_close(%37, %12) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
//>     stablehlo.custom_call @check.expect_eq(%17, %m) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
//>     stablehlo.custom_call @check.expect_eq(%25, %v) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
//>     %g = stablehlo.constant dense<[[1.000000e+00, 0.000000e+00], [1.000000e+00, 2.000000e+00]]> : tensor<2x2xf32>
//>     %38 = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %39 = stablehlo.subtract %x, %38 : tensor<2x2xf32>
//>     %40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
//>     %41 = stablehlo.broadcast_in_dim %40, dims = [] : (tensor<f32>) -> tensor<2xf32>
//>     %42 = stablehlo.add %v, %41 : tensor<2xf32>
//>     %43 = stablehlo.sqrt %42 : tensor<2xf32>
//>     %44 = stablehlo.multiply %g, %39 : tensor<2x2xf32>
//>     %45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
//>     %46 = stablehlo.reduce(%g init: %45) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
//>     %47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
//>     %48 = stablehlo.reduce(%44 init: %47) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
//>     %49 = stablehlo.divide %48, %43 : tensor<2xf32>
//>     %50 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
//>     %51 = stablehlo.broadcast_in_dim %50, dims = [] : (tensor<f32>) -> tensor<2xf32>
//>     %52 = stablehlo.divide %s, %43 : tensor<2xf32>
//>     %53 = stablehlo.divide %52, %51 : tensor<2xf32>
//>     %54 = stablehlo.divide %48, %42 : tensor<2xf32>
//>     %55 = stablehlo.broadcast_in_dim %51, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %56 = stablehlo.broadcast_in_dim %53, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %57 = stablehlo.broadcast_in_dim %46, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %58 = stablehlo.broadcast_in_dim %54, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %59 = stablehlo.multiply %55, %g : tensor<2x2xf32>
//>     %60 = stablehlo.subtract %59, %57 : tensor<2x2xf32>
//>     %61 = stablehlo.multiply %39, %58 : tensor<2x2xf32>
//>     %62 = stablehlo.subtract %60, %61 : tensor<2x2xf32>
//>     %63 = stablehlo.multiply %56, %62 : tensor<2x2xf32>
//>     %64 = stablehlo.constant dense<0.000000e+00> : tensor<2x2xf32>
//>     stablehlo.custom_call @check.expect_close(%63, %64) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
//>     %65 = stablehlo.constant dense<[0.000000e+00, 2.000000e+00]> : tensor<2xf32>
//>     stablehlo.custom_call @check.expect_close(%49, %65) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
//>     %66 = stablehlo.constant dense<2.000000e+00> : tensor<2xf32>
//>     stablehlo.custom_call @check.expect_close(%46, %66) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
//>     %67 = stablehlo.multiply %s, %s : tensor<2xf32>
//>     %68 = stablehlo.constant dense<[4.000000e+00, 1.000000e+00]> : tensor<2xf32>
//>     stablehlo.custom_call @check.expect_eq(%67, %68) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
//>     %z = stablehlo.constant dense<[(1.000000e+00,2.000000e+00), (0.000000e+00,-1.000000e+00)]> : tensor<2xcomplex<f32>>
//>     %69 = stablehlo.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
//>     %70 = stablehlo.imag %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
//>     %71 = stablehlo.negate %70 : tensor<2xf32>
//>     %72 = stablehlo.complex %69, %71 : tensor<2xcomplex<f32>>
//>     %73 = stablehlo.constant dense<[(1.000000e+00,-2.000000e+00), (0.000000e+00,1.000000e+00)]> : tensor<2xcomplex<f32>>
//>     stablehlo.custom_call @check.expect_eq(%72, %73) {has_side_effect = true} : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> ()
//>     %inf = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.000000e+00]> : tensor<4xf32>
//>     %74 = stablehlo.constant dense<0x7F800000> : tensor<f32>
//>     %75 = stablehlo.broadcast_in_dim %74, dims = [] : (tensor<f32>) -> tensor<4xf32>
//>     %76 = stablehlo.compare EQ, %inf, %75, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
//>     %77 = stablehlo.constant dense<0xFF800000> : tensor<f32>
//>     %78 = stablehlo.broadcast_in_dim %77, dims = [] : (tensor<f32>) -> tensor<4xf32>
//>     %79 = stablehlo.compare EQ, %inf, %78, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
//>     %80 = stablehlo.or %76, %79 : tensor<4xi1>
//>     %81 = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
//>     stablehlo.custom_call @check.expect_eq(%80, %81) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
//>     %82 = stablehlo.constant dense<0x7F800000> : tensor<f32>
//>     %83 = stablehlo.broadcast_in_dim %82, dims = [] : (tensor<f32>) -> tensor<4xf32>
//>     %84 = stablehlo.compare EQ, %inf, %83, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
//>     %85 = stablehlo.constant dense<0xFF800000> : tensor<f32>
//>     %86 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f32>) -> tensor<4xf32>
//>     %87 = stablehlo.compare EQ, %inf, %86, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
//>     %88 = stablehlo.xor %84, %87 : tensor<4xi1>
//>     stablehlo.custom_call @check.expect_eq(%88, %81) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
//>     %89 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %90 = stablehlo.add %x, %89 : tensor<2x2xf32>
//>     %91 = stablehlo.constant dense<[[3.000000e+00, 3.000000e+00], [5.000000e+00, 7.000000e+00]]> : tensor<2x2xf32>
//>     stablehlo.custom_call @check.expect_eq(%90, %91) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
//>     %92 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %93 = stablehlo.subtract %x, %92 : tensor<2x2xf32>
//>     %94 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %95 = stablehlo.multiply %x, %94 : tensor<2x2xf32>
//>     %96 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %97 = stablehlo.divide %x, %96 : tensor<2x2xf32>
//>     %98 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %99 = stablehlo.maximum %x, %98 : tensor<2x2xf32>
//>     %100 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %101 = stablehlo.minimum %x, %100 : tensor<2x2xf32>
//>     %102 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %103 = stablehlo.power %x, %102 : tensor<2x2xf32>
//>     %104 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
//>     %105 = stablehlo.remainder %x, %104 : tensor<2x2xf32>
//>     %106 = stablehlo.and %81, %81 : tensor<4xi1>
//>     %107 = stablehlo.or %81, %81 : tensor<4xi1>
//>     %108 = stablehlo.xor %81, %81 : tensor<4xi1>
//>     return
//>   }
//> }
