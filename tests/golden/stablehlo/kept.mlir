//! test: stablehlo
// Ops that nothing here knows are kept, with their attributes and regions.
func.func @main(%x: tensor<4xf32>, %key: tensor<2xui64>, %n: tensor<i32>, %shape: tensor<1xi64>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %8 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %8 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = stablehlo.rng_bit_generator %key, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %lo = stablehlo.constant dense<0.0> : tensor<f32>
  %hi = stablehlo.constant dense<1.0> : tensor<f32>
  %2 = stablehlo.rng %lo, %hi, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %3 = stablehlo.replica_id : tensor<ui32>
  %4 = stablehlo.partition_id : tensor<ui32>
  %5 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32>
  %6 = stablehlo.einsum %x, %x, config = "a,a->a" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = "other.op"(%0) {name = "x", list = [1, 2 : i32]} : (tensor<4xf32>) -> tensor<4xf32>
  return %7 : tensor<4xf32>
}
//> module {
//>   func.func @main(%x: tensor<4xf32>, %key: tensor<2xui64>, %n: tensor<i32>, %shape: tensor<1xi64>) -> tensor<4xf32> {
//>     %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
//>     ^bb0(%a: tensor<f32>, %b: tensor<f32>):
//>       %1 = stablehlo.add %a, %b : tensor<f32>
//>       stablehlo.return %1 : tensor<f32>
//>     }) : (tensor<4xf32>) -> tensor<4xf32>
//>     %2:2 = "stablehlo.rng_bit_generator"(%key) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
//>     %lo = stablehlo.constant dense<0.000000e+00> : tensor<f32>
//>     %hi = stablehlo.constant dense<1.000000e+00> : tensor<f32>
//>     %3 = "stablehlo.rng"(%lo, %hi, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
//>     %4 = "stablehlo.replica_id"() : () -> tensor<ui32>
//>     %5 = "stablehlo.partition_id"() : () -> tensor<ui32>
//>     %6 = "stablehlo.set_dimension_size"(%x, %n) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32>
//>     %7 = "stablehlo.einsum"(%x, %x) <{einsum_config = "a,a->a"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//>     %8 = "other.op"(%0) {name = "x", list = [1, 2 : i32]} : (tensor<4xf32>) -> tensor<4xf32>
//>     return %8 : tensor<4xf32>
//>   }
//> }
