"""Objects that misreport themselves, change while they are read, or re-enter the package: a documented exception, nothing worse."""

from __future__ import annotations

import gc
import itertools
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from sapwood import DataType, ir, ptir, rewrite
from sapwood.errors import ArgumentError, InvalidValueError, SapwoodError
from sapwood.structural import Map, Object, Seq, py_class, structural_equal, structural_hash


@py_class
class Box(Object):
    value: Any


@py_class
class Two(Object):
    first: Any
    second: Any


def negation() -> ptir.Program:
    return ptir.parse("ptir 1 func @main(%x: f32[2]) -> f32[2] { %y = neg %x : f32[2] return %y }")


@rewrite.pattern("neg")
def nothing(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
    return None


# Functions that take several items must accept any iterable and survive objects that misreport their length.
TAKERS: dict[str, Callable[[Any], object]] = {
    "Seq": Seq,
    "Program": ptir.Program,
    "Type.tensor": lambda several: ptir.Type.tensor("f32", several),
    "Type.tuple": ptir.Type.tuple,
    "apply": lambda several: rewrite.apply(negation(), several),
    "find": lambda several: rewrite.find_matches(negation(), several),
    "Pattern": lambda several: rewrite.Pattern(lambda op, rw: None, several, name="p"),
    "perm": lambda several: transposed(several),
    "region": lambda several: ptir.Builder("f").region(several, lambda *params: params),
}


def transposed(perm: Any) -> object:
    b = ptir.Builder("f")
    return b.transpose(b.parameter("x", "f32[2, 3]"), perm=perm)


class WrongLength:
    """An iterable that reports a length beyond memory."""

    def __len__(self) -> int:
        return 10**15

    def __getitem__(self, index: int) -> object:
        raise IndexError


class Negative(WrongLength):
    def __len__(self) -> int:
        return -1


class Raises(WrongLength):
    def __len__(self) -> int:
        raise LookupError("mine")


@pytest.mark.parametrize("wrong_length", [WrongLength(), Negative(), Raises()])
@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)
def test_lengths_are_not_believed(take: Callable[[Any], object], wrong_length: Any) -> None:
    try:
        take(wrong_length)
    except SapwoodError:
        pass


@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)
def test_infinite_iterators(take: Callable[[Any], object]) -> None:
    with pytest.raises(SapwoodError):
        take(itertools.repeat(0))


@pytest.mark.parametrize("wrong", [3, "neg", b"neg", {"neg": 1}, None, object()])
def test_arguments_that_are_not_lists(wrong: Any) -> None:
    for name in ("Program", "Type.tuple", "apply", "find", "Pattern"):
        with pytest.raises(ArgumentError, match="expected a list"):
            TAKERS[name](wrong)


def test_generators_are_lists() -> None:
    function = negation().functions[0]
    assert len(ptir.Program(f for f in [function])) == 1
    assert ptir.Type.tensor("f32", (n for n in (2, 3))) == ptir.Type("f32[2, 3]")
    assert ptir.Type.tuple(iter(["f32[2]"])) == ptir.Type("tuple<f32[2]>")
    assert rewrite.apply(negation(), (p for p in [nothing])).program.num_instructions == 2
    assert Seq(n for n in range(3)) == [0, 1, 2]
    with pytest.raises(ArgumentError, match=r"\[1\]: expected a Function, found int"):
        ptir.Program([function, 3])  # type: ignore[list-item]


def test_iterators_that_raise() -> None:
    def mine() -> Iterator[int]:
        yield 1
        raise LookupError("mine")

    for take in (Seq, TAKERS["Program"], TAKERS["Type.tensor"]):
        with pytest.raises(LookupError, match="mine"):
            take(mine())


class Index:
    def __index__(self) -> int:
        raise LookupError("mine")


def test_numbers_that_raise() -> None:
    for call in (
        lambda: ptir.Type.tensor("f32", [Index()]),
        lambda: transposed([Index(), 0]),
        lambda: ir.ConstInt(Index(), DataType.INT64),  # type: ignore[arg-type]
        lambda: ir.TensorType([Index()], DataType.INT64),  # type: ignore[list-item]
    ):
        with pytest.raises(ArgumentError):
            call()
    with pytest.raises(LookupError, match="mine"):
        Seq([1])[Index()]  # type: ignore[call-overload]


