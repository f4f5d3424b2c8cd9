"""`ir.Builder`: functions written statement by statement."""

from __future__ import annotations

import pytest

from sapwood import DataType, ir
from sapwood.errors import SapwoodError


def test_loops_and_branches() -> None:
    b = ir.Builder()
    with b.function("collatz", returns=[DataType.INT64]) as f:
        n = f.param("n", DataType.INT64)
        with b.while_(init={"value": n, "steps": 0}) as loop:
            value, steps = loop.args
            loop.condition(ir.Gt(value, ir.ConstInt(1, DataType.INT64)))
            even = ir.Eq(value % 2, ir.ConstInt(0, DataType.INT64))
            with b.if_(even, results={"next": DataType.INT64}) as branch:
                b.yield_(value // 2)
            with b.else_():
                b.yield_(value * 3 + 1)
            b.yield_(branch.results[0], steps + 1)
        b.return_(loop.results[1])
    program = b.program("numbers")
    ir.verify(program, "ssa")
    assert program.functions["collatz"] == f.function
    assert ir.interpret(program, "collatz", 27) == (111,)
    ir.assert_structural_equal(ir.parse(str(program)), program)


def test_spans_are_those_of_the_caller() -> None:
    b = ir.Builder()
    with b.function("f", returns=[DataType.INT64]) as f:
        x = f.param("x", DataType.INT64)
        y = b.let("y", x + 1)
        b.assign(y, y + 1)
        b.eval(ir.Call(b.op("print"), [y]))
        b.return_(y)
    body = f.function.body
    assert isinstance(body, ir.SeqStmts)
    spans = [stmt.span for stmt in body.stmts]
    assert all(span.filename == __file__ for span in spans)
    assert [span.begin_line - f.function.span.begin_line for span in spans] == [2, 3, 4, 5]


def test_misuse_of_the_builder() -> None:
    b = ir.Builder()
    x = ir.Var("x", DataType.INT64)
    with pytest.raises(SapwoodError, match="outside of a function"):
        b.assign(x, x)
    with pytest.raises(SapwoodError, match="do not nest"), b.function("f"), b.function("g"):
        pass
    with pytest.raises(SapwoodError, match="must follow an if_"), b.function("f"), b.else_():
        pass
    with pytest.raises(SapwoodError, match="needs its condition"), b.function("f"), b.while_():
        pass
    with b.function("fine") as f:
        with pytest.raises(SapwoodError, match="has not ended"):
            assert f.function
    assert [gvar.name for gvar in b.program().functions] == ["fine"]
