//! test: stablehlo
module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.while(%a = %x) : tensor<4xf32>
     cond {
//> error: the text ends inside @main
//>  --> stablehlo::ends:5:1
//>   |
//> 5 |
//>   | ^
//>
//> error: the module is not closed by `}`
//>  --> stablehlo::ends:5:1
//>   |
//> 5 |
//>   | ^
