"""Subgraphs written as Python functions, and how they become rules."""

from __future__ import annotations

import inspect
import re
from typing import Callable

from sapwood.errors import ArgumentError

__all__ = ["Recorder", "Term", "written"]


class Term:
    """Something in a subgraph: a parameter, or what an op gives."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __getitem__(self, index: int) -> Term:
        """The result of this number, of an op that has several."""
        return Term(f"{self._text}.{int(index)}")

    def __iter__(self) -> Term:
        raise ArgumentError("how many results an op has is not known here: take them by number, x[0]")

    def __repr__(self) -> str:
        return f"<Term {self._text}>"


class Recorder:
    """Every op is a method: operands are positional, attributes are keywords."""

    __slots__ = ("_lines", "_shared")

    def __init__(self, *, shared: bool) -> None:
        self._lines: list[str] = []
        self._shared = shared

    def __getattr__(self, name: str) -> Callable[..., Term]:
        if name.startswith("__"):
            raise AttributeError(name)
        op = name.removesuffix("_")

        def record(*operands: object, **attributes: object) -> Term:
            parts = [_show(operand) for operand in operands]
            parts += [f"{key} = {_show(value)}" for key, value in attributes.items()]
            call = f"{op}({', '.join(parts)})"
            if not self._shared:
                return Term(call)
            # A name of its own for each op: what is used twice is one op.
            name = f"t{len(self._lines)}_"
            self._lines.append(f"let {name} = {call}")
            return Term(name)

        return record


def _show(value: object) -> str:
    if isinstance(value, Term):
        return value._text  # noqa: SLF001
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_show(item) for item in value)}]"
    message = f"a subgraph is written with terms, numbers and lists, not {type(value).__name__}"
    raise ArgumentError(message)


def _parameters(function: Callable[..., object]) -> list[str]:
    names = list(inspect.signature(function).parameters)
    if not names:
        message = "the first parameter is the recorder: def f(op, x): ..."
        raise ArgumentError(message)
    return names[1:]


def _result(function: Callable[..., object], recorder: Recorder) -> Term:
    found = function(recorder, *(Term(name) for name in _parameters(function)))
    if not isinstance(found, Term):
        message = f"a subgraph is a term, not {type(found).__name__}"
        raise ArgumentError(message)
    return found


def written(left: Callable[..., object], right: Callable[..., object] | None = None) -> str:
    """The rule that functions write, as text."""
    name = getattr(right if right is not None else left, "__name__", "subgraph")
    name = name if name.isidentifier() else "subgraph"
    recorder = Recorder(shared=True)
    root = _show(_result(left, recorder))
    lines = recorder._lines  # noqa: SLF001
    if not lines or not lines[-1].startswith(f"let {root} = "):
        message = "the op that a subgraph gives is the last one it makes"
        raise ArgumentError(message)
    lines[-1] = lines[-1].removeprefix(f"let {root} = ")
    word = "pattern" if right is None else "rule"
    text = f"{word} {name}:\n" + "".join(f"  {line}\n" for line in lines)
    if right is not None:
        text += f"  => {_show(_result(right, Recorder(shared=False)))}\n"
    for parameter in _parameters(left):
        # An attribute that nothing else depends on may be anything: it is left out.
        if len(re.findall(rf"\b{parameter}\b", text)) == 1:
            text = re.sub(rf"(, )?\b\w+ = {parameter}\b", "", text)
    return text
