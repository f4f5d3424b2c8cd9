"""Document 002, structural equality and hashing: every code block and every table."""

from __future__ import annotations

from typing import Any

import pytest

from sapwood.errors import CompareError
from sapwood.structural import (
    AccessPath,
    Object,
    field,
    get_first_structural_mismatch,
    py_class,
    structural_equal,
    structural_hash,
)


def same(lhs: Any, rhs: Any, **flags: bool) -> bool:
    """Returns `structural_equal`, and asserts the laws that hold with it."""
    answer = structural_equal(lhs, rhs, **flags)
    assert structural_equal(rhs, lhs, **flags) == answer
    assert (get_first_structural_mismatch(lhs, rhs, **flags) is None) == answer
    if answer:
        assert structural_hash(lhs, **flags) == structural_hash(rhs, **flags)
    return answer


# Type-level annotation. The classes name each other before they exist, as the document's do.


@py_class(structural_eq="tree")
class Expr(Object):
    def __add__(self, other: Expr | int) -> Expr:
        return Add(self, other)


@py_class(structural_eq="tree")
class Add(Expr):
    lhs: Expr | int
    rhs: Expr | int


@py_class(structural_eq="tree")
class Int(Expr):
    value: int


@py_class(structural_eq="tree")
class Tuple(Expr):
    items: list[Expr]


@py_class(structural_eq="const-tree")
class DeviceMesh(Object):
    shape: list[int]
    device_ids: list[int]


@py_class(structural_eq="dag")
class DagAdd(Expr):
    lhs: Expr | int
    rhs: Expr | int


@py_class(structural_eq="dag")
class Binding(Object):
    var: Var
    value: Expr


@py_class(structural_eq="tree")
class Type(Object):
    name: str


@py_class(structural_eq="var")
class TypedVar(Expr):
    name: str = field(structural_eq="ignore")
    type: Type


@py_class(structural_eq="tree")
class Lambda(Object):
    params: list[Var] = field(structural_eq="def")
    body: Expr
    span: str = field(structural_eq="ignore", default="")


@py_class(structural_eq="var")
class Var(Expr):
    name: str = field(structural_eq="ignore")


@py_class(structural_eq="singleton")
class Op(Object):
    name: str


@py_class(structural_eq=None)
class Handle(Object):
    number: int


@py_class(structural_eq="tree")
class MyNode(Object):
    value: int
    span: str = field(structural_eq="ignore")


def test_tree_compares_by_fields() -> None:
    assert same(Add(Int(1), Int(2)), Add(Int(1), Int(2)))
    assert not same(Add(Int(1), Int(2)), Add(Int(1), Int(3)))
    mismatch = get_first_structural_mismatch(Add(Int(1), Int(2)), Add(Int(1), Int(3)))
    assert mismatch is not None
    assert [str(path) for path in mismatch] == ["<root>.rhs.value", "<root>.rhs.value"]
    assert mismatch.reason == "value"
    assert mismatch.lhs.resolve(Add(Int(1), Int(2))) == 2


def test_sharing_is_invisible_under_tree() -> None:
    x = Var("x")
    shared = x + 1
    assert same(Tuple([shared, shared]), Tuple([x + 1, x + 1]))


def test_const_tree_is_tree_with_a_shortcut() -> None:
    mesh = DeviceMesh([2, 2], [0, 1, 2, 3])
    assert same(mesh, mesh)
    assert same(mesh, DeviceMesh([2, 2], [0, 1, 2, 3]))
    assert not same(mesh, DeviceMesh([2, 2], [0, 1, 2, 4]))


def test_const_tree_must_hold_no_variables() -> None:
    @py_class(structural_eq="const-tree")
    class Wrong(Object):
        lhs: Any
        rhs: Any

    x, y = Var("x"), Var("y")
    shared = Wrong(x, 1)
    # The document's bug is an error here, in both functions.
    with pytest.raises(CompareError, match="declared const-tree, but holds"):
        structural_equal([shared, x], [shared, y], map_free_vars=True)
    with pytest.raises(CompareError, match="declare it tree"):
        structural_hash(shared)


def test_the_same_pointer_still_binds() -> None:
    x, y = Var("x"), Var("y")
    shared = x + 1
    assert not same(Tuple([shared, x]), Tuple([shared, y]), map_free_vars=True)
    assert same(Tuple([shared, x]), Tuple([y + 1, y]), map_free_vars=True)


