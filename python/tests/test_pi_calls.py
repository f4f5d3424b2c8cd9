"""`@pi.function`: functions that call each other, and what is refused before they run."""

from __future__ import annotations

import functools
import importlib
import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sapwood
from sapwood import ir, pi
from sapwood.errors import InvalidValueError, ParseError, RunError, SapwoodError, VerifyError


@pi.function
def is_even(n: pi.INT64) -> pi.BOOL:
    if n == 0:
        return True
    return is_odd(n - 1)


@pi.function
def is_odd(n: pi.INT64) -> pi.BOOL:
    if n == 0:
        return False
    return is_even(n - 1)


@pi.function
def half(x: pi.INT64) -> pi.INT64:
    return x // 2


@pi.function
def half_and_one(x: pi.INT64) -> pi.INT64:
    return half(x) + 1


@pi.name("a name with spaces")
@pi.function
def spaced(x: pi.INT64) -> pi.INT64:
    return x * 3


@pi.function
def calls_spaced(x: pi.INT64) -> pi.INT64:
    return pi.global_("a name with spaces")(x) + 1


def test_functions_call_each_other() -> None:
    assert [is_even(n) for n in (0, 1, 6)] == [True, False, True]
    assert [one.name for one in is_even.program.functions] == ["is_even", "is_odd"]
    assert is_even.program is is_even.program


def test_callees_are_those_of_the_time_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    assert half_and_one(9) == 5
    former = half

    def other() -> pi.Function:
        @pi.function
        def half(x: pi.INT64) -> pi.INT64:
            return x * 10

        return half

    monkeypatch.setitem(globals(), "half", other())
    assert half_and_one(9) == 91
    monkeypatch.setitem(globals(), "half", former)
    assert half_and_one(9) == 5


def test_a_global_is_found_by_its_name_in_the_ir() -> None:
    assert calls_spaced(4) == 13


def test_functions_that_are_not_well_formed_do_not_run() -> None:
    @pi.function
    def wrong(x: pi.INT64) -> pi.FP32:
        return x / 2

    with pytest.raises(VerifyError, match="value 0 of the return has the type"):
        wrong(7)


def test_a_callee_with_a_built_in_name() -> None:
    @pi.function
    def max(a: pi.INT64, b: pi.INT64) -> pi.INT64:  # noqa: A001
        return a + b

    with pytest.raises(ParseError, match="`max` is built in; give your function another name"):

        @pi.function
        def calls_max(a: pi.INT64) -> pi.INT64:
            return max(a, 3)


def test_unpacked_numbers_take_the_types_of_their_variables() -> None:
    text = "def f(a: pi.INT32, b: pi.FP32) -> (pi.INT32, pi.FP32):\n    a, b = 1, 2\n    return a, b\n"
    program = ir.parse(text)
    ir.verify(program)
    assert ir.interpret(program, "f", 5, 6.0) == (1, 2.0)


def test_a_line_is_continued_before_any_line_end() -> None:
    text = "def f(x: pi.INT64) -> pi.INT64:\n    return x + \\\n        1\n"
    assert ir.structural_equal(ir.parse(text.replace("\n", "\r\n")), ir.parse(text))


def test_names_of_attributes() -> None:
    for name in ("not id", "if", ""):
        with pytest.raises(InvalidValueError, match="is not the name of an attribute"):
            ir.Op("my.f", {name: 1})


seen: list[object] = []


def register(function: pi.Function, *more: object) -> pi.Function:
    seen.extend((function, *more))
    return function


def with_options(*options: object) -> Callable[[pi.Function], pi.Function]:
    return lambda function: register(function, *options)


