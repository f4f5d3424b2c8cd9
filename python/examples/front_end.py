"""The front-end IR: build a function, print it, read it back, run it."""

from __future__ import annotations

from sapwood import DataType, ir

INT = ir.ScalarType(DataType.INT64)


def sum_range() -> ir.Function:
    """Builds a function that returns the sum of the numbers below n."""
    n, i = ir.Var("n", INT), ir.Var("i", INT)
    zero, one = ir.ConstInt(0, DataType.INT64), ir.ConstInt(1, DataType.INT64)
    total = ir.IterArg("total", INT, zero)
    result = ir.Var("result", INT)
    loop = ir.ForStmt(i, zero, n, one, [total], ir.YieldStmt([total + i]), [result])
    return ir.Function("sum_range", [n], [INT], [loop, ir.ReturnStmt([result])])


def main() -> None:
    program = ir.Program([sum_range()], "sums")
    ir.verify(program, "ssa")
    print(program)
    ir.assert_structural_equal(ir.parse(str(program)), program)
    assert ir.interpret(program, "sum_range", 10) == (45,)


if __name__ == "__main__":
    main()