def test_dag_tells_sharing_apart() -> None:
    x = Var("x")
    s = DagAdd(x, 1)
    assert not same(Tuple([s, s]), Tuple([DagAdd(x, 1), DagAdd(x, 1)]))
    mismatch = get_first_structural_mismatch(
        Tuple([s, s]), Tuple([DagAdd(x, 1), DagAdd(x, 1)])
    )
    assert mismatch is not None and mismatch.reason == "sharing"


def test_dag_in_the_reverse_direction() -> None:
    x = Var("x")
    a, b = DagAdd(x, 1), DagAdd(x, 1)
    assert not same(Tuple([a, b]), Tuple([a, a]))
    assert not same(Tuple([a, a]), Tuple([a, b]))


def test_a_binding_is_shared_or_not() -> None:
    def program(shared: bool) -> list[Binding]:
        x = Var("x")
        first = Binding(x, Int(1))
        return [first, first if shared else Binding(x, Int(1))]

    assert same(program(True), program(True), map_free_vars=True)
    assert not same(program(True), program(False), map_free_vars=True)


def tree_and_dag(make: type[Expr], scenario: str) -> bool:
    """Returns whether the scenario of the document's table is equal under the kind of `make`."""

    def node() -> Expr:
        return make(Int(1), Int(2))  # type: ignore[call-arg]

    s, t = node(), node()
    pairs = {
        "both trees": ([node(), node()], [node(), node()]),
        "same sharing": ([s, s], [t, t]),
        "shared against copies": ([s, s], [node(), node()]),
        "(a, b) against (a, a)": ([s, t], [s, s]),
    }
    return same(*pairs[scenario])


@pytest.mark.parametrize(
    ("scenario", "tree", "dag"),
    [
        ("both trees", True, True),
        ("same sharing", True, True),
        ("shared against copies", True, False),
        ("(a, b) against (a, a)", True, False),
    ],
)
def test_table_tree_against_dag(scenario: str, tree: bool, dag: bool) -> None:
    assert tree_and_dag(Add, scenario) == tree
    assert tree_and_dag(DagAdd, scenario) == dag


INT, FLOAT = Type("int"), Type("float")


@py_class(structural_eq="var")
class LooseVar(Object):
    """A variable whose hook skips the type, so that variables of different types can be mapped at all."""

    name: str = field(structural_eq="ignore")
    type: Type

    def __s_equal__(self, other: LooseVar, eq_cb: Any) -> bool:
        return True

    def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
        return init_hash


@pytest.mark.parametrize(
    ("var", "left", "right", "already_mapped", "equal"),
    [
        (TypedVar, ("x", INT), ("y", INT), False, True),
        (TypedVar, ("x", INT), ("y", FLOAT), False, False),
        (LooseVar, ("x", INT), ("y", FLOAT), True, True),
    ],
    ids=["fields match", "fields differ", "already mapped"],
)
def test_table_sticky_mapping(
    var: Any, left: tuple[str, Type], right: tuple[str, Type], already_mapped: bool, equal: bool
) -> None:
    x, y = var(*left), var(*right)
    # The second occurrence is a lookup.
    pair = ([x, x], [y, y]) if already_mapped else (x, y)
    assert same(*pair, map_free_vars=True) == equal


def test_a_mapped_pair_is_looked_up_and_not_compared() -> None:
    looked: list[str] = []

    @py_class(structural_eq="var")
    class CountedVar(Object):
        name: str = field(structural_eq="ignore")

        def __s_equal__(self, other: Any, eq_cb: Any) -> bool:
            looked.append(self.name)
            return True

        def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
            return init_hash

    x, y = CountedVar("x"), CountedVar("y")
    assert structural_equal([x, x, x], [y, y, y], map_free_vars=True)
    assert looked == ["x"]


def functions() -> dict[str, tuple[Any, Any, bool]]:
    x, y, a, b = (Var(name) for name in "xyab")
    return {
        "fun x → x + 1, fun y → y + 1": (Lambda([x], x + 1), Lambda([y], y + 1), True),
        "fun x → x + 1, fun y → x + 1": (Lambda([x], x + 1), Lambda([y], x + 1), False),
        "fun (x, y) → x + y, fun (a, b) → a + b": (
            Lambda([x, y], x + y),
            Lambda([a, b], a + b),
            True,
        ),
        "fun (x, y) → x + y, fun (a, b) → b + a": (
            Lambda([x, y], x + y),
            Lambda([a, b], b + a),
            False,
        ),
        "x + 1, y + 1": (x + 1, y + 1, False),
        "x + 1, x + 1": (x + 1, x + 1, True),
        "fun (x, y) → x + x, fun (a, b) → a + b": (
            Lambda([x, y], x + x),
            Lambda([a, b], a + b),
            False,
        ),
    }


