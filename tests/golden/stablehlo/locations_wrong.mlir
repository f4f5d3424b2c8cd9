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
