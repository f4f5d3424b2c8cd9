"""The front-end IR: immutable nodes with a Python-like text form.

>>> from sapwood import DataType, ir
>>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
>>> print((x + 5) * 2)
(x + 5) * 2
"""

from __future__ import annotations

import inspect
import linecache
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sapwood import _native, structural
from sapwood._native import DataType, Diagnostic, Map, Span
from sapwood._native import ir_structural_equal as structural_equal
from sapwood._native import ir_structural_hash as structural_hash
from sapwood.errors import NotEqualError
from sapwood.ir._builder import Builder
from sapwood.ir._expr import (
    Abs,
    Add,
    And,
    BinaryExpr,
    BitAnd,
    BitNot,
    BitOr,
    BitShiftLeft,
    BitShiftRight,
    BitXor,
    Call,
    Cast,
    ConstBool,
    ConstFloat,
    ConstInt,
    Eq,
    Expr,
    FloatDiv,
    FloorDiv,
    FloorMod,
    FunctionType,
    Ge,
    GlobalVar,
    Gt,
    IRNode,
    IterArg,
    Le,
    Lt,
    MakeTuple,
    Max,
    Min,
    Mul,
    Ne,
    Neg,
    Not,
    Op,
    Or,
    Pow,
    ScalarType,
    Sub,
    TensorType,
    TupleGetItemExpr,
    TupleType,
    Type,
    UnaryExpr,
    UnknownType,
    Var,
    Xor,
)
from sapwood.ir._stmt import (
    AssignStmt,
    EvalStmt,
    ForStmt,
    Function,
    Functions,
    IfStmt,
    NODES,
    OpStmts,
    Program,
    ReturnStmt,
    SeqStmts,
    Stmt,
    WhileStmt,
    YieldStmt,
)

__all__ = [
    "Abs",
    "Add",
    "And",
    "AssignStmt",
    "BinaryExpr",
    "BitAnd",
    "BitNot",
    "BitOr",
    "BitShiftLeft",
    "BitShiftRight",
    "BitXor",
    "Builder",
    "Call",
    "Cast",
    "ConstBool",
    "ConstFloat",
    "ConstInt",
    "Eq",
    "EvalStmt",
    "Expr",
    "FloatDiv",
    "FloorDiv",
    "FloorMod",
    "ForStmt",
    "Function",
    "FunctionType",
    "Functions",
    "Ge",
    "GlobalVar",
    "Gt",
    "IRNode",
    "IfStmt",
    "IterArg",
    "Le",
    "Lt",
    "MakeTuple",
    "Max",
    "Min",
    "Mul",
    "Ne",
    "Neg",
    "Not",
    "Op",
    "OpStmts",
    "Or",
    "Pow",
    "Program",
    "ReturnStmt",
    "ScalarType",
    "SeqStmts",
    "Span",
    "Stmt",
    "Sub",
    "TensorType",
    "TupleGetItemExpr",
    "TupleType",
    "Type",
    "UnaryExpr",
    "UnknownType",
    "Var",
    "WhileStmt",
    "Xor",
    "YieldStmt",
    "assert_structural_equal",
    "from_json",
    "interpret",
    "lower",
    "parse",
    "parse_expr",
    "parse_function",
    "parse_type",
    "passes",
    "problems",
    "run_pass",
    "structural_equal",
    "structural_hash",
    "substitute",
    "to_json",
    "verify",
]

if TYPE_CHECKING:
    from sapwood import ptir

_T = TypeVar("_T")
_Level = Literal["well-formed", "ssa"]


def parse(text: str, filename: str = "<text>") -> Program:
    """Parses a program. Raises a `sapwood.errors.ParseError` with all diagnostics and their locations.

    >>> from sapwood import ir
    >>> program = ir.parse("def f(x: pi.INT64) -> pi.INT64:\\n    return x + 1\\n")
    >>> program.functions["f"].params[0].name
    'x'
    """
    _cache_source(filename, text)
    made: Program = _native.ir_parse(text, filename)
    return made


