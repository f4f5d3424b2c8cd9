"""A builder that writes functions statement by statement: blocks are `with` blocks, and spans point to the caller."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Union

from sapwood._native import DataType, Span
from sapwood.errors import ArgumentError, InvalidValueError
from sapwood.ir._expr import ConstFloat, ConstInt, Expr, IterArg, Op, ScalarType, Type, Var
from sapwood.ir._stmt import (
    AssignStmt,
    EvalStmt,
    ForStmt,
    Function,
    IfStmt,
    Program,
    ReturnStmt,
    SeqStmts,
    Stmt,
    WhileStmt,
    YieldStmt,
)

_TypeLike = Union[Type, DataType]
_Number = Union[Expr, int, float]


class Loop:
    """A loop under construction: its variable, its iteration arguments and its results."""

    def __init__(self, var: Var | None, args: tuple[IterArg, ...], results: tuple[Var, ...]) -> None:
        self._var = var
        self._condition: Expr | None = None
        #: The iteration arguments, for use inside the loop.
        self.args = args
        #: The final values of the iteration arguments, for use after the loop.
        self.results = results

    @property
    def var(self) -> Var:
        """The loop variable; only loops of `Builder.for_` have one."""
        if self._var is None:
            raise ArgumentError("a while loop has no loop variable")
        return self._var

    def condition(self, condition: Expr) -> None:
        """Sets the condition of a `Builder.while_` loop; it may use the iteration arguments."""
        self._condition = condition


class Branch:
    """An `if` under construction, and its results."""

    def __init__(self, results: tuple[Var, ...]) -> None:
        #: The values that the bodies yield, for use after the `if`.
        self.results = results


class FunctionBuilder:
    """A function under construction."""

    def __init__(self, name: str, returns: Sequence[_TypeLike]) -> None:
        self.name = name
        self._returns = returns
        self._params: list[Var] = []
        self._made: Function | None = None

    def param(self, name: str, type: _TypeLike) -> Var:
        """Adds a parameter and returns its variable."""
        var = Var(name, type, _caller_span())
        self._params.append(var)
        return var

    @property
    def function(self) -> Function:
        """The finished function, available after its block has ended."""
        if self._made is None:
            raise InvalidValueError(f"the block of {self.name} has not ended")
        return self._made


class Builder:
    """Builds a program from functions that are written as `with` blocks.

    >>> from sapwood import DataType, ir
    >>> b = ir.Builder()
    >>> with b.function("total", returns=[DataType.INT64]) as f:
    ...     n = f.param("n", DataType.INT64)
    ...     with b.for_("i", 0, n, init={"sum": 0}) as loop:
    ...         b.yield_(loop.args[0] + loop.var)
    ...     b.return_(loop.results[0])
    >>> ir.interpret(b.program(), "total", 10)
    (45,)
    """

    def __init__(self) -> None:
        self._blocks: list[list[Stmt]] = []
        self._functions: list[Function] = []

    def program(self, name: str = "") -> Program:
        """Returns a program with the functions built so far."""
        return Program(self._functions, name, _caller_span())

    @contextmanager
    def function(self, name: str, returns: Sequence[_TypeLike] = ()) -> Iterator[FunctionBuilder]:
        """Builds a function whose body is the `with` block."""
        span = _caller_span()
        if self._blocks:
            raise InvalidValueError(f"{name} is inside another function; functions do not nest")
        builder = FunctionBuilder(name, returns)
        with self._block() as stmts:
            yield builder
        made = Function(name, builder._params, returns, stmts, span)
        builder._made = made
        self._functions.append(made)

    @contextmanager
    def _block(self) -> Iterator[list[Stmt]]:
        stmts: list[Stmt] = []
        self._blocks.append(stmts)
        try:
            yield stmts
        finally:
            self._blocks.pop()

    def push(self, stmt: Stmt) -> None:
        """Adds an existing statement."""
        if not self._blocks:
            raise InvalidValueError("the statement is outside of a function; write it inside a block of b.function(…)")
        self._blocks[-1].append(stmt)

    def let(self, name: str, value: Expr) -> Var:
        """Assigns a value to a new variable and returns the variable."""
        span = _caller_span()
        var = Var(name, value.type, span)
        self.push(AssignStmt(var, value, span))
        return var

    def assign(self, var: Var, value: Expr) -> None:
        """Adds the assignment ``var = value``."""
        self.push(AssignStmt(var, value, _caller_span()))

    def eval(self, expr: Expr) -> None:
        """Adds an expression that is evaluated for its effect."""
        self.push(EvalStmt(expr, _caller_span()))

    def yield_(self, *values: Expr) -> None:
        """Ends a body and yields values to the statement around it."""
        self.push(YieldStmt(values, _caller_span()))

    def return_(self, *values: Expr) -> None:
        """Ends the function and returns values."""
        self.push(ReturnStmt(values, _caller_span()))

    @contextmanager
    def if_(self, condition: Expr, results: dict[str, _TypeLike] | None = None) -> Iterator[Branch]:
        """Builds an `if` whose first body is the `with` block; ``results`` are the names and types of the values both bodies yield."""
        span = _caller_span()
        made = tuple(Var(name, type, span) for name, type in (results or {}).items())
        with self._block() as stmts:
            yield Branch(made)
        self.push(IfStmt(condition, stmts, None, made, span))

    @contextmanager
    def else_(self) -> Iterator[None]:
        """Builds the second body of the preceding `if_`."""
        before = self._blocks[-1][-1] if self._blocks and self._blocks[-1] else None
        if not isinstance(before, IfStmt) or before.else_body is not None:
            raise InvalidValueError("an else_ must follow an if_ directly")
        with self._block() as stmts:
            yield
        # The first body is passed unchanged, because a list with one statement would become that statement.
        whole = IfStmt(before.condition, before.then_body, _body(stmts), before.return_vars, before.span)
        self._blocks[-1][-1] = whole

    @contextmanager
    def for_(
        self,
        name: str,
        start: _Number,
        stop: _Number,
        step: _Number = 1,
        init: dict[str, _Number] | None = None,
    ) -> Iterator[Loop]:
        """Builds a loop over a range; ``init`` maps the names of the iteration arguments to their initial values."""
        span = _caller_span()
        kind = next((one.type for one in (start, stop, step) if isinstance(one, Expr)), None)
        dtype = kind.dtype if isinstance(kind, ScalarType) else DataType.INT64
        begin, end, by = (_number(one, dtype) for one in (start, stop, step))
        args, results = _carried(init, dtype, span)
        loop = Loop(Var(name, kind or ScalarType(dtype), span), args, results)
        with self._block() as stmts:
            yield loop
        self.push(ForStmt(loop.var, begin, end, by, args, _body(stmts), results, span))

    @contextmanager
    def while_(self, init: dict[str, _Number] | None = None) -> Iterator[Loop]:
        """Builds a while loop, whose block sets the condition with ``loop.condition(…)``."""
        span = _caller_span()
        args, results = _carried(init, DataType.INT64, span)
        loop = Loop(None, args, results)
        with self._block() as stmts:
            yield loop
        if loop._condition is None:
            raise InvalidValueError("a while loop needs its condition: loop.condition(…)")
        self.push(WhileStmt(args, loop._condition, _body(stmts), results, span))

    def op(self, name: str) -> Op:
        """Returns an operation to call."""
        return Op(name)


def _body(stmts: Iterable[Stmt]) -> Stmt:
    found = list(stmts)
    return found[0] if len(found) == 1 else SeqStmts(found)


def _carried(
    init: dict[str, _Number] | None, dtype: DataType, span: Span
) -> tuple[tuple[IterArg, ...], tuple[Var, ...]]:
    values = {name: _number(value, dtype) for name, value in (init or {}).items()}
    args = tuple(IterArg(name, value.type, value, span) for name, value in values.items())
    return args, tuple(Var(f"{arg.name}_out", arg.type, span) for arg in args)


def _number(value: Any, dtype: DataType) -> Expr:
    if isinstance(value, Expr):
        return value
    if isinstance(value, float):
        return ConstFloat(value, dtype if dtype.is_float() else DataType.FP32)
    return ConstInt(value, dtype if dtype.is_integer() else DataType.INT64)


def _caller_span() -> Span:
    """Returns the location of the first caller outside of this file and of `contextlib`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename in (__file__, _CONTEXTLIB):
        frame = frame.f_back
    return Span(frame.f_code.co_filename, frame.f_lineno, 0)


_CONTEXTLIB = contextmanager.__code__.co_filename
