"""Depth, threads, pickles, hooks that misbehave: a Python exception at worst, never more."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sapwood import DataType, ir, structural
from sapwood.errors import (
    ArgumentError,
    CallbackError,
    InvalidValueError,
    ParseError,
    SapwoodError,
)
from sapwood.structural import (
    Map,
    Object,
    Seq,
    Set,
    StructuralKey,
    field,
    py_class,
    structural_equal,
    structural_hash,
)

DEEP = 1_000_000


@py_class
class Cons(Object):
    head: Any
    tail: Any


@py_class(structural_eq="var")
class Name(Object):
    text: str = field(structural_eq="ignore")


@py_class(structural_eq="singleton")
class Register(Object):
    name: str


@py_class
class Numbers(Object):
    items: list[int]


def chain(length: int, last: Any = None) -> Any:
    node = last
    for number in range(length):
        node = Cons(number & 7, node)
    return node


def deleted(last: list[Any]) -> bool:
    """Returns whether a thread with a small stack survives dropping the last references."""
    said: list[int] = []

    def work() -> None:
        last.clear()
        said.append(gc.collect())

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    return len(said) == 1 and not last


def test_a_million_deep() -> None:
    assert sys.getrecursionlimit() <= 10_000
    left, right = chain(DEEP), chain(DEEP)
    assert structural_equal(left, right)
    assert structural_hash(left) == structural_hash(right)
    del right
    wrong = chain(DEEP, last=1)
    assert not structural_equal(left, wrong)
    mismatch = structural.get_first_structural_mismatch(left, wrong)
    assert mismatch is not None and len(mismatch.lhs) == DEEP
    assert "steps …" in str(mismatch.lhs)
    assert len(repr(left)) < 1000
    assert structural_equal(pickle.loads(pickle.dumps(left)), left)
    assert copy.deepcopy(left) is left
    last = [left, wrong, mismatch]
    del left, wrong, mismatch
    assert deleted(last)


def test_a_million_deep_in_the_ir() -> None:
    def build() -> ir.Expr:
        x: ir.Expr = ir.Var("x", DataType.INT64)
        one = ir.ConstInt(1, DataType.INT64)
        for _ in range(DEEP):
            x = ir.Add(x, one, DataType.INT64)
        return x

    left, right = build(), build()
    assert ir.structural_equal(left, right, enable_auto_mapping=True)
    assert ir.structural_hash(left, True) == ir.structural_hash(right, True)
    assert str(left).count("+") == DEEP
    assert len(repr(left)) < 1000
    again = pickle.loads(pickle.dumps(left))
    assert ir.structural_equal(left, again, enable_auto_mapping=True)
    last = [left, right, again]
    del left, right, again
    assert deleted(last)


def test_nested_lists() -> None:
    left: Any = []
    right: Any = []
    for _ in range(DEEP // 5):
        left, right = [left], [right]
    assert structural_equal(left, right)
    assert Seq(left) == Seq(right)
    while left:
        left, right = left.pop(), right.pop()


def test_shared_structure_costs_its_nodes() -> None:
    shared: Any = [1]
    for _ in range(1000):
        shared = [shared, shared]
    assert structural_hash(shared) == structural_hash(copy.copy(shared))
    node: Any = Cons(1, 1)
    for _ in range(1000):
        node = Cons(node, node)
    other: Any = Cons(1, 1)
    for _ in range(1000):
        other = Cons(other, other)
    assert structural_equal(node, other)


def test_a_list_that_contains_itself() -> None:
    cycle: list[Any] = [1]
    cycle.append({"k": [cycle]})
    with pytest.raises(InvalidValueError, match=r'<root>\[1\]\["k"\]\[0\].*contains itself'):
        structural_hash(cycle)
    with pytest.raises(InvalidValueError, match="Cons.head"):
        Cons(cycle, None)


def test_lists_are_copied() -> None:
    items = [1, 2, 3]
    node = Numbers(items)
    before = structural_hash(node)
    items.append(4)
    assert node.items == [1, 2, 3] and structural_hash(node) == before


@pytest.mark.parametrize("value", [object(), print, 1 + 2j, range(3), "\ud800", iter([1]), type])
def test_unsupported_field_values(value: Any) -> None:
    with pytest.raises(SapwoodError):
        Cons(value, None)
    with pytest.raises(SapwoodError):
        structural_hash([value])


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentError, match="needs tail"):
        Cons(1)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="takes 2 values"):
        Cons(1, 2, 3)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="did you mean tail"):
        Cons(1, tali=2)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="head twice"):
        Cons(1, head=2)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="element 1: expected an int, found string"):
        Numbers([1, "two"])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="found bool"):
        Numbers([True])
    with pytest.raises(TypeError):
        Object()
    with pytest.raises(TypeError):
        ir.Expr()
    with pytest.raises(TypeError):
        structural.Node()


def test_objects_are_frozen() -> None:
    node = Cons(1, 2)
    with pytest.raises(AttributeError, match="immutable"):
        node.head = 3
    with pytest.raises(AttributeError, match="immutable"):
        node.other = 3
    with pytest.raises(AttributeError, match="immutable"):
        del node.head
    with pytest.raises(AttributeError, match="immutable"):
        ir.ConstInt(1, DataType.INT64).value = 2
    assert not hasattr(node, "__dict__")
    assert structural.replace(node, tail=5).tail == 5 and node.tail == 2


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**64, 2**200, -(2**127), -(2**300), 0, -1])
def test_integers_of_any_size(value: int) -> None:
    assert Cons(value, None).head == value
    assert structural_equal(value, value) and not structural_equal(value, value + 1)


def test_scalars_keep_apart() -> None:
    values: list[Any] = [1, True, 1.0, "1", b"1", None, 0.0, -0.0, 0, False, [1], [], {}, ""]
    for i, left in enumerate(values):
        for j, right in enumerate(values):
            assert structural_equal(left, right) == (i == j), (left, right)
    assert structural_equal(float("nan"), -float("nan"))


def test_containers_behave() -> None:
    seq = Seq([1, "two", [3]])
    assert len(seq) == 3 and seq[-1] == [3] and seq[0:2] == (1, "two") and "two" in seq
    assert list(reversed(seq))[0] == [3] and seq.index("two") == 1 and seq.count(1) == 1
    assert seq == (1, "two", (3,)) and seq != [1]
    with pytest.raises(IndexError):
        seq[3]
    with pytest.raises(TypeError, match="StructuralKey"):
        hash(seq)
    mapping = Map({"a": 1, ("k", 2): [3]})
    assert mapping["a"] == 1 and mapping[("k", 2)] == [3] and mapping.get("b") is None
    assert list(mapping) == ["a", Seq(["k", 2])] and dict(list(mapping.items())[:1]) == {"a": 1}
    assert mapping == {("k", 2): [3], "a": 1} and "a" in mapping and len(mapping) == 2
    with pytest.raises(KeyError):
        mapping["b"]
    assert Set({1, 2}) == {2, 1} and 1 in Set({1}) and len(Set()) == 0
    # As in Python lists, numbers are compared by value, exactly.
    assert Seq([1, True, 2**70]) == [True, 1.0, float(2**70)] and Seq([2**53 + 1]) != [2.0**53]
    assert Seq([2**70]) != [2**70 + 1] and Seq([1]) != ["1"] and Seq([0]) != [None]
    assert sorted(Set({3, 1})) == [1, 3]
    key = StructuralKey([1, {"a": 2}])
    assert {key: "found"}[StructuralKey([1, {"a": 2}])] == "found"
    assert key != StructuralKey([1]) and pickle.loads(pickle.dumps(key)) == key


def test_maps_ignore_the_order_of_insertion() -> None:
    assert structural_equal({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert structural_hash({"a": 1, "b": 2}) == structural_hash({"b": 2, "a": 1})


# Pickles


def test_pickles_keep_sharing_and_identity() -> None:
    name = Name("x")
    pair = Cons(name, [name, {"k": name}, {1, 2}, b"\0", 2**80, float("inf"), DataType.FP32, ir.Span("a", 1, 2)])
    again = pickle.loads(pickle.dumps(pair))
    assert structural_equal(pair, again, map_free_vars=True)
    assert again.head == again.tail[0] and again.head == again.tail[1]["k"]
    assert again.tail[6] is DataType.FP32 and again.tail[7] == ir.Span("a", 1, 2)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert structural_equal(pickle.loads(pickle.dumps(pair, protocol)), pair, map_free_vars=True)


def test_singletons_come_from_get() -> None:
    register = Register.get("r0")
    assert pickle.loads(pickle.dumps(register)) is register
    assert copy.copy(register) is register and copy.deepcopy(register) is register
    assert pickle.loads(pickle.dumps(Cons(register, 1))).head is register
    with pytest.raises(SapwoodError):
        pickle.dumps(Register("r0"))


def test_truncated_and_hostile_pickles() -> None:
    restore, (text, classes) = Cons(1, Cons(2, None)).__reduce__()  # type: ignore[misc]
    assert structural_equal(restore(text, classes), Cons(1, Cons(2, None)))
    for end in range(len(text.rstrip())):
        with pytest.raises(SapwoodError):
            restore(text[:end], classes)
    wrong = {
        text.replace('"head"', '"hand"'): "field",
        text.replace("[0,2,null]", "[0,2,{\"node\":9}]"): "",
        text.replace("[0,2,null]", "[7,2,null]"): "",
        '{"sapwood-graph":99}': "version",
    }
    for changed in wrong:
        assert changed != text
        with pytest.raises(SapwoodError):
            restore(changed, classes)
    with pytest.raises(ParseError):
        restore(text, ())
    with pytest.raises(ArgumentError, match="not a node class"):
        restore(text, (int,))
    numbers, (text, classes) = Numbers([1]).__reduce__()  # type: ignore[misc]
    with pytest.raises(ArgumentError, match="expected an int"):
        numbers(text.replace("[0,1]", '[0,"x"]').replace("[1,1]", '[1,"x"]'), classes)


# Hooks


def hooked(equal: Any, hash_: Any = lambda self, init, cb: init) -> Any:
    @py_class
    class Hooked(Object):
        value: Any
        __s_equal__ = equal
        __s_hash__ = hash_

    return Hooked


def test_hooks_come_in_pairs() -> None:
    with pytest.raises(InvalidValueError, match="they come as a pair"):

        @py_class
        class Half(Object):
            def __s_equal__(self, other: Any, eq_cb: Any) -> bool:
                return True


def test_exceptions_in_hooks_come_out_as_they_are() -> None:
    def equal(self: Any, other: Any, eq_cb: Any) -> bool:
        raise LookupError("mine")

    def hash_(self: Any, init: int, hash_cb: Any) -> int:
        raise LookupError("mine")

    node = hooked(equal, hash_)
    with pytest.raises(LookupError, match="mine"):
        structural_equal([node(1)], [node(1)])
    with pytest.raises(LookupError, match="mine"):
        structural_hash([node(1)])
    with pytest.raises(LookupError, match="mine"):
        structural.get_first_structural_mismatch(node(1), node(1))
    with pytest.raises(LookupError, match="mine"):
        Map({node(1): 2})


def test_exceptions_below_hooks_come_out_as_they_are() -> None:
    def raises(self: Any, other: Any, eq_cb: Any) -> bool:
        raise KeyboardInterrupt

    inner = hooked(raises)
    outer = hooked(lambda self, other, cb: cb(self.value, other.value, False, "value"))
    with pytest.raises(KeyboardInterrupt):
        structural_equal(outer(inner(1)), outer(inner(1)))


def test_callbacks_end_with_their_hook() -> None:
    kept: list[Any] = []

    def equal(self: Any, other: Any, eq_cb: Any) -> bool:
        kept.append(eq_cb)
        return bool(eq_cb(self.value, other.value, False, "value"))

    def hash_(self: Any, init: int, hash_cb: Any) -> int:
        kept.append(hash_cb)
        return int(hash_cb(self.value, init, False))

    node = hooked(equal, hash_)
    assert structural_equal(node(1), node(1))
    structural_hash(node(1))
    with pytest.raises(CallbackError, match="inside the hook"):
        kept[0](1, 1, False, "")
    with pytest.raises(CallbackError, match="inside the hook"):
        kept[1](1, 0, False)


def test_callbacks_belong_to_their_thread_and_hook() -> None:
    outer: list[Any] = []
    problems: list[Any] = []

    def equal(self: Any, other: Any, eq_cb: Any) -> bool:
        if outer:
            # The callback of the hook around this one is in use.
            with pytest.raises(CallbackError):
                outer[0](1, 1, False, "")
            return True
        outer.append(eq_cb)

        def elsewhere() -> None:
            try:
                eq_cb(1, 1, False, "")
            except CallbackError as error:
                problems.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        return bool(eq_cb(self.value, other.value, False, "value"))

    node = hooked(equal)
    assert structural_equal(node(node(1)), node(node(1)))
    assert len(problems) == 1


@pytest.mark.parametrize("answer", [None, 1, "yes", NotImplemented])
def test_hooks_must_answer_with_a_bool(answer: Any) -> None:
    node = hooked(lambda self, other, eq_cb: answer, lambda self, init, hash_cb: "no")
    with pytest.raises(ArgumentError, match="__s_equal__ must return a bool"):
        structural_equal(node(1), node(1))
    with pytest.raises(ArgumentError, match="__s_hash__ must return an int"):
        structural_hash(node(1))


def test_hooks_that_recurse() -> None:
    def equal(self: Any, other: Any, eq_cb: Any) -> bool:
        return structural_equal(self, other)

    def hash_(self: Any, init: int, hash_cb: Any) -> int:
        return structural_hash(self)

    node = hooked(equal, hash_)
    with pytest.raises(RecursionError):
        structural_equal(node(1), node(1))
    with pytest.raises(RecursionError):
        structural_hash(node(1))


def test_hooked_nodes_within_hooked_nodes() -> None:
    node = hooked(
        lambda self, other, cb: cb(self.value, other.value, False, "value"),
        lambda self, init, cb: cb(self.value, init, False),
    )

    def nest(depth: int) -> Any:
        value: Any = 1
        for _ in range(depth):
            value = node(value)
        return value

    assert structural_equal(nest(100), nest(100))
    assert structural_hash(nest(100)) == structural_hash(nest(100))
    with pytest.raises(RecursionError):
        structural_equal(nest(100_000), nest(100_000))


def test_a_rolled_back_binding_leaves_no_trace() -> None:
    def equal(self: Any, other: Any, eq_cb: Any) -> bool:
        (a, b), (c, d) = self.value, other.value
        if eq_cb([a, 1], [c, 2], True, "first"):
            return False
        # If a were still bound to c, it could not be bound to d.
        return bool(eq_cb(a, d, True, "second"))

    node = hooked(equal)
    a, b, c, d = (Name(text) for text in "abcd")
    assert structural_equal(node([a, b]), node([c, d]))


def test_hooks_that_disagree_are_found() -> None:
    node = hooked(lambda self, other, cb: True, lambda self, init, cb: cb(self.value, init, False))
    found = structural.check_hooks([node(1)], [node(2)])
    assert found is not None and "compare these nodes as equal and hash them differently" in found
    assert structural.check_hooks([node(1)], [node(1)]) is None


# Classes


def test_classes_that_cannot_be() -> None:
    with pytest.raises(ArgumentError, match="subclasses of Object"):
        py_class(int)
    with pytest.raises(ArgumentError, match="__init__"):

        @py_class
        class Own(Object):
            x: int

            def __init__(self) -> None: ...

    with pytest.raises(InvalidValueError, match="structural_eq is one of"):

        @py_class(structural_eq="trie")  # type: ignore[arg-type]
        class Typo(Object): ...

    with pytest.raises(InvalidValueError, match='"def", "ignore" or None'):
        field(structural_eq="define")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="has no default and follows"):

        @py_class
        class Order(Object):
            a: int = 1
            b: int

    with pytest.raises(ArgumentError, match="needs an annotation"):

        @py_class
        class Bare(Object):
            a = field()

    with pytest.raises(ArgumentError, match="__slots__"):

        class Slots(Object):
            __slots__ = ("a",)


def test_defaults_factories_and_post_init() -> None:
    seen: list[int] = []

    @py_class(kw_only=True)
    class Options(Object):
        a: int = 1
        b: list[int] = field(default_factory=lambda: [1, 2])
        c: float = 0

        def __post_init__(self) -> None:
            seen.append(self.a)
            if self.a < 0:
                raise ValueError("a is negative")

    made = Options(c=2)
    assert (made.a, made.b, made.c) == (1, [1, 2], 2.0) and isinstance(made.c, float)
    assert seen == [1]
    with pytest.raises(ValueError, match="negative"):
        Options(a=-1)
    with pytest.raises(ArgumentError):
        Options(3)  # type: ignore[misc]
    # Reading a field creates no new instance.
    holder = Cons(made, made)
    seen.clear()
    assert holder.head == made and seen == []


def test_floats_are_floats_at_every_place() -> None:
    @py_class
    class Floats(Object):
        one: float
        several: list[float]
        maybe: float | None
        by_name: dict[str, list[float]]
        either: list[float | int]

    ints, floats = Floats(1, [1, 2.5], 3, {"a": [4]}, [5, 6.0]), Floats(1.0, [1.0, 2.5], 3.0, {"a": [4.0]}, [5, 6.0])
    assert structural_equal(ints, floats) and structural_hash(ints) == structural_hash(floats)
    assert [type(item) for item in (*ints.several, ints.maybe, *ints.by_name["a"])] == [float] * 4
    assert [type(item) for item in ints.either] == [int, float]
    # Values that need no conversion are kept unchanged.
    kept = Seq([1.0, 2.0])
    assert structural.Node.__eq__(Floats(0, kept, None, {}, []).several, kept)
    with pytest.raises(ArgumentError, match="element 1: expected a float, found string"):
        Floats(0, [1, "x"], None, {}, [])  # type: ignore[list-item]


def test_annotations_name_classes_that_come_later() -> None:
    @py_class
    class Tree(Object):
        leaf: Leaf | None
        branches: list[Tree]

    with pytest.raises(NameError):
        Leaf  # noqa: B018

    @py_class
    class Leaf(Object):
        value: int

    assert Tree(Leaf(1), [Tree(None, [])]).branches[0].leaf is None
    with pytest.raises(ArgumentError, match="Leaf or None"):
        Tree(Tree(None, []), [])
    with pytest.raises(ArgumentError, match="branches: element 1: expected Tree"):
        Tree(None, [Tree(None, []), Leaf(2)])


def test_match_statements() -> None:
    match Cons(1, Cons(2, None)):
        case Cons(1, Cons(two, None)):
            assert two == 2
        case _:
            pytest.fail("no case fits")


def test_a_class_can_be_defined_again() -> None:
    def define() -> Any:
        @py_class
        class Again(Object):
            value: int

        return Again

    first, second = define(), define()
    assert not structural_equal(first(1), second(1))
    assert structural_hash(first(1)) == structural_hash(second(1))


def test_scopes() -> None:
    def functions(scope: bool) -> Any:
        @py_class(scope=scope)
        class Fn(Object):
            param: Name = field(structural_eq="def")
            body: Any

        return Fn

    for scope in (True, False):
        fn = functions(scope)
        x, y, z = Name("x"), Name("y"), Name("z")
        assert structural_equal([fn(x, x), fn(x, x)], [fn(y, y), fn(z, z)]) == scope
        assert structural_equal([fn(x, x), x], [fn(y, y), y]) != scope


def test_walk_map_and_substitute() -> None:
    x, y = Name("x"), Name("y")
    root = Cons(x, [Cons(1, x), Cons(2, y)])
    seen: list[Any] = []
    structural.walk(root, lambda node: seen.append(type(node).__name__))
    assert seen == ["Cons", "Name", "Seq", "Cons", "Cons", "Name"]
    seen.clear()
    structural.walk(root, lambda node: seen.append(node) or "stop")
    assert seen == [root]
    with pytest.raises(ArgumentError, match='"skip" or stop'):
        structural.walk(root, lambda node: 3)
    with pytest.raises(LookupError):
        structural.walk(root, lambda node: [][0])
    doubled = structural.map(
        root, lambda node: Cons(2, node.tail) if isinstance(node, Cons) and node.head == 1 else None
    )
    assert doubled.tail[0].head == 2 and doubled.tail[1] == root.tail[1]
    assert structural.map(root, lambda node: None) == root
    with pytest.raises(ZeroDivisionError):
        structural.map(root, lambda node: 1 / 0)
    assert structural.free_variables(root) == [x, y]
    replaced = structural.substitute(root, {x: y})
    assert replaced.head == y and structural.free_variables(replaced) == [y]
    with pytest.raises(ArgumentError, match="only variables"):
        structural.substitute(root, {root: x})
    text = structural.to_json(root)
    assert structural_equal(structural.from_json(text, [Cons, Name]), root, map_free_vars=True)


def test_threads_build_and_compare_at_once() -> None:
    shared = chain(2000)

    def work(seed: int) -> int:
        for _ in range(20):
            other = chain(2000)
            assert structural_equal(shared, other)
            assert not structural_equal(shared, chain(2000, last=seed))
        return structural_hash(shared)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(work, range(8)))) == 1


def test_threads_with_variables_and_hooks() -> None:
    node = hooked(
        lambda self, other, cb: cb(self.value, other.value, True, "value"),
        lambda self, init, cb: cb(self.value, init, True),
    )

    def work(_: int) -> bool:
        x, y = Name("x"), Name("y")
        left, right = node([x, Cons(x, 1)]), node([y, Cons(y, 1)])
        return all(
            structural_equal(left, right) and structural_hash(left) == structural_hash(right)
            for _ in range(100)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))
