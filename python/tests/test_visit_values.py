"""Walks, visitors and mutators that are called for the values in nodes."""

from __future__ import annotations

from typing import Any

import pytest
import sapwood
from lambda_nodes import Block, Lambda, Leaf, Pair, Var
from sapwood import ir, structural
from sapwood.errors import ArgumentError, SapwoodError
from sapwood.structural import (
    Map,
    Mutator,
    Node,
    Seq,
    Set,
    Visitor,
    delete,
    skip,
    stop,
    structural_equal,
    walk,
)


def test_callbacks_for_values() -> None:
    root = [1, 2.5, "tag", [True, b"x"], None]
    trace: list[Any] = []
    numbers = {Seq: lambda seq: trace.append(f"seq {len(seq)}"), (int, float): trace.append, str: trace.append}
    assert walk(root, numbers) is None
    assert trace == ["seq 5", 1, 2.5, "tag", "seq 2", True]
    trace.clear()
    walk([[1], 2], numbers, order="post")
    assert trace == [1, "seq 1", 2, "seq 2"]
    assert walk([1, 2, 3], {int: lambda number: stop({"found": number}) if number == 2 else None}) == {"found": 2}
    trace.clear()
    walk([[1, 2], 3], {Seq: lambda seq: skip if len(seq) == 2 and seq[0] == 1 else None, int: trace.append})
    assert trace == [3]
    # Values have no identity: they are visited each time, but those in a shared node once.
    shared = Leaf(7)
    trace.clear()
    walk([shared, shared, 7], {int: trace.append})
    assert trace == [7, 7]
    trace.clear()
    walk([shared, shared], {int: trace.append}, every_occurrence=True)
    assert trace == [7, 7]
    # Keys of maps are not visited unless they are nodes.
    trace.clear()
    walk(Map({"key": "value", Leaf(1): 2}), {object: trace.append})
    assert trace[1:] == ["value", Leaf(1), 1, 2] or trace[1] == "value" and trace[3:] == [1, 2]
    # Values in ignored fields are visited, unless only what is compared is.
    trace.clear()
    x = Var("x")
    walk(Lambda([x], x), {str: lambda name, bound: trace.append((name, bound))}, def_regions=True)
    assert trace == [("x", True)]
    walk(Lambda([x], x), {str: trace.append}, compared_only=True)
    assert len(trace) == 1
    with pytest.raises(ArgumentError, match="cannot delete nodes"):
        walk([1], {int: lambda number: delete})
    with pytest.raises(ArgumentError, match="a visitor returns None"):
        walk([1], {int: lambda number: 3})
    with pytest.raises(ArgumentError, match="expected a class and a function"):
        walk([1], {(int, "float"): print})


def test_walks_over_values_visit_nodes_in_the_same_order() -> None:
    program = ir.parse(
        "def f(n: pi.INT64) -> pi.INT64:\n    s: pi.INT64 = 0\n    for i in pi.range(n):\n        s = s + i * n\n    return s\n"
    )
    var = Var("v")
    trees: list[Any] = [program, Lambda([var], Pair(var, Map({Leaf(1): Leaf(2), "a": [Set([Leaf(3)]), 4]}))), {"a": Leaf(1)}]
    for tree in trees:
        for order in ("pre", "post"):
            for options in ({}, {"every_occurrence": True}, {"compared_only": True}):
                native: list[Any] = []
                mixed: list[Any] = []
                walk(tree, lambda node, bound: native.append((type(node), bound)), order=order, def_regions=True, **options)  # type: ignore[arg-type]
                callbacks = {Node: lambda node, bound: mixed.append((type(node), bound)), int: lambda number, bound: None}
                walk(tree, callbacks, order=order, def_regions=True, **options)  # type: ignore[arg-type]
                # The map of the functions of a program is no node in Python.
                assert [each for each in native if tree is not program or each[0] is not Map] == mixed


def test_visitors_and_mutators_of_values() -> None:
    class Sum(Visitor):
        total = 0

        def visit_int(self, number: int) -> None:
            self.total += number

    visitor = Sum()
    visitor.visit(Pair(Leaf(1), Block([Leaf(2), Leaf(3)])))
    assert visitor.total == 6

    class Next(Mutator):
        def visit_int(self, number: int) -> Any:
            return delete if number == 9 else stop("end") if number == 10 else number + 1

        def visit_Leaf(self, leaf: Leaf) -> Any:
            # The values in the node are replaced already.
            return Leaf(100) if leaf.value == 3 else None

    shared = Leaf(1)
    made = Next().visit(Pair(shared, Pair(shared, Leaf(2))))
    assert structural_equal(made, Pair(Leaf(2), Pair(Leaf(2), Leaf(100)))) and made.left.same_as(made.right.left)
    assert Next().visit([1, 9, {"a": 1, "b": 9}, {9, 1}]) == Seq([2, {"a": 2}, {2}])
    assert Next().visit([1, 10]) == "end" and Next().visit(1) == 2 and Next().visit(9) is None
    with pytest.raises(SapwoodError, match="value"):
        Next().visit(Leaf(9))
    kept = Block([Pair("a", "b")])
    assert Next().visit(kept).same_as(kept)
    x = ir.Var("x", ir.ScalarType(sapwood.DataType.INT64))
    doubled = structural.map(x + 3, {int: lambda number: number * 2})
    assert structural_equal(doubled, x + 6, map_free_vars=True)
    assert structural.map([1, ["a"]], {str: str.upper}) == Seq([1, ["A"]])
    root = Seq([Seq([1])])
    assert structural.map(root, {int: lambda number: number}).same_as(root)
    with pytest.raises(ZeroDivisionError):
        structural.map([1], {int: lambda number: number // 0})
