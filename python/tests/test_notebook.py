"""Display of programs in notebooks, and their pages."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from sapwood import ir, ptir, rewrite

TEXT = """ptir 1

func @f(%x: f32[4]) -> f32[4] {
  %y = exp %x : f32[4]
  return %y
}
"""


def plain(shown: str) -> str:
    """Returns the visible text of an HTML fragment."""
    return html.unescape(re.sub(r"<[^>]*>", "", shown.partition("</pre>")[0]))


def test_a_program_is_a_page(tmp_path: Path) -> None:
    program = ptir.parse(TEXT)
    page = program.to_html()
    assert page.startswith("<!doctype html>") and "</html>" in page and ">@f</title>" in page
    assert program.to_html(tmp_path / "f.html", title="a < b") == (tmp_path / "f.html").read_text(encoding="utf-8")
    assert "<title>a &lt; b</title>" in (tmp_path / "f.html").read_text(encoding="utf-8")
    assert program.to_html(str(tmp_path / "f.html")) == page
    assert [path.name for path in tmp_path.iterdir()] == ["f.html"]


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "nowhere" / "f.html"):
        with pytest.raises(OSError, match=r"irectory"):
            ptir.parse(TEXT).to_html(path)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(TypeError):
        ptir.parse(TEXT).to_html(3)  # type: ignore[arg-type]


def test_notebooks_show_text_and_graph() -> None:
    program = ptir.parse(TEXT)
    shown = program._repr_html_()
    assert plain(shown) == TEXT
    assert '<span style="color:#cf222e">exp</span>' in shown
    drawing = shown[shown.index("<svg") :]
    assert "<script" not in shown and "<iframe" not in shown
    assert re.findall(r">([^<>]+)</text>", drawing) == ["%x", "f32[4]", "exp", "f32[4]", "return"]
    assert drawing.count("<path") == 2
    # No part of a program is interpreted as markup.
    odd = ptir.parse(TEXT.replace("exp %x", 'custom.op %x {s = "</pre><script>alert(1)</script>"}'))
    assert "<script>alert" not in odd._repr_html_()
    assert "exp" in plain(program["f"]._repr_html_())
    assert "x" in ir.Var("x", ir.UnknownType())._repr_html_()


def test_large_programs_are_abridged() -> None:
    b = ptir.Builder("f")
    x = b.parameter("x", "f32[4]")
    for _ in range(3000):
        x = b.exp(x)
    shown = ptir.Program([b.finish(x)])._repr_html_()
    assert "<svg" not in shown and "program.to_html(path)" in shown and "more lines" in shown
    assert len(shown.encode()) <= 200_000


def test_cells_stay_small() -> None:
    """Text and drawing together have at most 200 kB, whatever the names, types and number of edges."""
    b = ptir.Builder("f")
    values = [b.parameter("p" * 300 + str(n), "f32[4]") for n in range(90)]
    for _ in range(100):
        values.append(b.concat(*values[-90:], axis=0, result_type="f32[360]") if len(values) < 91 else b.exp(values[-1]))
    shown = ptir.Program([b.finish(values[-1])])._repr_html_()
    assert "<svg" in shown and len(shown.encode()) <= 200_000


def test_the_drawing_shows_reads_of_regions() -> None:
    program = ptir.parse("""ptir 1
func @f(%p: bool[], %x: f32[4]) -> f32[4] {
  %y = cond %p () {
    %a = neg %x : f32[4]
    yield %a
  } () {
    yield %x
  } : f32[4]
  return %y
}""")
    drawing = program._repr_html_()
    assert drawing.count("<path") == 3  # from %p and %x to the cond, and from there to the results


def test_reports_are_shown() -> None:
    program = ptir.parse(TEXT.replace("return %y", "%z = neg %y : f32[4]\n  %w = neg %z : f32[4]\n  return %w"))
    simpler, report = rewrite.run(program)
    assert "<pre" in report._repr_html_() and "neg_of_neg" in report._repr_html_()
    checked = program.check(simpler)
    assert "the same on" in checked._repr_html_()
