"""Places in texts: every node that a text writes has its span, types and callees included."""

from __future__ import annotations

from typing import Any

import pytest
from sapwood import DataType, ir
from sapwood.errors import NotEqualError
from sapwood.structural import fields, replace, walk

TEXT = """def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 4]), p: pi.TupleType([pi.INT8, pi.UnknownType()]),
      h: pi.FunctionType([pi.INT8], [pi.BOOL])) -> (pi.FP32, pi.INT64):
    y: pi.FP32 = pi.op.reduce_sum(x, axes=[0, 1])
    k = pi.cast(n, pi.INT32)
    for i, (s,) in pi.range(0, n, 1, init_values=[y]):
        pi.yield_(s * 2.0)
    z: pi.FP32 = pi.result(0)
    if k > 3:
        return g(z), n
    while n > 3:
        n = n - 1
    p[0]
    return pi.op.my.op(z), n

def g(a: pi.FP32) -> pi.FP32:
    return a
"""


def written(span: ir.Span) -> str:
    """Returns the first line of the text of a span."""
    line = TEXT.splitlines()[span.begin_line - 1]
    return line[span.begin_column - 1 : span.end_column - 1 if span.end_line == span.begin_line else None]


def nodes(value: Any, kind: type) -> list[Any]:
    found: list[Any] = []
    walk(value, {kind: found.append})
    return found


def test_every_node_of_a_text_has_its_place() -> None:
    program = ir.parse(TEXT, "f.py")
    for node in nodes(program, ir.IRNode):
        if not isinstance(node, ir.Type):
            assert not node.span.is_unknown(), repr(node)
    assert {written(op.span) for op in nodes(program, ir.Op) if not isinstance(op, ir.GlobalVar)} == {"pi.op.reduce_sum", "pi.op.my.op"}
    assert [written(callee.span) for callee in nodes(program, ir.GlobalVar)] == ["g"]
    types = [written(ty.span) for ty in nodes(program, ir.Type) if not ty.span.is_unknown()]
    stated = ["pi.TensorType(pi.FP32, [n, 4])", "pi.TupleType([pi.INT8, pi.UnknownType()])", "pi.FunctionType([pi.INT8], [pi.BOOL])"]
    for one in [*stated, "pi.INT8", "pi.UnknownType()", "pi.BOOL", "pi.INT32", "pi.FP32", "pi.INT64"]:
        assert one in types, one
    function = program.functions["f"]
    assert [written(param.type.span) for param in function.params[:3]] == ["pi.INT64", *stated[:2]]
    assert [written(ty.span) for ty in function.return_types] == ["pi.FP32", "pi.INT64"]


def test_types_that_follow_from_others_have_no_place() -> None:
    body = ir.parse_function("def f(x: pi.INT64) -> pi.INT64:\n    y = -x + x * 2\n    return y\n").body
    for node in nodes(body, ir.BinaryExpr) + nodes(body, ir.UnaryExpr):
        assert node.type.span.is_unknown()


def test_spans_of_types_are_kept_and_not_compared() -> None:
    span = ir.Span("a.py", 1, 2, 1, 5)
    int8 = ir.ScalarType(DataType.INT8, span)
    types = [
        int8,
        ir.TensorType(DataType.FP32, [2, 3], span),
        ir.TensorType([2, 3], DataType.FP32, span),
        ir.TupleType([int8], span),
        ir.FunctionType([int8], [], span=span),
        ir.UnknownType(span),
    ]
    for ty in types:
        assert ty.span == span
        bare = replace(ty, span=ir.Span.unknown())
        assert bare.span.is_unknown() and ir.structural_equal(bare, ty) and ir.structural_hash(bare) == ir.structural_hash(ty)
        assert ir.from_json(ir.to_json(ty)).span == span
        assert {one.name: one.role for one in fields(ty)}["span"] == "ignore"
    assert ir.ScalarType(DataType.INT8).span.is_unknown()
    with pytest.raises(TypeError, match="span"):
        ir.ScalarType(DataType.INT8, 3)  # type: ignore[arg-type]


def test_a_mismatch_of_types_shows_the_annotations() -> None:
    left = ir.parse("def f(x: pi.INT64, y: pi.INT8):\n    return\n", "left.py")
    right = ir.parse("def f(x: pi.INT64, y: pi.INT16):\n    return\n", "right.py")
    with pytest.raises(NotEqualError) as caught:
        ir.assert_structural_equal(left, right)
    shown = str(caught.value)
    assert "left is at left.py:1:23" in shown and "right is at right.py:1:23" in shown, shown
    lines = shown.splitlines()
    carets = [lines[at + 1] for at, line in enumerate(lines) if "def f" in line]
    assert [line.count("^") for line in carets] == [len("pi.INT8"), len("pi.INT16")]


def test_types_of_older_files_have_no_place() -> None:
    text = ir.to_json(ir.TupleType([ir.ScalarType(DataType.INT8)]))
    older = text.replace('"span":null,', "").replace(',"span":null', "")
    assert ir.structural_equal(ir.from_json(older), ir.from_json(text))
