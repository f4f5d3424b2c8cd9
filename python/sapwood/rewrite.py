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
from sapwood._native import Op, Operand, Pattern, Report, Rewriter, Rule, Subgraph
from sapwood._trace import Recorder, Term, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sapwood._native import Span
    from sapwood.ptir import Instruction, Program, Value

__all__ = [
    "Event",
    "Extraction",
    "Listener",
    "Match",
    "NearMiss",
    "Op",
    "Operand",
    "PassInfo",
    "Pattern",
    "Recorder",
    "Report",
    "Result",
    "Rewriter",
    "Rule",
    "Subgraph",
    "Term",
    "apply",
    "check_rule",
    "explain",
    "extract",
    "find_matches",
    "passes",
    "pattern",
    "patterns",
    "rule",
    "rules",
    "run",
    "simplify",
    "subgraph",
    "subgraphs",
]

FloatMode = Literal["exact", "nsz", "fast"]
PatternFunction = Callable[[Op, Rewriter], Union[Operand, "Sequence[Operand]", None]]


class Result(NamedTuple):
    """What a pipeline made, and what it did."""

    program: Program
    """The new program."""
    report: Report
    """Times, counts, patterns."""


class Event(NamedTuple):
    """Something that a pass did, as a listener is told."""

    kind: str
    """``"start"``, ``"rewrite"``, ``"fold"``, ``"merge"``, ``"insert"``, ``"replace"``, ``"change"``, ``"erase"`` or ``"end"``."""
    pass_name: str
    """The pass with its options, as pipelines state it."""
    depth: int
    """How many passes it runs in."""
    function: str | None
    """The function it happens in; ``None`` for start and end."""
    pattern: str | None
    """The pattern that is applied, of a ``"rewrite"``; the edits that follow are its."""
    text: str
    """The instruction by its op and its first result, or the value that is replaced and the one in its place."""


Listener = Callable[[Event], object]


def _told(listener: Listener | None) -> Callable[..., object] | None:
    return None if listener is None else lambda *event: listener(Event(*event))


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
    listener: Listener | None = None,
) -> Result:
    """Runs a pipeline: ``run(p, "canonicalize{max-iterations=4},cse")``. With ``threads``, functions are worked on in parallel.

    A ``listener`` is called with every `Event` as it happens, on this thread; what it raises ends the run.
    """
    made, report = _native.run_pipeline(
        program,
        pipeline,
        threads=threads,
        verify_each=verify_each,
        diffs=diffs,
        listener=_told(listener),
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
    patterns: Iterable[Pattern | Rule],
    *,
    shipped: bool = False,
    merge: bool = False,
    float: FloatMode = "exact",  # noqa: A002
    max_rewrites: int | None = None,
    verify: bool = True,
    listener: Listener | None = None,
) -> Result:
    """Applies patterns and rules until none fires; with the ``shipped`` ones too, merging equal instructions, if so asked.

    Every rewrite is verified. One that leaves an invalid program, or replaces a value by one of another type, raises a
    `RewriteError` that names the pattern; ``verify=False`` switches this off.
    """
    made, report = _native.apply_patterns(
        program,
        patterns,
        shipped=shipped,
        merge=merge,
        float=float,
        max_rewrites=max_rewrites,
        verify=verify,
        listener=_told(listener),
    )
    return Result(made, report)


def passes() -> list[PassInfo]:
    """The passes that pipelines know."""
    return _native.rewrite_passes()


def patterns() -> list[str]:
    """The names of the patterns that are shipped."""
    return _native.rewrite_patterns()


class Match(TypedDict):
    """A place where a subgraph was found."""

    pattern: str
    function: str
    legal: bool
    """Whether it can be replaced."""
    reason: str | None
    """Why not."""
    ops: tuple[Instruction, ...]
    """The instructions, in the order of the subgraph."""
    bindings: dict[str, Value]
    """What the names of the subgraph stand for."""
    attributes: dict[str, object]
    """What its attribute names stand for."""
    by_name: bool
    """Whether a call was taken for an instance by the name of what it calls."""


class NearMiss(NamedTuple):
    """A place where a subgraph was not found, and why."""

    pattern: str
    function: str
    found: int
    """How many ops were found."""
    of: int
    """How many there are."""
    op: str
    """The op that was missing."""
    reason: str
    span: Span


class Extraction(NamedTuple):
    """A program in which subgraphs have become calls."""

    program: Program
    calls: list[tuple[str, str, str]]
    """Subgraph, function, and the name of the new function, for each call."""
    refused: list[tuple[str, str, str]]
    """Subgraph, function, and the reason, for each match that could not be replaced."""


def subgraphs(text: str, filename: str = "<text>") -> list[Subgraph]:
    """Reads functions as subgraphs: parameters stand for anything, what they return are the outputs."""
    return _native.read_subgraphs(text, filename)


def rules(text: str, filename: str = "<rules>") -> list[Rule]:
    """Reads rules: ``rule r: neg(neg(x)) => x``. All that is wrong is a ``ParseError`` with carets."""
    return _native.read_rules(text, filename)


def subgraph(function: Callable[..., object]) -> Subgraph:
    """The subgraph that a function writes.

    The function gets a recorder, on which every op is a method, and a term for each of its other parameters. Terms stand
    for anything: values where they are operands, attributes where they are attributes.

    >>> from sapwood import rewrite
    >>> @rewrite.subgraph
    ... def square_sum(op, x, y):
    ...     return op.add(op.mul(x, x), y)
    >>> square_sum.num_ops
    2
    """
    return rules(written(function))[0].subgraph


def rule(left: Callable[..., object]) -> Callable[[Callable[..., object]], Rule]:
    """The rule that two functions write: the subgraph you mean, and the one you want.

    >>> from sapwood import rewrite
    >>> @rewrite.rule(lambda op, x: op.neg(op.neg(x)))
    ... def neg_of_neg(op, x):
    ...     return x
    >>> rewrite.check_rule(neg_of_neg) is None
    True
    """

    def decorate(right: Callable[..., object]) -> Rule:
        return rules(written(left, right))[0]

    return decorate


def find_matches(
    program: Program,
    patterns: Iterable[Subgraph | Rule],
    *,
    typed: bool = False,
    operand_order: bool = False,
) -> list[Match]:
    """All places where subgraphs are, in the order of the program."""
    return _native.rewrite_find(
        program, patterns, typed=typed, operand_order=operand_order
    )


def explain(
    program: Program, patterns: Iterable[Subgraph | Rule], *, limit: int = 3
) -> list[NearMiss]:
    """Why subgraphs are not where they might be: near misses first, at most ``limit`` per subgraph and function."""
    rows = _native.rewrite_explain(program, patterns, limit=limit)
    return [NearMiss(*row) for row in rows]


def extract(
    program: Program,
    patterns: Iterable[Subgraph | Rule],
    *,
    typed: bool = False,
    share: bool = False,
    keep_nested: bool = False,
    keep_unused: bool = False,
) -> Extraction:
    """Makes a function of each match, and a call in its place."""
    return Extraction(
        *_native.rewrite_extract(
            program,
            patterns,
            typed=typed,
            share=share,
            keep_nested=keep_nested,
            keep_unused=keep_unused,
        )
    )


def check_rule(rule: Rule, *, seed: int = 0) -> str | None:
    """Runs both sides of a rule on random shapes, types and values: ``None`` if they agree, else a counterexample."""
    return _native.rewrite_check_rule(rule, seed=seed)
