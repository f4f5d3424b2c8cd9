//! test: stablehlo
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32> loc("f":3)
  return %0 : tensor<4xf32>
}
func.func @undefined(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32> loc(#nowhere)
  return %0 : tensor<4xf32>
}
func.func @itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32> loc(#a)
  return %0 : tensor<4xf32>
}
func.func @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32> loc(#a)
}
#a = loc("a"(#b))
#b = loc("b"(#a))
#c = loc(callsite("c"))
//> error: expected `:` and a column after the line of a location
//>  --> stablehlo::locations_wrong:2:54
//>   |
//> 2 |   %0 = stablehlo.add %x, %x : tensor<4xf32> loc("f":3)
//>   |                                                      ^
//>
//> error: the location `#nowhere` is not defined
//>  --> stablehlo::locations_wrong:6:49
//>   |
//> 6 |   %0 = stablehlo.add %x, %x : tensor<4xf32> loc(#nowhere)
//>   |                                                 ^
//>
//> error: the location `#a` contains itself
//>   --> stablehlo::locations_wrong:17:14
//>    |
//> 17 | #b = loc("b"(#a))
//>    |              ^
