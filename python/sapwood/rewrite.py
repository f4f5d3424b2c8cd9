"""Rewriting of tensor programs: passes, pipelines, patterns.

Programs are immutable; each call returns a new one.

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
from sapwood.errors import InvalidValueError
from sapwood._op import decompose
from sapwood._native import Op, Operand, Pattern, Report, Rewriter, Rule, Subgraph
from sapwood._trace import Recorder, Term, condition_parameters, rule_name, rule_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sapwood._native import Span
    from sapwood.ptir import Instruction, Program, Value

__all__ = [
    "Condition",
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
    "decompose",
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
    "subgraph_from_jax",
    "subgraphs",
    "subgraphs_of",
]

FloatMode = Literal["exact", "nsz", "fast"]
Condition = Callable[..., bool]
PatternFunction = Callable[[Op, Rewriter], Union[Operand, "Sequence[Operand]", None]]


class Result(NamedTuple):
    """The result of a pipeline: the new program and a report."""

    program: Program
    """The new program."""
    report: Report
    """Times, counts, patterns."""


class Event(NamedTuple):
    """An event of a pass, which a listener receives."""

    kind: str
    """``"start"``, ``"rewrite"``, ``"fold"``, ``"merge"``, ``"insert"``, ``"replace"``, ``"change"``, ``"erase"`` or ``"end"``."""
    pass_name: str
    """The pass with its options, in the syntax of pipelines."""
    depth: int
    """The number of passes around this one."""
    function: str | None
    """The name of the function; ``None`` for start and end."""
    pattern: str | None
    """The name of the pattern for a ``"rewrite"``, which is followed by its edits; otherwise ``None``."""
    text: str
    """The instruction by its op and first result, or the replaced value and its replacement."""


Listener = Callable[[Event], object]


def _event_callback(listener: Listener | None) -> Callable[..., object] | None:
    return None if listener is None else lambda *event: listener(Event(*event))


class PassInfo(TypedDict):
    """The name, description and options of a pass."""

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
    conditions: Mapping[str, Condition] | None = None,
    condition_seconds: float = 10.0,
) -> Result:
    """Runs a pipeline, for example ``run(p, "canonicalize{max-iterations=4},cse")``, with functions in parallel on ``threads`` threads.

    ``rules{file=my.rules}`` applies the rules of a file, and ``simplify{rules=my.rules}`` applies them together with the shipped
    patterns; relative paths are relative to the working directory.

    The rules of files may call ``conditions``; see `rules`. Then functions run one after the other, on this thread.

    A ``listener`` is called with every `Event` on this thread; an exception that it raises ends the run.
    """
    made, report = _native.run_pipeline(
        program,
        pipeline,
        threads=threads,
        verify_each=verify_each,
        diffs=diffs,
        listener=_event_callback(listener),
        conditions=_conditions(conditions),
        seconds=condition_seconds,
    )
    return Result(made, report)


def simplify(
    program: Program,
    *,
    float: FloatMode = "exact",  # noqa: A002
    inline: bool = False,
) -> Program:
    """Returns a simplified program: folded and canonicalized, with equal instructions merged and dead ones removed.

    With ``inline``, functions are inlined first, and private ones that are no longer called are removed. In a program from ``from_onnx``,
    ops of ONNX are replaced by core ops first.
    """
    pipeline = f"simplify{{float={float}}}"
    if inline:
        pipeline = f"{_native.INLINE_PASSES},{pipeline}"
    if program._is_onnx:  # noqa: SLF001
        pipeline = f"onnx-to-core,{pipeline}"
    return run(program, pipeline).program


def pattern(
    *ops: str, name: str | None = None, benefit: int = 1, hops: int = 2
) -> Callable[[PatternFunction], Pattern]:
    """Returns a decorator that turns a function into a pattern.

    The function receives an instruction of one of ``ops`` and a rewriter. It returns the values that replace the results, or
    ``None`` if the pattern does not apply. It may inspect definitions at most ``hops`` steps away.

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
    record: bool = False,
) -> Result:
    """Applies patterns and rules until none fires.

    With ``shipped``, the patterns of the package are applied as well; with ``merge``, equal instructions are merged.

    Every rewrite is verified. A rewrite that leaves an invalid program, or replaces a value by one of another type, raises a
    `RewriteError` that names the pattern; ``verify=False`` disables this.

    `Report.to_html` runs the patterns again to show their steps. With ``record``, the steps of this run are kept for it, for patterns
    that have side effects or do not always give the same result.
    """
    made, report = _native.apply_patterns(
        program,
        patterns,
        shipped=shipped,
        merge=merge,
        float=float,
        max_rewrites=max_rewrites,
        verify=verify,
        listener=_event_callback(listener),
        record=record,
    )
    return Result(made, report)


