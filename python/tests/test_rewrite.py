"""Passes and patterns from Python."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sapwood import errors, ptir, rewrite

DOUBLE = """ptir 1

func @main(%x: f32[2, 3]) -> f32[2, 3] {
  %a = transpose %x {perm = [1, 0]} : f32[3, 2]
  %b = transpose %a {perm = [1, 0]} : f32[2, 3]
  %c = neg %b : f32[2, 3]
  return %c
}
"""


def double() -> ptir.Program:
    return ptir.parse(DOUBLE)


def ops(program: ptir.Program) -> list[str]:
    return [i.op for f in program.functions for i in f.walk()]


@rewrite.pattern("transpose")
def transpose_of_transpose(op: rewrite.Op, rw: rewrite.Rewriter) -> rewrite.Operand | None:
    inner = op.operands[0].definition
    if inner is None or inner.name != "transpose":
        return None
    first, second = inner.attributes["perm"], op.attributes["perm"]
    perm = [first[i] for i in second]
    if perm == sorted(perm):
        return inner.operands[0]
    made: rewrite.Operand = rw.transpose(inner.operands[0], perm=perm)
    return made


def test_simplify_gives_a_new_program() -> None:
    program = double()
    simpler = rewrite.simplify(program)
    assert ops(simpler) == ["neg", "return"]
    assert str(program) == DOUBLE


def test_a_pipeline_reports_its_changes() -> None:
    program, report = rewrite.run(double(), "canonicalize,cse,dce", diffs=True)
    assert ops(program) == ["neg", "return"]
    assert report.changed
    assert [p["name"] for p in report.passes] == ["canonicalize", "cse", "dce"]
    patterns = report.passes[0]["greedy"]["patterns"]
    assert patterns["transpose_of_transpose"]["applied"] >= 1
    assert "transpose" in report.changes()
    assert "canonicalize" in report.timing()


def test_a_pipeline_that_cannot_be_read() -> None:
    with pytest.raises(errors.ParseError, match="did you mean `canonicalize`"):
        rewrite.run(double(), "canonicalise")


def test_rules_are_passes_of_a_pipeline(tmp_path: Path) -> None:
    file = tmp_path / "my, own.rules"
    file.write_text("rule neg_is_sub: neg(x) => sub(0.0, x)\n")
    program, report = rewrite.run(double(), f'rules{{file="{file}"}}')
    assert ops(program) == ["constant", "transpose", "transpose", "sub", "return"]
    assert report.passes[0]["name"] == f'rules{{file="{file}"}}'
    program, _ = rewrite.run(double(), f'cse,fixpoint(simplify{{rules="{file}"}})')
    assert ops(program) == ["constant", "sub", "return"]
    with pytest.raises(errors.ParseError, match="`rules` needs a file"):
        rewrite.run(double(), "rules")
    file.write_text("rule fine: neg(x) => x\nrule bad: neg(x) => y\n")
    with pytest.raises(errors.ParseError, match=r"2 \| rule bad") as raised:
        rewrite.run(double(), f'cse,rules{{file="{file}"}}')
    (one,) = raised.value.diagnostics
    assert one.span.filename == str(file)
    names = [p["name"] for p in rewrite.passes()]
    assert {"rules", "outline", "fixpoint"} <= set(names)


def test_a_pattern_in_python() -> None:
    program, report = rewrite.apply(double(), [transpose_of_transpose])
    assert ops(program) == ["neg", "return"]
    (one,) = report.passes
    assert one["greedy"]["patterns"]["transpose_of_transpose"]["applied"] == 1
    assert transpose_of_transpose.ops == ["transpose"]


def test_a_pattern_may_make_constants_and_ask() -> None:
    asked = []

    @rewrite.pattern("neg", benefit=3)
    def neg_as_mul(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
        (x,) = op.operands
        asked.append((str(x.type), x.dtype, x.one_use, x.one_user, x.unused, x.constant, rw.float_mode))
        return rw.mul(x, -1.0)

    program, _ = rewrite.apply(double(), [neg_as_mul])
    assert ops(program)[-2:] == ["mul", "return"]
    assert asked[0][0] == "f32[2, 3]"
    assert asked[0][2:] == (True, True, False, None, "exact")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(program.run(x)[0], -x)


def test_an_exception_comes_out_and_nothing_is_changed() -> None:
    calls = []

    @rewrite.pattern("transpose")
    def broken(op: rewrite.Op, rw: rewrite.Rewriter) -> None:
        calls.append(op.name)
        raise KeyError("mine")

    program = double()
    with pytest.raises(KeyError, match="mine"):
        rewrite.apply(program, [broken])
    assert len(calls) == 1
    assert str(program) == DOUBLE


def test_a_pattern_gives_values() -> None:
    @rewrite.pattern("neg")
    def number(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
        return 3

    with pytest.raises(errors.ArgumentError, match="one value per result, found int"):
        rewrite.apply(double(), [number])


def test_invalid_attributes_are_reported() -> None:
    @rewrite.pattern("neg")
    def wrong(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
        return rw.transpose(op.operands[0], perm=[5, 5])

    with pytest.raises(errors.InvalidValueError, match="transpose"):
        rewrite.apply(double(), [wrong])


CALLS = """ptir 1

