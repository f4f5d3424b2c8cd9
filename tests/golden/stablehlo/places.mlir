//! test: stablehlo
// Locations, aliases and shardings: shardings are left out.
#loc = loc("file.py":0:0)
#loc3 = loc("add"(#loc))
#dims = array<i64: 0>
module @places {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("x"), %arg1: tensor<4xf32> loc("y")) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32> loc(#loc3)
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<4xf32> loc(#loc)
    %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = #dims}> : (tensor<4xf32>) -> tensor<4x2xf32> loc(fused<"a">["b", "c"])
    %3 = stablehlo.reverse %1, dims = [0] : tensor<4xf32>
    return %3 : tensor<4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
//> // stablehlo::places:6:3: note: `sdy.mesh` is left out
//> // stablehlo::places:9:10: note: `sdy.sharding_constraint` is left out
//> module @places {
//>   func.func public @main(%arg0: tensor<4xf32> loc(#loc0), %arg1: tensor<4xf32> loc(#loc1)) -> tensor<4xf32> {
//>     %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32> loc(#loc3)
//>     %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x2xf32> loc(#loc6)
//>     %2 = stablehlo.reverse %0, dims = [0] : tensor<4xf32> loc(#loc7)
//>     return %2 : tensor<4xf32> loc(#loc2)
//>   } loc(#loc2)
//> } loc(#loc2)
//> #loc0 = loc("x")
//> #loc1 = loc("y")
//> #loc2 = loc("file.py":0:0)
//> #loc3 = loc("add"(#loc2))
//> #loc4 = loc("b")
//> #loc5 = loc("c")
//> #loc6 = loc(fused<"a">[#loc4, #loc5])
//> #loc7 = loc(unknown)
