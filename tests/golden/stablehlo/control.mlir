//! test: stablehlo
func.func @main(%n: tensor<i32>, %x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %c_0 = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %v = %x) : tensor<i32>, tensor<4xf32>
   cond {
    %4 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %4 = stablehlo.add %i, %c_0 : tensor<i32>
    %5 = stablehlo.add %v, %x : tensor<4xf32>
    stablehlo.return %4, %5 : tensor<i32>, tensor<4xf32>
  }
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %0#1 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %2:2 = "stablehlo.case"(%n) ({
    stablehlo.return %x, %c : tensor<4xf32>, tensor<i32>
  }, {
    %4 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %4, %c_0 : tensor<4xf32>, tensor<i32>
  }) : (tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  %3 = "stablehlo.while"(%1) ({
  ^bb0(%w: tensor<4xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%w: tensor<4xf32>):
    stablehlo.return %w : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %2#0 : tensor<4xf32>
}
//> module {
//>   func.func @main(%n: tensor<i32>, %x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
//>     %c = stablehlo.constant dense<0> : tensor<i32>
//>     %c_0 = stablehlo.constant dense<1> : tensor<i32>
//>     %0:2 = stablehlo.while(%i = %c, %v = %x) : tensor<i32>, tensor<4xf32>
//>      cond {
//>       %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
//>       stablehlo.return %1 : tensor<i1>
//>     } do {
//>       %2 = stablehlo.add %i, %c_0 : tensor<i32>
//>       %3 = stablehlo.add %v, %x : tensor<4xf32>
//>       stablehlo.return %2, %3 : tensor<i32>, tensor<4xf32>
//>     }
//>     %4 = "stablehlo.if"(%p) ({
//>       stablehlo.return %x : tensor<4xf32>
//>     }, {
//>       stablehlo.return %0#1 : tensor<4xf32>
//>     }) : (tensor<i1>) -> tensor<4xf32>
//>     %5:2 = "stablehlo.case"(%n) ({
//>       stablehlo.return %x, %c : tensor<4xf32>, tensor<i32>
//>     }, {
//>       %6 = stablehlo.negate %x : tensor<4xf32>
//>       stablehlo.return %6, %c_0 : tensor<4xf32>, tensor<i32>
//>     }) : (tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
//>     %7 = stablehlo.while(%w = %4) : tensor<4xf32>
//>      cond {
//>       stablehlo.return %p : tensor<i1>
//>     } do {
//>       stablehlo.return %w : tensor<4xf32>
//>     }
//>     return %5#0 : tensor<4xf32>
//>   }
//> }
