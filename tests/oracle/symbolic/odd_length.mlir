module @jit_odd_length attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %c_1 = stablehlo.constant dense<-1> : tensor<i32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x8xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x8xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "shapes", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.convert %1 : tensor<i32>
    %4 = stablehlo.add %3, %c_1 : tensor<i32>
    %5:2 = call @divmod(%4, %c_0) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %6 = stablehlo.compare EQ, %5#1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.convert %1 : tensor<i32>
    %8 = stablehlo.add %7, %c_1 : tensor<i32>
    %9:2 = call @divmod(%8, %c_0) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    stablehlo.custom_call @shape_assertion(%6, %9#1, %0) {api_version = 2 : i32, error_message = "shapes", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %10 = stablehlo.convert %1 : tensor<i32>
    %11 = stablehlo.add %10, %c_1 : tensor<i32>
    %12:2 = call @divmod(%11, %c_0) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %13 = stablehlo.compare GE, %12#0, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %14 = stablehlo.convert %1 : tensor<i32>
    %15 = stablehlo.add %14, %c_1 : tensor<i32>
    %16:2 = call @divmod(%15, %c_0) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    stablehlo.custom_call @shape_assertion(%13, %0, %16#0, %1) {api_version = 2 : i32, error_message = "shapes", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %17 = stablehlo.convert %1 : tensor<i32>
    %18 = stablehlo.add %17, %c_1 : tensor<i32>
    %19:2 = call @divmod(%18, %c_0) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %20 = call @_wrapped_jax_export_main(%0, %19#0, %arg0) : (tensor<i32>, tensor<i32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
    return %20 : tensor<?x?x8xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "s"}, %arg2: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %c_2 = stablehlo.constant dense<8> : tensor<1xi32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg2 init: %cst_3) applies stablehlo.maximum across dimensions = [1] : (tensor<?x?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst_3, %2, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
    %4 = stablehlo.maximum %3, %0 : tensor<?x8xf32>
    %5 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.concatenate %5, %c_0, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %7 = stablehlo.dynamic_broadcast_in_dim %4, %6, dims = [0, 2] : (tensor<?x8xf32>, tensor<3xi32>) -> tensor<?x1x8xf32>
    %8 = stablehlo.convert %arg1 : tensor<i32>
    %9 = stablehlo.multiply %8, %c : tensor<i32>
    %10 = stablehlo.add %9, %c_1 : tensor<i32>
    %11 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.reshape %10 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.concatenate %11, %12, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %7, %13, dims = [0, 1, 2] : (tensor<?x1x8xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
    %15 = stablehlo.subtract %arg2, %14 : tensor<?x?x8xf32>
    %16 = stablehlo.exponential %15 : tensor<?x?x8xf32>
    %17 = stablehlo.reduce(%16 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
    %18 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.concatenate %18, %c_0, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %20 = stablehlo.dynamic_broadcast_in_dim %17, %19, dims = [0, 2] : (tensor<?x8xf32>, tensor<3xi32>) -> tensor<?x1x8xf32>
    %21 = stablehlo.convert %arg1 : tensor<i32>
    %22 = stablehlo.multiply %21, %c : tensor<i32>
    %23 = stablehlo.add %22, %c_1 : tensor<i32>
    %24 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %25 = stablehlo.reshape %23 : (tensor<i32>) -> tensor<1xi32>
    %26 = stablehlo.concatenate %24, %25, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %27 = stablehlo.dynamic_broadcast_in_dim %20, %26, dims = [0, 1, 2] : (tensor<?x1x8xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
    %28 = stablehlo.divide %16, %27 : tensor<?x?x8xf32>
    return %28 : tensor<?x?x8xf32>
  }
  func.func private @divmod(%arg0: tensor<i32> {jax.global_constant = ""}, %arg1: tensor<i32> {jax.global_constant = ""}) -> (tensor<i32>, tensor<i32>) {
    %0 = call @floor_divide(%arg0, %arg1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %1 = call @remainder(%arg0, %arg1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    return %0, %1 : tensor<i32>, tensor<i32>
  }
  func.func private @floor_divide(%arg0: tensor<i32> {jax.global_constant = ""}, %arg1: tensor<i32> {jax.global_constant = ""}) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.divide %arg0, %arg1 : tensor<i32>
    %1 = stablehlo.sign %arg0 : tensor<i32>
    %2 = stablehlo.sign %arg1 : tensor<i32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<i32>
    %5 = stablehlo.compare NE, %4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %3, %5 : tensor<i1>
    %7 = stablehlo.subtract %0, %c : tensor<i32>
    %8 = call @_where(%6, %7, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %8 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1> {jax.global_constant = ""}, %arg1: tensor<i32> {jax.global_constant = ""}, %arg2: tensor<i32> {jax.global_constant = ""}) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @remainder(%arg0: tensor<i32> {jax.global_constant = ""}, %arg1: tensor<i32> {jax.global_constant = ""}) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare EQ, %arg1, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = call @_where(%0, %c, %arg1) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.remainder %arg0, %1 : tensor<i32>
    %3 = stablehlo.compare NE, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.compare LT, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %1, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i32>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i32>
    return %9 : tensor<i32>
  }
}
