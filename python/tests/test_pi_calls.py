"""`@pi.function`: functions that call each other, and what is refused before they run."""

from __future__ import annotations

import pytest
from sapwood import ir, pi
from sapwood.errors import InvalidValueError, ParseError, VerifyError


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
