//! test: stablehlo
// Types that are stated are those that operands and results have.
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xi1>, %z: tensor<f32>, %q: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %b : tensor<9xi8>, tensor<2xf32>
  %1 = stablehlo.add %a, %b : tensor<2xf32>, tensor<2xf32>
  %2 = stablehlo.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %3 = stablehlo.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> ()
  %4 = stablehlo.add %a, %b : (tensor<2xf32>) -> tensor<2xf32>
  %5 = stablehlo.select %c, %a, %b : tensor<2xf32>, tensor<2xf32>
  %6 = stablehlo.select %c, %a, %b : tensor<5xi8>, tensor<2xf32>
  %7 = stablehlo.select %c, %a, %b : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
  %8 = stablehlo.clamp %z, %a, %z : tensor<2xf32>
  %9 = stablehlo.real %q : tensor<2xf32>
  %10 = stablehlo.convert %a : tensor<2xi32>
  %11 = chlo.next_after %a, %b : tensor<2xf32> -> tensor<2xf32>
  %12 = stablehlo.iota dim = 0 : tensor<2xi32>, tensor<3xi32>
  %13:2 = stablehlo.optimization_barrier %a, %z : tensor<2xf32>, tensor<2xf32>
  %14 = "stablehlo.abs"(%a) ({
    stablehlo.return %z : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %15 = "stablehlo.transpose"(%a) <{permutation = array<i64: 0>}> ({
    stablehlo.return %z : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %a : tensor<2xf32>
}
//> error: stablehlo.add: 2 types, expected one type for operands and result, or `(…) -> …`
//>  --> stablehlo::stated:3:31
//>   |
//> 3 |     %0 = stablehlo.add %a, %b : tensor<9xi8>, tensor<2xf32>
//>   |  _______________________________^
//> 4 | |   %1 = stablehlo.add %a, %b : tensor<2xf32>, tensor<2xf32>
//>   | |__^
//>
//> error: stablehlo.add: 2 types, expected one type for operands and result, or `(…) -> …`
//>  --> stablehlo::stated:4:31
//>   |
//> 4 |     %1 = stablehlo.add %a, %b : tensor<2xf32>, tensor<2xf32>
//>   |  _______________________________^
//> 5 | |   %2 = stablehlo.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
//>   | |__^
//>
//> error: stablehlo.add: it has 1 result, but declares 2 types
//>  --> stablehlo::stated:5:8
//>   |
//> 5 |   %2 = stablehlo.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
//>   |        ^^^^^^^^^^^^^
//>
//> error: stablehlo.add: it has 1 result, but declares 0 types
//>  --> stablehlo::stated:6:8
//>   |
//> 6 |   %3 = stablehlo.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> ()
//>   |        ^^^^^^^^^^^^^
//>
//> error: stablehlo.add: 2 operands, but 1 declared type
//>  --> stablehlo::stated:7:8
//>   |
//> 7 |   %4 = stablehlo.add %a, %b : (tensor<2xf32>) -> tensor<2xf32>
//>   |        ^^^^^^^^^^^^^
//>
//> error: stablehlo.select: operand 0 is tensor<2xi1>, but tensor<2xf32> is declared
//>  --> stablehlo::stated:8:8
//>   |
//> 8 |   %5 = stablehlo.select %c, %a, %b : tensor<2xf32>, tensor<2xf32>
//>   |        ^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.select: operand 0 is tensor<2xi1>, but tensor<5xi8> is declared
//>  --> stablehlo::stated:9:8
//>   |
//> 9 |   %6 = stablehlo.select %c, %a, %b : tensor<5xi8>, tensor<2xf32>
//>   |        ^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.select: 3 types, expected one type for operands and result, or `(…) -> …`
//>   --> stablehlo::stated:10:38
//>    |
//> 10 |     %7 = stablehlo.select %c, %a, %b : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
//>    |  ______________________________________^
//> 11 | |   %8 = stablehlo.clamp %z, %a, %z : tensor<2xf32>
//>    | |__^
//>
//> error: stablehlo.clamp: operand 0 is tensor<f32>, but tensor<2xf32> is declared
//>   --> stablehlo::stated:11:8
//>    |
//> 11 |   %8 = stablehlo.clamp %z, %a, %z : tensor<2xf32>
//>    |        ^^^^^^^^^^^^^^^
//>
//> error: stablehlo.real: operand 0 is tensor<2xcomplex<f32>>, but tensor<2xf32> is declared
//>   --> stablehlo::stated:12:8
//>    |
//> 12 |   %9 = stablehlo.real %q : tensor<2xf32>
//>    |        ^^^^^^^^^^^^^^
//>
//> error: stablehlo.convert: operand 0 is tensor<2xf32>, but tensor<2xi32> is declared
//>   --> stablehlo::stated:13:9
//>    |
//> 13 |   %10 = stablehlo.convert %a : tensor<2xi32>
//>    |         ^^^^^^^^^^^^^^^^^
//>
//> error: chlo.next_after: 2 operands, but 1 declared type
//>   --> stablehlo::stated:14:9
//>    |
//> 14 |   %11 = chlo.next_after %a, %b : tensor<2xf32> -> tensor<2xf32>
//>    |         ^^^^^^^^^^^^^^^
//>
//> error: stablehlo.iota: 2 types, expected one type for operands and result, or `(…) -> …`
//>   --> stablehlo::stated:15:34
//>    |
//> 15 |     %12 = stablehlo.iota dim = 0 : tensor<2xi32>, tensor<3xi32>
//>    |  __________________________________^
//> 16 | |   %13:2 = stablehlo.optimization_barrier %a, %z : tensor<2xf32>, tensor<2xf32>
//>    | |__^
//>
//> error: stablehlo.optimization_barrier: operand 1 is tensor<f32>, but tensor<2xf32> is declared
//>   --> stablehlo::stated:16:11
//>    |
//> 16 |   %13:2 = stablehlo.optimization_barrier %a, %z : tensor<2xf32>, tensor<2xf32>
//>    |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.abs: expected 0 regions, found 1
//>   --> stablehlo::stated:17:9
//>    |
//> 17 |   %14 = "stablehlo.abs"(%a) ({
//>    |         ^^^^^^^^^^^^^^^
//>
//> error: stablehlo.transpose: expected 0 regions, found 1
//>   --> stablehlo::stated:20:9
//>    |
//> 20 |   %15 = "stablehlo.transpose"(%a) <{permutation = array<i64: 0>}> ({
//>    |         ^^^^^^^^^^^^^^^^^^^^^
