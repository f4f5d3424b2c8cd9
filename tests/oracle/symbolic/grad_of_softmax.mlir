module @jit_grad_of_softmax attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x4xf32>, %arg1: tensor<4x4xf32>) -> (tensor<?x?x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x4xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x4xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "shapes", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0, %1) {api_version = 2 : i32, error_message = "shapes", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4 = call @_wrapped_jax_export_main(%0, %1, %arg0, %arg1) : (tensor<i32>, tensor<i32>, tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>
    return %4 : tensor<?x?x4xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "s"}, %arg2: tensor<?x?x4xf32>, %arg3: tensor<4x4xf32>) -> (tensor<?x?x4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [2] x [0] : (tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>
    %1 = stablehlo.reduce(%0 init: %cst_2) applies stablehlo.maximum across dimensions = [1] : (tensor<?x?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %cst_2, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
    %5 = stablehlo.maximum %4, %1 : tensor<?x4xf32>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %5, %7, dims = [0, 2] : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<?x1x4xf32>
    %9 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.concatenate %9, %10, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %12 = stablehlo.dynamic_broadcast_in_dim %8, %11, dims = [0, 1, 2] : (tensor<?x1x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %13 = stablehlo.subtract %0, %12 : tensor<?x?x4xf32>
    %14 = stablehlo.exponential %13 : tensor<?x?x4xf32>
    %15 = stablehlo.reduce(%14 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<?x?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    %16 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.concatenate %16, %c_1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %18 = stablehlo.dynamic_broadcast_in_dim %15, %17, dims = [0, 2] : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<?x1x4xf32>
    %19 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.concatenate %19, %20, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %22 = stablehlo.dynamic_broadcast_in_dim %18, %21, dims = [0, 1, 2] : (tensor<?x1x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %23 = stablehlo.divide %14, %22 : tensor<?x?x4xf32>
    %24 = stablehlo.multiply %18, %18 : tensor<?x1x4xf32>
    %25 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %26 = stablehlo.concatenate %25, %c_1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %27 = stablehlo.dynamic_broadcast_in_dim %cst, %26, dims = [] : (tensor<f32>, tensor<3xi32>) -> tensor<?x1x4xf32>
    %28 = stablehlo.divide %27, %24 : tensor<?x1x4xf32>
    %29 = stablehlo.reduce(%23 init: %cst_2) applies stablehlo.maximum across dimensions = [2] : (tensor<?x?x4xf32>, tensor<f32>) -> tensor<?x?xf32>
    %30 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %32 = stablehlo.concatenate %30, %31, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %33 = stablehlo.dynamic_reshape %29, %32 : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %34 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %35 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %36 = stablehlo.concatenate %34, %35, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %37 = stablehlo.dynamic_broadcast_in_dim %33, %36, dims = [0, 1, 2] : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %38 = stablehlo.compare EQ, %23, %37, FLOAT : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xi1>
    %39 = stablehlo.convert %38 : (tensor<?x?x4xi1>) -> tensor<?x?x4xf32>
    %40 = stablehlo.reduce(%39 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<?x?x4xf32>, tensor<f32>) -> tensor<?x?xf32>
    %41 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %42 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %43 = stablehlo.concatenate %41, %42, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %44 = stablehlo.dynamic_broadcast_in_dim %cst, %43, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %45 = stablehlo.divide %44, %40 : tensor<?x?xf32>
    %46 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %47 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %48 = stablehlo.concatenate %46, %47, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %49 = stablehlo.dynamic_broadcast_in_dim %45, %48, dims = [0, 1] : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %50 = stablehlo.multiply %49, %39 : tensor<?x?x4xf32>
    %51 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %52 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %53 = stablehlo.concatenate %51, %52, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %54 = stablehlo.dynamic_broadcast_in_dim %28, %53, dims = [0, 1, 2] : (tensor<?x1x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %55 = stablehlo.multiply %50, %54 : tensor<?x?x4xf32>
    %56 = stablehlo.multiply %55, %14 : tensor<?x?x4xf32>
    %57 = stablehlo.reduce(%56 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<?x?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    %58 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %59 = stablehlo.concatenate %58, %c_1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %60 = stablehlo.dynamic_reshape %57, %59 : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<?x1x4xf32>
    %61 = stablehlo.negate %60 : tensor<?x1x4xf32>
    %62 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %63 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %64 = stablehlo.concatenate %62, %63, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %65 = stablehlo.dynamic_broadcast_in_dim %18, %64, dims = [0, 1, 2] : (tensor<?x1x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %66 = stablehlo.divide %50, %65 : tensor<?x?x4xf32>
    %67 = stablehlo.reduce(%61 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<?x1x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    %68 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %69 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %70 = stablehlo.concatenate %68, %69, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %71 = stablehlo.dynamic_broadcast_in_dim %67, %70, dims = [0, 2] : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %72 = stablehlo.add %66, %71 : tensor<?x?x4xf32>
    %73 = stablehlo.multiply %72, %14 : tensor<?x?x4xf32>
    %74 = stablehlo.dot_general %73, %arg3, contracting_dims = [2] x [1] : (tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>
    return %74 : tensor<?x?x4xf32>
  }
}