def plain(function: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(function)
    def wrapped(*args: object) -> object:
        return function(*args)

    return wrapped


def test_python_applies_the_decorators_above() -> None:
    seen.clear()

    @register
    @with_options(
        [half(4)],
        lambda x: x + 1,
    )
    @pi.name("other name")
    @pi.function
    def decorated(x: pi.INT64) -> pi.INT64:
        return half(x) + 1

    assert seen[0] is decorated and seen[1] == [2] and seen[-1] is decorated
    assert decorated.function.name == "other name"
    span = decorated.function.span
    assert linecache.getline(__file__, span.begin_line).strip() == "def decorated(x: pi.INT64) -> pi.INT64:"


def test_a_decorator_below_has_no_effect() -> None:
    with pytest.raises(ParseError, match="`@plain` below `@pi.function` has no effect") as caught:

        @pi.function
        @plain
        def decorated(x: pi.INT64) -> pi.INT64:
            return x

    span = caught.value.span
    assert span is not None and linecache.getline(__file__, span.begin_line).strip() == "@plain"
    assert "write it above `@pi.function`" in str(caught.value)


HEADERS = [
    ("x: pi.INT64, /", "a parameter before `/`", "x: pi.INT64"),
    ("*x", "a parameter with `*`", "x"),
    ("**x", "a parameter with `**`", "x"),
    ("*, x: pi.INT64", "a parameter after `*`", "x: pi.INT64"),
    ("x: pi.INT64 = 3", "the default of a parameter", "3"),
]


@pytest.mark.parametrize(("parameters", "what", "shown"), HEADERS, ids=[what for _, what, _ in HEADERS])
def test_parameters_that_the_ir_does_not_have(
    parameters: str, what: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "odd_header", raising=False)
    line = f"def f({parameters}) -> pi.INT64: return x"
    (tmp_path / "odd_header.py").write_text(f"from sapwood import pi\n{line}\n")
    importlib.invalidate_caches()
    module = importlib.import_module("odd_header")
    with pytest.raises(ParseError) as caught:
        pi.function(module.f)
    assert str(caught.value).startswith(f"error: {what} cannot be written in a function of the IR\n")
    assert len(caught.value.diagnostics) == 1
    span = caught.value.span
    assert span is not None and line[span.begin_column - 1 : span.end_column - 1] == shown


def test_a_header_in_one_line_has_one_error() -> None:
    with pytest.raises(ParseError) as caught:
        ir.parse("def f(*x): return x\n\ndef g(x: pi.INT64): return\n")
    assert [one.message for one in caught.value.diagnostics] == ["expected the name of a parameter, found `*`"]


def test_types_of_python_are_not_those_of_the_ir() -> None:
    for name, meant in (("int", "pi.INT64"), ("float", "pi.FP32"), ("bool", "pi.BOOL")):
        with pytest.raises(ParseError, match=f"unknown name `{name}`") as caught:
            ir.parse(f"def f(x: {name}):\n    return\n")
        assert meant in (caught.value.diagnostics[0].help or "")


def test_results_without_types_have_a_help() -> None:
    program = ir.parse("def f(x: pi.INT64, y: pi.FP32):\n    if x > 0:\n        return x, y\n    return x\n")
    helps = [one.help for one in ir.problems(program)]
    assert helps == [
        "state the types of the results in the header: `-> (pi.INT64, pi.FP32):`",
        "state the types of the results in the header: `-> pi.INT64:`",
    ]


def test_a_loop_with_too_few_results_has_a_help() -> None:
    text = "def f(n: pi.INT64) -> pi.INT64:\n    for _, (a, b) in pi.range(0, n, 1, init_values=[0, 1]):\n        pi.yield_(b, a + b)\n    r: pi.INT64 = pi.result(0)\n    return r\n"
    (problem,) = ir.problems(ir.parse(text))
    assert problem.message == "the loop has 2 iteration arguments and 1 result"
    assert problem.help == "take each result after the loop: `x = pi.result(0)`, `y = pi.result(1)`, …"


def test_targets_in_brackets() -> None:
    def body(line: str) -> ir.Program:
        return ir.parse(f"def f(t: pi.TupleType([pi.INT64, pi.INT64])) -> pi.INT64:\n    {line}\n    return a - b\n")

    expected = body("a, b = t")
    for line in ("(a, b) = t", "[a, b] = t", "(a, b,) = t", "( a ,\n      b ) = t", "(a, b)=t"):
        assert ir.structural_equal(body(line), expected), line
    assert ir.interpret(body("(a, b) = (t[1], t[0])"), "f", (5, 3)) == (-2,)
    # Comparisons and expressions that begin in the same way stay what they are.
    text = "def f(a: pi.INT64, b: pi.INT64):\n    (a) == b\n    (a, b)\n"
    assert str(ir.parse(text)).splitlines()[1:] == ["    a == b", "    (a, b)"]
    with pytest.raises(ParseError, match="expected `\\)` after the variables|unknown name"):
        body("(a, b = t")


def test_the_stated_type_of_a_call_is_checked() -> None:
    def program(op: str, ty: str) -> ir.Program:
        return ir.parse(f"def f(x: pi.TensorType(pi.FP32, [2])) -> {ty}:\n    return pi.typed(pi.op.{op}(x), {ty})\n")

    for ty in ("pi.TensorType(pi.FP32, [3])", "pi.TensorType(pi.FP16, [2])", "pi.FP32", "pi.TupleType([pi.FP32])"):
        with pytest.raises(VerifyError, match="`exp` returns pi.TensorType.* but the call has the type"):
            ir.verify(program("exp", ty))
        for op in ("exp", "pi_tests.same"):
            with pytest.raises(RunError, match=r"returns a tensor of FP32 \[2\], but the call has the type"):
                ir.interpret(program(op, ty), "f", np.float32([1, 2]))
            with pytest.raises(VerifyError, match="but the call has the type"):
                ir.lower(program(op, ty))
    text = "def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.TensorType(pi.FP32, [n + 1]):\n"
    text += "    return pi.typed(pi.op.pi_tests.same(x), pi.TensorType(pi.FP32, [n + 1]))\n"
    with pytest.raises(RunError, match="the call has the type"):
        ir.interpret(ir.parse(text), "f", 2, np.float32([1, 2]))


@sapwood.op("pi_tests.same")
def same(x: np.ndarray) -> np.ndarray:
    return x


def test_a_function_inside_a_function_may_call_one_that_is_defined_later() -> None:
    def around() -> Any:
        @pi.function
        def early(x: pi.INT64) -> pi.INT64:
            return pi.typed(late(x), pi.INT64) + 1

        @pi.function
        def late(x: pi.INT64) -> pi.INT64:
            return x * x

        return early

    assert around()(3) == 10

    def refused() -> None:
        @pi.function
        def early(x: pi.INT64) -> pi.INT64:
            return late(x) + 1

        @pi.function
        def late(x: pi.INT64) -> pi.INT64:
            return early(x)

    with pytest.raises(ParseError, match="so the type of the result cannot be inferred") as caught:
        refused()
    assert "return late(x) + 1\n" in str(caught.value) and "^^^^" in str(caught.value)


def test_complex_numbers_are_refused() -> None:
    @pi.function
    def same(x: pi.COMPLEX64) -> pi.COMPLEX64:
        return x

    @pi.function
    def half(x: pi.FP32) -> pi.FP32:
        return x * 0.5

    for number in (1 + 2j, np.complex64(1 + 2j), np.complex128(1 + 2j), 1.0):
        with pytest.raises(SapwoodError, match="the interpreter has no complex numbers; lower the program and run it"):
            same(number)
    assert ir.lower(same.program).run(np.complex64(1 + 2j))[0] == np.complex64(1 + 2j)
    for number in (1 + 2j, np.complex64(1 + 2j), np.complex128(1 + 2j)):
        with pytest.raises(SapwoodError, match="expected a number for FP32, found complex"):
            half(number)


def test_an_argument_that_is_not_the_extent_is_refused() -> None:
    @pi.function
    def rows(n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 2])) -> pi.INT64:
        return n * 10

    x = np.zeros((3, 2), np.float32)
    lowered = ir.lower(rows.program)
    assert rows(3, x) == lowered.run(3, x)[0] == lowered.simplify().run(3, x)[0] == 30
    with pytest.raises(SapwoodError, match="dim 0 is n, which is 4, found 3"):
        rows(4, x)
    with pytest.raises(RunError, match=r"dim \?n is 4 in axis 0 of result 0, but was 3 in axis 0 of input 1"):
        lowered.run(4, x)


def test_dims_in_other_forms_and_slices_of_computed_lengths() -> None:
    @pi.function
    def gelu(n: pi.INT32, x: pi.TensorType(pi.FP32, [2 * n, 3])) -> pi.TensorType(pi.FP32, [n + n, 3]):
        inner = 0.8 * (x + 0.045 * x**3.0)
        return 0.5 * x * (1.0 + pi.op.tanh(inner))

    @pi.function
    def total(k: pi.INT64, x: pi.TensorType(pi.FP32, [9])) -> pi.FP32:
        return pi.op.reduce_sum(x[:k], axes=[0])

    x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(4, 3)
    y = np.arange(9, dtype=np.float32)
    expected = 0.5 * x * (1 + np.tanh(0.8 * (x + 0.045 * x**3)))
    for one, args, wanted in ((gelu, (2, x), expected), (total, (4, y), 6.0)):
        lowered = ir.lower(one.program)
        for result in (one(*args), *(run.run(*args, function=one.function.name)[0] for run in (lowered, lowered.simplify()))):
            np.testing.assert_allclose(result, wanted, rtol=1e-5)