# Subclasses of built-in classes: their content counts, not the methods they override.


class Text(str):
    def __str__(self) -> str:
        raise LookupError("mine")

    __repr__ = __str__
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        raise LookupError("mine")


class Number(int):
    def __format__(self, spec: str) -> str:
        return "no number"

    def __index__(self) -> int:
        raise LookupError("mine")

    def __int__(self) -> int:
        raise LookupError("mine")


class Items(list[Any]):
    def __iter__(self) -> Any:
        return itertools.repeat(0)

    def __len__(self) -> int:
        return 10**15


class Entries(dict[Any, Any]):
    def __iter__(self) -> Any:
        return itertools.repeat(0)

    def keys(self) -> Any:
        raise LookupError("mine")

    items = keys

    def __len__(self) -> int:
        return 10**15


class Members(set[Any]):
    def __iter__(self) -> Any:
        return itertools.repeat(0)


class Frozen(frozenset[Any]):
    def __iter__(self) -> Any:
        return itertools.repeat(0)


@pytest.mark.parametrize(
    ("odd", "plain"),
    [
        (Text("abc"), "abc"),
        (Number(7), 7),
        (Number(10**40), 10**40),
        (Items([1, 2]), [1, 2]),
        (Entries({"a": 1}), {"a": 1}),
        (Members({1, 2}), {1, 2}),
        (Frozen({1, 2}), {1, 2}),
    ],
)
def test_subclasses_compare_like_their_contents(odd: Any, plain: Any) -> None:
    assert structural_equal(Box(odd), Box(plain))
    assert structural_hash([odd]) == structural_hash([plain])


def test_a_list_that_grows_while_it_is_read() -> None:
    several: list[Any] = []

    class Grows:
        def __array__(self, *args: Any, **kwargs: Any) -> Any:
            several.append(self)
            return np.zeros(2, np.float32)

    several.append(Grows())
    b = ptir.Builder("f")
    b.concat(several, axis=0)
    assert 1 < len(several) < 10
    before = len(several)
    assert len(Box(several).value) == before


def test_a_dict_that_changes_while_it_is_read() -> None:
    entries: dict[str, Any] = {}

    class Changes:
        def __array__(self, *args: Any, **kwargs: Any) -> Any:
            entries[f"k{len(entries)}"] = self
            return np.zeros(2, np.float32)

    entries["k0"] = Changes()
    b = ptir.Builder("f")
    x = b.parameter("x", "f32[2]")
    b.emit("my.op", x, result_type="f32[2]", options=entries)
    assert len(entries) > 1
    Box(entries)
    Map(entries)


# Objects that claim to be arrays.


class Interface:
    def __init__(self, **parts: Any) -> None:
        self.__array_interface__ = {"version": 3, "typestr": "<f4", "shape": (4,), **parts}


class Gives:
    def __init__(self, given: Any) -> None:
        self.given = given

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


class Capsule:
    def __dlpack__(self, **kwargs: Any) -> Any:
        return object()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


@pytest.mark.parametrize(
    "false",
    [
        Interface(data=(8, False)),
        Interface(data=b"x" * 4),
        Interface(),
        Gives([1, 2]),
        Gives(None),
        Gives(np.array([object()])),
        Capsule(),
    ],
)
def test_objects_that_are_not_arrays(false: Any) -> None:
    for take in (
        Box,
        lambda it: ptir.Builder("f").constant(it),
        lambda it: negation().run(it),
        lambda it: negation().run([it, it]),
        lambda it: negation().run([[(it,)]]),
        lambda it: ir.interpret(tensor_negation(), "f", it),
        lambda it: ir.interpret(tensor_negation(), "f", [it, it]),
    ):
        with pytest.raises(SapwoodError):
            take(false)


def tensor_negation() -> ir.Program:
    ty = ir.TensorType([2], DataType.FP32)
    x, y = ir.Var("x", ty), ir.Var("y", ty)
    body = ir.AssignStmt(y, ir.Neg(x, DataType.FP32))
    return ir.Program([ir.Function("f", [x], [ty], body)])


