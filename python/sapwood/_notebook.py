"""Display of programs in notebooks: highlighted text and a graph."""

from __future__ import annotations

import html
import re

__all__ = ["highlight_program", "program_html"]

#: The most lines of a program that a notebook shows; a last line tells how many follow.
MAX_LINES = 500

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


def highlight_program(text: str) -> str:
    """Returns the text of a program as escaped and highlighted HTML, shortened to `MAX_LINES` lines."""
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        text = "\n".join([*lines[:MAX_LINES], f"// … and {len(lines) - MAX_LINES} more lines"])
    parts: list[str] = []
    last = 0
    for match in _TOKEN.finditer(text):
        parts.append(html.escape(text[last : match.start()]))
        colour = _COLOURS[match.lastgroup or "word"]
        parts.append(f'<span style="color:{colour}">{html.escape(match.group())}</span>')
        last = match.end()
    parts.append(html.escape(text[last:]))
    return f'<pre style="line-height:1.35">{"".join(parts)}</pre>'


def program_html(text: str, page: str | None) -> str:
    """Returns HTML with the text of a program and, below it, its graph in a sandboxed frame."""
    if page is None:
        return highlight_program(text)
    graph = (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" loading="lazy" title="graph" '
        'style="width:100%;height:32em;border:1px solid #d0d7de"></iframe>'
    )
    return f"{highlight_program(text)}<details><summary>graph</summary>{graph}</details>"
