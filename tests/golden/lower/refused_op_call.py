#! test: lower
def f(x: pi.TensorType(pi.FP32, [4]), y: pi.INT64):
    a = pi.typed(pi.op.transpose(x), pi.UnknownType())
    b = pi.typed(pi.op.reshape(x), pi.UnknownType())
    c = pi.op.tensor.norm(x)
    e = pi.typed(pi.op.exp(y), pi.UnknownType())
    g = pi.typed(pi.op.add(x), pi.UnknownType())
    h = pi.op.yield_(x)
    i = pi.typed(pi.op("return")(x), pi.UnknownType())
    j = pi.typed(pi.op("while")(x), pi.UnknownType())
    k = a + e
#> error: call of `transpose`: it needs the attribute `perm`, a list of integers
#>  --> lower::refused_op_call:2:18
#>   |
#> 2 |     a = pi.typed(pi.op.transpose(x), pi.UnknownType())
#>   |                  ^^^^^^^^^^^^^^^^^^
#>   |
#>   = help: write `perm=…` after the arguments
#>
#> error: call of `reshape`: the type is not known
#>  --> lower::refused_op_call:3:18
#>   |
#> 3 |     b = pi.typed(pi.op.reshape(x), pi.UnknownType())
#>   |                  ^^^^^^^^^^^^^^^^
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
#> error: exp: the operand has element type i64, expected floats and complex numbers
#>  --> lower::refused_op_call:5:18
#>   |
#> 5 |     e = pi.typed(pi.op.exp(y), pi.UnknownType())
#>   |                  ^^^^^^^^^^^^
#>
#> error: add: expected 2 operands, found 1
#>  --> lower::refused_op_call:6:18
#>   |
#> 6 |     g = pi.typed(pi.op.add(x), pi.UnknownType())
#>   |                  ^^^^^^^^^^^^
#>
#> error: call of `yield_`: the type is not known
#>  --> lower::refused_op_call:7:9
#>   |
#> 7 |     h = pi.op.yield_(x)
#>   |         ^^^^^^^^^^^^^^^
#>   |
#>   = help: no op of this name is registered, so the call must state its type
#>
#> error: call of `return`: it ends a body, so it cannot be called
#>  --> lower::refused_op_call:8:18
#>   |
#> 8 |     i = pi.typed(pi.op("return")(x), pi.UnknownType())
#>   |                  ^^^^^^^^^^^^^^^^^^
#>
#> error: call of `while`: it has regions, which a call cannot provide
#>  --> lower::refused_op_call:9:18
#>   |
#> 9 |     j = pi.typed(pi.op("while")(x), pi.UnknownType())
#>   |                  ^^^^^^^^^^^^^^^^^
#>   |
#>   = help: write a loop
