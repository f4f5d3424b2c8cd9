"""Display of IR nodes in notebooks."""

from __future__ import annotations

import html
import re
from typing import Any

_WORDS = re.compile(
    r"(?P<keyword>\b(?:def|if|else|for|while|in|return|and|or|not|pass|None|True|False)\b)"
    r"|(?P<number>\b\d[\w.]*)"
    r"|(?P<call>\bpi\.\w+)"
    r"|(?P<text>&quot;.*?&quot;|&#x27;.*?&#x27;)"
)
_COLORS = {"keyword": "#7a3e9d", "number": "#0b6e4f", "call": "#1f5fa8", "text": "#a0522d"}
#: The most characters of a node that a notebook shows.
_MAX_CHARACTERS = 20_000


def highlight_node(node: Any) -> str:
    """Returns the text of a node as highlighted HTML; nodes without a text form are shown abridged."""
    try:
        text = str(node)
    except ValueError:
        text = repr(node)
    if len(text) > _MAX_CHARACTERS:
        text = f"{text[:_MAX_CHARACTERS]}\n… {len(text) - _MAX_CHARACTERS} more characters"

    def color(found: re.Match[str]) -> str:
        return f'<span style="color:{_COLORS[found.lastgroup or "text"]}">{found.group()}</span>'

    return f"<pre>{_WORDS.sub(color, html.escape(text))}</pre>"
