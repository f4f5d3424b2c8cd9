"""How programs look in notebooks: their text, coloured, and their graph."""

from __future__ import annotations

import html
import re

__all__ = ["highlighted", "shown"]

#: A notebook shows so many lines of a program, and says how many there are.
MOST_LINES = 500

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

# Colours that can be read on light and on dark.
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


def highlighted(text: str) -> str:
    """The text of a program as HTML, escaped and coloured; of a long one, the first lines."""
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        text = "\n".join([*lines[:MOST_LINES], f"// … and {len(lines) - MOST_LINES} more lines"])
    parts: list[str] = []
    last = 0
    for match in _TOKEN.finditer(text):
        parts.append(html.escape(text[last : match.start()]))
        colour = _COLOURS[match.lastgroup or "word"]
        parts.append(f'<span style="color:{colour}">{html.escape(match.group())}</span>')
        last = match.end()
    parts.append(html.escape(text[last:]))
    return f'<pre style="line-height:1.35">{"".join(parts)}</pre>'


def shown(text: str, page: str | None) -> str:
    """The text of a program and, below it, its graph: a page of its own, which can reach nothing outside."""
    if page is None:
        return highlighted(text)
    graph = (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" loading="lazy" title="graph" '
        'style="width:100%;height:32em;border:1px solid #d0d7de"></iframe>'
    )
    return f"{highlighted(text)}<details><summary>graph</summary>{graph}</details>"
