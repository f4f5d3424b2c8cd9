"""Visitors, mutators, walks, fields and containers, in the groups in which tvm-ffi tests its structural API."""

from __future__ import annotations

import collections.abc
import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from lambda_nodes import Block, Expr, Lambda, Leaf, Pair, Var

import sapwood
from sapwood import DataType, ir, pi, structural
from sapwood.errors import ArgumentError, InvalidValueError, SapwoodError
from sapwood.structural import (
    MISSING,
    Map,
    Mutator,
    Node,
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
    structural_equal,
    structural_hash,
    walk,
)

INT = ir.ScalarType(DataType.INT64)


@py_class("visit.Load", structural_eq="dag")
class Load(Object):
    address: int


def names(value: Any, **options: Any) -> list[str]:
    found: list[str] = []
    walk(value, lambda node: found.append(type(node).__name__), **options)
    return found


# Walks: typed callbacks, order, interruption, regions.


def test_typed_callbacks_by_mapping_and_annotation() -> None:
    tree = Pair(Leaf(1), Block([Leaf(2), Pair(Leaf(3), 4)]))
    seen: list[int] = []
    assert walk(tree, {Leaf: lambda leaf: seen.append(leaf.value)}) is None
    assert seen == [1, 2, 3]

    def leaf(node: Leaf) -> None:
        seen.append(-node.value)

    def anything(node: Expr) -> None:
        seen.append(0)

    seen.clear()
    walk(tree, [leaf, anything])
    # The first function that fits is called, and only that one.
    assert seen == [0, -1, 0, -2, 0, -3]
    seen.clear()
    walk(tree, [anything, leaf])
    assert set(seen) == {0}
    walk(tree, {Node: lambda node: seen.append(1)})
    assert seen.count(1) == 7  # the list is a node, too


def test_walk_order() -> None:
    tree = Pair(Leaf(1), Pair(Leaf(2), Leaf(3)))
    assert names(tree) == ["Pair", "Leaf", "Pair", "Leaf", "Leaf"]
    assert names(tree, order="post") == ["Leaf", "Leaf", "Leaf", "Pair", "Pair"]
    values: list[int] = []
    walk(tree, {Leaf: lambda leaf: values.append(leaf.value)}, order="post")
    assert values == [1, 2, 3]
    with pytest.raises(InvalidValueError, match='order is "pre" or "post"'):
        walk(tree, print, order="in")  # type: ignore[arg-type]


def test_interrupt_with_a_payload() -> None:
    tree = Pair(Leaf(1), Pair(Leaf(2), Leaf(3)))
    for order in ("pre", "post"):
        found = walk(tree, {Leaf: lambda leaf: stop(leaf) if leaf.value == 2 else None}, order=order)  # type: ignore[arg-type]
        assert found == tree.right.left
    assert walk(tree, lambda node: stop()) is None
    assert walk(tree, lambda node: "stop") is None
    payload = object()
    assert walk(tree, lambda node: stop(payload)) is payload


def test_skip_on_the_first_match() -> None:
    tree = Pair(Block([Leaf(1)]), Leaf(2))
    seen: list[Any] = []

    def block(node: Block) -> str:
        seen.append(node)
        return skip

    walk(tree, {Block: block, Leaf: seen.append})
    assert [type(node) for node in seen] == [Block, Leaf] and seen[1].value == 2


def test_def_regions_in_callbacks() -> None:
    x, free = Var("x"), Var("free")
    seen: dict[str, bool] = {}
    walk(Lambda([x], Pair(x, free)), {Var: lambda var, bound: seen.update({var.name: bound})}, def_regions=True)
    assert seen == {"x": True, "free": False}
    uses: list[tuple[str, bool]] = []
    walk(
        Lambda([x], Pair(x, free)),
        {Var: lambda var, bound: uses.append((var.name, bound))},
        def_regions=True,
        every_occurrence=True,
    )
    assert uses == [("x", True), ("x", False), ("free", False)]


