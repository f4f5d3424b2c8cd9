"""The rules for fields hold wherever a node is built: by its class, `map`, `substitute`, `from_json` and pickle."""

from __future__ import annotations

import pickle
import sys
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood import errors, structural
from sapwood.structural import Map, Object, Seq, Set, field, fields, py_class, structural_equal


@py_class(structural_eq="var")
class Var(Object):
    name: str = field(structural_eq="ignore", default="x")


@py_class("fields.Pair")
class Loose(Object):
    """Holds anything."""

    a: Any
    b: Any = None


@py_class("fields.Pair")
class Strict(Object):
    """Has the same key as `Loose`, and typed fields."""

    a: Var | float | list[float]
    b: int | None = None

    def __post_init__(self) -> None:
        if self.b is not None and self.b < 0:
            raise KeyError(self.b)


@py_class
class Holder(Object):
    items: list[Any]


def outcome(make: Any) -> Any:
    """Returns the node that was built, or the type of the exception."""
    try:
        return make()
    except (errors.SapwoodError, KeyError) as error:
        return type(error)


def same(left: Any, right: Any) -> bool:
    if isinstance(left, type) or isinstance(right, type):
        return left is right
    return structural_equal(left, right) and repr(left) == repr(right)


numbers = st.one_of(st.integers(-3, 3), st.floats(allow_nan=False), st.booleans())
values = st.one_of(st.none(), numbers, st.text(max_size=2), st.lists(numbers, max_size=3), st.builds(np.float32, st.floats(width=32)))


@given(values, values)
def test_nodes_equal_those_of_the_constructor(a: Any, b: Any) -> None:
    expected = outcome(lambda: Strict(a, b))
    x, y = Var("x"), Var("y")
    text = structural.to_json(Loose(a, b))
    assert same(outcome(lambda: structural.from_json(text, [Strict])), expected)
    # `None` keeps a node, so it cannot take the place of one.
    if a is not None:
        whole = outcome(lambda: Strict(a))
        mapped = outcome(lambda: structural.map(Strict(x), lambda node: a if node == x else None))
        assert same(mapped, whole)
        assert same(outcome(lambda: structural.substitute(Strict(x), {x: a})), whole)
        both = outcome(lambda: structural.substitute(Holder([Strict(x), y]), {x: a}))
        assert same(both.items[0] if isinstance(both, Holder) else both, whole)
    if isinstance(expected, Strict):
        assert same(pickle.loads(pickle.dumps(expected)), expected)
        assert same(structural.replace(expected, a=expected.a), expected)


def test_a_violated_annotation_is_reported_with_its_path() -> None:
    x = Var("x")
    message = r"<root>.items\[0\]: fields.Pair.a: expected Var or a float or a list of a float, found .*\"no\""
    with pytest.raises(errors.ArgumentError, match=message):
        structural.map(Holder([Strict(x)]), lambda node: "no" if node == x else None)
    with pytest.raises(errors.ArgumentError, match=message):
        structural.substitute(Holder([Strict(x)]), {x: "no"})
    with pytest.raises(errors.ArgumentError, match=r"row 0.*: fields.Pair.a: expected Var or a float"):
        structural.from_json(structural.to_json(Loose("no")), [Strict])


def test_exceptions_of_post_init_are_passed_on_unchanged() -> None:
    mine = KeyError("mine")

    @py_class
    class Picky(Object):
        value: Any

        def __post_init__(self) -> None:
            if self.value == 13:
                raise mine

    x = Var("x")
    for make in (
        lambda: Picky(13),
        lambda: structural.map(Picky(x), lambda node: 13 if node == x else None),
        lambda: structural.substitute(Picky(x), {x: 13}),
        lambda: structural.from_json(structural.to_json(Picky(12)).replace("12", "13"), [Picky]),
    ):
        with pytest.raises(KeyError) as raised:
            make()
        assert raised.value is mine


def test_post_init_sees_every_new_node_and_no_old_one() -> None:
    seen: list[Any] = []

    @py_class
    class Watched(Object):
        value: Any

        def __post_init__(self) -> None:
            seen.append(self)

    @py_class(structural_eq="singleton")
    class Unit(Object):
        name: str

        def __post_init__(self) -> None:
            if not self.name:
                raise KeyError("a unit has a name")

    x = Var("x")
    kept, changed = Watched(1), Watched(x)
    whole = Holder([kept, changed])
    seen.clear()
    result = structural.substitute(whole, {x: 2})
    assert seen == [result.items[1]] and result.items[0] == kept
    assert Unit.get("m") is Unit.get("m")
    for _ in range(2):
        with pytest.raises(KeyError, match="a unit has a name"):
            Unit.get("")
    text = structural.to_json(Unit.get("m"))
    assert structural.from_json(text, [Unit]) is Unit.get("m")
    with pytest.raises(KeyError, match="a unit has a name"):
        structural.from_json(text.replace('"m"', '""'), [Unit])


