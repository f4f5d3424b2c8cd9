module @jit_grad_of_mlp attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x4xf32>, %arg1: tensor<4x3xf32>, %arg2: tensor<?x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg2, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "shapes", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare EQ, %1, %0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %1, %0) {api_version = 2 : i32, error_message = "shapes", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4 = call @_wrapped_jax_export_main(%0, %arg0, %arg1, %arg2) : (tensor<i32>, tensor<?x4xf32>, tensor<4x3xf32>, tensor<?x3xf32>) -> tensor<4x3xf32>
    return %4 : tensor<4x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x4xf32>, %arg2: tensor<4x3xf32>, %arg3: tensor<?x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg1, %arg2, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
    %1 = call @relu(%arg0, %0) : (tensor<i32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %cst_2, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %5 = stablehlo.compare GT, %0, %4, FLOAT : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xi1>
    %6 = stablehlo.subtract %1, %arg3 : tensor<?x3xf32>
    %7 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.concatenate %7, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %9 = stablehlo.dynamic_broadcast_in_dim %cst_0, %8, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %10 = stablehlo.multiply %9, %6 : tensor<?x3xf32>
    %11 = stablehlo.convert %arg0 : tensor<i32>
    %12 = stablehlo.multiply %11, %c_1 : tensor<i32>
    %13 = stablehlo.convert %12 : (tensor<i32>) -> tensor<f32>
    %14 = stablehlo.divide %cst, %13 : tensor<f32>
    %15 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %15, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %14, %16, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %18 = stablehlo.multiply %17, %10 : tensor<?x3xf32>
    %19 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.concatenate %19, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %21 = stablehlo.dynamic_broadcast_in_dim %cst_2, %20, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %22 = stablehlo.select %5, %18, %21 : tensor<?x3xi1>, tensor<?x3xf32>
    %23 = stablehlo.dot_general %22, %arg1, contracting_dims = [0] x [0] : (tensor<?x3xf32>, tensor<?x4xf32>) -> tensor<3x4xf32>
    %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    return %24 : tensor<4x3xf32>
  }
  func.func private @relu(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.concatenate %0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %cst, %1, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %3 = stablehlo.maximum %arg1, %2 : tensor<?x3xf32>
    return %3 : tensor<?x3xf32>
  }
}
