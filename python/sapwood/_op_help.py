"""Signatures and documentation of ops, for `help` and editors: methods of builders and rewriters, and ``pi.op``."""

from __future__ import annotations

import inspect
from typing import Any

from sapwood import _native

__all__ = ["call_documentation", "call_signature", "find_op", "method_signature"]

_RESULT_TYPE = "the result type"


def find_op(name: str) -> Any:
    """Returns the definition of an op; ``None`` if it is not registered."""
    return next((one for one in _native.ptir_ops() if one["name"] == name), None)


def method_signature(name: str) -> inspect.Signature | None:
    """Returns the signature of the method of a builder for an op: operands and regions are positional, attributes are keywords."""
    op = find_op(name)
    if op is None:
        return None
    return inspect.Signature([*_positional([*op["operands"], *op["regions"]]), *_keywords(op, [])])


def call_signature(name: str) -> inspect.Signature | None:
    """Returns the signature of a call of an op in a function of the front-end IR, where a region is a keyword, too."""
    op = find_op(name)
    return None if op is None else inspect.Signature([*_positional(op["operands"]), *_keywords(op, op["regions"])])


def call_documentation(name: str) -> str | None:
    """Returns the documentation of an op with that of its attributes."""
    op = find_op(name)
    if op is None:
        return None
    attributes = [f"    {key}: {one['kind']}. {one['doc']}" for key, one in op["attributes"].items()]
    return "\n".join([op["doc"], *(["", "Attributes:", *attributes] if attributes else [])])


def _positional(names: list[str]) -> list[inspect.Parameter]:
    several = [name for name in names if name.endswith("...")]
    if not several:
        return [_parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    at = names.index(several[0])
    # Python has one parameter for all that follows.
    rest = "operands" if names[at + 1 :] else several[0].removesuffix("...")
    before = [_parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names[:at]]
    return [*before, inspect.Parameter(rest, inspect.Parameter.VAR_POSITIONAL)]


def _parameter(name: str, kind: Any) -> inspect.Parameter:
    default = None if name.endswith("?") else inspect.Parameter.empty
    return inspect.Parameter(name.removesuffix("?"), kind, default=default)


def _keywords(op: Any, regions: list[str]) -> list[inspect.Parameter]:
    made = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation="a word") for name in regions]
    for name, one in op["attributes"].items():
        default = inspect.Parameter.empty if one["required"] else one["default"]
        if one["kind"] == _RESULT_TYPE:
            name = "result_types" if name == "types" else "result_type"
        made.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=one["kind"]))
    return made
