"""Uses of the whole package with annotations, as a user writes them: `mypy --strict` and pyright accept them, and they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt
import sapwood
from sapwood import DataType, ir, pi, ptir, rewrite, structural
from sapwood.structural import (
    Map,
    Mutator,
    Object,
    Seq,
    Set,
    StructuralKey,
    Visitor,
    asdict,
    delete,
    field,
    fields,
    py_class,
    replace,
    skip,
    stop,
    walk,
)

Array = npt.NDArray[Any]


@py_class(structural_eq="var")
class Var(Object):
    name: str = field(structural_eq="ignore")


@py_class
class Call(Object):
    name: str
    args: Seq[Object]
    attrs: Map[str, int] = field(default_factory=dict)
    tags: Set[str] = field(default_factory=set, repr=False, compare=False, doc="free words", metadata={"shown": False})


@py_class(scope=True)
class Lambda(Object):
    params: Sequence[Var] = field(structural_eq="def")
    body: Object


@py_class(structural_eq="singleton")
class Operator(Object):
    name: str


class Names(Visitor):
    def __init__(self) -> None:
        self.found: list[str] = []

    def visit_Var(self, node: Var) -> None:
        self.found.append(node.name)

    def visit_Call(self, node: Call) -> object:
        return skip if node.name == "opaque" else None


class Inline(Mutator):
    def enter_Lambda(self, node: Lambda) -> object:
        return self.visit(node.body)

    def visit_Var(self, node: Var) -> object:
        return delete if node.name == "" else None


def first_call(value: Object) -> str | None:
    
    def visit(call: Call) -> object:
        return stop(call.name)

    result = walk(value, {Call: visit})
    assert result is None or isinstance(result, str)
    return result


def describe(node: Object) -> str:
    match node:
        case Var(name):
            return name
        case Call(name, args):
            return f"{name}/{len(args)}"
        case _:
            return type(node).__name__


x = Var("x")
call = Call("f", Seq([x, x]), Map({"axis": 1}))
made = replace(call, name="g")
length: int = len(made.args) + made.attrs["axis"]
part: Seq[Object] = made.args[1:]
first: Object = made.args[0]
as_sequence: Sequence[Object] = made.args
as_mapping: Mapping[str, int] = made.attrs
as_set: AbstractSet[str] = made.tags
table: dict[StructuralKey, int] = {StructuralKey(call): 1}
equal: bool = sapwood.structural_equal(call, replace(call, tags={"a"}), map_free_vars=True)
digest: int = sapwood.structural_hash(call, hash_sharing=True)


def infer_outer(x: ptir.Type, y: ptir.Type) -> ptir.Type:
    assert x.dtype is not None and x.shape is not None and y.shape is not None
    return ptir.Type.tensor(x.dtype, [x.shape[0], y.shape[0]])


def decompose_half(op: rewrite.Rewriter, x: rewrite.Operand, *, by: float) -> Any:
    return op.mul(x, by)


@sapwood.op("typed_usage.outer", infer=infer_outer)
def outer(x: Array, y: Array) -> Array:
    """The outer product."""
    return np.outer(x, y)


@sapwood.op("typed_usage.half", decompose=decompose_half, elementwise=True)
def half(x: Array, *, by: float = 0.5) -> Array:
    """x times by."""
    scaled: Array = x * x.dtype.type(by)
    return scaled


@rewrite.pattern("add", benefit=2)
def add_of_zero(op: rewrite.Op, rw: rewrite.Rewriter) -> rewrite.Operand | None:
    left, _ = op.operands
    return left


def sum_of_itself(op: Any, x: Any) -> Any:
    return op.add(x, x)


@rewrite.rule(sum_of_itself, float="fast", benefit=2)
def twice(op: Any, x: Any) -> Any:
    return op.mul(x, 2.0)


@pi.function
def square(x: pi.FP32) -> pi.FP32:
    return x * x


def main() -> None:
    assert (length, part.same_as(made.args), first == x) == (3, False, True)
    assert as_sequence[0] == x and as_mapping["axis"] == 1 and not as_set and table[StructuralKey(call)] == 1
    assert equal and digest == sapwood.structural_hash(call, hash_sharing=True)
    mismatch = sapwood.get_first_structural_mismatch(call, made)
    assert mismatch is not None
    left, right = mismatch
    assert (str(left), str(right), mismatch.reason) == ("<root>.name", "<root>.name", "value")
    assert [(one.name, one.role) for one in fields(Call)][-1] == ("tags", "ignore")
    assert asdict(call)["name"] == "f" and first_call(made) == "g" and describe(call) == "f/2"
    names = Names()
    names.visit(call)
    assert names.found == ["x"] and Inline().visit(Lambda([x], x)) == x
    assert Operator.get("add").same_as(Operator.get("add")) and not call.same_as(made)

    builder = ptir.Builder("main")
    value = builder.parameter("x", "f32[2]")
    program = ptir.Program([builder.finish(outer(half(value), value))])
    results: tuple[Array, ...] = program.run(np.ones(2, np.float32))
    assert results[0].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    report = program.check(program.simplify(float="fast"), float="fast")
    assert bool(report) and report.verdict == "same"
    assert rewrite.check_rule(twice) is None and add_of_zero.benefit == 2

    text: ir.Program = ir.parse("def f(n: pi.INT64) -> pi.INT64:\n    return n + 1\n")
    ir.verify(text)
    function: ir.Function = text.functions["f"]
    body = function.body
    assert isinstance(body, ir.ReturnStmt)
    expr: ir.Expr = body.values[0]
    match expr:
        case ir.Add(a, ir.ConstInt(b)):
            assert str(a.type) == "pi.INT64" and b == 1
        case _:
            raise AssertionError(expr)
    assert ir.interpret(text, "f", 1) == (2,) and int(ir.lower(text).run(1)[0]) == 2
    assert square(2.0) == 4.0 and DataType.INT64.is_integer()
    structural.assert_structural_equal(text, ir.parse(str(text)))
