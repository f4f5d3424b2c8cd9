"""Document 000, structural comparison: every code block of Python, and its table."""

from __future__ import annotations

from typing import Any

import pytest

from sapwood import DataType, _native, ir, structural, testing
from sapwood.errors import NotEqualError


def var(name: str) -> ir.Var:
    return ir.Var(name, ir.ScalarType(DataType.INT64), ir.Span.unknown())


def test_signatures() -> None:
    """`structural_equal(lhs, rhs, enable_auto_mapping=False)`, `structural_hash(node, enable_auto_mapping=False)`."""
    x = var("x")
    assert ir.structural_equal(lhs=x, rhs=x, enable_auto_mapping=False) is True
    assert isinstance(ir.structural_hash(node=x, enable_auto_mapping=False), int)


def test_reference_equality() -> None:
    x1 = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    x2 = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    assert x1 != x2
    ir.assert_structural_equal(x1, x2, enable_auto_mapping=True)
    testing.assert_structural_equal(x1, x2, enable_auto_mapping=True)
    assert testing.assert_structural_equal is ir.assert_structural_equal


def test_why_def_fields_matter() -> None:
    span = ir.Span.unknown()
    dtype = DataType.INT64
    x1 = ir.Var("x", ir.ScalarType(dtype), span)
    y1 = ir.Var("y", ir.ScalarType(dtype), span)
    stmt1 = ir.AssignStmt(x1, y1, span)
    a = ir.Var("a", ir.ScalarType(dtype), span)
    b = ir.Var("b", ir.ScalarType(dtype), span)
    stmt2 = ir.AssignStmt(a, b, span)
    ir.assert_structural_equal(stmt1, stmt2, enable_auto_mapping=True)
    assert not ir.structural_equal(stmt1, stmt2)
    # Bound variables are mapped in strict mode, too.
    ir.assert_structural_equal(ir.AssignStmt(x1, y1, span), ir.AssignStmt(a, y1, span))


@pytest.mark.parametrize(
    ("role", "compared", "mapped"),
    [("ignore", False, None), ("usual", True, False), ("def", True, True)],
)
def test_table_of_field_types(role: str, compared: bool, mapped: bool | None) -> None:
    x, y = var("x"), var("y")
    one, two = (ir.ConstInt(n, DataType.INT64) for n in (1, 2))
    if role == "ignore":
        left: Any = ir.AssignStmt(x, one, ir.Span("a.py", 1, 1))
        right: Any = ir.AssignStmt(x, one, ir.Span("b.py", 2, 2))
        assert ir.structural_equal(left, right) is not compared
        assert mapped is None
    elif role == "usual":
        assert ir.structural_equal(ir.AssignStmt(x, one), ir.AssignStmt(x, two)) is not compared
        free = ir.EvalStmt(x), ir.EvalStmt(y)
        assert ir.structural_equal(*free) is mapped
        assert ir.structural_equal(*free, enable_auto_mapping=True)
    else:
        other = ir.Var("y", ir.ScalarType(DataType.FP32))
        assert ir.structural_equal(ir.AssignStmt(x, one), ir.AssignStmt(y, one)) is mapped
        assert ir.structural_equal(ir.AssignStmt(x, one), ir.AssignStmt(other, one)) is not compared


# The C++ listings of the document, translated to Python.


def test_step_1_fast_path_checks() -> None:
    x, one = var("x"), ir.ConstInt(1, DataType.INT64)
    assert ir.structural_equal(x, x)
    assert not structural.structural_equal(one, None) and not structural.structural_equal(None, one)
    assert structural.structural_equal(None, None)
    # The concrete type must match exactly.
    assert not ir.structural_equal(ir.Add(x, one, DataType.INT64), ir.Sub(x, one, DataType.INT64))
    # A node with variables below is walked even if both sides are the same object: x is mapped to itself once it is visited.
    y = var("y")
    shared = x + 1
    assert not ir.structural_equal(
        ir.MakeTuple([shared, x]), ir.MakeTuple([shared, y]), enable_auto_mapping=True
    )


@pytest.mark.parametrize(
    ("node", "roles"),
    [
        (ir.Add, {"span": "ignore", "left": "usual", "right": "usual"}),
        (ir.AssignStmt, {"span": "ignore", "var": "def", "value": "usual"}),
        (ir.Function, {"span": "ignore", "name": "ignore", "params": "def", "body": "usual"}),
        (ir.Var, {"name": "ignore", "type": "usual"}),
        (ir.Program, {"name": "ignore", "functions": "usual"}),
        (ir.ForStmt, {"loop_var": "def", "iter_args": "def", "return_vars": "def", "body": "usual"}),
    ],
    ids=lambda node: getattr(node, "__name__", ""),
)
def test_field_descriptors(node: type[ir.IRNode], roles: dict[str, str]) -> None:
    found = dict(_native.class_fields(node) or ())
    assert {name: found[name] for name in roles} == roles
    assert list(found)[: 1 if "span" in found else 0] in ([], ["span"])


