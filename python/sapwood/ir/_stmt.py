"""Statements, functions and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from sapwood import _native
from sapwood._native import DataType, Span
from sapwood.ir._expr import EXPRESSION_NODES, Expr, GlobalVar, IRNode, IterArg, Type, Var

if TYPE_CHECKING:
    _TypeLike = Union[Type, DataType]
    _Body = Union["Stmt", Sequence["Stmt"]]


class Stmt(IRNode):
    """A statement."""

    __slots__ = ()

    span: Span


class AssignStmt(Stmt):
    """``var = value``"""

    __slots__ = ()
    __match_args__ = ("var", "value")

    var: Var
    value: Expr

    if TYPE_CHECKING:

        def __init__(self, var: Var, value: Expr, span: Span | None = None) -> None: ...


class IfStmt(Stmt):
    """A conditional with one or two bodies. A list of one statement becomes that statement, any other list a `SeqStmts`; a missing else is `None`."""

    __slots__ = ()
    __match_args__ = ("condition", "then_body", "else_body", "return_vars")

    condition: Expr
    then_body: Stmt
    else_body: Stmt | None
    return_vars: tuple[Var, ...]

    if TYPE_CHECKING:

        def __init__(
            self,
            condition: Expr,
            then_body: _Body,
            else_body: _Body | None = None,
            return_vars: Sequence[Var] = ...,
            span: Span | None = None,
        ) -> None: ...


class ForStmt(Stmt):
    """A loop over a range: ``ForStmt(loop_var, start, stop, step, iter_args, body, return_vars, span)``; ``iter_args`` may be left out."""

    __slots__ = ()
    __match_args__ = ("loop_var", "start", "stop", "step", "iter_args", "body", "return_vars")

    loop_var: Var
    start: Expr
    stop: Expr
    step: Expr
    iter_args: tuple[IterArg, ...]
    body: Stmt
    return_vars: tuple[Var, ...]

    if TYPE_CHECKING:

        def __init__(
            self,
            loop_var: Var,
            start: Expr,
            stop: Expr,
            step: Expr,
            iter_args: Sequence[IterArg] | _Body = ...,
            body: _Body | Sequence[Var] = ...,
            return_vars: Sequence[Var] | Span = ...,
            span: Span | None = None,
        ) -> None: ...


class WhileStmt(Stmt):
    """A loop with a condition, which may use the iteration arguments."""

    __slots__ = ()
    __match_args__ = ("iter_args", "condition", "body", "return_vars")

    iter_args: tuple[IterArg, ...]
    condition: Expr
    body: Stmt
    return_vars: tuple[Var, ...]

    if TYPE_CHECKING:

        def __init__(
            self,
            iter_args: Sequence[IterArg],
            condition: Expr,
            body: _Body,
            return_vars: Sequence[Var] = ...,
            span: Span | None = None,
        ) -> None: ...


class YieldStmt(Stmt):
    """Ends a body and yields values to the statement around it."""

    __slots__ = ()
    __match_args__ = ("values",)

    values: tuple[Expr, ...]

    if TYPE_CHECKING:

        def __init__(self, values: Sequence[Expr], span: Span | None = None) -> None: ...


class ReturnStmt(Stmt):
    """Ends a function and returns values."""

    __slots__ = ()
    __match_args__ = ("values",)

    values: tuple[Expr, ...]

    if TYPE_CHECKING:

        def __init__(self, values: Sequence[Expr], span: Span | None = None) -> None: ...


class EvalStmt(Stmt):
    """An expression that is evaluated for its effect."""

    __slots__ = ()
    __match_args__ = ("expr",)

    expr: Expr

    if TYPE_CHECKING:

        def __init__(self, expr: Expr, span: Span | None = None) -> None: ...


class SeqStmts(Stmt):
    """A sequence of statements."""

    __slots__ = ()
    __match_args__ = ("stmts",)

    stmts: tuple[Stmt, ...]

    if TYPE_CHECKING:

        def __init__(self, stmts: Sequence[Stmt], span: Span | None = None) -> None: ...


class OpStmts(Stmt):
    """A sequence of assignments."""

    __slots__ = ()
    __match_args__ = ("stmts",)

    stmts: tuple[Stmt, ...]

    if TYPE_CHECKING:

        def __init__(self, stmts: Sequence[AssignStmt], span: Span | None = None) -> None: ...


# ---------------------------------------------------------------------------------------------------------------------
# Functions and programs


class Function(IRNode):
    """A function. It is a scope: variables bound inside are not visible outside."""

    __slots__ = ()
    __match_args__ = ("name", "params", "return_types", "body")

    span: Span
    name: str
    params: tuple[Var, ...]
    return_types: tuple[Type, ...]
    body: Stmt

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            params: Sequence[Var],
            return_types: Sequence[_TypeLike],
            body: _Body,
            span: Span | None = None,
        ) -> None: ...


class Program(IRNode):
    """A program: functions, sorted by name."""

    __slots__ = ()
    __match_args__ = ("functions", "name")

    span: Span
    name: str

    if TYPE_CHECKING:

        def __init__(
            self, functions: Sequence[Function], name: str = "", span: Span | None = None
        ) -> None: ...

    def __replace__(self, **changes: Any) -> Program:
        values = {"functions": list(self.functions.values()), "name": self.name, "span": self.span}
        return Program(**{**values, **changes})

    @property
    def functions(self) -> Functions:
        """The functions by `GlobalVar`, sorted by name; a name is accepted as a key, too."""
        return Functions(self)

    def get_function(self, name: str) -> Function | None:
        """Returns the function with this name, or `None`."""
        found: Function | None = self.functions.get(name)
        return found

    def get_global_var(self, name: str) -> GlobalVar | None:
        """Returns the `GlobalVar` of the function with this name, or `None`."""
        return next((var for var in self.functions if var.name == name), None)


class Functions(Mapping[GlobalVar, Function]):
    """The functions of a program as a read-only mapping."""

    __slots__ = ("_pairs",)

    def __init__(self, program: Program) -> None:
        pairs: tuple[tuple[GlobalVar, Function], ...] = _native.program_functions(program)
        self._pairs = {var.name: (var, function) for var, function in pairs}

    def __getitem__(self, key: GlobalVar | str) -> Function:
        name = key if isinstance(key, str) else getattr(key, "name", None)
        if not isinstance(key, (str, GlobalVar)) or name not in self._pairs:
            raise KeyError(key)
        return self._pairs[name][1]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, (str, GlobalVar)) and str(key) in self._pairs

    def get(self, key: GlobalVar | str, default: Any = None) -> Any:
        """Returns the function for a `GlobalVar` or a name, or ``default``."""
        return self[key] if key in self else default

    def __iter__(self) -> Iterator[GlobalVar]:
        return iter([var for var, _ in self._pairs.values()])

    def __len__(self) -> int:
        return len(self._pairs)

    def __repr__(self) -> str:
        return f"{{{', '.join(self._pairs)}}}"


#: Every class that has instances.
NODES: tuple[type[IRNode], ...] = (
    *EXPRESSION_NODES,
    *(AssignStmt, IfStmt, ForStmt, WhileStmt, YieldStmt, ReturnStmt, EvalStmt, SeqStmts, OpStmts),
    *(Function, Program),
)

for _cls in NODES:
    _native.register_ir_class(_cls)