class Half:
    """An object that converts to a number."""

    def __float__(self) -> float:
        return 0.5


@pytest.mark.parametrize(
    ("numbers", "negated"),
    [
        ([1, 2.0], [-1, -2]),
        ((True, 0.5), [-1, -0.5]),
        (range(2), [0, -1]),
        ([np.float32(1), np.array(2.0)], [-1, -2]),
        ([Number(1), Half()], [-1, -0.5]),
        ([Gives(np.array(1.0)), 2], [-1, -2]),
        (memoryview(b"ab"), [-97, -98]),
    ],
    ids=["list", "tuple", "range", "scalars", "odd", "gives", "buffer"],
)
def test_lists_of_numbers(numbers: Any, negated: list[float]) -> None:
    for results in (negation().run(numbers), ir.interpret(tensor_negation(), "f", numbers)):
        assert results[0].dtype == np.float32 and results[0].tolist() == negated


def test_lists_that_are_no_arrays() -> None:
    cycle: list[Any] = []
    cycle += [cycle, cycle]
    deep: Any = 1.0
    for _ in range(100):
        deep = [deep]
    wrong = {
        "contains itself": cycle,
        "deeper than 64": deep,
        "inhomogeneous": [[1], [1, 2]],
        "found object": [object(), 1.0],
        "found dict": {0: 1.0, 1: 2.0},
        "found NoneType": [None, 1.0],
    }
    for message, numbers in wrong.items():
        with pytest.raises(ArgumentError, match=message):
            negation().run(numbers)
        with pytest.raises(ArgumentError, match=message):
            ir.interpret(tensor_negation(), "f", numbers)


class Counting:
    """A number that counts its conversions."""

    asked = 0

    def __float__(self) -> float:
        self.asked += 1
        return 0.5


def doubled(bottom: Any, levels: int, pair: Callable[[Any], Any] = lambda part: [part, part]) -> Any:
    for _ in range(levels):
        bottom = pair(bottom)
    return bottom


def test_a_list_that_occurs_many_times_is_read_once() -> None:
    number = Counting()
    for bottom in ([], [number]):
        for take in (negation().run, lambda it: ir.interpret(tensor_negation(), "f", it)):
            with pytest.raises(ArgumentError, match="more than 16777216 numbers"):
                take(doubled(bottom, 60))
    assert 0 < number.asked < 100
    number = Counting()
    shared = doubled([number], 12)
    with pytest.raises(SapwoodError, match=r"input 0 is f32\[(2, ){12}1\], expected f32\[2\]"):
        negation().run(shared)
    assert 0 < number.asked < 100
    assert structural_hash(Box(doubled([], 60))) == structural_hash(Box(doubled([], 60)))


@py_class
class Floats(Object):
    value: list[list[list[list[float]]]]


@py_class
class Either(Object):
    value: list[list[list[list[str]]] | list[list[list[int]]]]


def test_a_list_that_occurs_many_times_is_checked_once() -> None:
    thousand = doubled(0, 4, lambda part: [part] * 1000)
    floats = Floats(thousand)
    row = floats.value[999][999][999]
    assert len(row) == 1000 and type(row[999]) is float
    assert structural_equal(floats, Floats(doubled(0.0, 4, lambda part: [part] * 1000)))
    assert Either(thousand).value[1][2][3][4] == 0
    with pytest.raises(ArgumentError, match="expected a list of a list of"):
        Either([thousand, thousand])


@pytest.mark.parametrize("pair", [lambda part: [part, part], lambda part: {"a": part, "b": part}], ids=["list", "dict"])
def test_attributes_that_occur_many_times(pair: Callable[[Any], Any]) -> None:
    def attribute(value: Any) -> Any:
        b = ptir.Builder("f")
        y = b.emit("my.op", b.parameter("x", "f32[2]"), result_types=["f32[2]"], it=value)
        return ptir.Program([b.finish(y)])["f"].instructions[0].attributes["it"]

    with pytest.raises(InvalidValueError, match="more than 16777216 items"):
        attribute(doubled(1.5, 40, pair))
    with pytest.raises(InvalidValueError, match="nest at most 48 deep"):
        attribute(doubled(1.5, 60, pair))
    # A shared list may be shallow enough at its first occurrence and too deep at its next.
    few = doubled(1.5, 5, pair)
    with pytest.raises(InvalidValueError, match="nest at most 48 deep"):
        attribute([few, doubled(few, 45, lambda part: [part])])
    wanted = doubled(1.5, 6, (lambda part: (part, part)) if isinstance(few, list) else pair)
    assert attribute(doubled(1.5, 6, pair)) == wanted