def parse_function(text: str, filename: str = "<text>") -> Function:
    """Parses a text that contains exactly one function.

    >>> from sapwood import ir
    >>> ir.parse_function("def f(x: pi.INT64):\\n    pass\\n").name
    'f'
    """
    functions = list(parse(text, filename).functions.values())
    if len(functions) != 1:
        from sapwood.errors import ParseError

        raise ParseError(f"expected one function, found {len(functions)}")
    return functions[0]


def parse_expr(text: str, variables: Iterable[Var] = (), filename: str = "<text>") -> Expr:
    """Parses an expression; ``variables`` are its free variables, found by their names.

    >>> from sapwood import DataType, ir
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
    >>> ir.structural_equal(ir.parse_expr("x * 2", [x]), x * 2)
    True
    """
    _cache_source(filename, text)
    made: Expr = _native.ir_parse_expr(text, variables, filename)
    return made


def parse_type(text: str, variables: Iterable[Var] = (), filename: str = "<text>") -> Type:
    """Parses a type; ``variables`` are its free variables, found by their names.

    >>> from sapwood import ir
    >>> print(ir.parse_type("pi.TensorType(pi.FP32, [2, 3])"))
    pi.TensorType(pi.FP32, [2, 3])
    """
    made: Type = _native.ir_parse_type(text, variables, filename)
    return made


def _cache_source(filename: str, text: str) -> None:
    """Stores a text in `linecache`, so that errors can show its lines."""
    if not os.path.exists(filename):
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)


def problems(node: Program | Function, level: _Level = "well-formed") -> list[Diagnostic]:
    """Returns all diagnostics about a program or a function, each with its location.

    >>> from sapwood import ir
    >>> program = ir.parse("def f(x: pi.INT64) -> pi.FP32:\\n    return x\\n")
    >>> [problem.message for problem in ir.problems(program)]
    ['value 0 of the return has the type pi.INT64; the function returns pi.FP32']
    """
    return _native.ir_verify(node, level)


def verify(node: Program | Function, level: _Level = "well-formed") -> None:
    """Raises a `sapwood.errors.VerifyError` with all diagnostics, if there are any.

    >>> from sapwood import ir
    >>> ir.verify(ir.parse("def f(x: pi.INT64) -> pi.INT64:\\n    return x\\n"))
    """
    _native.ir_verify(node, level, True, _source_of(node))


def _source_of(node: Program | Function) -> tuple[str, str] | None:
    """Returns the file name and source text of a node, if they are known."""
    if isinstance(node, Program):
        nodes: list[Program | Function] = [node, *node.functions.values()]
    else:
        nodes = [node]
    name = next((n.span.filename for n in nodes if not n.span.is_unknown()), "")
    lines = linecache.getlines(name) if name else []
    return (name, "".join(lines)) if lines else None


def passes() -> list[str]:
    """Returns the names of the passes.

    >>> from sapwood import ir
    >>> ir.passes()
    ['cse', 'fold', 'infer_types', 'inline', 'remove_dead_assignments', 'to_ssa']
    """
    return _native.ir_passes()


def run_pass(program: Program, name: str) -> Program:
    """Runs a pass and returns the new program; the given program does not change.

    >>> from sapwood import ir
    >>> program = ir.parse("def f() -> pi.INT64:\\n    return 2 * 3\\n")
    >>> print(ir.run_pass(program, "fold"), end="")
    def f() -> pi.INT64:
        return 6
    """
    made: Program = _native.ir_run_pass(program, name)
    return made


def interpret(program: Program, name: str, *args: Any, steps: int = 10_000_000) -> tuple[Any, ...]:
    """Runs a function for at most ``steps`` statements and loop trips, and returns its results.

    >>> from sapwood import ir
    >>> program = ir.parse("def f(x: pi.INT64, y: pi.INT64) -> (pi.INT64, pi.INT64):\\n    return x // y, x % y\\n")
    >>> ir.interpret(program, "f", 7, 2)
    (3, 1)
    """
    return _native.ir_interpret(program, name, args, steps)


