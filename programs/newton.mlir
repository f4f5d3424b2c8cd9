module @jit_newton attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg0, %iterArg_1 = %c) : tensor<8xf32>, tensor<8xf32>, tensor<i32>
    cond {
      %c_2 = stablehlo.constant dense<20> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.divide %iterArg, %iterArg_0 : tensor<8xf32>
      %2 = stablehlo.add %iterArg_0, %1 : tensor<8xf32>
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
      %4 = stablehlo.divide %2, %3 : tensor<8xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg_1, %c_2 : tensor<i32>
      stablehlo.return %iterArg, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<i32>
    }
    return %0#1 : tensor<8xf32>
  }
}
