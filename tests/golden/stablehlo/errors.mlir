//! test: stablehlo
func.func @types(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.exponential %x : tensor<5xf32>
  %2 = stablehlo.add %x, %z : tensor<4xf32>
  %3 = stablehlo.multiply %2, %x : tensor<4xf32>
  %4 = stablehlo.transpose %x, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>
  %5 = stablehlo.exponentail %x : tensor<4xf32>
  %6 = stablehlo.iota : tensor<4xi32>
  %7 = stablehlo.negate %x : (tensor<4xi32>) -> tensor<4xi32>
  %8:2 = stablehlo.negate %x : tensor<4xf32>
  %9 = stablehlo.negate %x#1 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
func.func @literal() -> tensor<2xi8> {
  %0 = stablehlo.constant dense<[1, 300]> : tensor<2xi8>
  return %0 : tensor<2xi8>
}
func.func @region(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.case"(%i) ({
  }) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func @declared(tensor<f32>) -> tensor<f32>
func.func @after(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<5xf32>
}
func.func @counts(%x: tensor<4xf32>, %i: tensor<f32>, %n: tensor<1xi32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%x, %i, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.scatter"(%x, %n) <{scatter_dimension_numbers = #stablehlo.scatter<>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  %2 = stablehlo.fft %x, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  %3 = stablehlo.transpose %x, %x, dims = [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %i : tensor<f32>
}
//> error: stablehlo.add: operand 1 is tensor<5xf32>, but tensor<4xf32> is declared
//>  --> stablehlo::errors:2:8
//>   |
//> 2 |   %0 = stablehlo.add %x, %y : tensor<4xf32>
//>   |        ^^^^^^^^^^^^^
//>
//> error: stablehlo.exponential: operand 0 is tensor<4xf32>, but tensor<5xf32> is declared
//>  --> stablehlo::errors:3:8
//>   |
//> 3 |   %1 = stablehlo.exponential %x : tensor<5xf32>
//>   |        ^^^^^^^^^^^^^^^^^^^^^
//>
//> error: %z is not defined
//>  --> stablehlo::errors:4:26
//>   |
//> 4 |   %2 = stablehlo.add %x, %z : tensor<4xf32>
//>   |                          ^^
//>
//> error: stablehlo.transpose: `perm` is 1, out of range for rank 1
//>  --> stablehlo::errors:6:8
//>   |
//> 6 |   %4 = stablehlo.transpose %x, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>
//>   |        ^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.exponentail: the op is not known; did you mean `stablehlo.exponential`?
//>  --> stablehlo::errors:7:8
//>   |
//> 7 |   %5 = stablehlo.exponentail %x : tensor<4xf32>
//>   |        ^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.iota: attribute `iota_dimension` is missing
//>  --> stablehlo::errors:8:8
//>   |
//> 8 |   %6 = stablehlo.iota : tensor<4xi32>
//>   |        ^^^^^^^^^^^^^^
//>
//> error: stablehlo.negate: operand 0 is tensor<4xf32>, but tensor<4xi32> is declared
//>  --> stablehlo::errors:9:8
//>   |
//> 9 |   %7 = stablehlo.negate %x : (tensor<4xi32>) -> tensor<4xi32>
//>   |        ^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.negate: 2 names, but it has 1 result
//>   --> stablehlo::errors:10:10
//>    |
//> 10 |   %8:2 = stablehlo.negate %x : tensor<4xf32>
//>    |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: %x#1 does not exist: %x has 1 result
//>   --> stablehlo::errors:11:25
//>    |
//> 11 |   %9 = stablehlo.negate %x#1 : tensor<4xf32>
//>    |                         ^^^^
//>
//> error: stablehlo.constant: 300 does not fit i8
//>   --> stablehlo::errors:15:27
//>    |
//> 15 |   %0 = stablehlo.constant dense<[1, 300]> : tensor<2xi8>
//>    |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.reduce: region `body` has 1 parameter, expected 2
//>   --> stablehlo::errors:19:8
//>    |
//> 19 |   %0 = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 0>}> ({
//>    |        ^^^^^^^^^^^^^^^^^^
//>
//> error: a region of `stablehlo.case` has no terminator
//>   --> stablehlo::errors:24:3
//>    |
//> 24 |   }) : (tensor<f32>) -> tensor<f32>
//>    |   ^
//>
//> error: function @declared has no body
//>   --> stablehlo::errors:27:1
//>    |
//> 27 | func.func @declared(tensor<f32>) -> tensor<f32>
//>    | ^
//>
//> error: return: operand 0 is tensor<4xf32>, but tensor<5xf32> is declared
//>   --> stablehlo::errors:29:3
//>    |
//> 29 |   return %x : tensor<5xf32>
//>    |   ^^^^^^
//>
//> error: stablehlo.reduce: expected inputs and as many inits, found 3
//>   --> stablehlo::errors:32:8
//>    |
//> 32 |   %0 = "stablehlo.reduce"(%x, %i, %i) <{dimensions = array<i64: 0>}> ({
//>    |        ^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.scatter: expected inputs, indices and as many updates, found 2
//>   --> stablehlo::errors:36:8
//>    |
//> 36 |   %1 = "stablehlo.scatter"(%x, %n) <{scatter_dimension_numbers = #stablehlo.scatter<>}> ({
//>    |        ^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.fft: the type of transform is missing: FFT, IFFT, RFFT or IRFFT
//>   --> stablehlo::errors:40:8
//>    |
//> 40 |   %2 = stablehlo.fft %x, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
//>    |        ^^^^^^^^^^^^^
//>
//> error: stablehlo.transpose: expected 1 operand, found 2
//>   --> stablehlo::errors:41:8
//>    |
//> 41 |   %3 = stablehlo.transpose %x, %x, dims = [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//>    |        ^^^^^^^^^^^^^^^^^^^