def test_wrong_callbacks() -> None:
    tree = Leaf(1)
    with pytest.raises(ArgumentError, match="a visitor returns None"):
        walk(tree, lambda node: 3)
    with pytest.raises(ArgumentError, match="cannot delete nodes; use a Mutator"):
        walk(tree, lambda node: delete)
    with pytest.raises(ArgumentError, match="expected a function"):
        walk(tree, 3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="expected a class and a function"):
        walk(tree, {"Leaf": print})
    with pytest.raises(ArgumentError, match="needs the annotation of a class"):
        walk(tree, [lambda node: None])
    with pytest.raises(ZeroDivisionError):
        walk(tree, lambda node: 1 // 0)


# Visitors and mutators.


def test_visitor_methods_and_generic_visit() -> None:
    class Shapes(Visitor):
        def __init__(self) -> None:
            self.seen: list[str] = []

        def visit_Leaf(self, node: Leaf) -> None:
            self.seen.append(f"leaf {node.value}")

        def visit_Expr(self, node: Expr) -> Any:
            self.seen.append(f"expr {type(node).__name__}")
            return skip if isinstance(node, Block) else None

        def generic_visit(self, node: Any) -> None:
            self.seen.append(f"other {type(node).__name__}")

    shapes = Shapes()
    assert shapes.visit(Pair(Leaf(1), Lambda([Var("x")], Block([Leaf(2)])))) is None
    assert shapes.seen == ["expr Pair", "leaf 1", "expr Lambda", "other Seq", "other Var", "expr Block"]

    class Last(Visitor):
        order = "post"

        def visit_Leaf(self, node: Leaf) -> Any:
            return stop(node.value) if node.value > 1 else None

    assert Last().visit(Pair(Leaf(1), Pair(Leaf(2), Leaf(3)))) == 2

    class Wrong(Visitor):
        order = "sideways"  # type: ignore[assignment]

    with pytest.raises(InvalidValueError, match="order"):
        Wrong().visit(Leaf(1))


def test_mutator_replaces_deletes_and_keeps() -> None:
    class Edit(Mutator):
        def visit_Leaf(self, node: Leaf) -> Any:
            if node.value < 0:
                return delete
            return Leaf(node.value + 1) if node.value % 2 else None

    kept = Block([Leaf(2), Leaf(4)])
    tree = Pair(Block([Leaf(1), Leaf(-1), Leaf(2)]), kept)
    made = Edit().visit(tree)
    assert structural_equal(made, Pair(Block([Leaf(2), Leaf(2)]), kept))
    assert made.right.same_as(kept) and not made.same_as(tree)
    assert Edit().visit(kept).same_as(kept)
    assert Edit().visit(Leaf(-1)) is None
    # A field becomes None, an entry of a map or set is removed.
    assert structural_equal(Edit().visit(Pair(Leaf(-1), 1)), Pair(None, 1))
    assert Edit().visit(Map({"a": Leaf(-1), "b": Leaf(2)})).keys() == {"b"}
    assert len(Edit().visit(Set([Leaf(-1), Leaf(2)]))) == 1
    assert len(Edit().visit(Map({Leaf(-1): 1, Leaf(2): 2}))) == 1


def test_a_field_that_needs_a_node_cannot_lose_it() -> None:
    @py_class("visit.Strict")
    class Strict(Object):
        leaf: Leaf

    class Drop(Mutator):
        def visit_Leaf(self, node: Leaf) -> Any:
            return delete

    with pytest.raises(SapwoodError, match="leaf"):
        Drop().visit(Strict(Leaf(1)))


def test_mutator_enters_skips_and_stops() -> None:
    class Outer(Mutator):
        def enter_Block(self, node: Block) -> Any:
            return skip

        def visit_Leaf(self, node: Leaf) -> Any:
            return stop("seven") if node.value == 7 else Leaf(0)

    block = Block([Leaf(1)])
    made = Outer().visit(Pair(block, Leaf(2)))
    assert made.left.same_as(block) and made.right.value == 0
    assert Outer().visit(Pair(Leaf(7), Leaf(2))) == "seven"

    class Swap(Mutator):
        """Visits the parts of a pair itself, in its own order; the left part of a pair stays."""

        seen: list[int] = []

        def enter_Pair(self, node: Pair) -> Any:
            return Pair(self.visit(node.right), node.left)

        def enter_Block(self, node: Block) -> Any:
            return delete if not node.items else None

        def visit_Pair(self, node: Pair) -> Any:
            raise AssertionError("the node was replaced before")

        def visit_Leaf(self, node: Leaf) -> Any:
            self.seen.append(node.value)
            return Leaf(node.value + 1)

    swapped = Swap().visit([Pair(Leaf(1), Pair(Leaf(2), Leaf(3))), Block([]), Block([Leaf(4)])])
    assert structural_equal(swapped, [Pair(Pair(Leaf(4), Leaf(2)), Leaf(1)), Block([Leaf(5)])])
    assert Swap.seen == [3, 4]

    class Wrong(Mutator):
        def visit_Leaf(self, node: Leaf) -> Any:
            return skip

    with pytest.raises(ArgumentError, match="return skip from an enter method"):
        Wrong().visit(Leaf(1))

    class Words(Mutator):
        def visit_Leaf(self, node: Leaf) -> Any:
            return "stop"

    assert Words().visit(Leaf(1)) == "stop"


def test_mutator_keeps_sharing_and_calls_once() -> None:
    class Count(Mutator):
        calls = 0

        def visit_Leaf(self, node: Leaf) -> Any:
            self.calls += 1
            return Leaf(node.value + 1)

    leaf = Leaf(1)
    count = Count()
    made = count.visit(Pair(leaf, Pair(leaf, leaf)))
    assert count.calls == 1 and made.left.same_as(made.right.left)


def test_deep_graphs_need_no_deep_stack() -> None:
    node: Any = Leaf(0)
    for _ in range(200_000):
        node = Pair(node, 1)

    class Depth(Visitor):
        count = 0

        def visit_Pair(self, node: Pair) -> None:
            self.count += 1

    class Grow(Mutator):
        def visit_Leaf(self, node: Leaf) -> Any:
            return Leaf(1)

    depth = Depth()
    depth.visit(node)
    assert depth.count == 200_000
    assert walk(Grow().visit(node), {Leaf: lambda leaf: stop(leaf.value)}) == 1
    assert asdict(Pair(node, 1))["right"] == 1


def test_visitors_of_the_front_end_ir() -> None:
    program = ir.parse("def f(x: pi.INT64, y: pi.INT64) -> pi.INT64:\n    return x * (y + 0)\n")

    class Zero(Mutator):
        def visit_Add(self, node: ir.Add) -> Any:
            match node:
                case ir.Add(left, ir.ConstInt(0)):
                    return left

    assert "return x * y" in str(Zero().visit(program))
    assert walk(program, {ir.BinaryExpr: lambda node: stop(node.type_name())}) == "Mul"


# Fields.


def test_a_repr_of_the_user_is_inherited() -> None:
    @py_class("visit.OwnRepr")
    class OwnRepr(Object):
        a: int
        h: int = field(default=1, repr=False)

        def __repr__(self) -> str:
            return f"<{self.a}>"

    @py_class("visit.OwnReprBelow")
    class Below(OwnRepr):
        c: int = 3

    @py_class("visit.GeneratedRepr")
    class Generated(Object):
        a: int
        h: int = field(default=1, repr=False)

    @py_class("visit.GeneratedReprBelow")
    class GeneratedBelow(Generated):
        c: int = 3

    assert (repr(OwnRepr(1)), repr(Below(2))) == ("<1>", "<2>")
    assert (repr(Generated(1)), repr(GeneratedBelow(2))) == ("Generated(a=1)", "GeneratedBelow(a=2, c=3)")


def test_fields_are_objects() -> None:
    @py_class("visit.Options")
    class Options(Object):
        a: int
        b: list[int] = field(default_factory=list, doc="the b", metadata={"unit": "m"})
        c: str = field(default="c", compare=False, repr=False)
        d: int = field(default=4, init=False)
        e: int = field(default=5, kw_only=True)

    found = {one.name: one for one in fields(Options)}
    assert list(found) == ["a", "b", "c", "d", "e"] and [str(one) for one in fields(Options(1))] == list(found)
    assert [one.role for one in found.values()] == ["usual", "usual", "ignore", "usual", "usual"]
    assert [one.type for one in found.values()] == [int, list[int], str, int, int]
    assert [one.default for one in found.values()] == [MISSING, MISSING, "c", 4, 5]
    assert found["b"].default_factory is list and found["b"].doc == "the b" and found["b"].metadata["unit"] == "m"
    assert [one.init for one in found.values()] == [True, True, True, False, True]
    assert [one.compare for one in found.values()] == [True, True, False, True, True]
    assert found["e"].kw_only and not found["a"].kw_only and not found["c"].repr
    made = Options(1, [2], "x")
    assert repr(made) == "Options(a=1, b=[2], d=4, e=5)"
    assert structural_equal(made, Options(1, [2], "y"))
    with pytest.raises(ArgumentError, match="takes no argument d: the field has init=False"):
        Options(1, d=3)
    assert replace(made, d=7).d == 7 and replace(made, a=2).c == "x"
    with pytest.raises(TypeError):
        found["b"].metadata["unit"] = "s"  # type: ignore[index]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": False}, "needs a default"),
        ({"compare": False, "structural_eq": "def"}, "contradicts"),
        ({"structural_eq": "var"}, "structural_eq of a field"),
        ({"default": 1, "default_factory": int}, "at most one"),
    ],
)
def test_wrong_field_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        field(**options)