def test_a_default_is_converted_to_the_annotated_type() -> None:
    @py_class
    class Scaled(Object):
        by: float = 1
        steps: list[float] = field(default_factory=lambda: [1, 2])

    assert repr(Scaled()) == "Scaled(by=1.0, steps=[1.0, 2.0])"
    assert structural_equal(Scaled(), Scaled(1))

    @py_class
    class Wrong(Object):
        count: int = None  # type: ignore[assignment]

    assert Wrong(3).count == 3
    with pytest.raises(errors.ArgumentError, match="Wrong.count: the default is not valid: expected an int, found none"):
        Wrong()


@pytest.fixture
def module() -> Any:
    """A module whose classes change between two versions of a program."""
    made = ModuleType("versions")
    sys.modules["versions"] = made
    yield made
    del sys.modules["versions"]


def define(module: ModuleType, body: str) -> None:
    text = f"from sapwood.structural import Object, field, py_class\nfrom typing import Any\n{body}"
    exec(compile(text, "versions.py", "exec"), vars(module))


def test_a_pickle_of_a_class_that_has_grown(module: Any) -> None:
    define(module, "@py_class\nclass Layer(Object):\n    name: str\n    width: int\n")
    define(module, "@py_class(structural_eq='singleton')\nclass Device(Object):\n    name: str\n")
    old = pickle.dumps(module.Layer("dense", 4))
    text = structural.to_json(module.Layer("dense", 4))
    device = pickle.dumps(module.Device.get("cpu"))
    define(
        module,
        "@py_class\n"
        "class Layer(Object):\n"
        "    name: str\n"
        "    bias: bool = True\n"
        "    width: int = 1\n"
        "    tags: list[str] = field(default_factory=lambda: ['new'])\n"
        "    scale: float = 2\n",
    )
    define(module, "@py_class(structural_eq='singleton')\nclass Device(Object):\n    name: str\n    index: int = 0\n")
    expected = module.Layer("dense", width=4)
    for again in (pickle.loads(old), structural.from_json(text, [module.Layer])):
        assert type(again) is module.Layer
        assert repr(again) == 'Layer(name="dense", bias=True, width=4, tags=["new"], scale=2.0)'
        assert structural_equal(again, expected)
    assert pickle.loads(device) == module.Device.get("cpu", 0)
    # A field without a default cannot be filled in.
    define(module, "@py_class\nclass Layer(Object):\n    name: str\n    width: int\n    depth: int\n")
    with pytest.raises(errors.ArgumentError, match="versions.Layer needs depth, which was not given"):
        pickle.loads(old)


# ---------------------------------------------------------------------------------------------------------------------
# NumPy scalars


@py_class
class Numbers(Object):
    i: int = 0
    f: float = 0.0
    b: bool = False


SIGNED = [np.int8, np.int16, np.int32, np.int64]
INTEGERS = [*SIGNED, np.uint8, np.uint16, np.uint32, np.uint64, ml_dtypes.int4]
FLOATS = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]


def test_numpy_scalars_are_numbers() -> None:
    for integer in INTEGERS:
        made = Numbers(integer(3), integer(3))
        assert (made.i, made.f) == (3, 3.0) and type(made.i) is int and type(made.f) is float
    for signed in SIGNED:
        assert Numbers(signed(-3)).i == -3
    assert Numbers(np.uint64(2**64 - 1)).i == 2**64 - 1
    for floating in FLOATS:
        made = Numbers(f=floating(1.5))
        assert made.f == 1.5 and type(made.f) is float
    assert Numbers(f=np.float32(0.1)).f == float(np.float32(0.1))
    assert Numbers(b=np.bool_(True)).b is True
    assert structural_equal(Numbers(np.int64(2), np.float32(2), np.bool_(True)), Numbers(2, 2.0, True))


