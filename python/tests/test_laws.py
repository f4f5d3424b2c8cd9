"""Laws of equality and hash over random classes, values and hooks; round trips of pickle, copy, deepcopy and JSON."""

from __future__ import annotations

import copy
import math
import os
import pickle
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from sapwood import structural
from sapwood.errors import CompareError
from sapwood.structural import (
    Object,
    Seq,
    field,
    py_class,
    structural_equal,
    structural_hash,
)

settings.register_profile(
    "ours",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=2000 if os.environ.get("SAPWOOD_FULL") else 60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("ours")


@py_class
class Tree(Object):
    a: Any
    b: Any = None
    note: str = field(structural_eq="ignore", default="")


@py_class(structural_eq="dag")
class Dag(Object):
    a: Any
    b: Any = None


@py_class(structural_eq="singleton")
class Op(Object):
    name: str


#: Singletons with equal content: different keys with equal hashes.
OPS = (Op("add"), Op("add"), Op("add"))


@py_class(structural_eq="var")
class Var(Object):
    name: str = field(structural_eq="ignore")


@py_class(scope=True)
class Fn(Object):
    params: Any = field(structural_eq="def")
    body: Any


@py_class
class Let(Object):
    var: Any = field(structural_eq="def")
    value: Any


@py_class
class Unordered(Object):
    """Hooked: two values in no order."""

    a: int
    b: int

    def __s_equal__(self, other: Unordered, eq_cb: Any) -> bool:
        return bool(eq_cb(sorted([self.a, self.b]), sorted([other.a, other.b]), False, "items"))

    def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
        return int(hash_cb(sorted([self.a, self.b]), init_hash, False))


@py_class
class Hooked(Object):
    """Hooked: its hook binds its first field."""

    a: Any
    b: Any

    def __s_equal__(self, other: Hooked, eq_cb: Any) -> bool:
        return bool(eq_cb(self.a, other.a, True, "a") and eq_cb(self.b, other.b, False, "b"))

    def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
        return int(hash_cb(self.b, hash_cb(self.a, init_hash, True), False))


#: A recipe describes a value, so that it can be built twice: a scalar, `("var", number)`, or `(maker, recipes)`.
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(allow_nan=True),
    st.text(max_size=3),
    st.binary(max_size=3),
)
leaves = st.one_of(
    scalars.map(lambda value: ("scalar", value)),
    st.integers(0, 3).map(lambda number: ("var", number)),
    st.tuples(st.integers(0, 2), st.integers(0, 2)).map(lambda pair: ("unordered", pair)),
)


def with_ties(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner(below),
        st.lists(below, min_size=2, max_size=3).map(lambda parts: ("ops", parts)),
        st.lists(below, min_size=2, max_size=2).map(lambda parts: ("sharing", parts)),
    )


