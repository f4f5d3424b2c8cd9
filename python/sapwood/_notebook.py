"""Display of programs and reports in notebooks: text in a monospaced font, and a static drawing."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from sapwood._svg import function_svg
from sapwood.errors import SapwoodError

if TYPE_CHECKING:
    from sapwood.ptir import Program

__all__ = ["highlight_program", "program_html", "text_html"]

#: The most lines of a program that a notebook shows; a last line tells how many follow.
MAX_LINES = 500
#: The most bytes of the highlighted text of a program. With the drawing, a cell stays below 200 kB.
MAX_TEXT_BYTES = 100_000
#: The most characters of a line that a notebook shows.
MAX_LINE_LENGTH = 2000

_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<value>%[\w.$-]+)"
    r"|(?P<function>@[\w.$-]+)"
    r"|(?P<type>\b(?:[iuf]\d+\w*|bf16|c\d+|bool|index|token|tuple)\b(?=[\[<\s,)]))"
    r"|(?P<op>(?<==\s)[a-z_][\w.]*)"
    r"|(?P<word>\b(?:ptir|func|return|yield)\b)"
    r"|(?P<number>-?\b\d[\w.+-]*)"
)

# Colours that are readable on light and dark backgrounds.
_COLOURS = {
    "comment": "#6e7781",
    "string": "#0a7f3f",
    "value": "#9a6700",
    "function": "#8250df",
    "type": "#0969da",
    "op": "#cf222e",
    "word": "#cf222e",
    "number": "#1f7a8c",
}


def text_html(text: str) -> str:
    """Returns text as HTML in a monospaced font."""
    return f'<pre style="line-height:1.35">{html.escape(text)}</pre>'


def highlight_program(text: str) -> str:
    """Returns the text of a program as escaped and highlighted HTML, shortened to `MAX_TEXT_BYTES`."""
    lines = text.splitlines()
    parts: list[str] = []
    size = 0
    for n, line in enumerate(lines):
        shown = _highlight_line(line)
        size += len(shown) + 1
        if n >= MAX_LINES or size > MAX_TEXT_BYTES:
            parts.append(f'<span style="color:{_COLOURS["comment"]}">// … and {len(lines) - n} more lines</span>')
            break
        parts.append(shown)
    shown = "\n".join(parts) + ("\n" if text.endswith("\n") else "")
    return f'<pre style="line-height:1.35">{shown}</pre>'


def _highlight_line(line: str) -> str:
    if len(line) > MAX_LINE_LENGTH:
        line = line[:MAX_LINE_LENGTH] + " …"
    parts: list[str] = []
    last = 0
    for match in _TOKEN.finditer(line):
        parts.append(html.escape(line[last : match.start()]))
        colour = _COLOURS[match.lastgroup or "word"]
        parts.append(f'<span style="color:{colour}">{html.escape(match.group())}</span>')
        last = match.end()
    parts.append(html.escape(line[last:]))
    return "".join(parts)


def program_html(program: Program, text: str) -> str:
    """Returns HTML with the text of a program and, below it, a drawing of the function that `run` runs."""
    try:
        main = program.function()
    except SapwoodError:
        main = None
    drawing = None if main is None else function_svg(main)
    graph = drawing or "too large to draw here; <code>program.to_html(path)</code> writes the whole graph as a page"
    return f"{highlight_program(text)}<details><summary>graph</summary>{graph}</details>"