def test_arrays_of_another_shape_are_refused() -> None:
    for shape in ((3,), (), (2, 1), (0,)):
        with pytest.raises(ArgumentError, match=r"x is pi.TensorType\(pi.FP32, \[2\]\), found an array of shape"):
            ir.interpret(tensor_negation(), "f", np.ones(shape, np.float32))


def test_objects_that_return_an_array() -> None:
    assert structural_equal(Box(Gives(np.ones(2))), Box(np.ones(2)))
    assert negation().run(Gives(np.ones(2, np.float32)))[0].tolist() == [-1, -1]
    with pytest.raises(LookupError, match="mine"):
        Box(Gives(LookupError("mine")))


# Re-entrance.


def test_fields_of_another_class() -> None:
    with pytest.raises((AttributeError, TypeError)):
        Two.second.__get__(Box(1), Box)
    with pytest.raises(TypeError):
        Two.second.__get__(3, int)


def test_hooks_that_compare_and_hash_by_themselves() -> None:
    @py_class
    class Own(Object):
        value: Any

        def __s_equal__(self, other: Any, eq_cb: Any) -> bool:
            assert structural_equal(self.value, other.value)
            assert structural_hash(self.value) == structural_hash(other.value)
            first = eq_cb(self.value, other.value, False, "value")
            return bool(first and eq_cb(self.value, other.value, False, "value"))

        def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
            structural_equal(self.value, self.value)
            return int(hash_cb(self.value, hash_cb(self.value, init_hash, False), False))

    def nest(depth: int) -> Any:
        value: Any = Two(1, [2])
        for _ in range(depth):
            value = Own(value)
        return value

    # Each level visits the level below four times, so results must be memoized.
    shallow, other = nest(4), nest(4)
    assert structural_equal(shallow, other) and structural_hash(shallow) == structural_hash(other)


def test_hooks_that_ask_twice_cost_no_more() -> None:
    asked = [0]

    @py_class
    class Twice(Object):
        value: Any

        def __s_equal__(self, other: Any, eq_cb: Any) -> bool:
            asked[0] += 1
            first = eq_cb(self.value, other.value, False, "value")
            return bool(first == eq_cb(self.value, other.value, False, "value") and first)

        def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
            asked[0] += 1
            return int(hash_cb(self.value, hash_cb(self.value, init_hash, False), False))

    def nest(last: int) -> Any:
        value: Any = last
        for _ in range(100):
            value = Twice(value)
        return value

    assert structural_equal(nest(1), nest(1)) and asked[0] == 100
    assert not structural_equal(nest(1), nest(2)) and asked[0] == 200
    structural_hash(nest(1))
    assert asked[0] == 300


def test_finalizers_that_come_back() -> None:
    ended = []

    @py_class
    class Ends(Object):
        value: int

        # This runs for every handle, and reading a field creates one, so it must not read a field.
        def __del__(self) -> None:
            ended.append(structural_equal(self, self) and structural_hash(self) > 0)

    @py_class
    class Collects(Object):
        value: Any

        def __s_equal__(self, other: Any, eq_cb: Any) -> bool:
            gc.collect()
            return bool(eq_cb(self.value, other.value, False, "value"))

        def __s_hash__(self, init_hash: int, hash_cb: Any) -> int:
            gc.collect()
            return int(hash_cb(self.value, init_hash, False))

    assert structural_equal([Collects(Ends(1)), 2], [Collects(Ends(1)), 2])
    assert structural_hash(Collects(Ends(1))) == structural_hash(Collects(Ends(1)))
    gc.collect()
    assert len(ended) >= 4 and all(ended)