def passes() -> list[PassInfo]:
    """Returns the passes that may be used in pipelines.

    >>> from sapwood import rewrite
    >>> {"canonicalize", "cse", "dce", "inline"} <= {one["name"] for one in rewrite.passes()}
    True
    """
    return _native.rewrite_passes()


def patterns() -> list[str]:
    """Returns the names of the patterns of the package.

    >>> from sapwood import rewrite
    >>> "neg_of_neg" in rewrite.patterns()
    True
    """
    return _native.rewrite_patterns()


class Match(TypedDict):
    """A match of a subgraph in a program."""

    pattern: str
    function: str
    legal: bool
    """True if the match can be replaced."""
    reason: str | None
    """The reason why it cannot be replaced, otherwise ``None``."""
    ops: tuple[Instruction, ...]
    """The matched instructions, in the order of the subgraph."""
    bindings: dict[str, Value]
    """The values that the names in the subgraph stand for."""
    attributes: dict[str, object]
    """The attributes that the attribute names in the subgraph stand for."""
    by_name: bool
    """True if a call matched because of the name of its callee."""


class NearMiss(NamedTuple):
    """An attempt to match a subgraph that failed, with the reason."""

    pattern: str
    function: str
    found: int
    """The number of ops that matched."""
    of: int
    """The number of ops in the subgraph."""
    op: str
    """The op that did not match."""
    reason: str
    span: Span


class Extraction(NamedTuple):
    """A program in which matches were replaced by calls."""

    program: Program
    calls: list[tuple[str, str, str]]
    """Subgraph, function, and the name of the new function, for each call."""
    refused: list[tuple[str, str, str]]
    """Subgraph, function, and the reason, for each match that could not be replaced."""


def subgraphs(text: str, filename: str = "<text>") -> list[Subgraph]:
    """Parses functions as subgraphs: parameters match anything, and the returned values are the outputs."""
    return _native.read_subgraphs(text, filename)


def subgraphs_of(
    program: Program,
    *,
    name: str = "pattern",
    pipeline: str | None = None,
) -> list[Subgraph]:
    """Returns the functions of a program as subgraphs, for example of a block that ``from_jax`` or ``from_onnx`` read.

    ``pipeline`` runs on the program first: by default ``inline,symbol-dce,simplify``. The programs that are searched should be in the
    same form. The main function is named ``name``.
    """
    if pipeline is None:
        pipeline = f"{_native.INLINE_PASSES},simplify"
        if program._is_onnx:  # noqa: SLF001
            pipeline = f"onnx-to-core,{pipeline}"
    if pipeline:
        program = run(program, pipeline).program
    return _native.subgraphs_of_program(program, name)


def subgraph_from_jax(
    function: Callable[..., object],
    *args: object,
    name: str | None = None,
    pipeline: str | None = None,
) -> Subgraph:
    """Returns the subgraph that JAX traces a function to, for arguments of these shapes and element types.

    The parameters match anything, and so do shapes and element types. ``pipeline`` is that of `subgraphs_of`.
    """
    from sapwood._jax import from_jax  # noqa: PLC0415

    chosen = name if name is not None else rule_name(function)
    (found,) = subgraphs_of(from_jax(function, *args), name=chosen, pipeline=pipeline)
    return found


