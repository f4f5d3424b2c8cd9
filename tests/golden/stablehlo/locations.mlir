//! test: stablehlo
// Locations in all their forms, at ops, regions, parameters, functions and the module.
#top = loc("model.py":1:2)
module @locations {
  func.func public @main(%x: tensor<4xf32> loc("x"), %n: tensor<i32>) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %x : tensor<4xf32> loc("jit(f)/add"("model.py":3:4))
    %1 = stablehlo.add %0, %x : tensor<4xf32> loc("model.py":3:4 to :9)
    %2 = stablehlo.add %1, %x : tensor<4xf32> loc("model.py":3:4 to 5:6)
    %3 = "stablehlo.add"(%2, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc(callsite("f"(#top) at "g"))
    %4 = stablehlo.add %3, %x : tensor<4xf32> loc(fused["a", "b", #last])
    %5 = stablehlo.add %4, %x : tensor<4xf32> loc(fused<"cse">["a", unknown])
    %6 = stablehlo.add %5, %x : tensor<4xf32> loc(unknown)
    %7 = stablehlo.add %6, %x : tensor<4xf32> loc(#last)
    %8 = stablehlo.add %7, %x : tensor<4xf32> loc("a \22quoted\22 name \\ n\C3\A9")
    %9 = stablehlo.add %8, %x : tensor<4xf32> loc(#dialect.place<"x", [1, 2]>)
    %10 = stablehlo.add %9, %x : tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32> loc("zero")
    %11 = stablehlo.reduce(%10 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> loc("sum")
    %12 = stablehlo.reduce(%10 init: %zero) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
     reducer(%a: tensor<f32> loc("a"), %b: tensor<f32> loc("b")) {
      %s = stablehlo.multiply %a, %b : tensor<f32> loc("product/mul")
      stablehlo.return %s : tensor<f32> loc("product")
    } loc("product/reduce")
    %13:2 = stablehlo.while(%i = %n, %c = %12) : tensor<i32>, tensor<f32>
     cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1> loc("while/cond/lt")
      stablehlo.return %p : tensor<i1> loc("while/cond")
    } do {
      %q = stablehlo.add %c, %11 : tensor<f32> loc("while/body/add")
      stablehlo.return %i, %q : tensor<i32>, tensor<f32> loc("while/body")
    } loc("while")
    %14 = stablehlo.broadcast_in_dim %13#1, dims = [] : (tensor<f32>) -> tensor<4xf32> loc("out")
    return %14 : tensor<4xf32> loc(#top)
  } loc("main"(#top))
} loc(#top)
#last = loc("last"(#middle))
#middle = loc(callsite("m" at #top))