@pytest.mark.parametrize("row", functions())
def test_table_definition_regions(row: str) -> None:
    left, right, equal = functions()[row]
    assert same(left, right) == equal


def test_inconsistent_use_names_the_binding() -> None:
    x, y, a, b = (Var(name) for name in "xyab")
    mismatch = get_first_structural_mismatch(Lambda([x, y], x + x), Lambda([a, b], a + b))
    assert mismatch is not None
    assert mismatch.reason == "binding"
    assert str(mismatch.lhs) == "<root>.body.rhs"
    assert "is bound to" in str(mismatch) and "<root>.params[0]" in str(mismatch)


def test_map_free_vars() -> None:
    x, y = Var("x"), Var("y")
    assert structural_equal(x + 1, y + 1, map_free_vars=True)
    assert not structural_equal(x + 1, y + 1)


def test_singletons_are_equal_by_pointer() -> None:
    op_conv = Op.get("nn.conv2d")
    op_relu = Op.get("nn.relu")
    assert structural_equal(op_conv, op_conv)
    assert not structural_equal(op_conv, op_relu)
    assert Op.get("nn.conv2d") is op_conv
    assert not structural_equal(Op("nn.conv2d"), op_conv)
    assert not structural_equal(Op("a"), Op("a"))
    assert structural_hash(Op("a")) == structural_hash(Op("a"))


def test_ignored_fields() -> None:
    assert same(MyNode(1, "a.py:1"), MyNode(1, "b.py:2"))
    assert not same(MyNode(1, "a.py:1"), MyNode(2, "a.py:1"))


def test_not_comparable() -> None:
    with pytest.raises(CompareError, match=r"<root>\[0\]: nodes of type .*Handle are not comparable"):
        structural_equal([Handle(1)], [Handle(1)])
    with pytest.raises(CompareError):
        structural_hash(Handle(1))


def quick_reference(kind: str | None) -> tuple[Any, Any, bool | None]:
    """Returns two values that only this kind compares as equal or as different, and the expected answer; `None` if the kind is not comparable."""
    x, y = Var("x"), Var("y")
    mesh, shared = DeviceMesh([2], [0, 1]), DagAdd(1, 2)
    rows: dict[str | None, tuple[Any, Any, bool | None]] = {
        "tree": (Add(1, 2), Add(1, 2), True),
        "const-tree": (mesh, DeviceMesh([2], [0, 1]), True),
        "dag": ([shared, shared], [DagAdd(1, 2), DagAdd(1, 2)], False),
        "var": (Lambda([x], x), Lambda([y], y), True),
        "singleton": (Op.get("nn.relu"), Op("nn.relu"), False),
        None: (Handle(1), Handle(1), None),
    }
    return rows[kind]


@pytest.mark.parametrize("kind", ["tree", "const-tree", "dag", "var", "singleton", None])
def test_table_quick_reference(kind: str | None) -> None:
    left, right, equal = quick_reference(kind)
    if equal is None:
        for ask in (lambda: structural_equal(left, right), lambda: structural_hash(left)):
            with pytest.raises(CompareError, match="not comparable"):
                ask()
    else:
        assert same(left, right) is equal
        assert same(left, left)


def test_a_shared_subtree_binds_below_a_definition_region() -> None:
    """Checks the error that a const-tree over variables would cause inside a Lambda, too."""
    x, y = Var("x"), Var("y")
    shared = x + 1
    assert not same(Lambda([x], Tuple([shared, x])), Lambda([y], Tuple([shared, y])))
    assert same(Lambda([x], Tuple([shared, x])), Lambda([y], Tuple([y + 1, y])))


# Hooks: the document's example, with a class of its own name.


def hooked_lambda() -> Any:
    @py_class(structural_eq="tree")
    class Lambda(Object):
        params: list
        body: Any
        comment: str  # not part of identity, but also not iterated below

        def __s_equal__(self, other, eq_cb):  # type: ignore[no-untyped-def]
            # params is a definition region; body is not.
            if not eq_cb(self.params, other.params, True, "params"):
                return False
            if not eq_cb(self.body, other.body, False, "body"):
                return False
            return True

        def __s_hash__(self, init_hash, hash_cb):  # type: ignore[no-untyped-def]
            h = hash_cb(self.params, init_hash, True)
            h = hash_cb(self.body, h, False)
            return h

    return Lambda


