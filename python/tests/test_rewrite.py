"""Passes and patterns from Python."""

from __future__ import annotations

import threading

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


def test_a_pipeline_tells_what_it_did() -> None:
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

    with pytest.raises(errors.ArgumentError, match="one value per result, not int"):
        rewrite.apply(double(), [number])


def test_what_does_not_fit_is_said() -> None:
    @rewrite.pattern("neg")
    def wrong(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
        return rw.transpose(op.operands[0], perm=[5, 5])

    with pytest.raises(errors.InvalidValueError, match="transpose"):
        rewrite.apply(double(), [wrong])


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
    with pytest.raises(errors.InvalidValueError, match="one op at least"):
        rewrite.pattern()(lambda op, rw: None)
    with pytest.raises(errors.ArgumentError, match="a pattern is a function"):
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


def test_a_listener_hears_every_step() -> None:
    heard: list[rewrite.Event] = []
    program, _ = rewrite.run(double(), "canonicalize,dce", listener=heard.append)
    assert ops(program) == ["neg", "return"]
    assert [one.kind for one in heard if one.kind in ("start", "end")] == ["start", "end"] * 2
    (rewritten,) = [one for one in heard if one.kind == "rewrite"]
    assert rewritten[1:] == ("canonicalize", 0, "main", "transpose_of_transpose", "transpose %b")
    assert {one.kind for one in heard} >= {"replace", "erase"}
    # Patterns of Python's are heard, too.
    heard.clear()
    rewrite.apply(double(), [transpose_of_transpose], listener=heard.append)
    assert [one.pattern for one in heard if one.kind == "rewrite"] == ["transpose_of_transpose"]


def test_what_a_listener_raises_ends_the_run() -> None:
    heard = []

    def listener(event: rewrite.Event) -> None:
        heard.append(event)
        raise KeyError("mine")

    for run in (
        lambda: rewrite.run(double(), listener=listener),
        lambda: rewrite.apply(double(), [transpose_of_transpose], listener=listener),
    ):
        heard.clear()
        with pytest.raises(KeyError, match="mine"):
            run()
        assert len(heard) == 1