def lower(program: Program) -> ptir.Program:
    """Lowers a program to PTIR. Raises a `sapwood.errors.VerifyError` that names the constructs without a lowering.

    >>> from sapwood import ir
    >>> program = ir.parse("def f(x: pi.FP32) -> pi.FP32:\\n    return x + 1\\n")
    >>> print(ir.lower(program)["f"], end="")
    func @f(%x: f32[]) -> f32[] {
      %0 = constant 1.0 : f32[]
      %1 = add %x, %0 : f32[]
      return %1
    }
    """
    return _native.lower_program(program, _source_of(program))


def substitute(node: _T, replacements: Mapping[Any, Any]) -> _T:
    """Replaces free variables by expressions, all at once, without capture.

    >>> from sapwood import DataType, ir
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
    >>> print(ir.substitute(x * x, {x: x + 1}))
    (x + 1) * (x + 1)
    """
    return structural.substitute(node, replacements)


def to_json(node: IRNode) -> str:
    """Returns the JSON form of a node, which is flat and keeps sharing and spans.

    >>> from sapwood import DataType, ir
    >>> one = ir.ConstInt(1, DataType.INT64)
    >>> ir.structural_equal(ir.from_json(ir.to_json(one)), one)
    True
    """
    return structural.to_json(node)


def from_json(text: str) -> Any:
    """Reads a node from its JSON form."""
    return structural.from_json(text)


def assert_structural_equal(lhs: Any, rhs: Any, enable_auto_mapping: bool = False) -> None:
    """Raises `sapwood.errors.NotEqualError`, which is an `AssertionError`, if two nodes differ.

    The message contains both paths, both values and, where spans are known, both source lines.

    >>> from sapwood import ir
    >>> left, right = (ir.parse_type(f"pi.TensorType(pi.FP32, [{n}])") for n in (2, 2))
    >>> ir.assert_structural_equal(left, right)
    """
    mismatch = structural.get_first_structural_mismatch(lhs, rhs, enable_auto_mapping)
    if mismatch is None:
        return
    shown = [
        _source_line(side, path, root)
        for side, path, root in (("left", mismatch.lhs, lhs), ("right", mismatch.rhs, rhs))
    ]
    raise NotEqualError("\n".join([f"not structurally equal: {mismatch}", *filter(None, shown)]))


def _source_line(side: str, path: structural.AccessPath, root: Any) -> str:
    """Returns the source line of the innermost node on a path that has a known span, with carets."""
    span = None
    for value in path.values(root):
        found = getattr(value, "span", None)
        if isinstance(found, Span) and not found.is_unknown():
            span = found
    if span is None:
        return ""
    place = f"{side} is at {span}"
    line = linecache.getline(span.filename, span.begin_line).rstrip("\n")
    if not line:
        return place
    begin = max(span.begin_column, 1)
    last = span.end_column if span.end_line == span.begin_line else len(line) + 1
    carets = "^" * max(min(last, len(line) + 1) - begin, 1)
    number = str(span.begin_line)
    pad = " " * len(number)
    return f"{place}\n  {number} | {line}\n  {pad} | {' ' * (begin - 1)}{carets}"


def _set_signature(cls: Any) -> None:
    """Sets the signature of a constructor; the constructors themselves are native."""
    names = list(cls.__match_args__)
    defaults: dict[str, Any] = {"else_body": None, "return_vars": (), "attrs": None}
    if issubclass(cls, (BinaryExpr, UnaryExpr)):
        names.append("dtype")
        if cls is not Cast:
            defaults["dtype"] = None
    if cls is Program:
        defaults["name"] = ""
    if cls is ForStmt:
        defaults.update(iter_args=(), body=())
    if hasattr(cls, "span"):
        names.append("span")
        defaults["span"] = None
    if cls is Call:
        names.append("type")
        defaults["type"] = None
    keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
    empty = inspect.Parameter.empty
    cls.__signature__ = inspect.Signature([inspect.Parameter(name, keyword, default=defaults.get(name, empty)) for name in names])


for _node in NODES:
    _set_signature(_node)
for _node in (*NODES, IRNode, Type, Expr, BinaryExpr, UnaryExpr, Stmt, Functions):
    _node.__module__ = "sapwood.ir"
