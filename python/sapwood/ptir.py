"""Tensor programs in SSA form: read, build, print, verify, compare, run.

>>> from sapwood import ptir
>>> b = ptir.Builder("main")
>>> x = b.parameter("x", "f32[2]")
>>> program = ptir.Program([b.finish(b.exp(x) + 1.0)])
>>> [r.tolist() for r in program.run([0.0, 0.0])]
[[2.0, 2.0]]
"""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from sapwood import _native
from sapwood._native import (
    Body,
    Builder,
    BuilderValue,
    CheckReport,
    Cost,
    Dim,
    Executable,
    Function,
    Instruction,
    Program,
    Region,
    Type,
    Value,
)

__all__ = [
    "AttributeInfo",
    "Body",
    "Builder",
    "BuilderValue",
    "CheckReport",
    "Cost",
    "Difference",
    "Dim",
    "Executable",
    "Function",
    "Instruction",
    "Mismatch",
    "OpInfo",
    "Program",
    "Region",
    "Type",
    "Value",
    "diff",
    "equal",
    "first_mismatch",
    "from_json",
    "from_stablehlo",
    "hash",
    "ops",
    "parse",
    "to_stablehlo",
]


class Difference(NamedTuple):
    """One difference between two programs; prints as in ``sapwood diff``."""

    function: str
    """The name of the function."""
    change: str
    """``"inserted"``, ``"erased"``, ``"replaced"``, ``"attribute"``, ``"operand"``, ``"type"``, ``"region"``, ``"moved"``,
    ``"signature"`` or ``"sharing"``."""
    before: str
    """The instruction in the first program."""
    after: str
    """The instruction in the second program."""
    text: str
    """The difference as text."""

    def __str__(self) -> str:
        return self.text


class Mismatch(NamedTuple):
    """The first mismatch of two programs."""

    left: str
    """The location in the first program: ``@f.body[0].operands[1]``."""
    right: str
    """The location in the second program."""
    reason: str
    """The reason why the programs differ."""
    text: str
    """The mismatch as text, with both instructions."""

    def __str__(self) -> str:
        return self.text


class AttributeInfo(TypedDict):
    """The definition of an attribute of an op."""

    kind: str
    doc: str
    required: bool
    default: object


class OpInfo(TypedDict):
    """The definition of an op."""

    name: str
    family: str
    doc: str
    operands: list[str]
    regions: list[str]
    attributes: dict[str, AttributeInfo]
    commutative: bool
    elementwise: bool


def parse(text: str, filename: str = "<text>", *, verify: bool = True) -> Program:
    """Parses a program. Raises a ``ParseError`` with all diagnostics and their source lines.

    >>> from sapwood import ptir
    >>> ptir.parse("ptir 1 func @f(%x: f32[2]) -> f32[2] { %y = neg %x : f32[2] return %y }").num_instructions
    2
    """
    return _native.ptir_parse(text, filename, verify)


def from_json(text: str) -> Program:
    """Reads a program from the JSON form that ``Program.to_json`` returns."""
    return _native.ptir_from_json(text)


def from_stablehlo(text: str, filename: str = "<text>") -> Program:
    """Reads a StableHLO module, as ``jax.jit(f).lower(...).as_text()`` returns it.

    Parts without a PTIR equivalent (names, shardings, foreign attributes) are written back by `to_stablehlo`, also after passes,
    pickle and copy; the JSON form contains the program alone. ``program.notes`` lists the parts that were left out.
    """
    return _native.stablehlo_read(text, filename)


def to_stablehlo(program: Program) -> str:
    """Returns the program as the text of a StableHLO module."""
    return _native.stablehlo_write(program)


def _function_from_json(text: str, ops: list[tuple[str, str]] | None = None) -> Function:
    return _native.ptir_from_json(text, None, None, ops or []).functions[0]


def equal(left: Program | Function, right: Program | Function, *, ordered: bool = False) -> bool:
    """Returns whether both are equal up to names and, unless ``ordered``, up to the order of independent instructions.

    >>> from sapwood import ptir
    >>> text = "ptir 1 func @f(%x: f32[2]) -> f32[2] { %y = neg %x : f32[2] return %y }"
    >>> ptir.equal(ptir.parse(text), ptir.parse(text.replace("%y", "%other")))
    True
    """
    return _native.ptir_equal(left, right, ordered)


def hash(value: Program | Function, *, ordered: bool = False) -> int:  # noqa: A001
    """Returns the 128-bit structural hash, which equal programs share in every process."""
    return _native.ptir_hash(value, ordered)


def first_mismatch(
    left: Program | Function, right: Program | Function, *, ordered: bool = False
) -> Mismatch | None:
    """Returns the first mismatch of both, or ``None`` if they are equal."""
    found = _native.ptir_first_mismatch(left, right, ordered)
    return None if found is None else Mismatch(*found)


def diff(
    left: Program | Function, right: Program | Function, *, ordered: bool = False
) -> list[Difference]:
    """Returns all differences. Instructions that only moved or were renamed do not count.

    >>> from sapwood import ptir
    >>> text = "ptir 1 func @f(%x: f32[2]) -> f32[2] { %y = neg %x : f32[2] return %y }"
    >>> print(*ptir.diff(ptir.parse(text), ptir.parse(text.replace("neg", "abs"))))
    ~ @f: op
        - %y = neg %x : f32[2]
        + %y = abs %x : f32[2]
    """
    return [Difference(*row) for row in _native.ptir_diff(left, right, ordered)]


def ops() -> list[OpInfo]:
    """Returns the definitions of all ops, in the order of the reference.

    >>> from sapwood import ptir
    >>> [one["name"] for one in ptir.ops()][:2]
    ['constant', 'iota']
    """
    return _native.ptir_ops()