def rules(
    text: str,
    filename: str = "<rules>",
    *,
    conditions: Mapping[str, Condition] | None = None,
    condition_seconds: float = 10.0,
) -> list[Rule]:
    """Parses rules such as ``rule r: neg(neg(x)) => x``. Raises a ``ParseError`` with all diagnostics and their source lines.

    Rules may call ``conditions``, functions that return ``True`` or ``False``, in ``where``. A condition receives an `Operand` for each
    value, a tuple of them for a list, and the attribute itself for an attribute; it can read the program but not change it, up to two
    definitions away from its arguments. If it raises an exception, or takes longer than ``condition_seconds``, the call that matched
    the rule raises a ``RewriteError`` with the place in the rule.

    >>> from sapwood import rewrite
    >>> def large(x):
    ...     return x.type.shape[0] >= 1024
    >>> text = "rule r: neg(neg(x)) where large(x) => x"
    >>> rewrite.rules(text, conditions={"large": large})
    [<Rule r>]
    """
    return _native.read_rules(
        text,
        filename,
        conditions=_conditions(conditions),
        seconds=condition_seconds,
    )


def _conditions(
    conditions: Mapping[str, Condition] | None,
) -> dict[str, tuple[Condition, int]] | None:
    """Returns conditions with their numbers of parameters."""
    if conditions is None:
        return None
    for name in conditions:
        if not isinstance(name, str) or not name.isidentifier():
            raise InvalidValueError(f"the name of a condition is an identifier, found {name!r}")
        if name in _native.rewrite_predicates():
            raise InvalidValueError(f"`{name}` is a predicate of the language; choose another name")
    return {name: (function, len(condition_parameters(function))) for name, function in conditions.items()}


def subgraph(function: Callable[..., object]) -> Subgraph:
    """Returns the subgraph that a function describes.

    The function receives a recorder, on which every op is a method, and a term for each of its other parameters. A term matches
    anything: a value where it is an operand, an attribute where it is an attribute.

    >>> from sapwood import rewrite
    >>> @rewrite.subgraph
    ... def square_sum(op, x, y):
    ...     return op.add(op.mul(x, x), y)
    >>> square_sum.num_ops
    2
    """
    return rules(rule_text(function))[0].subgraph


def rule(
    left: Callable[..., object],
    *,
    where: Condition | None = None,
    float: FloatMode = "exact",  # noqa: A002
    benefit: int = 1,
    name: str | None = None,
    condition_seconds: float = 10.0,
) -> Callable[[Callable[..., object]], Rule]:
    """Returns a decorator for a rule: ``left`` describes the subgraph to match, the decorated function its replacement.

    ``where`` is a condition, as in `rules`; its parameters are parameters of ``left``. ``float`` is the float mode that the rule needs. Rules
    of larger ``benefit`` are tried first.

    >>> from sapwood import rewrite
    >>> @rewrite.rule(lambda op, x: op.neg(op.neg(x)))
    ... def neg_of_neg(op, x):
    ...     return x
    >>> rewrite.check_rule(neg_of_neg) is None
    True
    >>> @rewrite.rule(lambda op, x, y: op.div(op.exp(x), op.exp(y)), where=lambda x: x.one_use, float="fast")
    ... def exp_of_difference(op, x, y):
    ...     return op.exp(op.sub(x, y))
    """

    def decorate(right: Callable[..., object]) -> Rule:
        chosen = name if name is not None else rule_name(right)
        call, conditions = "", None
        if where is not None:
            word = rule_name(where)
            if word == "subgraph" or word in _native.rewrite_predicates():
                word = "where_"
            call, conditions = f"{word}({', '.join(condition_parameters(where))})", {word: where}
        header = "" if benefit == 1 else f" benefit {benefit}"
        header += "" if float == "exact" else f" float {float}"
        text = rule_text(left, right, name=chosen, header=header, where=call)
        return rules(
            text,
            f"<rule {chosen}>",
            conditions=conditions,
            condition_seconds=condition_seconds,
        )[0]

    return decorate


def find_matches(
    program: Program,
    patterns: Iterable[Subgraph | Rule],
    *,
    typed: bool = False,
    operand_order: bool = False,
) -> list[Match]:
    """Returns all matches of the subgraphs, in program order."""
    return _native.rewrite_find(
        program, patterns, typed=typed, operand_order=operand_order
    )


def explain(
    program: Program, patterns: Iterable[Subgraph | Rule], *, limit: int = 3
) -> list[NearMiss]:
    """Explains why subgraphs do not match: nearest misses first, at most ``limit`` per subgraph and function."""
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
    """Moves each match into a new function and replaces it by a call."""
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
    """Checks a rule on random shapes, types and values. Returns ``None`` if both sides agree, otherwise a counterexample."""
    return _native.rewrite_check_rule(rule, seed=seed)
