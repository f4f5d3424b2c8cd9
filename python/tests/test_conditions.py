"""Conditions of rules that are written in Python."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sapwood import errors, ptir, rewrite

PROGRAM = ptir.parse("""ptir 1
func @main(%x: f32[8], %y: f32[2]) -> (f32[8], f32[2]) {
  %a = neg %x : f32[8]
  %b = neg %a : f32[8]
  %c = neg %y : f32[2]
  %d = neg %c : f32[2]
  return %b, %d
}
""")

TEXT = "rule neg_twice: neg(neg(x)) where long(x) => x"


def long(x: rewrite.Operand) -> bool:
    assert x.type is not None and x.type.shape is not None
    (extent,) = x.type.shape
    return isinstance(extent, int) and extent > 4


def ops(program: ptir.Program) -> list[str]:
    return [i.op for i in program["main"].walk() if i.op != "return"]


def apply(text: str, **conditions: rewrite.Condition) -> ptir.Program:
    return rewrite.apply(PROGRAM, rewrite.rules(text, "my.rules", conditions=conditions)).program


def test_a_condition_decides() -> None:
    assert ops(apply(TEXT, long=long)) == ["neg", "neg"]
    assert ops(apply(TEXT.replace("long", "not long"), long=long)) == ["neg", "neg"]
    assert ops(apply("rule neg_twice: neg(neg(x)) => x")) == []


def test_a_condition_of_a_decorated_rule() -> None:
    seen: list[object] = []

    def condition(x: rewrite.Operand) -> bool:
        seen.append((x.dtype, x.definition, x.constant, x.one_use))
        return x.type is not None and x.type.shape == (2,)

    @rewrite.rule(lambda op, x: op.neg(op.neg(x)), where=condition, float="nsz", benefit=3)
    def neg_twice(_op: rewrite.Recorder, x: rewrite.Term) -> rewrite.Term:
        return x

    assert (neg_twice.name, neg_twice.float_mode) == ("neg_twice", "nsz")
    assert ops(rewrite.apply(PROGRAM, [neg_twice], float="nsz").program) == ["neg", "neg"]
    assert {entry[1:] for entry in map(tuple, seen)} == {(None, None, True)}  # type: ignore[arg-type]
    assert rewrite.check_rule(neg_twice) is None


def test_arguments_are_values_lists_and_attributes() -> None:
    text = """rule r: concat(xs.., axis = a) where count_is(xs, a, 3, f32), not never(xs) => concat(xs.., axis = a)"""
    seen: list[object] = []

    def count_is(xs: tuple[rewrite.Operand, ...], axis: int, n: int, dtype: object) -> bool:
        seen.append((len(xs), axis, n, str(dtype)))
        return len(xs) == n

    (rule,) = rewrite.rules(text, conditions={"count_is": count_is, "never": lambda xs: False})
    program = ptir.parse("""ptir 1 func @f(%x: f32[2]) -> f32[6] {
      %c = concat %x, %x, %x {axis = 0} : f32[6] return %c }""")
    assert len(rewrite.find_matches(program, [rule])) == 1
    assert seen == [(3, 0, 3, "FP32")]


def test_matches_and_extraction_call_conditions() -> None:
    (rule,) = rewrite.rules("pattern p: neg(neg(x)) where long(x)", conditions={"long": long})
    for pattern in (rule, rule.subgraph):
        (match,) = rewrite.find_matches(PROGRAM, [pattern])
        assert str(match["bindings"]["x"].type) == "f32[8]"
        assert len(rewrite.extract(PROGRAM, [pattern]).calls) == 1
        (miss,) = (miss for miss in rewrite.explain(PROGRAM, [pattern]) if miss.op == "where")
        assert "`long(x)` does not hold" in miss.reason


def test_rules_of_a_file_in_a_pipeline(tmp_path: Path) -> None:
    (tmp_path / "fuse.rules").write_text(TEXT)
    pipeline = f"inline,rules{{file={tmp_path}/fuse.rules}},cse"
    result = rewrite.run(PROGRAM, pipeline, conditions={"long": long})
    assert ops(result.program) == ["neg", "neg"]
    assert PROGRAM.check(result.program)
    assert "neg_twice" in result.report.to_html()
    with pytest.raises(errors.ParseError, match="unknown predicate `long`"):
        rewrite.run(PROGRAM, pipeline)


def test_an_exception_has_the_place_of_the_rule() -> None:
    def long(_x: rewrite.Operand) -> bool:
        raise KeyError("width")

    with pytest.raises(errors.RewriteError) as caught:
        apply(TEXT, long=long)
    assert str(caught.value) == "my.rules:1:35: error: the condition `long` of `neg_twice` failed: KeyError: 'width'"
    assert isinstance(caught.value.__cause__, KeyError)
    (rule,) = rewrite.rules(TEXT, conditions={"long": long})
    for call in (rewrite.find_matches, rewrite.explain, rewrite.extract, rewrite.apply):
        with pytest.raises(errors.RewriteError, match="the condition `long` of `neg_twice` failed"):
            call(PROGRAM, [rule])
    with pytest.raises(errors.RewriteError, match="KeyError"):
        rewrite.check_rule(rule)
    # The exception is gone.
    assert ops(apply("rule neg_twice: neg(neg(x)) => x")) == []


def test_a_condition_cannot_change_the_program() -> None:
    def change_type(x: rewrite.Operand) -> bool:
        x.type = None  # type: ignore[misc]
        return True

    def emit(x: rewrite.Operand) -> bool:
        return bool(x.emit("neg", x))  # type: ignore[attr-defined]

    for long in (change_type, emit):
        with pytest.raises(errors.RewriteError, match="failed: AttributeError"):
            apply(TEXT, long=long)


def test_handles_end_with_the_call() -> None:
    kept: list[rewrite.Operand] = []

    def keep(x: rewrite.Operand) -> bool:
        kept.append(x)
        return False

    apply(TEXT, long=keep)
    with pytest.raises(errors.CallbackError, match="valid for one call only"):
        _ = kept[0].type


@pytest.mark.parametrize("answer", [None, 1, "yes"])
def test_a_condition_returns_a_bool(answer: object) -> None:
    with pytest.raises(errors.RewriteError, match="must return True or False, found"):
        apply(TEXT, long=lambda x: answer)  # type: ignore[arg-type, return-value]


def test_a_condition_that_never_returns() -> None:
    def forever(_x: rewrite.Operand) -> bool:
        while True:
            pass

    rules = rewrite.rules(TEXT, "my.rules", conditions={"long": forever}, condition_seconds=0.2)
    with pytest.raises(errors.RewriteError) as caught:
        rewrite.apply(PROGRAM, rules)
    message = "my.rules:1:35: error: the condition `long` of `neg_twice` failed: TimeoutError: it took longer than 0.2 seconds"
    assert str(caught.value) == message
    # In time, however often it is called.
    assert ops(apply(TEXT, long=long)) == ["neg", "neg"]


def test_ctrl_c_ends_a_condition() -> None:
    def forever(_x: rewrite.Operand) -> bool:
        while True:
            pass

    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        apply(TEXT, long=forever)
    timer.join()


def test_conditions_inside_of_conditions() -> None:
    def outer(x: rewrite.Operand) -> bool:
        inner = apply(TEXT, long=long)
        return ops(inner) == ["neg", "neg"] and long(x)

    assert ops(apply(TEXT, long=outer)) == ["neg", "neg"]


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"float": lambda x: True}, "`float` is a predicate of the language"),
        ({"not a name": lambda x: True}, "the name of a condition is an identifier"),
        ({"long": 3}, "expected a function as a condition, found int"),
        ({"long": lambda *x: True}, "each argument of a condition is a parameter of its own"),
        ({"long": lambda x, y: True}, "`long` takes 2 arguments, found 1"),
        ({"large": lambda x: True}, "unknown predicate `long`"),
    ],
)
def test_conditions_that_are_refused(conditions: dict[str, rewrite.Condition], message: str) -> None:
    with pytest.raises(errors.SapwoodError, match=message.replace("(", r"\(")):
        rewrite.rules(TEXT, conditions=conditions)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_limit_is_positive(seconds: float) -> None:
    with pytest.raises(errors.InvalidValueError, match="a time limit must be positive"):
        rewrite.rules(TEXT, conditions={"long": long}, condition_seconds=seconds)


def test_a_condition_that_ends_at_its_time_limit_does_not_block() -> None:
    """The exception comes while the condition returns."""
    script = """
import sys, time
from sapwood import errors, ptir, rewrite

program = ptir.parse("ptir 1 func @main(%x: f32[8]) -> f32[8] { %a = neg %x : f32[8] %b = neg %a : f32[8] return %b }")
sys.setswitchinterval(1e-6)
for n in range(40):
    def slow(x):
        end = time.perf_counter() + 0.02 + n % 8 * 0.001
        while time.perf_counter() < end:
            pass
        return True
    rules = rewrite.rules("rule r: neg(neg(x)) where slow(x) => x", "r.rules", conditions={"slow": slow}, condition_seconds=0.02)
    try:
        rewrite.apply(program, rules)
    except errors.RewriteError:
        pass
print("done")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "done\n", done.stderr