def test_hooks_replace_the_fields() -> None:
    lam = hooked_lambda()
    x, y = Var("x"), Var("y")
    assert same(lam([x], x + 1, "one"), lam([y], y + 1, "two"))
    assert not same(lam([x], x + 1, ""), lam([y], y + 2, ""))
    assert not same(lam([x], x + 1, ""), lam([y], x + 1, ""))


def test_signatures_of_hooks() -> None:
    """`eq_cb(lhs, rhs, def_region: bool, field_name: str) -> bool`, `hash_cb(value, init_hash: int, def_region: bool) -> int`."""
    seen: list[tuple[Any, ...]] = []

    @py_class(structural_eq="tree")
    class Signed(Object):
        value: int

        def __s_equal__(self, other: Signed, eq_cb: Any) -> bool:
            answer = eq_cb(self.value, other.value, False, "value")
            seen.append(("equal", type(self), type(other), answer))
            assert eq_cb(lhs=self.value, rhs=other.value, def_region=False, field_name="value") is answer
            return bool(answer)

        def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
            answer = hash_cb(self.value, init_hash, False)
            seen.append(("hash", type(init_hash), type(answer)))
            assert hash_cb(value=self.value, init_hash=init_hash, def_region=False) == answer
            return int(answer)

    assert structural_equal(Signed(1), Signed(1)) and not structural_equal(Signed(1), Signed(2))
    assert 0 <= structural_hash(Signed(1)) < 2**64
    assert seen == [
        ("equal", Signed, Signed, True),
        ("equal", Signed, Signed, False),
        ("hash", int, int),
    ]


def test_hooks_name_the_field_in_paths() -> None:
    lam = hooked_lambda()
    x, y = Var("x"), Var("y")
    mismatch = get_first_structural_mismatch(lam([x], x + 1, ""), lam([y], y + 2, ""))
    assert mismatch is not None
    assert str(mismatch.lhs) == "<root>.body.rhs"
    assert mismatch.lhs == AccessPath((("field", "body"), ("field", "rhs")))


@pytest.mark.parametrize(
    ("kind", "content", "shortcut", "sharing", "binding"),
    [
        ("singleton", False, True, False, False),
        ("tree", True, False, False, False),
        ("const-tree", True, True, False, False),
        ("dag", True, False, True, False),
        ("var", True, False, False, True),
    ],
)
def test_table_all_kinds(
    kind: Any, content: bool, shortcut: bool, sharing: bool, binding: bool
) -> None:
    looked: list[int] = []

    @py_class(structural_eq=kind)
    class N(Object):
        value: int

        def __s_equal__(self, other: N, eq_cb: Any) -> bool:
            looked.append(self.value)
            return bool(eq_cb(self.value, other.value, False, "value"))

        def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
            return int(hash_cb(self.value, init_hash, False))

    a, b = N(1), N(1)
    # A variable's content counts where it is bound.
    assert same([a], [b], map_free_vars=binding) == content
    assert not same([N(1)], [N(2)], map_free_vars=binding)
    looked.clear()
    assert structural_equal([a], [a], map_free_vars=binding)
    assert (not looked) == shortcut
    if content and not binding:
        assert same([a, a], [a, b]) != sharing
    if binding:
        assert not same([a], [b])
        assert not same([a, a], [a, b], map_free_vars=True)


def test_worked_example() -> None:
    x, y = Var("x"), Var("y")
    f1 = Lambda([x], x + 1, span="a.py:1")
    f2 = Lambda([y], y + 1, span="b.py:5")

    assert structural_equal(f1, f2)
    assert structural_hash(f1) == structural_hash(f2)


def test_eq_and_hash_of_a_class_are_never_consulted() -> None:
    calls: list[str] = []

    @py_class
    class Loud(Object):
        value: int

        def __eq__(self, other: object) -> bool:
            calls.append("eq")
            return True

        def __hash__(self) -> int:
            calls.append("hash")
            return 0

    assert not same(Loud(1), Loud(2))
    assert same([Loud(1)], [Loud(1)])
    assert calls == []
    assert Loud(1) == Loud(2) and hash(Loud(3)) == 0


def test_python_equality_is_identity() -> None:
    x = Int(1)
    assert x == x and x != Int(1)
    add = Add(x, x)
    assert add.lhs == x and hash(add.lhs) == hash(x)
    assert {x, add.lhs, add.rhs} == {x}
