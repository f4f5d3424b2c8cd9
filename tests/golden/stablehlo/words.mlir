//! test: stablehlo
// Words that an op does not know, and clauses that nobody asks for.
func.func @main(%a: tensor<2x2xf32>, %q: tensor<2x2xcomplex<f32>>, %k: tensor<2xui64>, %z: tensor<f32>, %n: tensor<2x2xi64>) -> tensor<2x2xf32> {
  %0 = stablehlo.compare LT, %a, %a, FOO : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  %1 = stablehlo.compare LT, GT, %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  %2 = stablehlo.compare LESS, %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  %3 = stablehlo.compare LT, %a, %a, TOTALORDR : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  %4 = stablehlo.compare LT, %a, %a, FLOAT, SIGNED : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  %5 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precision = [HIGHER, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = "stablehlo.triangular_solve"(%a, %a) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose CONJUGATE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %7 = stablehlo.fft %q, type = DCT, length = [2] : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  %8:2 = stablehlo.rng_bit_generator %k, algorithm = THREEFRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %9 = stablehlo.add %a, %a FAST : tensor<2x2xf32>
  %10 = stablehlo.cholesky %a, lowr = true : tensor<2x2xf32>
  %11 = stablehlo.abs %a, note = 1 : tensor<2x2xf32>
  %12 = stablehlo.abs %a [0:1] : tensor<2x2xf32>
  %13 = stablehlo.abs @f %a : tensor<2x2xf32>
  %14 = "stablehlo.gather"(%a, %n) <{dimension_numbers = #stablehlo.gather<ofset_dims = [1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x2xf32>, tensor<2x2xi64>) -> tensor<2x1x1xf32>
  return %a : tensor<2x2xf32>
}
//> error: stablehlo.compare: unknown type of comparison `FOO`, expected FLOAT, TOTALORDER, SIGNED, UNSIGNED or NOTYPE
//>  --> stablehlo::words:3:38
//>   |
//> 3 |   %0 = stablehlo.compare LT, %a, %a, FOO : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
//>   |                                      ^^^
//>
//> error: stablehlo.compare: unknown type of comparison `GT`, expected FLOAT, TOTALORDER, SIGNED, UNSIGNED or NOTYPE
//>  --> stablehlo::words:4:30
//>   |
//> 4 |   %1 = stablehlo.compare LT, GT, %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
//>   |                              ^^
//>
//> error: stablehlo.compare: unknown direction `LESS`, expected EQ, NE, LT, LE, GT or GE
//>  --> stablehlo::words:5:26
//>   |
//> 5 |   %2 = stablehlo.compare LESS, %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
//>   |                          ^^^^
//>
//> error: stablehlo.compare: unknown type of comparison `TOTALORDR`; did you mean TOTALORDER?
//>  --> stablehlo::words:6:38
//>   |
//> 6 |   %3 = stablehlo.compare LT, %a, %a, TOTALORDR : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
//>   |                                      ^^^^^^^^^
//>
//> error: stablehlo.compare: `SIGNED` is not expected here
//>  --> stablehlo::words:7:45
//>   |
//> 7 |   %4 = stablehlo.compare LT, %a, %a, FLOAT, SIGNED : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
//>   |                                             ^^^^^^
//>
//> error: stablehlo.dot_general: unknown precision `HIGHER`; did you mean HIGH?
//>  --> stablehlo::words:8:68
//>   |
//> 8 | …dot_general %a, %a, contracting_dims = [1] x [0], precision = [HIGHER, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
//>   |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.triangular_solve: unknown transposition `CONJUGATE`, expected NO_TRANSPOSE, TRANSPOSE or ADJOINT
//>  --> stablehlo::words:9:79
//>   |
//> 9 | …_solve"(%a, %a) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose CONJUGATE>, unit_diagonal = false}> : (tensor<2x2xf32>,…
//>   |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.fft: unknown type of transform `DCT`, expected FFT, IFFT, RFFT or IRFFT
//>   --> stablehlo::words:10:26
//>    |
//> 10 |   %7 = stablehlo.fft %q, type = DCT, length = [2] : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
//>    |                          ^^^^^^^^^^
//>
//> error: stablehlo.rng_bit_generator: unknown algorithm `THREEFRY`; did you mean THREE_FRY?
//>   --> stablehlo::words:11:42
//>    |
//> 11 |   %8:2 = stablehlo.rng_bit_generator %k, algorithm = THREEFRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
//>    |                                          ^^^^^^^^^^^^^^^^^^^^
//>
//> error: stablehlo.add: `FAST` is not expected here
//>   --> stablehlo::words:12:29
//>    |
//> 12 |   %9 = stablehlo.add %a, %a FAST : tensor<2x2xf32>
//>    |                             ^^^^
//>
//> error: stablehlo.cholesky: `lowr` is not known here; did you mean `lower`?
//>   --> stablehlo::words:13:32
//>    |
//> 13 |   %10 = stablehlo.cholesky %a, lowr = true : tensor<2x2xf32>
//>    |                                ^^^^^^^^^^^
//>
//> error: stablehlo.abs: `note` is not known here; put it in braces to keep it
//>   --> stablehlo::words:14:27
//>    |
//> 14 |   %11 = stablehlo.abs %a, note = 1 : tensor<2x2xf32>
//>    |                           ^^^^^^^^
//>
//> error: stablehlo.abs: `[…]` is not expected here
//>   --> stablehlo::words:15:26
//>    |
//> 15 |   %12 = stablehlo.abs %a [0:1] : tensor<2x2xf32>
//>    |                          ^^^^^
//>
//> error: stablehlo.abs: `@f` is not expected here
//>   --> stablehlo::words:16:23
//>    |
//> 16 |   %13 = stablehlo.abs @f %a : tensor<2x2xf32>
//>    |                       ^^
//>
//> error: stablehlo.gather: field `ofset_dims` is not known; did you mean `offset_dims`?
//>   --> stablehlo::words:17:9
//>    |
//> 17 |   %14 = "stablehlo.gather"(%a, %n) <{dimension_numbers = #stablehlo.gather<ofset_dims = [1], start_index_map = [0, 1], index_vector_dim = 1>…
//>    |         ^^^^^^^^^^^^^^^^^^