def test_types_of_fields_of_ir_nodes_are_readable() -> None:
    types = {one.name: one.type for one in fields(ir.ForStmt)}
    assert types["loop_var"] is ir.Var and types["stop"] is ir.Expr and types["iter_args"] == tuple[ir.IterArg, ...]
    assert {one.name: one.type for one in fields(ir.ScalarType)} == {"span": ir.Span, "dtype": DataType}
    # These are derived from other fields.
    derived = {"init_values", "functions"}
    for cls in ir._stmt.NODES:
        assert {one.name for one in fields(cls) if one.type is Any} <= derived, cls


def test_roles_of_ir_nodes_are_readable() -> None:
    roles = {one.name: one.role for one in fields(ir.Function)}
    assert roles["params"] == "def" and roles["span"] == "ignore" and roles["body"] == "usual"


# Replace, match, same_as, asdict.


def test_replace_and_match_ir_nodes() -> None:
    x, y = ir.Var("x", INT), ir.Var("y", INT)
    add = ir.Add(x, y, INT, ir.Span("f.py", 1, 2))
    made = replace(add, right=x)
    assert made.left == x and made.right == x and made.span == add.span and structural_equal(made.type, INT)
    wide = ir.ScalarType(DataType.FP32)
    assert replace(add, type=wide).dtype == DataType.FP32
    call = ir.Call(ir.Op("exp"), [x], type=INT)
    assert replace(call, args=[y]).type.same_as(call.type)
    program = ir.parse("def f(n: pi.INT64) -> pi.INT64:\n    s: pi.INT64 = 0\n    for i in pi.range(n):\n        s = s + i\n    return s\n")
    for node in all_nodes(program):
        same = replace(node)
        assert type(same) is type(node)
        if not isinstance(node, (ir.Var, ir.ForStmt, ir.Function, ir.Program)):
            assert structural_equal(same, node), node
    function = program.functions["f"]
    renamed = replace(program, functions=[replace(function, name="g")])
    assert list(map(str, renamed.functions)) == ["g"]
    match add:
        case ir.Add(ir.Var(left), ir.Var(right)):
            assert (left, right) == ("x", "y")
        case _:
            pytest.fail("no match")
    with pytest.raises((TypeError, SapwoodError)):
        replace(add, middle=x)
    with pytest.raises(ArgumentError, match="expected a node with fields"):
        replace(3, a=1)