def test_weak_references_to_handles() -> None:
    seen: list[Any] = []
    node = Box(Two(1, 2))
    inner = weakref.ref(node.value, lambda _: seen.append(structural_hash(node)))
    gc.collect()
    # The handle is gone, the node is not.
    assert inner() is None and seen == [structural_hash(node)]
    program = negation()
    kept = weakref.ref(program, lambda _: seen.append(rewrite.simplify(negation()).num_instructions))
    del program
    gc.collect()
    assert kept() is None and seen[1] == 2


def test_shared_structure_is_compared_once() -> None:
    def ladder() -> Any:
        shared: Any = [1]
        for _ in range(100):
            shared = [shared, shared]
        return Seq(shared)

    assert ladder() == ladder()
    assert ladder() != Seq([ladder(), ladder()])


# Signals, threads, processes.

ENDLESS = """ptir 1 func @main(%x: i32[]) -> i32[] {
  %r = while %x (%a: i32[]) { %t = constant true : bool[] yield %t } (%b: i32[]) { yield %b } : i32[]
  return %r
}"""


def endless_loop() -> ir.Program:
    return ir.parse(
        "def f(x: pi.INT64) -> pi.INT64:\n"
        "    for i, (sum,) in pi.range(0, 1000000000000, 1, init_values=[x]):\n"
        "        pi.yield_(sum + i)\n"
        "    end: pi.INT64 = pi.result(0)\n"
        "    return end\n"
    )


@pytest.mark.parametrize(
    "work",
    [
        lambda: ptir.parse(ENDLESS).run(1),
        # It ends in the background, some time after it was interrupted.
        lambda: ir.interpret(endless_loop(), "f", 1, steps=50_000_000),
    ],
    ids=["ptir", "ir"],
)
def test_a_signal_ends_a_run(work: Callable[[], object]) -> None:
    class Alarm(Exception):
        pass

    def ring(number: int, frame: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Alarm):
            work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_handles_go_between_threads() -> None:
    b = ptir.Builder("f")
    x = b.parameter("x", "f32[2]")
    done: list[Any] = []

    def work() -> None:
        done.append(b.finish(b.neg(x)))
        done.append(Box([Two(1, 2)]))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done[0].num_instructions == 2
    assert structural_equal(done[1], Box([Two(1, 2)]))


FORKS = """
import multiprocessing, threading
import numpy as np
from sapwood import ptir, rewrite

TEXT = '''ptir 1 func @main(%x: f32[128, 128]) -> f32[128, 128] {
  %a = neg %x : f32[128, 128]
  %b = neg %a : f32[128, 128]
  %c = dot_general %b, %x {lhs_contract = [1], rhs_contract = [0]} : f32[128, 128]
  return %c
}'''
x = np.ones((128, 128), np.float32)

def work():
    program = rewrite.simplify(ptir.parse(TEXT, f"file{len(TEXT)}"))
    return float(program.run(x, threads=2)[0].sum())

def child(queue):
    queue.put(work())

if __name__ == "__main__":
    expected = work()
    stop = threading.Event()
    def busy():
        while not stop.is_set():
            work()
    thread = threading.Thread(target=busy)
    thread.start()
    context = multiprocessing.get_context("fork")
    for _ in range(12):
        queue = context.Queue()
        process = context.Process(target=child, args=(queue,))
        process.start()
        assert queue.get(timeout=60) == expected
        process.join(60)
        assert process.exitcode == 0
    stop.set()
    thread.join()
    print("done")
"""


def test_processes_are_forked_while_threads_run() -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.stdout == "done\n", ran.stderr


def test_values_that_cannot_be_taken_leave_nothing_behind() -> None:
    b = ptir.Builder("f")
    x = b.parameter("x", "f32[2]")
    with pytest.raises(LookupError, match="mine"):
        b.add(x, Gives(LookupError("mine")))
    with pytest.raises(OverflowError):
        b.add(x, 10**400)
    with pytest.raises(InvalidValueError, match="too large"):
        b.add(x, 10**40)
    function = b.finish(b.neg(x))
    assert [one.op for one in function.instructions] == ["neg", "return"]
