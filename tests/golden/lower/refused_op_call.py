#! test: lower
def f(x: pi.TensorType(pi.FP32, [4]), y: pi.INT64):
    a = pi.op.transpose(x)
    b = pi.op.reshape(x)
    c = pi.op.tensor.norm(x)
    d = pi.typed(pi.op.exp(x), pi.TensorType(pi.FP32, [8]))
    e = pi.op.exp(y)
    g = pi.op.add(x)
    h = pi.op.yield_(x)
    i = pi.op("return")(x)
    j = pi.op("while")(x)
    k = a + e
#> error: call of `transpose`: it needs the attribute `perm`, which a call cannot provide
#>  --> lower::refused_op_call:2:9
#>   |
#> 2 |     a = pi.op.transpose(x)
#>   |         ^^^^^^^^^^^^^^^^^^
#>
#> error: call of `reshape`: the type is not known
#>  --> lower::refused_op_call:3:9
#>   |
#> 3 |     b = pi.op.reshape(x)
#>   |         ^^^^^^^^^^^^^^^^
#>   |
#>   = help: the result type of this op is not inferred, so the call must state it
#>
#> error: call of `tensor.norm`: the type is not known
#>  --> lower::refused_op_call:4:9
#>   |
#> 4 |     c = pi.op.tensor.norm(x)
#>   |         ^^^^^^^^^^^^^^^^^^^^
#>   |
#>   = help: no op of this name is registered, so the call must state its type
#>
#> error: `exp` returns f32[4], but the call has the type f32[8]
#>  --> lower::refused_op_call:5:18
#>   |
#> 5 |     d = pi.typed(pi.op.exp(x), pi.TensorType(pi.FP32, [8]))
#>   |                  ^^^^^^^^^^^^
#>
#> error: exp: the operand has element type i64, expected floats and complex numbers
#>  --> lower::refused_op_call:6:9
#>   |
#> 6 |     e = pi.op.exp(y)
#>   |         ^^^^^^^^^^^^
#>
#> error: add: expected 2 operands, found 1
#>  --> lower::refused_op_call:7:9
#>   |
#> 7 |     g = pi.op.add(x)
#>   |         ^^^^^^^^^^^^
#>
#> error: call of `yield_`: the type is not known
#>  --> lower::refused_op_call:8:9
#>   |
#> 8 |     h = pi.op.yield_(x)
#>   |         ^^^^^^^^^^^^^^^
#>   |
#>   = help: no op of this name is registered, so the call must state its type
#>
#> error: call of `return`: it ends a body
#>  --> lower::refused_op_call:9:9
#>   |
#> 9 |     i = pi.op("return")(x)
#>   |         ^^^^^^^^^^^^^^^^^^
#>
#> error: call of `while`: it has regions, which a call cannot provide
#>   --> lower::refused_op_call:10:9
#>    |
#> 10 |     j = pi.op("while")(x)
#>    |         ^^^^^^^^^^^^^^^^^
