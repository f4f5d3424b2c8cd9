//! test: stablehlo
module {
  func.func @f(%p: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.select %p, %x( %x : tensor<i1>, tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func @g(%x: tensor<f32>) -> tensor<4xf32> {
    %0 = stablehlo.broadcast_in_dim %x, dims = [](: (tensor<f32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
//> error: expected `)` before `:`
//>  --> stablehlo::parentheses:3:38
//>   |
//> 3 |     %0 = stablehlo.select %p, %x( %x : tensor<i1>, tensor<3xf32>
//>   |                                      ^
//>
//> error: expected `)` before `:`
//>  --> stablehlo::parentheses:7:51
//>   |
//> 7 |     %0 = stablehlo.broadcast_in_dim %x, dims = [](: (tensor<f32>) -> tensor<4xf32>
//>   |                                                   ^