def all_nodes(value: Any) -> list[Any]:
    found: list[Any] = []
    walk(value, {ir.IRNode: found.append})
    return found


def test_every_class_has_match_args() -> None:
    for name in ir.__all__:
        cls = getattr(ir, name)
        if isinstance(cls, type) and issubclass(cls, ir.IRNode) and cls.__subclasses__() == [] and cls is not ir.UnknownType:
            assert cls.__match_args__, name


def test_same_as_is_identity_of_nodes() -> None:
    leaf = Leaf(1)
    pair = Pair(leaf, Leaf(1))
    assert pair.left.same_as(leaf) and not pair.left.same_as(pair.right)
    assert structural_equal(pair.left, pair.right)
    assert not leaf.same_as(1) and not leaf.same_as(None)
    assert copy.copy(leaf).same_as(leaf) and copy.deepcopy(leaf).same_as(leaf)
    items = Seq([1, 2])
    assert items.same_as(items) and not items.same_as(Seq([1, 2])) and items == Seq([1, 2])


def test_asdict() -> None:
    shared = Leaf(1)
    made = asdict(Pair(shared, Block([shared, {"k": Leaf(2)}, {3}])))
    assert made == {"left": {"value": 1}, "right": {"items": [{"value": 1}, {"k": {"value": 2}}, [3]]}}
    assert made["left"] is made["right"]["items"][0]
    assert asdict(3) == 3
    assert asdict({"a": Leaf(1), 2: [Leaf(2)]}) == {"a": {"value": 1}, 2: [{"value": 2}]}
    assert asdict([Leaf(1), (2, 3)]) == [{"value": 1}, [2, 3]] and asdict({3}) == [3]
    program = ir.parse("def f(n: pi.INT64) -> pi.INT64:\n    return n\n")
    assert asdict(program)["functions"]["f"]["name"] == "f"
    x = ir.Var("x", INT)
    assert asdict(x + 1)["left"]["name"] == "x"


