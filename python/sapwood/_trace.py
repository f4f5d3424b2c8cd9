"""Conversion of Python functions to subgraphs and rules, by recording their calls."""

from __future__ import annotations

import functools
import inspect
import keyword
import re
from typing import Callable

from sapwood import _native
from sapwood.errors import ArgumentError

__all__ = ["Recorder", "Term", "condition_parameters", "rule_name", "rule_text"]


class Term:
    """A term of a subgraph: a parameter or the result of an op."""

    __slots__ = ("_recorder", "_text")

    def __init__(self, text: str, recorder: Recorder) -> None:
        self._text = text
        self._recorder = recorder

    def __getitem__(self, index: int) -> Term:
        """Returns the result with this index, for an op with several results."""
        return Term(f"{self._text}.{int(index)}", self._recorder)

    def emit(self, op: str, *operands: object, **attributes: object) -> Term:
        """Records an op in the subgraph that the term belongs to."""
        return self._recorder.emit(op, *operands, **attributes)

    def __iter__(self) -> Term:
        raise ArgumentError("the number of results is unknown here; take a result by its index, as in x[0]")

    def __repr__(self) -> str:
        return f"<Term {self._text}>"


class Recorder:
    """Records a subgraph. Every op is a method: operands are positional, attributes are keywords."""

    __slots__ = ("_lines", "_shared")

    def __init__(self, *, shared: bool) -> None:
        self._lines: list[str] = []
        self._shared = shared

    def __dir__(self) -> list[str]:
        """Returns the names of the ops, with a ``_`` after those that Python reserves."""
        names = (op["name"] for op in _native.ptir_ops())
        return sorted(f"{name}_" if keyword.iskeyword(name) else name for name in names)

    def __getattr__(self, name: str) -> Callable[..., Term]:
        if name.startswith("__"):
            raise AttributeError(name)
        return functools.partial(self.emit, name.removesuffix("_"))

    def emit(self, op: str, *operands: object, **attributes: object) -> Term:
        """Records any op; the names of ops of your own have a dot."""
        parts = [_term_text(operand) for operand in operands]
        parts += [f"{key} = {_term_text(value)}" for key, value in attributes.items()]
        call = f"{op}({', '.join(parts)})"
        if not self._shared:
            return Term(call, self)
        # Each op gets its own name, so a term that is used twice is one op.
        name = f"t{len(self._lines)}_"
        self._lines.append(f"let {name} = {call}")
        return Term(name, self)


def _term_text(value: object) -> str:
    if isinstance(value, Term):
        return value._text  # noqa: SLF001
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_term_text(item) for item in value)}]"
    message = f"expected terms, numbers and lists in a subgraph, found {type(value).__name__}"
    raise ArgumentError(message)


def _parameters(function: Callable[..., object]) -> list[str]:
    names = list(inspect.signature(function).parameters)
    if not names:
        message = "the function has no parameters; the first one is the recorder, as in def f(op, x): ..."
        raise ArgumentError(message)
    return names[1:]


def rule_name(function: Callable[..., object]) -> str:
    """Returns the name of the rule that a function describes."""
    name = getattr(function, "__name__", "subgraph")
    return name if name.isidentifier() else "subgraph"


def _result(function: Callable[..., object], recorder: Recorder) -> Term:
    found = function(recorder, *(Term(name, recorder) for name in _parameters(function)))
    if not isinstance(found, Term):
        message = f"expected a term as the result of a subgraph, found {type(found).__name__}"
        raise ArgumentError(message)
    return found


def condition_parameters(condition: Callable[..., object]) -> list[str]:
    """Returns the names of the parameters of a condition; each is an argument."""
    if not callable(condition):
        raise ArgumentError(f"expected a function as a condition, found {type(condition).__name__}")
    try:
        parameters = inspect.signature(condition).parameters.values()
    except ValueError as error:
        raise ArgumentError(f"the parameters of {condition!r} are unknown; write a function around it") from error
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise ArgumentError(f"each argument of a condition is a parameter of its own, found {parameter}")
    return [parameter.name for parameter in parameters]


def rule_text(
    left: Callable[..., object],
    right: Callable[..., object] | None = None,
    *,
    name: str | None = None,
    header: str = "",
    where: str = "",
) -> str:
    """Returns the text of the rule or pattern that the functions describe, with words before its colon and a condition."""
    name = name if name is not None else rule_name(right if right is not None else left)
    recorder = Recorder(shared=True)
    root = _term_text(_result(left, recorder))
    lines = recorder._lines  # noqa: SLF001
    if not lines or not lines[-1].startswith(f"let {root} = "):
        message = "the result of a subgraph must be the last op that the function creates"
        raise ArgumentError(message)
    lines[-1] = lines[-1].removeprefix(f"let {root} = ")
    word = "pattern" if right is None else "rule"
    text = f"{word} {name}{header}:\n" + "".join(f"  {line}\n" for line in lines)
    if where:
        text += f"  where {where}\n"
    if right is not None:
        text += f"  => {_term_text(_result(right, Recorder(shared=False)))}\n"
    for parameter in _parameters(left):
        # An attribute parameter that is used once matches anything, so it is left out.
        if len(re.findall(rf"\b{parameter}\b", text)) == 1:
            text = re.sub(rf"(, )?\b\w+ = {parameter}\b", "", text)
    return text