func @main(%x: f32[2]) -> f32[2] {
  %a = neg %x : f32[2]
  %b = exp %a : f32[2]
  return %b
}

func @twice(%x: f32[2]) -> f32[2] {
  %a = add %x, %x : f32[2]
  return %a
}

func @wide(%x: f32[3]) -> f32[2] {
  %a = slice %x {starts = [0], limits = [2]} : f32[2]
  return %a
}

func @caller(%x: f32[2]) -> f32[2] {
  %a = call @main %x : f32[2]
  return %a
}
"""


def call(name: str, type: str = "f32[2]") -> rewrite.Pattern:  # noqa: A002
    """Returns a pattern that replaces `exp` by a call of a function."""

    @rewrite.pattern("exp", name=f"calls_{name}")
    def calls(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
        return rw.emit("call", op.operands[0], callee=name, result_types=[type])

    return calls


@rewrite.pattern("exp")
def exp_of_half(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
    return rw.slice(op.operands[0], starts=[0], limits=[1], strides=[1])


@pytest.mark.parametrize("merge", [False, True])
def test_a_pattern_that_leaves_an_invalid_program_is_named(merge: bool) -> None:
    program = ptir.parse(CALLS)
    for pattern, name, why in [
        (call("twise"), "calls_twise", "unknown function @twise; did you mean `@twice`"),
        (call("twice", "f32[3]"), "calls_twice", r"f32\[3\]"),
        (call("wide"), "calls_wide", "argument 0 of @wide"),
        (call("caller"), "calls_caller", "calls itself|recurs"),
        (call("main"), "calls_main", "calls itself|recurs"),
        (exp_of_half, "exp_of_half", r"a value of type f32\[1\] for a result of type f32\[2\]"),
    ]:
        with pytest.raises(errors.RewriteError, match=why) as raised:
            rewrite.apply(program, [transpose_of_transpose, pattern], merge=merge)
        assert f"pattern `{name}`" in str(raised.value)
    assert str(program) == CALLS
    good, report = rewrite.apply(program, [call("twice")], merge=merge)
    assert "call" in ops(good) and report.warnings == []
    x = np.array([1, 2], np.float32)
    np.testing.assert_array_equal(good.run(x, function="main")[0], -2 * x)


def test_verification_can_be_switched_off() -> None:
    program = ptir.parse(CALLS)
    broken, _ = rewrite.apply(program, [call("missing")], verify=False)
    with pytest.raises(errors.VerifyError, match="unknown function @missing"):
        broken.verify()
    kept, _ = rewrite.apply(program, [exp_of_half], verify=False)
    assert ops(kept) == ops(program)


def test_a_replacement_with_a_less_precise_type_is_not_used() -> None:
    text = "ptir 1 func @f(%x: f32[?]) -> f32[4] { %a = neg %x : f32[4] %b = neg %a : f32[4] return %b }"
    (rule,) = rewrite.rules("rule neg_of_neg: neg(neg(x)) => x")
    program, report = rewrite.apply(ptir.parse(text), [rule])
    assert ops(program) == ["neg", "neg", "return"] and report.warnings == []


def test_a_rule_that_leaves_an_invalid_program_is_named() -> None:
    (rule,) = rewrite.rules("rule halves: exp(x) => slice(x, starts=[0], limits=[1], strides=[1])")
    with pytest.raises(errors.RewriteError, match="pattern `halves` at `exp` .*f32\\[1\\]"):
        rewrite.apply(ptir.parse(CALLS), [rule])


def test_handles_are_good_for_one_call() -> None:
    kept: list[object] = []

    @rewrite.pattern("neg")
    def keeps(op: rewrite.Op, rw: rewrite.Rewriter) -> None:
        kept.extend([op, rw, op.operands[0]])

    rewrite.apply(double(), [keeps])
    op, rw, value = kept[:3]
    assert isinstance(op, rewrite.Op)
    assert isinstance(rw, rewrite.Rewriter)
    assert isinstance(value, rewrite.Operand)
    for late in [lambda: op.name, lambda: rw.emit("neg", value), lambda: value.type, lambda: op.operands]:
        with pytest.raises(errors.CallbackError):
            late()


@pytest.mark.parametrize("most", [100, 1000, None])
def test_patterns_that_take_turns_end(most: int | None) -> None:
    @rewrite.pattern("neg")
    def there(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
        return rw.abs(op.operands[0])

    @rewrite.pattern("abs")
    def back(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
        return rw.neg(op.operands[0])

    program, report = rewrite.apply(double(), [there, back], max_rewrites=most)
    assert ops(program)[-1] == "return"
    assert not report.passes[0]["greedy"]["converged"]
    assert any("there" in warning for warning in report.warnings)


def test_patterns_are_checked_when_made() -> None:
    with pytest.raises(errors.InvalidValueError, match="did you mean transpose"):
        rewrite.pattern("transpos")(lambda op, rw: None)
    with pytest.raises(errors.InvalidValueError, match="at least one op"):
        rewrite.pattern()(lambda op, rw: None)
    with pytest.raises(errors.ArgumentError, match="expected a function"):
        rewrite.Pattern(3, ["neg"], name="x")  # type: ignore[arg-type]


def test_programs_that_do_not_verify_are_refused() -> None:
    text = "ptir 1 func @main(%x: f32[2]) -> f32[2] { %y = add %x, %x : f32[3] return %y }"
    bad = ptir.parse(text, verify=False)
    with pytest.raises(errors.VerifyError):
        bad.verify()
    with pytest.raises(errors.VerifyError):
        rewrite.simplify(bad)


def test_passes_and_patterns_are_listed() -> None:
    names = [p["name"] for p in rewrite.passes()]
    assert {"canonicalize", "cse", "dce", "simplify", "inline"} <= set(names)
    assert "transpose_of_transpose" in rewrite.patterns()


def test_threads_rewrite_at_the_same_time() -> None:
    found: list[list[str]] = []

    def work() -> None:
        for _ in range(20):
            found.append(ops(rewrite.simplify(double())))
            found.append(ops(rewrite.apply(double(), [transpose_of_transpose]).program))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["neg", "return"]] * 160


def test_a_listener_receives_every_event() -> None:
    events: list[rewrite.Event] = []
    program, _ = rewrite.run(double(), "canonicalize,dce", listener=events.append)
    assert ops(program) == ["neg", "return"]
    assert [one.kind for one in events if one.kind in ("start", "end")] == ["start", "end"] * 2
    (rewritten,) = [one for one in events if one.kind == "rewrite" and one.pattern == "transpose_of_transpose"]
    assert rewritten[1:] == ("canonicalize", 0, "main", "transpose_of_transpose", "transpose %c")
    assert {one.kind for one in events} >= {"replace", "erase"}
    # Patterns written in Python cause events, too.
    events.clear()
    rewrite.apply(double(), [transpose_of_transpose], listener=events.append)
    assert [one.pattern for one in events if one.kind == "rewrite"] == ["transpose_of_transpose"]


def test_an_exception_of_a_listener_ends_the_run() -> None:
    events = []

    def listener(event: rewrite.Event) -> None:
        events.append(event)
        raise KeyError("mine")

    for run in (
        lambda: rewrite.run(double(), listener=listener),
        lambda: rewrite.apply(double(), [transpose_of_transpose], listener=listener),
    ):
        events.clear()
        with pytest.raises(KeyError, match="mine"):
            run()
        assert len(events) == 1


def test_a_cycle_of_patterns_ends_and_is_named() -> None:
    @rewrite.pattern("add")
    def to_sub(op: Any, rw: Any) -> Any:
        return rw.sub(op.operands[0], rw.neg(op.operands[1]))

    @rewrite.pattern("sub")
    def to_add(op: Any, rw: Any) -> Any:
        negated = op.operands[1].definition
        return rw.add(op.operands[0], negated.operands[0]) if negated and negated.name == "neg" else None

    program = ptir.parse("ptir 1 func @f(%x: f32[4], %y: f32[4]) -> f32[4] { %a = add %x, %y : f32[4] return %a }")
    report = rewrite.apply(program, [to_sub, to_add]).report
    warning = "canonicalize: @f: patterns rewrite each other's results in a cycle: `to_add`, `to_sub`"
    assert [sorted(names) for names in report.passes[0]["greedy"]["cycles"]] == [["to_add", "to_sub"]]
    assert warning in [one.replace("`to_sub`, `to_add`", "`to_add`, `to_sub`") for one in report.warnings]
    assert str(report).splitlines()[-1].startswith("warning: canonicalize: @f: patterns rewrite each other's results")