# Keys and containers.


def test_structural_keys() -> None:
    key = StructuralKey(Pair(Leaf(1), 2))
    assert structural_equal(key.key, Pair(Leaf(1), 2)) and key.key.same_as(key.value)
    table = {key: "found"}
    assert table[StructuralKey(Pair(Leaf(1), 2))] == "found"
    assert StructuralKey(Pair(Leaf(2), 2)) not in table
    # The keys of maps are compared by structure without a wrapper.
    nodes = Map({Pair(Leaf(1), 2): "found"})
    assert nodes[Pair(Leaf(1), 2)] == "found" and Pair(Leaf(2), 2) not in nodes
    assert pickle.loads(pickle.dumps(key)) == key
    # With a wrapper they are the same keys, in a field as well.
    wrapped = Map({key: 1, StructuralKey({"x": [1, 2]}): 2, 3: 3})
    assert len(wrapped) == 3 and wrapped[key] == wrapped[Pair(Leaf(1), 2)] == 1 and wrapped[{"x": [1, 2]}] == 2
    assert StructuralKey([1]) not in wrapped and wrapped.get(StructuralKey(3)) == 3
    again = Map({3: 3, StructuralKey({"x": [1, 2]}): 2, Pair(Leaf(1), 2): 1})
    assert structural_equal(wrapped, again) and structural_equal(list(again.keys()), [3, {"x": [1, 2]}, Pair(Leaf(1), 2)])
    assert Pair({key: 1}, 0).left[key] == 1
    with pytest.raises(InvalidValueError, match="cannot be a key of a Map"):
        Map({StructuralKey(1, skip_tensor_content=True): 1})


def test_tensor_content_policy_of_keys() -> None:
    a, b = np.zeros(3, np.float32), np.ones(3, np.float32)
    assert StructuralKey(Block([a])) != StructuralKey(Block([b]))
    loose = [StructuralKey(Block([array]), skip_tensor_content=True) for array in (a, b)]
    assert loose[0] == loose[1] and hash(loose[0]) == hash(loose[1])
    assert loose[0] != StructuralKey(Block([a]))
    assert StructuralKey(Block([a]), skip_tensor_content=True) != StructuralKey(Block([a[:2]]), skip_tensor_content=True)


def test_lists_maps_and_sets_stay_apart() -> None:
    values: list[Any] = [[], {}, set(), [1], {1: 1}, {1}, 1, "1", None]
    holders = [Pair(value, 0) for value in values]
    for i, left in enumerate(holders):
        for j, right in enumerate(holders):
            assert structural_equal(left, right) == (i == j)
            if i != j:
                assert structural_hash(left) != structural_hash(right)
    assert structural_equal(Pair((1, 2), 0), Pair([1, 2], 0))
    assert isinstance(Pair([1], 0).left, Seq) and isinstance(Pair({1: 1}, 0).left, Map) and isinstance(Pair({1}, 0).left, Set)


def test_sequences_are_complete() -> None:
    seq = Seq([1, 2, 3, 2])
    assert isinstance(seq, collections.abc.Sequence)
    assert seq[1:3] == Seq([2, 3]) and isinstance(seq[::2], Seq) and seq[-1] == 2
    assert seq.index(2) == 1 and seq.index(2, 2) == 3 and seq.count(2) == 2
    with pytest.raises(ValueError):
        seq.index(2, 2, 3)
    assert list(reversed(seq)) == [2, 3, 2, 1] and 3 in seq and len(seq) == 4
    leaf = Leaf(1)
    joined = Seq([leaf]) + [2] + (3,) + Seq()
    assert isinstance(joined, Seq) and joined == Seq([leaf, 2, 3]) and joined[0].same_as(leaf)
    assert [0] + seq == Seq([0, 1, 2, 3, 2]) and isinstance((0,) + seq, Seq)
    for other in (1, "ab", {1}, {1: 1}, None):
        with pytest.raises(TypeError, match="unsupported operand|can only concatenate|must be str"):
            seq + other
        with pytest.raises(TypeError, match="unsupported operand|can only concatenate"):
            other + seq
    missing = set(dir(collections.abc.Sequence)) - set(dir(Seq)) - {"__abstractmethods__", "_abc_impl", "__class_getitem__"}
    assert {name for name in missing if not name.startswith("_abc")} <= {"__slots__", "__module__", "__dict__", "__weakref__"}


