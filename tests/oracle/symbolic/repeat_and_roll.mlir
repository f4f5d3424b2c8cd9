module @jit_repeat_and_roll attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x4xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x4xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "shapes", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0, %1) {api_version = 2 : i32, error_message = "shapes", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4 = call @_wrapped_jax_export_main(%0, %1, %arg0) : (tensor<i32>, tensor<i32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    return %4 : tensor<?x?x4xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "s"}, %arg2: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<2> : tensor<i32>
    %c_2 = stablehlo.constant dense<4> : tensor<1xi32>
    %c_3 = stablehlo.constant dense<1> : tensor<1xi32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %c_3, %0, %c_3, %1, %c_3, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6xi32>
    %3 = stablehlo.dynamic_reshape %arg2, %2 : (tensor<?x?x4xf32>, tensor<6xi32>) -> tensor<1x?x1x?x1x4xf32>
    %4 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.concatenate %c_3, %4, %c_0, %5, %c_3, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6xi32>
    %7 = stablehlo.dynamic_broadcast_in_dim %3, %6, dims = [0, 1, 2, 3, 4, 5] : (tensor<1x?x1x?x1x4xf32>, tensor<6xi32>) -> tensor<1x?x2x?x1x4xf32>
    %8 = stablehlo.convert %arg1 : tensor<i32>
    %9 = stablehlo.multiply %8, %c_1 : tensor<i32>
    %10 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.reshape %9 : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.concatenate %10, %11, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %13 = stablehlo.dynamic_reshape %7, %12 : (tensor<1x?x2x?x1x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %14 = stablehlo.concatenate %arg2, %arg2, dim = 1 : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %15 = stablehlo.convert %arg1 : tensor<i32>
    %16 = stablehlo.multiply %15, %c_1 : tensor<i32>
    %17 = stablehlo.add %16, %c : tensor<i32>
    %18 = stablehlo.convert %17 : tensor<i32>
    %19 = stablehlo.convert %arg1 : tensor<i32>
    %20 = stablehlo.multiply %19, %c_1 : tensor<i32>
    %21 = stablehlo.reshape %20 : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.dynamic_iota %21, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    %23 = stablehlo.convert %arg1 : tensor<i32>
    %24 = stablehlo.multiply %23, %c_1 : tensor<i32>
    %25 = stablehlo.reshape %24 : (tensor<i32>) -> tensor<1xi32>
    %26 = stablehlo.dynamic_broadcast_in_dim %c, %25, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %27 = stablehlo.multiply %26, %22 : tensor<?xi32>
    %28 = stablehlo.convert %arg1 : tensor<i32>
    %29 = stablehlo.multiply %28, %c_1 : tensor<i32>
    %30 = stablehlo.reshape %29 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.dynamic_broadcast_in_dim %18, %30, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %32 = stablehlo.add %31, %27 : tensor<?xi32>
    %33 = stablehlo.reverse %32, dims = [0] : tensor<?xi32>
    %34 = stablehlo.convert %arg1 : tensor<i32>
    %35 = stablehlo.multiply %34, %c_1 : tensor<i32>
    %36 = stablehlo.reshape %35 : (tensor<i32>) -> tensor<1xi32>
    %37 = stablehlo.concatenate %36, %c_3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %38 = stablehlo.dynamic_broadcast_in_dim %33, %37, dims = [0] : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %39 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %40 = stablehlo.concatenate %39, %c_3, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %41 = "stablehlo.dynamic_gather"(%14, %38, %40) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<?x?x4xf32>, tensor<?x1xi32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %42 = stablehlo.reverse %41, dims = [1] : tensor<?x?x4xf32>
    %43 = stablehlo.add %13, %42 : tensor<?x?x4xf32>
    return %43 : tensor<?x?x4xf32>
  }
}
