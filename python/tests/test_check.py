"""The comparison of the results of two programs, and pages about runs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from sapwood import errors, ptir, rewrite


def program(body: str) -> ptir.Program:
    return ptir.parse(f"ptir 1 func @f(%x: f32[4]) -> f32[4] {{ {body} return %y }}")


NEGATED_TWICE = program("%a = neg %x : f32[4] %y = neg %a : f32[4]")


def test_equivalent_programs() -> None:
    report = NEGATED_TWICE.check(NEGATED_TWICE.simplify())
    assert report and report.verdict == "same" and report.runs >= 4 and report.worst == 0
    assert str(report) == f"the same on {report.runs} inputs"
    assert repr(report) == f"<CheckReport: {report}>"
    (function,) = report.functions
    assert function["name"] == "f" and function["results"][0]["compared"] >= 16


def test_different_programs() -> None:
    report = NEGATED_TWICE.check(program("%y = abs %x : f32[4]"))
    assert not report and report.verdict == "different"
    assert report.messages[0].startswith("@f, result 0, element [")
    assert any(line.startswith("  input 0: ") for line in report.messages)
    assert str(report).endswith("different")


def test_given_inputs() -> None:
    other = program("%y = abs %x : f32[4]")
    # They differ only for negative numbers.
    assert NEGATED_TWICE.check(other, inputs=[np.arange(4, dtype=np.float32)])
    assert not NEGATED_TWICE.check(other, inputs=[[-1, 0, 0, 0]])
    with pytest.raises(errors.ArgumentError, match="takes 1 inputs, but `inputs` has 2"):
        NEGATED_TWICE.check(other, inputs=[1, 2])


def test_float_modes() -> None:
    quotient = program("%c = constant 3.0 : f32[4] %y = div %x, %c : f32[4]")
    product = program("%c = constant 0.33333334 : f32[4] %y = mul %x, %c : f32[4]")
    assert not quotient.check(product)
    assert quotient.check(product, float="fast").verdict == "within tolerance"
    with pytest.raises(errors.InvalidValueError, match="sloppy"):
        quotient.check(product, float="sloppy")


def test_inlining() -> None:
    two = ptir.parse(
        "ptir 1 func @main(%x: f32[4]) -> f32[4] { %y = call @g %x : f32[4] return %y } "
        "func @g(%x: f32[4]) -> f32[4] {private = true} { %a = neg %x : f32[4] %y = neg %a : f32[4] return %y }"
    )
    assert len(two.simplify()) == 2
    one = two.simplify(inline=True)
    assert len(one) == 1 and one.num_instructions == 1
    assert ptir.equal(one, rewrite.simplify(two, inline=True))
    assert two.check(one)


def test_a_report_is_a_page(tmp_path: Path) -> None:
    simpler, report = rewrite.run(NEGATED_TWICE)
    path = tmp_path / "run.html"
    page = report.to_html(path, title="twice")
    assert path.read_text(encoding="utf-8") == page and "<title>twice</title>" in page
    assert '"neg_of_neg"' in page and '"check":null' in page
    checked = report.to_html(check=NEGATED_TWICE.check(simpler))
    assert "the same on" in checked and ">@f</title>" in checked
    assert "the same on" not in report.to_html()


def test_a_recorded_run_is_not_repeated_for_a_page() -> None:
    calls = []

    @rewrite.pattern("neg")
    def neg_as_sub(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
        calls.append(op.name)
        return rw.sub(0.0, op.operands[0])

    report = rewrite.apply(NEGATED_TWICE, [neg_as_sub], record=True).report
    called = len(calls)
    page = report.to_html()
    assert called >= 2 and "neg_as_sub" in page and len(calls) == called
    # Without a recording, the patterns run once more, for the first page.
    report = rewrite.apply(NEGATED_TWICE, [neg_as_sub]).report
    called = len(calls)
    assert "neg_as_sub" in report.to_html() and len(calls) > called
    called = len(calls)
    assert "neg_as_sub" in report.to_html() and len(calls) == called


def test_a_run_that_cannot_be_repeated_has_no_wrong_page() -> None:
    replacements = iter(["exp", "tanh"])

    @rewrite.pattern("abs")
    def changing(op: rewrite.Op, rw: rewrite.Rewriter) -> object:
        kind = next(replacements)
        return rw.exp(op.operands[0]) if kind == "exp" else rw.tanh(op.operands[0])

    program = ptir.parse("ptir 1 func @f(%x: f32[4]) -> f32[4] { %y = abs %x : f32[4] return %y }")
    report = rewrite.apply(program, [changing]).report
    with pytest.raises(errors.RewriteError, match="record=True"):
        report.to_html()
    # The iterator is empty now, so the pattern raises.
    with pytest.raises(StopIteration):
        report.to_html()


def test_pages_do_not_read_files_of_rules_again(tmp_path: Path) -> None:
    rules = tmp_path / "a.rules"
    rules.write_text("rule twice_negated: neg(neg(x)) => x\n", encoding="utf-8")
    _, report = rewrite.run(NEGATED_TWICE, f"rules{{file={rules}}}")
    rules.unlink()
    assert "twice_negated" in report.to_html()


@pytest.mark.parametrize("record", [True, False])
def test_threads_get_the_same_page(record: bool) -> None:  # noqa: FBT001
    rule = rewrite.rules("rule twice_negated: neg(neg(x)) => x")[0]
    report = rewrite.apply(NEGATED_TWICE, [rule], record=record).report
    with ThreadPoolExecutor(8) as pool:
        pages = set(pool.map(lambda _: report.to_html(), range(32)))
    assert len(pages) == 1 and "twice_negated" in pages.pop()


def test_ops_are_completed() -> None:
    names = dir(ptir.Builder("f"))
    assert {"add", "not_", "reduce_sum", "parameter", "finish"} <= set(names) and "not" not in names
    assert names == sorted(set(names))
    seen: list[str] = []

    @rewrite.pattern("neg")
    def look(op: rewrite.Op, rw: rewrite.Rewriter) -> None:
        seen.extend(dir(rw))

    rewrite.apply(NEGATED_TWICE, [look])
    assert {"add", "emit", "float_mode"} <= set(seen)

    @rewrite.subgraph
    def graph(op: rewrite.Recorder, x: rewrite.Term) -> rewrite.Term:
        assert {"exp", "not_"} <= set(dir(op))
        return op.exp(x)
