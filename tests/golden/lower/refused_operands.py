#! test: lower
def f(t: pi.TupleType([pi.INT64]), x: pi.TensorType(pi.FP32, [4]), z: pi.COMPLEX64, n: pi.INT64):
    a: pi.UnknownType() = t
    b = pi.typed(a + 1, pi.INT64)
    c: pi.UnknownType() = x
    d = pi.typed(c + 1, pi.INT64)
    w: pi.UnknownType() = z
    e = w < w
    u = pi.typed(pi.op.demo.make(n), pi.TensorType(pi.COMPLEX64, [n ** 2]))
    g = pi.typed(u * z, pi.TensorType(pi.COMPLEX64, [n ** 2]))
#> error: operand 0 is tuple<i64[]>, expected a tensor
#>  --> lower::refused_operands:3:18
#>   |
#> 3 |     b = pi.typed(a + 1, pi.INT64)
#>   |                  ^^^^^
#>
#> error: add: operand 0 has element type f32, operand 1 has i64
#>  --> lower::refused_operands:5:18
#>   |
#> 5 |     d = pi.typed(c + 1, pi.INT64)
#>   |                  ^^^^^
#>   |
#>   = help: promotion is never implicit; insert a `cast`
#>
#> error: compare: c64 has no order, so `direction` cannot be lt
#>  --> lower::refused_operands:7:9
#>   |
#> 7 |     e = w < w
#>   |         ^^^^^
#>   |
#>   = help: use eq or ne
#>
#> error: a scalar of c64 cannot be broadcast to c64[?]
#>  --> lower::refused_operands:9:18
#>   |
#> 9 |     g = pi.typed(u * z, pi.TensorType(pi.COMPLEX64, [n ** 2]))
#>   |                  ^^^^^
#>   |
#>   = help: give the dims a number or a name