def test_maps_are_complete() -> None:
    table = Map({"a": 1, "b": 2})
    assert isinstance(table, collections.abc.Mapping)
    assert table.keys() == {"a", "b"} and table.keys() & {"a", "z"} == {"a"}
    assert list(table.values()) == [1, 2] and ("a", 1) in table.items() and 2 in table.values()
    assert dict(table) == {"a": 1, "b": 2} and {**table} == dict(table) and list(reversed(table)) == ["b", "a"]
    assert table.get("z", 3) == 3 and table.get("z") is None and len(table.items()) == 2
    with pytest.raises(KeyError):
        table["z"]
    nodes = Map({Leaf(1): 1})
    assert Leaf(1) in nodes.keys() and [key.value for key in nodes.keys()] == [1]


def test_sets_are_complete() -> None:
    left, right = Set([1, 2, 3]), Set([2, 3, 4])
    assert isinstance(left, collections.abc.Set)
    assert left & right == Set([2, 3]) and isinstance(left & right, Set)
    assert left | {9} == Set([1, 2, 3, 9]) and {9} | left == {1, 2, 3, 9}
    assert left - right == Set([1]) and left ^ right == Set([1, 4])
    assert Set([1]) <= left and Set([1]) < left and left >= Set([1]) and left > Set([1]) and not left < left
    assert object() not in left and left & {object(), 1} == {1}
    assert left.isdisjoint([7]) and not left.isdisjoint(right) and left != right
    assert len(Set([1, 1, 2])) == 2
    nodes = Set([Leaf(1), Leaf(1), Leaf(2)])
    assert len(nodes) == 2 and Leaf(1) in nodes and nodes & Set([Leaf(1)]) == nodes - Set([Leaf(2)])
    with pytest.raises(TypeError):
        Set(3)  # type: ignore[arg-type]


def test_hash_sharing_tells_sharing_apart() -> None:
    load = Load(1)
    shared, apart = Pair(load, load), Pair(Load(1), Load(1))
    assert not structural_equal(shared, apart)
    assert structural_hash(shared) == structural_hash(apart)
    assert structural_hash(shared, hash_sharing=True) != structural_hash(apart, hash_sharing=True)
    other = Load(1)
    assert structural_hash(shared, hash_sharing=True) == structural_hash(Pair(other, other), hash_sharing=True)
    # The sharing of trees does not count, also above a shared node.
    inner = Pair(load, 0)
    assert structural_equal(Pair(inner, inner), Pair(Pair(load, 0), Pair(load, 0)))
    one, two = (structural_hash(tree, hash_sharing=True) for tree in (Pair(inner, inner), Pair(Pair(load, 0), Pair(load, 0))))
    assert one == two


def test_top_level_names() -> None:
    for name in (
        "structural_equal",
        "structural_hash",
        "get_first_structural_mismatch",
        "assert_structural_equal",
        "StructuralKey",
    ):
        assert getattr(sapwood, name) is getattr(structural, name)
        assert name in sapwood.__all__


def test_signatures_are_precise() -> None:
    @py_class("visit.Signed")
    class Signed(Object):
        a: int
        b: str = "b"
        c: list[int] = field(default_factory=list)
        d: int = field(default=1, init=False)
        e: int = field(default=2, kw_only=True)

    assert str(inspect.signature(Signed)).replace("'", "") == "(a: int, b: str = b, c: list[int] = <factory>, *, e: int = 2)"
    assert str(inspect.signature(ir.Add)) == "(left, right, dtype=None, span=None)"
    assert str(inspect.signature(ir.ConstInt)) == "(value, dtype, span=None)"
    program = ir.parse("def f(n: pi.INT64) -> pi.INT64:\n    s: pi.INT64 = 0\n    for i in pi.range(n):\n        s = s + i\n    return s\n")
    for node in all_nodes(program):
        if not isinstance(node, (ir.UnknownType, ir.Program)):
            signature = inspect.signature(type(node))
            names = [name for name in signature.parameters if hasattr(node, name)]
            bound = signature.bind_partial(**{name: getattr(node, name) for name in names})
            assert type(type(node)(**bound.arguments)) is type(node)