@pytest.mark.parametrize(
    ("left", "right", "strict", "mapped"),
    [
        ("x", "x", True, True),  # the same pointer
        ("x", "y", False, True),  # a new mapping
        ("x", "f", False, False),  # of another type
        ("x x", "y y", False, True),  # the mapping is kept
        ("x x", "y z", False, False),  # x is y already
        ("x y", "z z", False, False),  # z is x already
    ],
)
def test_the_algorithm_of_variable_mapping(left: str, right: str, strict: bool, mapped: bool) -> None:
    known = {name: var(name) for name in "xyz"} | {"f": ir.Var("f", ir.ScalarType(DataType.FP32))}
    a, b = (ir.MakeTuple([known[name] for name in side.split()]) for side in (left, right))
    assert ir.structural_equal(a, b, enable_auto_mapping=False) is strict
    assert ir.structural_equal(a, b, enable_auto_mapping=True) is mapped


def test_basic_usage() -> None:
    c1 = ir.ConstInt(42, DataType.INT64, ir.Span.unknown())
    c2 = ir.ConstInt(42, DataType.INT64, ir.Span.unknown())
    ir.assert_structural_equal(c1, c2)
    var = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    const = ir.ConstInt(1, DataType.INT64, ir.Span.unknown())
    assert not ir.structural_equal(var, const)


def test_examples_1_and_2_auto_mapping() -> None:
    x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    y = ir.Var("y", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    one = ir.ConstInt(1, DataType.INT64, ir.Span.unknown())
    expr1 = ir.Add(x, one, DataType.INT64, ir.Span.unknown())
    expr2 = ir.Add(y, one, DataType.INT64, ir.Span.unknown())
    assert not ir.structural_equal(expr1, expr2, enable_auto_mapping=False)
    ir.assert_structural_equal(expr1, expr2, enable_auto_mapping=True)


def test_examples_3_and_4_consistent_mapping() -> None:
    x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    expr1 = ir.Add(x, x, DataType.INT64, ir.Span.unknown())
    y = ir.Var("y", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    expr2 = ir.Add(y, y, DataType.INT64, ir.Span.unknown())
    ir.assert_structural_equal(expr1, expr2, enable_auto_mapping=True)

    expr1 = ir.Add(x, x, DataType.INT64, ir.Span.unknown())
    y = ir.Var("y", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    z = ir.Var("z", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    expr2 = ir.Add(y, z, DataType.INT64, ir.Span.unknown())
    assert not ir.structural_equal(expr1, expr2, enable_auto_mapping=True)
    assert not ir.structural_equal(expr2, expr1, enable_auto_mapping=True)


def test_hash() -> None:
    c1 = ir.ConstInt(42, DataType.INT64, ir.Span.unknown())
    c2 = ir.ConstInt(42, DataType.INT64, ir.Span.unknown())
    assert ir.structural_hash(c1) == ir.structural_hash(c2)


def test_hash_consistency() -> None:
    def build_expr() -> ir.Expr:
        x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
        c = ir.ConstInt(5, DataType.INT64, ir.Span.unknown())
        return ir.Add(x, c, DataType.INT64, ir.Span.unknown())

    expr1 = build_expr()
    expr2 = build_expr()
    assert ir.structural_equal(expr1, expr2, enable_auto_mapping=True)
    assert ir.structural_hash(expr1, enable_auto_mapping=True) == ir.structural_hash(
        expr2, enable_auto_mapping=True
    )


class CSEPass:
    """Common Subexpression Elimination."""

    def __init__(self) -> None:
        self.expr_cache: dict[int, list[ir.Expr]] = {}

    def deduplicate(self, expr: ir.Expr) -> ir.Expr:
        hash_val = ir.structural_hash(expr, enable_auto_mapping=False)

        if hash_val in self.expr_cache:
            for cached_expr in self.expr_cache[hash_val]:
                if ir.structural_equal(expr, cached_expr, enable_auto_mapping=False):
                    return cached_expr  # Reuse
            self.expr_cache[hash_val].append(expr)
        else:
            self.expr_cache[hash_val] = [expr]

        return expr


def test_containers() -> None:
    cse = CSEPass()
    x, y = var("x"), var("y")
    first = cse.deduplicate(x + 1)
    assert cse.deduplicate(x + 1) == first
    assert cse.deduplicate(y + 1) != first
    assert cse.deduplicate(x + 2) != first


def test_the_assertion_shows_both_lines() -> None:
    left = ir.parse("def f(x: pi.INT64) -> pi.INT64:\n    y: pi.INT64 = x + 1\n    return y\n", "<left>")
    right = ir.parse("def f(a: pi.INT64) -> pi.INT64:\n    b: pi.INT64 = a + 2\n    return b\n", "<right>")
    with pytest.raises(NotEqualError) as caught:
        ir.assert_structural_equal(left, right)
    message = str(caught.value)
    assert isinstance(caught.value, AssertionError)
    assert '<root>.functions["f"].body' in message
    assert "<left>:2:" in message and "<right>:2:" in message
    assert "  2 |     y: pi.INT64 = x + 1\n" in message and "  2 |     b: pi.INT64 = a + 2\n" in message
    carets = [line for line in message.splitlines() if set(line) <= set(" |^") and "^" in line]
    assert len(carets) == 2 and all(line.count("^") == 1 for line in carets)
