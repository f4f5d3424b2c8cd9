module @jit_transformer attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64x4x16xf32>, %arg3: tensor<64xf32>, %arg4: tensor<64xf32>, %arg5: tensor<4x16x64xf32>, %arg6: tensor<64x4x16xf32>, %arg7: tensor<64xf32>, %arg8: tensor<64xf32>, %arg9: tensor<64x256xf32>, %arg10: tensor<256xf32>, %arg11: tensor<64x4x16xf32>, %arg12: tensor<256x64xf32>, %arg13: tensor<64xf32>, %arg14: tensor<64x4x16xf32>, %arg15: tensor<64xf32>, %arg16: tensor<64xf32>, %arg17: tensor<4x16x64xf32>, %arg18: tensor<64x4x16xf32>, %arg19: tensor<64xf32>, %arg20: tensor<64xf32>, %arg21: tensor<64x256xf32>, %arg22: tensor<256xf32>, %arg23: tensor<64x4x16xf32>, %arg24: tensor<256x64xf32>, %arg25: tensor<64xf32>, %arg26: tensor<64x4x16xf32>, %arg27: tensor<64xf32>, %arg28: tensor<64xf32>, %arg29: tensor<4x16x64xf32>, %arg30: tensor<64x4x16xf32>, %arg31: tensor<64xf32>, %arg32: tensor<64xf32>, %arg33: tensor<64x256xf32>, %arg34: tensor<256xf32>, %arg35: tensor<64x4x16xf32>, %arg36: tensor<256x64xf32>, %arg37: tensor<64xf32>, %arg38: tensor<64x4x16xf32>, %arg39: tensor<64xf32>, %arg40: tensor<64xf32>, %arg41: tensor<4x16x64xf32>, %arg42: tensor<64x4x16xf32>, %arg43: tensor<64xf32>, %arg44: tensor<64xf32>, %arg45: tensor<64x256xf32>, %arg46: tensor<256xf32>, %arg47: tensor<64x4x16xf32>, %arg48: tensor<2x32x64xf32>) -> (tensor<2x32x64xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg48 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x32x64xf32>, tensor<f32>) -> tensor<2x32xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x32xf32>) -> tensor<2x32x1xf32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %5 = stablehlo.subtract %arg48, %4 : tensor<2x32x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = call @_var(%arg48, %c) : (tensor<2x32x64xf32>, tensor<i32>) -> tensor<2x32x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<2x32x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<2x32x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %11 = stablehlo.multiply %5, %10 : tensor<2x32x64xf32>
    %12 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %14 = stablehlo.multiply %11, %13 : tensor<2x32x64xf32>
    %15 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %17 = stablehlo.add %14, %16 : tensor<2x32x64xf32>
    %18 = stablehlo.dot_general %17, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %19 = stablehlo.dot_general %17, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %20 = stablehlo.dot_general %17, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %21 = stablehlo.dot_general %18, %19, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x4x16xf32>, tensor<2x32x4x16xf32>) -> tensor<2x4x32x32xf32>
    %cst_2 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %22 = stablehlo.sqrt %cst_2 : tensor<f32>
    %23 = stablehlo.convert %22 : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<2x4x32x32xf32>
    %25 = stablehlo.divide %21, %24 : tensor<2x4x32x32xf32>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %26 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %27 = call @tril(%26) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_4 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %28 = call @_where_0(%27, %25, %cst_4) : (tensor<32x32xi1>, tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32x32xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_5) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x4x32xf32>
    %31 = stablehlo.maximum %30, %29 : tensor<2x4x32xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<2x4x32xf32>) -> tensor<2x4x32x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3] : (tensor<2x4x32x1xf32>) -> tensor<2x4x32x32xf32>
    %34 = stablehlo.subtract %28, %33 : tensor<2x4x32x32xf32>
    %35 = stablehlo.exponential %34 : tensor<2x4x32x32xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<2x4x32xf32>) -> tensor<2x4x32x1xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<2x4x32x1xf32>) -> tensor<2x4x32x32xf32>
    %39 = stablehlo.divide %35, %38 : tensor<2x4x32x32xf32>
    %40 = stablehlo.dot_general %20, %39, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x4x16xf32>, tensor<2x4x32x32xf32>) -> tensor<2x4x16x32xf32>
    %41 = stablehlo.dot_general %40, %arg5, contracting_dims = [2, 1] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<2x4x16x32xf32>, tensor<4x16x64xf32>) -> tensor<2x32x64xf32>
    %42 = stablehlo.add %arg48, %41 : tensor<2x32x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_8) applies stablehlo.add across dimensions = [2] : (tensor<2x32x64xf32>, tensor<f32>) -> tensor<2x32xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1] : (tensor<2x32xf32>) -> tensor<2x32x1xf32>
    %cst_9 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %46 = stablehlo.divide %44, %45 : tensor<2x32x1xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %48 = stablehlo.subtract %42, %47 : tensor<2x32x64xf32>
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %49 = call @_var(%42, %c_10) : (tensor<2x32x64xf32>, tensor<i32>) -> tensor<2x32x1xf32>
    %cst_11 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %51 = stablehlo.add %49, %50 : tensor<2x32x1xf32>
    %52 = stablehlo.rsqrt %51 : tensor<2x32x1xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %54 = stablehlo.multiply %48, %53 : tensor<2x32x64xf32>
    %55 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %57 = stablehlo.multiply %54, %56 : tensor<2x32x64xf32>
    %58 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %60 = stablehlo.add %57, %59 : tensor<2x32x64xf32>
    %61 = stablehlo.dot_general %60, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x256xf32>) -> tensor<2x32x256xf32>
    %62 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<2x32x256xf32>
    %64 = stablehlo.add %61, %63 : tensor<2x32x256xf32>
    %65 = stablehlo.multiply %64, %64 : tensor<2x32x256xf32>
    %66 = stablehlo.multiply %65, %64 : tensor<2x32x256xf32>
    %cst_12 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %68 = stablehlo.multiply %67, %66 : tensor<2x32x256xf32>
    %69 = stablehlo.add %64, %68 : tensor<2x32x256xf32>
    %cst_13 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %71 = stablehlo.multiply %70, %69 : tensor<2x32x256xf32>
    %72 = stablehlo.tanh %71 : tensor<2x32x256xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %74 = stablehlo.add %73, %72 : tensor<2x32x256xf32>
    %cst_15 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %76 = stablehlo.multiply %75, %74 : tensor<2x32x256xf32>
    %77 = stablehlo.multiply %64, %76 : tensor<2x32x256xf32>
    %78 = stablehlo.dot_general %77, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x256xf32>, tensor<256x64xf32>) -> tensor<2x32x64xf32>
    %79 = stablehlo.add %42, %78 : tensor<2x32x64xf32>
    %80 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %82 = stablehlo.add %79, %81 : tensor<2x32x64xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %83 = stablehlo.reduce(%82 init: %cst_16) applies stablehlo.add across dimensions = [2] : (tensor<2x32x64xf32>, tensor<f32>) -> tensor<2x32xf32>
    %84 = stablehlo.broadcast_in_dim %83, dims = [0, 1] : (tensor<2x32xf32>) -> tensor<2x32x1xf32>
    %cst_17 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %86 = stablehlo.divide %84, %85 : tensor<2x32x1xf32>
    %87 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %88 = stablehlo.subtract %82, %87 : tensor<2x32x64xf32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %89 = call @_var(%82, %c_18) : (tensor<2x32x64xf32>, tensor<i32>) -> tensor<2x32x1xf32>
    %cst_19 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %91 = stablehlo.add %89, %90 : tensor<2x32x1xf32>
    %92 = stablehlo.rsqrt %91 : tensor<2x32x1xf32>
    %93 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %94 = stablehlo.multiply %88, %93 : tensor<2x32x64xf32>
    %95 = stablehlo.broadcast_in_dim %arg19, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %96 = stablehlo.broadcast_in_dim %95, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %97 = stablehlo.multiply %94, %96 : tensor<2x32x64xf32>
    %98 = stablehlo.broadcast_in_dim %arg15, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %99 = stablehlo.broadcast_in_dim %98, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %100 = stablehlo.add %97, %99 : tensor<2x32x64xf32>
    %101 = stablehlo.dot_general %100, %arg18, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %102 = stablehlo.dot_general %100, %arg14, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %103 = stablehlo.dot_general %100, %arg23, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %104 = stablehlo.dot_general %101, %102, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x4x16xf32>, tensor<2x32x4x16xf32>) -> tensor<2x4x32x32xf32>
    %cst_20 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %105 = stablehlo.sqrt %cst_20 : tensor<f32>
    %106 = stablehlo.convert %105 : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %106, dims = [] : (tensor<f32>) -> tensor<2x4x32x32xf32>
    %108 = stablehlo.divide %104, %107 : tensor<2x4x32x32xf32>
    %c_21 = stablehlo.constant dense<true> : tensor<i1>
    %109 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %110 = call @tril(%109) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_22 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %111 = call @_where_0(%110, %108, %cst_22) : (tensor<32x32xi1>, tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32x32xf32>
    %cst_23 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %112 = stablehlo.reduce(%111 init: %cst_23) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32xf32>
    %cst_24 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<2x4x32xf32>
    %114 = stablehlo.maximum %113, %112 : tensor<2x4x32xf32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [0, 1, 2] : (tensor<2x4x32xf32>) -> tensor<2x4x32x1xf32>
    %116 = stablehlo.broadcast_in_dim %115, dims = [0, 1, 2, 3] : (tensor<2x4x32x1xf32>) -> tensor<2x4x32x32xf32>
    %117 = stablehlo.subtract %111, %116 : tensor<2x4x32x32xf32>
    %118 = stablehlo.exponential %117 : tensor<2x4x32x32xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %119 = stablehlo.reduce(%118 init: %cst_25) applies stablehlo.add across dimensions = [3] : (tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32xf32>
    %120 = stablehlo.broadcast_in_dim %119, dims = [0, 1, 2] : (tensor<2x4x32xf32>) -> tensor<2x4x32x1xf32>
    %121 = stablehlo.broadcast_in_dim %120, dims = [0, 1, 2, 3] : (tensor<2x4x32x1xf32>) -> tensor<2x4x32x32xf32>
    %122 = stablehlo.divide %118, %121 : tensor<2x4x32x32xf32>
    %123 = stablehlo.dot_general %103, %122, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x4x16xf32>, tensor<2x4x32x32xf32>) -> tensor<2x4x16x32xf32>
    %124 = stablehlo.dot_general %123, %arg17, contracting_dims = [2, 1] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<2x4x16x32xf32>, tensor<4x16x64xf32>) -> tensor<2x32x64xf32>
    %125 = stablehlo.add %82, %124 : tensor<2x32x64xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %126 = stablehlo.reduce(%125 init: %cst_26) applies stablehlo.add across dimensions = [2] : (tensor<2x32x64xf32>, tensor<f32>) -> tensor<2x32xf32>
    %127 = stablehlo.broadcast_in_dim %126, dims = [0, 1] : (tensor<2x32xf32>) -> tensor<2x32x1xf32>
    %cst_27 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %129 = stablehlo.divide %127, %128 : tensor<2x32x1xf32>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %131 = stablehlo.subtract %125, %130 : tensor<2x32x64xf32>
    %c_28 = stablehlo.constant dense<0> : tensor<i32>
    %132 = call @_var(%125, %c_28) : (tensor<2x32x64xf32>, tensor<i32>) -> tensor<2x32x1xf32>
    %cst_29 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %133 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %134 = stablehlo.add %132, %133 : tensor<2x32x1xf32>
    %135 = stablehlo.rsqrt %134 : tensor<2x32x1xf32>
    %136 = stablehlo.broadcast_in_dim %135, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %137 = stablehlo.multiply %131, %136 : tensor<2x32x64xf32>
    %138 = stablehlo.broadcast_in_dim %arg20, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %139 = stablehlo.broadcast_in_dim %138, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %140 = stablehlo.multiply %137, %139 : tensor<2x32x64xf32>
    %141 = stablehlo.broadcast_in_dim %arg16, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %142 = stablehlo.broadcast_in_dim %141, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %143 = stablehlo.add %140, %142 : tensor<2x32x64xf32>
    %144 = stablehlo.dot_general %143, %arg21, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x256xf32>) -> tensor<2x32x256xf32>
    %145 = stablehlo.broadcast_in_dim %arg22, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %146 = stablehlo.broadcast_in_dim %145, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<2x32x256xf32>
    %147 = stablehlo.add %144, %146 : tensor<2x32x256xf32>
    %148 = stablehlo.multiply %147, %147 : tensor<2x32x256xf32>
    %149 = stablehlo.multiply %148, %147 : tensor<2x32x256xf32>
    %cst_30 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %151 = stablehlo.multiply %150, %149 : tensor<2x32x256xf32>
    %152 = stablehlo.add %147, %151 : tensor<2x32x256xf32>
    %cst_31 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %153 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %154 = stablehlo.multiply %153, %152 : tensor<2x32x256xf32>
    %155 = stablehlo.tanh %154 : tensor<2x32x256xf32>
    %cst_32 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %156 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %157 = stablehlo.add %156, %155 : tensor<2x32x256xf32>
    %cst_33 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %158 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %159 = stablehlo.multiply %158, %157 : tensor<2x32x256xf32>
    %160 = stablehlo.multiply %147, %159 : tensor<2x32x256xf32>
    %161 = stablehlo.dot_general %160, %arg12, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x256xf32>, tensor<256x64xf32>) -> tensor<2x32x64xf32>
    %162 = stablehlo.add %125, %161 : tensor<2x32x64xf32>
    %163 = stablehlo.broadcast_in_dim %arg13, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %164 = stablehlo.broadcast_in_dim %163, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %165 = stablehlo.add %162, %164 : tensor<2x32x64xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %166 = stablehlo.reduce(%165 init: %cst_34) applies stablehlo.add across dimensions = [2] : (tensor<2x32x64xf32>, tensor<f32>) -> tensor<2x32xf32>
    %167 = stablehlo.broadcast_in_dim %166, dims = [0, 1] : (tensor<2x32xf32>) -> tensor<2x32x1xf32>
    %cst_35 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %168 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %169 = stablehlo.divide %167, %168 : tensor<2x32x1xf32>
    %170 = stablehlo.broadcast_in_dim %169, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %171 = stablehlo.subtract %165, %170 : tensor<2x32x64xf32>
    %c_36 = stablehlo.constant dense<0> : tensor<i32>
    %172 = call @_var(%165, %c_36) : (tensor<2x32x64xf32>, tensor<i32>) -> tensor<2x32x1xf32>
    %cst_37 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %173 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %174 = stablehlo.add %172, %173 : tensor<2x32x1xf32>
    %175 = stablehlo.rsqrt %174 : tensor<2x32x1xf32>
    %176 = stablehlo.broadcast_in_dim %175, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %177 = stablehlo.multiply %171, %176 : tensor<2x32x64xf32>
    %178 = stablehlo.broadcast_in_dim %arg31, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %179 = stablehlo.broadcast_in_dim %178, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %180 = stablehlo.multiply %177, %179 : tensor<2x32x64xf32>
    %181 = stablehlo.broadcast_in_dim %arg27, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %182 = stablehlo.broadcast_in_dim %181, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %183 = stablehlo.add %180, %182 : tensor<2x32x64xf32>
    %184 = stablehlo.dot_general %183, %arg30, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %185 = stablehlo.dot_general %183, %arg26, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %186 = stablehlo.dot_general %183, %arg35, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %187 = stablehlo.dot_general %184, %185, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x4x16xf32>, tensor<2x32x4x16xf32>) -> tensor<2x4x32x32xf32>
    %cst_38 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %188 = stablehlo.sqrt %cst_38 : tensor<f32>
    %189 = stablehlo.convert %188 : tensor<f32>
    %190 = stablehlo.broadcast_in_dim %189, dims = [] : (tensor<f32>) -> tensor<2x4x32x32xf32>
    %191 = stablehlo.divide %187, %190 : tensor<2x4x32x32xf32>
    %c_39 = stablehlo.constant dense<true> : tensor<i1>
    %192 = stablehlo.broadcast_in_dim %c_39, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %193 = call @tril(%192) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_40 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %194 = call @_where_0(%193, %191, %cst_40) : (tensor<32x32xi1>, tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32x32xf32>
    %cst_41 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %195 = stablehlo.reduce(%194 init: %cst_41) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32xf32>
    %cst_42 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %196 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<2x4x32xf32>
    %197 = stablehlo.maximum %196, %195 : tensor<2x4x32xf32>
    %198 = stablehlo.broadcast_in_dim %197, dims = [0, 1, 2] : (tensor<2x4x32xf32>) -> tensor<2x4x32x1xf32>
    %199 = stablehlo.broadcast_in_dim %198, dims = [0, 1, 2, 3] : (tensor<2x4x32x1xf32>) -> tensor<2x4x32x32xf32>
    %200 = stablehlo.subtract %194, %199 : tensor<2x4x32x32xf32>
    %201 = stablehlo.exponential %200 : tensor<2x4x32x32xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %202 = stablehlo.reduce(%201 init: %cst_43) applies stablehlo.add across dimensions = [3] : (tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32xf32>
    %203 = stablehlo.broadcast_in_dim %202, dims = [0, 1, 2] : (tensor<2x4x32xf32>) -> tensor<2x4x32x1xf32>
    %204 = stablehlo.broadcast_in_dim %203, dims = [0, 1, 2, 3] : (tensor<2x4x32x1xf32>) -> tensor<2x4x32x32xf32>
    %205 = stablehlo.divide %201, %204 : tensor<2x4x32x32xf32>
    %206 = stablehlo.dot_general %186, %205, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x4x16xf32>, tensor<2x4x32x32xf32>) -> tensor<2x4x16x32xf32>
    %207 = stablehlo.dot_general %206, %arg29, contracting_dims = [2, 1] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<2x4x16x32xf32>, tensor<4x16x64xf32>) -> tensor<2x32x64xf32>
    %208 = stablehlo.add %165, %207 : tensor<2x32x64xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %209 = stablehlo.reduce(%208 init: %cst_44) applies stablehlo.add across dimensions = [2] : (tensor<2x32x64xf32>, tensor<f32>) -> tensor<2x32xf32>
    %210 = stablehlo.broadcast_in_dim %209, dims = [0, 1] : (tensor<2x32xf32>) -> tensor<2x32x1xf32>
    %cst_45 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %211 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %212 = stablehlo.divide %210, %211 : tensor<2x32x1xf32>
    %213 = stablehlo.broadcast_in_dim %212, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %214 = stablehlo.subtract %208, %213 : tensor<2x32x64xf32>
    %c_46 = stablehlo.constant dense<0> : tensor<i32>
    %215 = call @_var(%208, %c_46) : (tensor<2x32x64xf32>, tensor<i32>) -> tensor<2x32x1xf32>
    %cst_47 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %217 = stablehlo.add %215, %216 : tensor<2x32x1xf32>
    %218 = stablehlo.rsqrt %217 : tensor<2x32x1xf32>
    %219 = stablehlo.broadcast_in_dim %218, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %220 = stablehlo.multiply %214, %219 : tensor<2x32x64xf32>
    %221 = stablehlo.broadcast_in_dim %arg32, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %222 = stablehlo.broadcast_in_dim %221, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %223 = stablehlo.multiply %220, %222 : tensor<2x32x64xf32>
    %224 = stablehlo.broadcast_in_dim %arg28, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %225 = stablehlo.broadcast_in_dim %224, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %226 = stablehlo.add %223, %225 : tensor<2x32x64xf32>
    %227 = stablehlo.dot_general %226, %arg33, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x256xf32>) -> tensor<2x32x256xf32>
    %228 = stablehlo.broadcast_in_dim %arg34, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %229 = stablehlo.broadcast_in_dim %228, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<2x32x256xf32>
    %230 = stablehlo.add %227, %229 : tensor<2x32x256xf32>
    %231 = stablehlo.multiply %230, %230 : tensor<2x32x256xf32>
    %232 = stablehlo.multiply %231, %230 : tensor<2x32x256xf32>
    %cst_48 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %233 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %234 = stablehlo.multiply %233, %232 : tensor<2x32x256xf32>
    %235 = stablehlo.add %230, %234 : tensor<2x32x256xf32>
    %cst_49 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %236 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %237 = stablehlo.multiply %236, %235 : tensor<2x32x256xf32>
    %238 = stablehlo.tanh %237 : tensor<2x32x256xf32>
    %cst_50 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %239 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %240 = stablehlo.add %239, %238 : tensor<2x32x256xf32>
    %cst_51 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %241 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %242 = stablehlo.multiply %241, %240 : tensor<2x32x256xf32>
    %243 = stablehlo.multiply %230, %242 : tensor<2x32x256xf32>
    %244 = stablehlo.dot_general %243, %arg24, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x256xf32>, tensor<256x64xf32>) -> tensor<2x32x64xf32>
    %245 = stablehlo.add %208, %244 : tensor<2x32x64xf32>
    %246 = stablehlo.broadcast_in_dim %arg25, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %247 = stablehlo.broadcast_in_dim %246, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %248 = stablehlo.add %245, %247 : tensor<2x32x64xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %249 = stablehlo.reduce(%248 init: %cst_52) applies stablehlo.add across dimensions = [2] : (tensor<2x32x64xf32>, tensor<f32>) -> tensor<2x32xf32>
    %250 = stablehlo.broadcast_in_dim %249, dims = [0, 1] : (tensor<2x32xf32>) -> tensor<2x32x1xf32>
    %cst_53 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %252 = stablehlo.divide %250, %251 : tensor<2x32x1xf32>
    %253 = stablehlo.broadcast_in_dim %252, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %254 = stablehlo.subtract %248, %253 : tensor<2x32x64xf32>
    %c_54 = stablehlo.constant dense<0> : tensor<i32>
    %255 = call @_var(%248, %c_54) : (tensor<2x32x64xf32>, tensor<i32>) -> tensor<2x32x1xf32>
    %cst_55 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %256 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %257 = stablehlo.add %255, %256 : tensor<2x32x1xf32>
    %258 = stablehlo.rsqrt %257 : tensor<2x32x1xf32>
    %259 = stablehlo.broadcast_in_dim %258, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %260 = stablehlo.multiply %254, %259 : tensor<2x32x64xf32>
    %261 = stablehlo.broadcast_in_dim %arg43, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %262 = stablehlo.broadcast_in_dim %261, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %263 = stablehlo.multiply %260, %262 : tensor<2x32x64xf32>
    %264 = stablehlo.broadcast_in_dim %arg39, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %265 = stablehlo.broadcast_in_dim %264, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %266 = stablehlo.add %263, %265 : tensor<2x32x64xf32>
    %267 = stablehlo.dot_general %266, %arg42, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %268 = stablehlo.dot_general %266, %arg38, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %269 = stablehlo.dot_general %266, %arg47, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x4x16xf32>) -> tensor<2x32x4x16xf32>
    %270 = stablehlo.dot_general %267, %268, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x4x16xf32>, tensor<2x32x4x16xf32>) -> tensor<2x4x32x32xf32>
    %cst_56 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %271 = stablehlo.sqrt %cst_56 : tensor<f32>
    %272 = stablehlo.convert %271 : tensor<f32>
    %273 = stablehlo.broadcast_in_dim %272, dims = [] : (tensor<f32>) -> tensor<2x4x32x32xf32>
    %274 = stablehlo.divide %270, %273 : tensor<2x4x32x32xf32>
    %c_57 = stablehlo.constant dense<true> : tensor<i1>
    %275 = stablehlo.broadcast_in_dim %c_57, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %276 = call @tril(%275) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_58 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %277 = call @_where_0(%276, %274, %cst_58) : (tensor<32x32xi1>, tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32x32xf32>
    %cst_59 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %278 = stablehlo.reduce(%277 init: %cst_59) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32xf32>
    %cst_60 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %279 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<2x4x32xf32>
    %280 = stablehlo.maximum %279, %278 : tensor<2x4x32xf32>
    %281 = stablehlo.broadcast_in_dim %280, dims = [0, 1, 2] : (tensor<2x4x32xf32>) -> tensor<2x4x32x1xf32>
    %282 = stablehlo.broadcast_in_dim %281, dims = [0, 1, 2, 3] : (tensor<2x4x32x1xf32>) -> tensor<2x4x32x32xf32>
    %283 = stablehlo.subtract %277, %282 : tensor<2x4x32x32xf32>
    %284 = stablehlo.exponential %283 : tensor<2x4x32x32xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %285 = stablehlo.reduce(%284 init: %cst_61) applies stablehlo.add across dimensions = [3] : (tensor<2x4x32x32xf32>, tensor<f32>) -> tensor<2x4x32xf32>
    %286 = stablehlo.broadcast_in_dim %285, dims = [0, 1, 2] : (tensor<2x4x32xf32>) -> tensor<2x4x32x1xf32>
    %287 = stablehlo.broadcast_in_dim %286, dims = [0, 1, 2, 3] : (tensor<2x4x32x1xf32>) -> tensor<2x4x32x32xf32>
    %288 = stablehlo.divide %284, %287 : tensor<2x4x32x32xf32>
    %289 = stablehlo.dot_general %269, %288, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x32x4x16xf32>, tensor<2x4x32x32xf32>) -> tensor<2x4x16x32xf32>
    %290 = stablehlo.dot_general %289, %arg41, contracting_dims = [2, 1] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<2x4x16x32xf32>, tensor<4x16x64xf32>) -> tensor<2x32x64xf32>
    %291 = stablehlo.add %248, %290 : tensor<2x32x64xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %292 = stablehlo.reduce(%291 init: %cst_62) applies stablehlo.add across dimensions = [2] : (tensor<2x32x64xf32>, tensor<f32>) -> tensor<2x32xf32>
    %293 = stablehlo.broadcast_in_dim %292, dims = [0, 1] : (tensor<2x32xf32>) -> tensor<2x32x1xf32>
    %cst_63 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %294 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %295 = stablehlo.divide %293, %294 : tensor<2x32x1xf32>
    %296 = stablehlo.broadcast_in_dim %295, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %297 = stablehlo.subtract %291, %296 : tensor<2x32x64xf32>
    %c_64 = stablehlo.constant dense<0> : tensor<i32>
    %298 = call @_var(%291, %c_64) : (tensor<2x32x64xf32>, tensor<i32>) -> tensor<2x32x1xf32>
    %cst_65 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %299 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %300 = stablehlo.add %298, %299 : tensor<2x32x1xf32>
    %301 = stablehlo.rsqrt %300 : tensor<2x32x1xf32>
    %302 = stablehlo.broadcast_in_dim %301, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %303 = stablehlo.multiply %297, %302 : tensor<2x32x64xf32>
    %304 = stablehlo.broadcast_in_dim %arg44, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %305 = stablehlo.broadcast_in_dim %304, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %306 = stablehlo.multiply %303, %305 : tensor<2x32x64xf32>
    %307 = stablehlo.broadcast_in_dim %arg40, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %308 = stablehlo.broadcast_in_dim %307, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %309 = stablehlo.add %306, %308 : tensor<2x32x64xf32>
    %310 = stablehlo.dot_general %309, %arg45, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x64xf32>, tensor<64x256xf32>) -> tensor<2x32x256xf32>
    %311 = stablehlo.broadcast_in_dim %arg46, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %312 = stablehlo.broadcast_in_dim %311, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<2x32x256xf32>
    %313 = stablehlo.add %310, %312 : tensor<2x32x256xf32>
    %314 = stablehlo.multiply %313, %313 : tensor<2x32x256xf32>
    %315 = stablehlo.multiply %314, %313 : tensor<2x32x256xf32>
    %cst_66 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %316 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %317 = stablehlo.multiply %316, %315 : tensor<2x32x256xf32>
    %318 = stablehlo.add %313, %317 : tensor<2x32x256xf32>
    %cst_67 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %319 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %320 = stablehlo.multiply %319, %318 : tensor<2x32x256xf32>
    %321 = stablehlo.tanh %320 : tensor<2x32x256xf32>
    %cst_68 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %322 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %323 = stablehlo.add %322, %321 : tensor<2x32x256xf32>
    %cst_69 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %324 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<2x32x256xf32>
    %325 = stablehlo.multiply %324, %323 : tensor<2x32x256xf32>
    %326 = stablehlo.multiply %313, %325 : tensor<2x32x256xf32>
    %327 = stablehlo.dot_general %326, %arg36, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x32x256xf32>, tensor<256x64xf32>) -> tensor<2x32x64xf32>
    %328 = stablehlo.add %291, %327 : tensor<2x32x64xf32>
    %329 = stablehlo.broadcast_in_dim %arg37, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %330 = stablehlo.broadcast_in_dim %329, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<2x32x64xf32>
    %331 = stablehlo.add %328, %330 : tensor<2x32x64xf32>
    return %331 : tensor<2x32x64xf32>
  }
  func.func private @_var(%arg0: tensor<2x32x64xf32>, %arg1: tensor<i32>) -> tensor<2x32x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x32x64xf32>, tensor<f32>) -> tensor<2x32xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x32xf32>) -> tensor<2x32x1xf32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x32x1xf32>) -> tensor<2x32x64xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x32x64xf32>
    %6 = chlo.square %5 : tensor<2x32x64xf32> -> tensor<2x32x64xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x32x64xf32>, tensor<f32>) -> tensor<2x32xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x32xf32>) -> tensor<2x32x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<2x32x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<2x32x1xf32>, tensor<f32>) -> tensor<2x32x1xf32>
    return %14 : tensor<2x32x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x32x1xf32>, %arg2: tensor<f32>) -> tensor<2x32x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x32x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x32x1xf32>
    return %2 : tensor<2x32x1xf32>
  }
  func.func private @tril(%arg0: tensor<32x32xi1>) -> tensor<32x32xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<32x32xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x32xi32>
    %2 = stablehlo.add %0, %1 : tensor<32x32xi32>
    %3 = stablehlo.iota dim = 1 : tensor<32x32xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<32x32xi1>, tensor<32x32xi1>
    return %6 : tensor<32x32xi1>
  }
  func.func private @_where_0(%arg0: tensor<32x32xi1>, %arg1: tensor<2x4x32x32xf32>, %arg2: tensor<f32>) -> tensor<2x4x32x32xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<32x32xi1>) -> tensor<2x4x32x32xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x32x32xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x32x32xi1>, tensor<2x4x32x32xf32>
    return %3 : tensor<2x4x32x32xf32>
  }
}
