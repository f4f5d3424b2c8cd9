//! test: stablehlo
func.func @main(%x: tensor<4x6xf32>, %i: tensor<4x6xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1:2 = stablehlo.reduce(%x init: %cst), (%i init: %c) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
    %5 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = stablehlo.select %5, %a, %b : tensor<i1>, tensor<f32>
    %7 = stablehlo.select %5, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %6, %7 : tensor<f32>, tensor<i32>
  }
  %2 = "stablehlo.sort"(%x) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %5 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %values, %indices = chlo.top_k(%x, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %1#0, %1#1 : tensor<4xf32>, tensor<4xi32>
}
//> module {
//>   func.func @main(%x: tensor<4x6xf32>, %i: tensor<4x6xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
//>     %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
//>     %c = stablehlo.constant dense<0> : tensor<i32>
//>     %0 = stablehlo.reduce(%x init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
//>     %1:2 = stablehlo.reduce(%x init: %cst), (%i init: %c) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
//>      reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
//>       %2 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
//>       %3 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
//>       %4 = stablehlo.select %2, %j, %k : tensor<i1>, tensor<i32>
//>       stablehlo.return %3, %4 : tensor<f32>, tensor<i32>
//>     }
//>     %5 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
//>     ^bb0(%a_0: tensor<f32>, %b_0: tensor<f32>):
//>       %6 = stablehlo.compare LT, %a_0, %b_0, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
//>       stablehlo.return %6 : tensor<i1>
//>     }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
//>     %values:2 = chlo.top_k(%x, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
//>     return %1#0, %1#1 : tensor<4xf32>, tensor<4xi32>
//>   }
//> }