def inner(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    two = st.tuples(below, below)
    return st.one_of(
        two.map(lambda parts: ("tree", parts)),
        two.map(lambda parts: ("dag", parts)),
        two.map(lambda parts: ("hooked", parts)),
        st.tuples(st.integers(0, 3), below).map(lambda parts: ("fn", parts)),
        st.tuples(st.integers(0, 3), below).map(lambda parts: ("let", parts)),
        st.lists(below, max_size=3).map(lambda parts: ("list", parts)),
        below.map(lambda part: ("twice", part)),
        st.dictionaries(st.text(max_size=2), below, max_size=3).map(lambda d: ("dict", d)),
        st.sets(st.integers(0, 5), max_size=3).map(lambda s: ("set", s)),
    )


#: Singletons that `get` did not create cannot be restored, so round trips use values without ties.
restorable = st.recursive(leaves, inner, max_leaves=12)
recipes = st.recursive(leaves, with_ties, max_leaves=12)


class RecipeEvaluator:
    """Makes values from recipes; the same variable for the same number."""

    def __init__(self, reverse: bool = False, prefix: str = "v") -> None:
        self.variables: dict[int, Var] = {}
        self.reverse = reverse
        self.prefix = prefix

    def var(self, number: int) -> Var:
        return self.variables.setdefault(number, Var(f"{self.prefix}{number}"))

    def ordered(self, items: list[Any]) -> list[Any]:
        return items[::-1] if self.reverse else items

    def make(self, recipe: Any) -> Any:
        kind, parts = recipe
        if kind == "scalar":
            return parts
        if kind == "var":
            return self.var(parts)
        if kind == "unordered":
            return Unordered(*(reversed(parts) if self.reverse else parts))
        if kind == "fn":
            return Fn([self.var(parts[0] + 10)], self.make(parts[1]))
        if kind == "let":
            return Let(self.var(parts[0] + 20), self.make(parts[1]))
        if kind == "twice":
            made = self.make(parts)
            return [made, made]
        if kind == "dict":
            items = list(parts.items())
            return {key: self.make(value) for key, value in (items[::-1] if self.reverse else items)}
        if kind == "ops":
            return dict(self.ordered(list(zip(OPS, map(self.make, parts), strict=False))))
        if kind == "sharing":
            one, two = Dag(1), Dag(1)
            values = [self.make(part) for part in parts]
            return dict(self.ordered([((one, two), values[0]), ((one, one), values[1])]))
        if kind == "set":
            return parts
        makers: dict[str, Any] = {"tree": Tree, "dag": Dag, "hooked": Hooked}
        made = [self.make(part) for part in parts]
        return made if kind == "list" else makers[kind](*made)




def made(recipe: Any) -> Any:
    """Returns the value of a recipe. Values that both functions reject have no laws: a variable that is bound inside the scope that
    binds it, and tied keys where one value binds a variable that another value uses."""
    value = Tree(RecipeEvaluator().make(recipe))
    for flags in ({}, {"map_free_vars": True}):
        try:
            structural_equal(value, value, **flags)
        except CompareError as error:
            refused = "is bound here, inside a scope|differ and have the same hash"
            assert re.search(refused, str(error))
            with pytest.raises(CompareError, match=refused):
                structural_hash(value, **flags)
            reject()
    return value


@given(recipes)
def test_reflexive(recipe: Any) -> None:
    value = made(recipe)
    for flags in ({}, {"map_free_vars": True}):
        assert structural_equal(value, value, **flags)
        assert structural.get_first_structural_mismatch(value, value, **flags) is None
        assert structural_hash(value, **flags) == structural_hash(value, **flags)


@given(recipes)
def test_copies_up_to_renaming(recipe: Any) -> None:
    made(recipe)
    left = Tree(RecipeEvaluator().make(recipe), note="left")
    right = Tree(RecipeEvaluator(prefix="other").make(recipe), note="right")
    assert structural_equal(left, right, map_free_vars=True)
    assert structural_hash(left, map_free_vars=True) == structural_hash(right, map_free_vars=True)


@given(recipes)
def test_the_order_of_insertion_does_not_matter(recipe: Any) -> None:
    made(recipe)
    evaluator, reverse = RecipeEvaluator(), RecipeEvaluator(reverse=True)
    left, right = Tree(evaluator.make(recipe)), Tree(reverse.make(recipe))
    assert structural_equal(left, right, map_free_vars=True)
    assert structural.get_first_structural_mismatch(left, right, map_free_vars=True) is None
    assert structural_hash(left, map_free_vars=True) == structural_hash(right, map_free_vars=True)


def test_dicts_with_singletons_of_one_content() -> None:
    p, q, _ = OPS
    assert structural_equal({p: 1, q: 2}, {q: 2, p: 1})
    assert structural.get_first_structural_mismatch({p: 1, q: 2}, {q: 2, p: 1}) is None
    assert structural_hash({p: 1, q: 2}) == structural_hash({q: 2, p: 1})
    assert not structural_equal({p: 1, q: 2}, {q: 1, p: 2})
    assert structural_equal({p, q}, {q, p})
    x, y, z = Var("x"), Var("y"), Var("z")
    left, right = Tree({p: x, q: y}, x), Tree({q: z, p: y}, y)
    assert structural_equal(left, right, map_free_vars=True)
    assert structural_hash(left, map_free_vars=True) == structural_hash(right, map_free_vars=True)
    assert not structural_equal(left, Tree({q: z, p: y}, z), map_free_vars=True)


@py_class(structural_eq="singleton")
class Holder(Object):
    held: Any


def test_a_singleton_that_holds_a_variable_is_compared_by_pointer() -> None:
    x = Var("x")
    holder = Holder([x])
    assert structural_equal(holder, holder)
    assert structural.get_first_structural_mismatch(holder, holder) is None
    assert not structural_equal(holder, Holder([x]))
    assert structural_equal(Fn([x], [x, holder]), Fn([y := Var("y")], [y, holder]))
    assert structural_hash(Fn([x], [x, holder])) == structural_hash(Fn([y], [y, holder]))


@given(recipes, recipes)
def test_symmetric_and_hashed_alike(first: Any, second: Any) -> None:
    made(first), made(second)
    evaluator = RecipeEvaluator()
    left, right = Tree(evaluator.make(first)), Tree(evaluator.make(second))
    for flags in ({}, {"map_free_vars": True}):
        answer = structural_equal(left, right, **flags)
        assert structural_equal(right, left, **flags) == answer
        mismatch = structural.get_first_structural_mismatch(left, right, **flags)
        assert (mismatch is None) == answer
        if answer:
            assert structural_hash(left, **flags) == structural_hash(right, **flags)
        elif mismatch is not None:
            assert str(mismatch.lhs).startswith("<root>") and mismatch.reason


@given(recipes, recipes, recipes)
def test_transitive(first: Any, second: Any, third: Any) -> None:
    made(first), made(second), made(third)
    evaluator = RecipeEvaluator()
    a, b, c = (Tree(evaluator.make(recipe)) for recipe in (first, second, third))
    if structural_equal(a, b) and structural_equal(b, c):
        assert structural_equal(a, c)


@given(restorable)
def test_round_trips(recipe: Any) -> None:
    value = made(recipe)
    for again in (
        pickle.loads(pickle.dumps(value)),
        copy.copy(value),
        copy.deepcopy(value),
        structural.from_json(structural.to_json(value), [Tree, Dag, Var, Fn, Let, Unordered, Hooked]),
        structural.map(value, lambda node: None),
    ):
        assert structural_equal(value, again, map_free_vars=True)
        assert repr(again) == repr(value)


@given(scalars)
def test_scalars_come_back(value: Any) -> None:
    again = Tree(value).a
    assert type(again) is type(value)
    assert again == value or (math.isnan(value) and math.isnan(again))


@given(st.lists(st.one_of(st.integers(), st.text()), max_size=5))
def test_sequences_come_back(values: list[Any]) -> None:
    assert list(Seq(values)) == values and Seq(values) == values
    assert [Seq(values)[i] for i in range(len(values))] == values
    assert list(reversed(Seq(values))) == values[::-1]


@given(st.dictionaries(st.one_of(st.integers(), st.text()), st.integers(), max_size=5))
def test_maps_come_back(values: dict[Any, int]) -> None:
    made = structural.Map(values)
    assert dict(made.items()) == values and made == values
    assert list(made) == list(values)


field_kinds = st.sampled_from([None, "ignore"])


@given(
    st.lists(st.tuples(field_kinds, st.integers(-2, 2), st.integers(-2, 2)), max_size=5),
    st.sampled_from(["tree", "const-tree", "dag"]),
)
def test_random_classes(fields: list[tuple[Any, int, int]], kind: Any) -> None:
    names = [f"f{index}" for index in range(len(fields))]
    body: dict[str, Any] = {"__annotations__": dict.fromkeys(names, int), "__module__": __name__}
    for name, (role, _, _) in zip(names, fields, strict=True):
        body[name] = field(structural_eq=role)
    cls: Any = py_class(structural_eq=kind)(type(Object)("Random", (Object,), body))
    left, right = cls(*(a for _, a, _ in fields)), cls(*(b for _, _, b in fields))
    expected = all(a == b for role, a, b in fields if role is None)
    assert structural_equal(left, right) == expected
    assert not expected or structural_hash(left) == structural_hash(right)
    assert [getattr(left, name) for name in names] == [a for _, a, _ in fields]