def test_ops_have_signatures_and_documentation() -> None:
    b = sapwood.ptir.Builder("main")
    for name, signature, words in (
        ("add", "(lhs, rhs, /)", "Adds"),
        ("reduce_sum", "(input, /, *, axes: 'a list of integers', keepdims: 'a bool' = False, accumulate: 'an element type such as f32' = None)", "True if reduced axes are kept"),
        ("dynamic_slice", "(input, /, *starts, sizes: 'a list of integers or expressions over symbols')", "Extents of the slice"),
        ("reshape", "(input, /, *, result_type: 'the result type' = None)", "Type of the result"),
        ("sort", "(*operands, axis: 'an integer', stable: 'a bool' = True)", "comparator"),
    ):
        method = getattr(b, name)
        assert str(inspect.signature(method)) == signature
        assert words in (inspect.getdoc(method) or ""), name
        assert method.__name__ == name
        assert inspect.getdoc(getattr(pi.op, name)) == inspect.getdoc(method)
    assert str(inspect.signature(pi.op.sort)) == "(*inputs, comparator: 'a word', axis: 'an integer', stable: 'a bool' = True)"
    assert {"reduce_sum", "sort"} <= set(dir(pi.op)) and "while" not in dir(pi.op)
    assert repr(pi.op.my.silu) == "pi.op.my.silu"
    for one in sapwood.ptir.ops():
        if "." in one["name"]:
            continue  # An op of another test, which no builder has as a method.
        assert inspect.signature(getattr(b, one["name"])) is not None
    seen: list[str] = []

    @sapwood.rewrite.pattern("add")
    def look(op: sapwood.rewrite.Op, rw: sapwood.rewrite.Rewriter) -> None:
        seen.append(str(inspect.signature(rw.mul)))

    x = b.parameter("x", "f32[]")
    sapwood.rewrite.apply(sapwood.ptir.Program([b.finish(x + x)]), [look])
    assert seen == ["(lhs, rhs, /)"]


def test_public_names_have_documentation() -> None:
    for module in (sapwood.ptir, sapwood.rewrite, sapwood.structural, sapwood.ir, sapwood.pi, sapwood):
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type) or inspect.isroutine(value):
                assert (value.__doc__ or "").strip(), f"{module.__name__}.{name}"
            if not isinstance(value, type) or value is structural.Field:
                continue  # The documentation of a field is in the source.
            for key in vars(value):
                member = getattr(value, key)
                if not key.startswith("_") and (inspect.isroutine(member) or inspect.isgetsetdescriptor(member) or isinstance(member, property)):
                    assert (member.__doc__ or "").strip(), f"{module.__name__}.{name}.{key}"


#: Functions with parameters of any number, because the functions they call have them.
OPEN = {"from_jax", "subgraph_from_jax", "interpret"}


def test_signatures_name_their_parameters() -> None:
    """Each public function, class and method has a signature without ``*args`` and ``**kwargs``, except for those of base classes."""

    @py_class("visit.Only", structural_eq="singleton")
    class Only(Object):
        name: str
        size: int = 1

    assert str(inspect.signature(Only.get)).replace("'", "").startswith("(name: str, size: int = 1) -> ")
    assert Only.get("a").same_as(Only.get("a", size=1)) and not Only.get("a").same_as(Only.get("a", 2))
    checked = 0
    for module in (sapwood, sapwood.ptir, sapwood.rewrite, structural, ir, sapwood.errors):
        for name in module.__all__:
            value = getattr(module, name)
            is_base = isinstance(value, type) and (value.__subclasses__() != [] or issubclass(value, (dict, Exception)))
            members = [getattr(value, key) for key in vars(value) if not key.startswith("_")] if isinstance(value, type) else []
            for one in [*([] if is_base else [value]), *members]:
                if not (inspect.isroutine(one) or isinstance(one, type)) or getattr(one, "__name__", "") in OPEN | {"get"}:
                    continue
                loose = [each.name for each in inspect.signature(one).parameters.values() if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
                assert not {"args", "kwargs", "keywords"} & set(loose), (module.__name__, name, one)
                checked += 1
    assert checked > 200
