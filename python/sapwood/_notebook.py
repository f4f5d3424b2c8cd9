"""How programs look in notebooks: their text, coloured."""

from __future__ import annotations

import html
import re

__all__ = ["highlighted"]

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
    """The text of a program as HTML, escaped and coloured."""
    parts: list[str] = []
    last = 0
    for match in _TOKEN.finditer(text):
        parts.append(html.escape(text[last : match.start()]))
        colour = _COLOURS[match.lastgroup or "word"]
        parts.append(f'<span style="color:{colour}">{html.escape(match.group())}</span>')
        last = match.end()
    parts.append(html.escape(text[last:]))
    return f'<pre style="line-height:1.35">{"".join(parts)}</pre>'
