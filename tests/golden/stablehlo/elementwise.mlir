//! test: stablehlo
func.func @floats(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xcomplex<f32>>, %p: tensor<4xi1>, %s: tensor<f32>) -> tensor<4xf32> {
  %negate = stablehlo.negate %x : tensor<4xf32>
  %abs = stablehlo.abs %x : tensor<4xf32>
  %sign = stablehlo.sign %x : tensor<4xf32>
  %floor = stablehlo.floor %x : tensor<4xf32>
  %ceil = stablehlo.ceil %x : tensor<4xf32>
  %round_nearest_afz = stablehlo.round_nearest_afz %x : tensor<4xf32>
  %round_nearest_even = stablehlo.round_nearest_even %x : tensor<4xf32>
  %exponential = stablehlo.exponential %x : tensor<4xf32>
  %exponential_minus_one = stablehlo.exponential_minus_one %x : tensor<4xf32>
  %log = stablehlo.log %x : tensor<4xf32>
  %log_plus_one = stablehlo.log_plus_one %x : tensor<4xf32>
  %sqrt = stablehlo.sqrt %x : tensor<4xf32>
  %rsqrt = stablehlo.rsqrt %x : tensor<4xf32>
  %cbrt = stablehlo.cbrt %x : tensor<4xf32>
  %sine = stablehlo.sine %x : tensor<4xf32>
  %cosine = stablehlo.cosine %x : tensor<4xf32>
  %tan = stablehlo.tan %x : tensor<4xf32>
  %tanh = stablehlo.tanh %x : tensor<4xf32>
  %logistic = stablehlo.logistic %x : tensor<4xf32>
  %add = stablehlo.add %x, %y : tensor<4xf32>
  %subtract = stablehlo.subtract %x, %y : tensor<4xf32>
  %multiply = stablehlo.multiply %x, %y : tensor<4xf32>
  %divide = stablehlo.divide %x, %y : tensor<4xf32>
  %remainder = stablehlo.remainder %x, %y : tensor<4xf32>
  %power = stablehlo.power %x, %y : tensor<4xf32>
  %minimum = stablehlo.minimum %x, %y : tensor<4xf32>
  %maximum = stablehlo.maximum %x, %y : tensor<4xf32>
  %atan2 = stablehlo.atan2 %x, %y : tensor<4xf32>
  %tan_chlo = chlo.tan %x : tensor<4xf32> -> tensor<4xf32>
  %asin = chlo.asin %x : tensor<4xf32> -> tensor<4xf32>
  %acos = chlo.acos %x : tensor<4xf32> -> tensor<4xf32>
  %atan = chlo.atan %x : tensor<4xf32> -> tensor<4xf32>
  %sinh = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
  %cosh = chlo.cosh %x : tensor<4xf32> -> tensor<4xf32>
  %asinh = chlo.asinh %x : tensor<4xf32> -> tensor<4xf32>
  %acosh = chlo.acosh %x : tensor<4xf32> -> tensor<4xf32>
  %atanh = chlo.atanh %x : tensor<4xf32> -> tensor<4xf32>
  %erf = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  %erfc = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  %erf_inv = chlo.erf_inv %x : tensor<4xf32> -> tensor<4xf32>
  %lgamma = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  %digamma = chlo.digamma %x : tensor<4xf32> -> tensor<4xf32>
  %bessel_i1e = chlo.bessel_i1e %x : tensor<4xf32> -> tensor<4xf32>
  %next_after = chlo.next_after %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %finite = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  %real = stablehlo.real %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %imag = stablehlo.imag %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %abs_complex = stablehlo.abs %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %complex = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  %clamp = stablehlo.clamp %x, %y, %x : tensor<4xf32>
  %clamp_scalars = stablehlo.clamp %s, %x, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %select = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf32>
  %lt = stablehlo.compare LT, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %total = stablehlo.compare  GE, %x, %y,  TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %ne = stablehlo.compare NE, %z, %z : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  %half = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf16>
  %same = stablehlo.convert %x : tensor<4xf32>
  %precise = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>
  return %add : tensor<4xf32>
}
func.func @integers(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %not = stablehlo.not %x : tensor<4xi32>
  %popcnt = stablehlo.popcnt %x : tensor<4xi32>
  %count_leading_zeros = stablehlo.count_leading_zeros %x : tensor<4xi32>
  %and = stablehlo.and %x, %y : tensor<4xi32>
  %or = stablehlo.or %x, %y : tensor<4xi32>
  %xor = stablehlo.xor %x, %y : tensor<4xi32>
  %shift_left = stablehlo.shift_left %x, %y : tensor<4xi32>
  %shift_right_arithmetic = stablehlo.shift_right_arithmetic %x, %y : tensor<4xi32>
  %shift_right_logical = stablehlo.shift_right_logical %x, %y : tensor<4xi32>
  %gt = stablehlo.compare GT, %x, %y, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %b = stablehlo.compare EQ, %gt, %gt, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %and : tensor<4xi32>
}
//> module {
//>   func.func @floats(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xcomplex<f32>>, %p: tensor<4xi1>, %s: tensor<f32>) -> tensor<4xf32> {
//>     %negate = stablehlo.negate %x : tensor<4xf32>
//>     %abs = stablehlo.abs %x : tensor<4xf32>
//>     %sign = stablehlo.sign %x : tensor<4xf32>
//>     %floor = stablehlo.floor %x : tensor<4xf32>
//>     %ceil = stablehlo.ceil %x : tensor<4xf32>
//>     %round_nearest_afz = stablehlo.round_nearest_afz %x : tensor<4xf32>
//>     %round_nearest_even = stablehlo.round_nearest_even %x : tensor<4xf32>
//>     %exponential = stablehlo.exponential %x : tensor<4xf32>
//>     %exponential_minus_one = stablehlo.exponential_minus_one %x : tensor<4xf32>
//>     %log = stablehlo.log %x : tensor<4xf32>
//>     %log_plus_one = stablehlo.log_plus_one %x : tensor<4xf32>
//>     %sqrt = stablehlo.sqrt %x : tensor<4xf32>
//>     %rsqrt = stablehlo.rsqrt %x : tensor<4xf32>
//>     %cbrt = stablehlo.cbrt %x : tensor<4xf32>
//>     %sine = stablehlo.sine %x : tensor<4xf32>
//>     %cosine = stablehlo.cosine %x : tensor<4xf32>
//>     %tan = stablehlo.tan %x : tensor<4xf32>
//>     %tanh = stablehlo.tanh %x : tensor<4xf32>
//>     %logistic = stablehlo.logistic %x : tensor<4xf32>
//>     %add = stablehlo.add %x, %y : tensor<4xf32>
//>     %subtract = stablehlo.subtract %x, %y : tensor<4xf32>
//>     %multiply = stablehlo.multiply %x, %y : tensor<4xf32>
//>     %divide = stablehlo.divide %x, %y : tensor<4xf32>
//>     %remainder = stablehlo.remainder %x, %y : tensor<4xf32>
//>     %power = stablehlo.power %x, %y : tensor<4xf32>
//>     %minimum = stablehlo.minimum %x, %y : tensor<4xf32>
//>     %maximum = stablehlo.maximum %x, %y : tensor<4xf32>
//>     %atan2 = stablehlo.atan2 %x, %y : tensor<4xf32>
//>     %tan_chlo = stablehlo.tan %x : tensor<4xf32>
//>     %asin = chlo.asin %x : tensor<4xf32> -> tensor<4xf32>
//>     %acos = chlo.acos %x : tensor<4xf32> -> tensor<4xf32>
//>     %atan = chlo.atan %x : tensor<4xf32> -> tensor<4xf32>
//>     %sinh = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
//>     %cosh = chlo.cosh %x : tensor<4xf32> -> tensor<4xf32>
//>     %asinh = chlo.asinh %x : tensor<4xf32> -> tensor<4xf32>
//>     %acosh = chlo.acosh %x : tensor<4xf32> -> tensor<4xf32>
//>     %atanh = chlo.atanh %x : tensor<4xf32> -> tensor<4xf32>
//>     %erf = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
//>     %erfc = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
//>     %erf_inv = chlo.erf_inv %x : tensor<4xf32> -> tensor<4xf32>
//>     %lgamma = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
//>     %digamma = chlo.digamma %x : tensor<4xf32> -> tensor<4xf32>
//>     %bessel_i1e = chlo.bessel_i1e %x : tensor<4xf32> -> tensor<4xf32>
//>     %next_after = chlo.next_after %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
//>     %finite = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
//>     %real = stablehlo.real %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
//>     %imag = stablehlo.imag %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
//>     %abs_complex = stablehlo.abs %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
//>     %complex = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
//>     %clamp = stablehlo.clamp %x, %y, %x : tensor<4xf32>
//>     %clamp_scalars = stablehlo.clamp %s, %x, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
//>     %select = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf32>
//>     %lt = stablehlo.compare LT, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
//>     %total = stablehlo.compare GE, %x, %y, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
//>     %ne = stablehlo.compare NE, %z, %z, FLOAT : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
//>     %half = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf16>
//>     %same = stablehlo.convert %x : tensor<4xf32>
//>     %precise = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>
//>     return %add : tensor<4xf32>
//>   }
//>   func.func @integers(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
//>     %not = stablehlo.not %x : tensor<4xi32>
//>     %popcnt = stablehlo.popcnt %x : tensor<4xi32>
//>     %count_leading_zeros = stablehlo.count_leading_zeros %x : tensor<4xi32>
//>     %and = stablehlo.and %x, %y : tensor<4xi32>
//>     %or = stablehlo.or %x, %y : tensor<4xi32>
//>     %xor = stablehlo.xor %x, %y : tensor<4xi32>
//>     %shift_left = stablehlo.shift_left %x, %y : tensor<4xi32>
//>     %shift_right_arithmetic = stablehlo.shift_right_arithmetic %x, %y : tensor<4xi32>
//>     %shift_right_logical = stablehlo.shift_right_logical %x, %y : tensor<4xi32>
//>     %gt = stablehlo.compare GT, %x, %y, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
//>     %b = stablehlo.compare EQ, %gt, %gt, UNSIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
//>     return %and : tensor<4xi32>
//>   }
//> }
