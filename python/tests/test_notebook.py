"""Display of programs in notebooks, and their pages."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from sapwood import ir, ptir

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
    (page,) = re.findall(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts"', shown)
    assert html.unescape(page) == program.to_html()
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
    assert "<iframe" not in shown and "more lines" in shown
    assert len(shown) < 150_000
