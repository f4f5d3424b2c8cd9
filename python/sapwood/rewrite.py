"""Rewriting of tensor programs: passes, pipelines, patterns.

Programs do not change; each call gives a new one.

>>> from sapwood import ptir, rewrite
>>> program = ptir.parse('''ptir 1
... func @main(%x: i32[4]) -> i32[4] {
...   %0 = constant 0 : i32[4]
...   %1 = add %x, %0 : i32[4]
...   return %1
... }''')
>>> print(rewrite.simplify(program))
ptir 1
<BLANKLINE>
func @main(%x: i32[4]) -> i32[4] {
  return %x
}
<BLANKLINE>
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Literal, NamedTuple, TypedDict, Union

from sapwood import _native
from sapwood._native import Op, Operand, Pattern, Report, Rewriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sapwood.ptir import Program

__all__ = [
    "Op",
    "Operand",
    "PassInfo",
    "Pattern",
    "Report",
    "Result",
    "Rewriter",
    "apply",
    "passes",
    "pattern",
    "patterns",
    "run",
    "simplify",
]

FloatMode = Literal["exact", "nsz", "fast"]
PatternFunction = Callable[[Op, Rewriter], Union[Operand, "Sequence[Operand]", None]]


class Result(NamedTuple):
    """What a pipeline made, and what it did."""

    program: Program
    """The new program."""
    report: Report
    """Times, counts, patterns."""


class PassInfo(TypedDict):
    """A pass, as pipelines know it."""

    name: str
    doc: str
    options: dict[str, str]


def run(
    program: Program,
    pipeline: str = "simplify",
    *,
    threads: int = 1,
    verify_each: bool = True,
    diffs: bool = False,
) -> Result:
    """Runs a pipeline: ``run(p, "canonicalize{max-iterations=4},cse")``. Functions are worked on in parallel."""
    made, report = _native.run_pipeline(
        program, pipeline, threads=threads, verify_each=verify_each, diffs=diffs
    )
    return Result(made, report)


def simplify(program: Program, *, float: FloatMode = "exact") -> Program:  # noqa: A002
    """The program without what is not needed: folded, canonical, equal instructions merged, dead ones gone."""
    return run(program, f"simplify{{float={float}}}").program


def pattern(
    *ops: str, name: str | None = None, benefit: int = 1, hops: int = 2
) -> Callable[[PatternFunction], Pattern]:
    """Makes a pattern of a function.

    The function gets an instruction of one of ``ops`` and a rewriter, and gives the values that replace the results, or
    ``None`` where there is nothing to do. It may look ``hops`` definitions far.

    >>> from sapwood import rewrite
    >>> @rewrite.pattern("neg")
    ... def neg_of_neg(op, rw):
    ...     inner = op.operands[0].definition
    ...     return inner.operands[0] if inner and inner.name == "neg" else None
    """

    def decorate(function: PatternFunction) -> Pattern:
        chosen = name if name is not None else getattr(function, "__name__", "pattern")
        return Pattern(function, list(ops), name=chosen, benefit=benefit, hops=hops)

    return decorate


def apply(
    program: Program,
    patterns: Iterable[Pattern],
    *,
    shipped: bool = False,
    merge: bool = False,
    float: FloatMode = "exact",  # noqa: A002
    max_rewrites: int | None = None,
) -> Result:
    """Applies patterns until none fires; with the ``shipped`` ones too, merging equal instructions, if so asked."""
    made, report = _native.apply_patterns(
        program,
        list(patterns),
        shipped=shipped,
        merge=merge,
        float=float,
        max_rewrites=max_rewrites,
    )
    return Result(made, report)


def passes() -> list[PassInfo]:
    """The passes that pipelines know."""
    return _native.rewrite_passes()


def patterns() -> list[str]:
    """The names of the patterns that are shipped."""
    return _native.rewrite_patterns()