def test_numpy_scalars_of_another_sort_are_refused() -> None:
    for wrong in ({"i": np.float32(1)}, {"i": np.bool_(True)}, {"b": np.int64(1)}, {"f": np.complex64(1)}, {"f": np.bool_(True)}, {"i": np.ones(2, int)}):
        with pytest.raises(errors.ArgumentError, match=f"Numbers.{next(iter(wrong))}: expected"):
            Numbers(**wrong)


def test_numpy_scalars_in_containers_and_unions() -> None:
    @py_class
    class Many(Object):
        ints: list[int]
        floats: dict[str, float | None]
        either: int | float | str
        other: float | int
        array: int | np.ndarray
        anything: Any

    made = Many([np.int64(1), 2], {"a": np.float32(1.5), "b": None, "c": np.int8(2)}, np.int32(4), np.int32(4), np.int64(5), np.int64(6))
    assert list(made.ints) == [1, 2] and all(type(one) is int for one in made.ints)
    assert dict(made.floats.items()) == {"a": 1.5, "b": None, "c": 2.0} and type(made.floats["c"]) is float
    assert type(made.either) is int and type(made.other) is int
    # Values of the right type are kept unchanged.
    assert isinstance(made.array, np.ndarray) and isinstance(made.anything, np.ndarray)


# ---------------------------------------------------------------------------------------------------------------------
# Mistakes in a class are reported when it is defined


def test_a_kind_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(errors.InvalidValueError, match='structural_eq is one of .*, not "tre"; did you mean "tree"'):
        py_class(structural_eq="tre")  # type: ignore[call-overload]
    with pytest.raises(errors.InvalidValueError, match='not "invalid"'):
        py_class("a.key", structural_eq="invalid")  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["__s_equal__", "__s_hash__", "__post_init__", "__init__", "__new__", "value"])
def test_assignment_after_registration_is_refused(name: str) -> None:
    class Base(Object):
        pass

    class Late(Base):
        value: int

    Base.__s_equal__ = lambda self, other, eq_cb: True  # type: ignore[attr-defined]
    Base.__s_hash__ = lambda self, init_hash, hash_cb: init_hash  # type: ignore[attr-defined]
    registered = py_class(Late)
    assert structural_equal(registered(1), registered(2))
    with pytest.raises(errors.ArgumentError, match=f"Late.{name} cannot be changed: .*Late is registered already"):
        setattr(registered, name, lambda *_: None)
    with pytest.raises(errors.ArgumentError, match="cannot be changed"):
        delattr(registered, name)
    if name != "value":
        with pytest.raises(errors.ArgumentError, match=f"Base.{name} cannot be changed: .*Late is registered already"):
            setattr(Base, name, lambda *_: None)
    # Other attributes may be changed freely.
    registered.helper = 3  # type: ignore[attr-defined]
    del registered.helper  # type: ignore[attr-defined]
    assert registered(4).value == 4


def test_a_class_that_is_refused_can_be_put_right() -> None:
    class Half(Object):
        value: int

        def __post_init__(self) -> None: ...

        def __s_equal__(self, other: Any, eq_cb: Any) -> bool:
            return True

    with pytest.raises(errors.InvalidValueError, match="they come as a pair"):
        py_class(Half)
    Half.__s_hash__ = lambda self, init_hash, hash_cb: init_hash  # type: ignore[attr-defined]
    assert structural_equal(py_class(Half)(1), Half(2))


def test_families_of_exceptions() -> None:
    assert issubclass(errors.CompareError, TypeError)
    assert issubclass(errors.VerifyError, ValueError)
    assert issubclass(errors.RunError, RuntimeError)

    @py_class(structural_eq=None)
    class Opaque(Object):
        value: int

    with pytest.raises(TypeError, match="not comparable"):
        structural_equal(Opaque(1), Opaque(1))


@py_class
class Containers(Object):
    names: Seq[str] = field(default_factory=Seq)
    sizes: Map[str, int] = field(default_factory=Map)
    axes: Set[int] | None = None


def test_containers_of_ours_are_annotations() -> None:
    made = Containers(["a"], {"b": 1}, {2})
    assert (made.names, made.sizes, made.axes) == (Seq(["a"]), Map({"b": 1}), Set([2]))
    assert [one.type for one in fields(Containers)] == [Seq[str], Map[str, int], Set[int] | None]
    for field_name, wrong in (("names", ([1],)), ("sizes", ([], {1: 1})), ("axes", ([], {}, {"a"}))):
        with pytest.raises(errors.ArgumentError, match=f"Containers.{field_name}"):
            Containers(*wrong)
