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
    "Difference",
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
    """One difference between two programs; prints as ``sapwood diff`` shows it."""

    function: str
    """The function it is in."""
    change: str
    """``"inserted"``, ``"erased"``, ``"replaced"``, ``"attribute"``, ``"operand"``, ``"type"``, ``"region"``, ``"moved"``,
    ``"signature"`` or ``"sharing"``."""
    before: str
    """The instruction in the first program."""
    after: str
    """The instruction in the second."""
    text: str
    """All of it, as text."""

    def __str__(self) -> str:
        return self.text


class Mismatch(NamedTuple):
    """Where two programs first differ, and why."""

    left: str
    """The place in the first program: ``@f.body[0].operands[1]``."""
    right: str
    """The place in the second."""
    reason: str
    """Why they differ."""
    text: str
    """All of it, with both instructions."""

    def __str__(self) -> str:
        return self.text


class AttributeInfo(TypedDict):
    """An attribute of an op."""

    kind: str
    doc: str
    required: bool
    default: object


class OpInfo(TypedDict):
    """An op, as its table has it."""

    name: str
    family: str
    doc: str
    operands: list[str]
    regions: list[str]
    attributes: dict[str, AttributeInfo]
    commutative: bool
    elementwise: bool


def parse(text: str, filename: str = "<text>", *, verify: bool = True) -> Program:
    """Reads a program. Problems, all of them, are a ``ParseError`` with lines and carets."""
    return _native.ptir_parse(text, filename, verify)


def from_json(text: str) -> Program:
    """Reads a program from its JSON form, what ``Program.to_json`` gives."""
    return _native.ptir_from_json(text)


def from_stablehlo(text: str, filename: str = "<text>") -> Program:
    """Reads a StableHLO module, what ``jax.jit(f).lower(...).as_text()`` prints.

    What it says beside what is computed (names, shardings, attributes of others) is written back by `to_stablehlo`, also after
    passes, pickle and copy; JSON has the program alone. What had to be left out is in ``program.notes``.
    """
    return _native.stablehlo_read(text, filename)


def to_stablehlo(program: Program) -> str:
    """The program as the text of a StableHLO module."""
    return _native.stablehlo_write(program)


def _function_from_json(text: str) -> Function:
    return from_json(text).functions[0]


def equal(left: Program | Function, right: Program | Function, *, ordered: bool = False) -> bool:
    """Whether both are the same up to names and, unless ``ordered``, up to the order of independent instructions."""
    return _native.ptir_equal(left, right, ordered)


def hash(value: Program | Function, *, ordered: bool = False) -> int:  # noqa: A001
    """A number of 128 bits: equal for equal programs, the same in every process."""
    return _native.ptir_hash(value, ordered)


def first_mismatch(
    left: Program | Function, right: Program | Function, *, ordered: bool = False
) -> Mismatch | None:
    """Where both first differ and why; ``None`` if they are equal."""
    found = _native.ptir_first_mismatch(left, right, ordered)
    return None if found is None else Mismatch(*found)


def diff(
    left: Program | Function, right: Program | Function, *, ordered: bool = False
) -> list[Difference]:
    """All differences; instructions that only moved or were renamed are none."""
    return [Difference(*row) for row in _native.ptir_diff(left, right, ordered)]


def ops() -> list[OpInfo]:
    """The ops there are, in the order of the reference."""
    return _native.ptir_ops()
