"""Writing functions statement by statement: blocks are `with` blocks, and spans are those of the caller."""

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
    """A loop that is being written: its variable, its iteration arguments, and what is left when it ends."""

    def __init__(self, var: Var | None, args: tuple[IterArg, ...], results: tuple[Var, ...]) -> None:
        self._var = var
        self._condition: Expr | None = None
        #: The iteration arguments, to be used inside.
        self.args = args
        #: What they are in the end, to be used after the loop.
        self.results = results

    @property
    def var(self) -> Var:
        """What counts; of `Builder.for_` alone."""
        if self._var is None:
            raise ArgumentError("a while loop has no variable that counts")
        return self._var

    def condition(self, condition: Expr) -> None:
        """Says how long `Builder.while_` goes on; it sees the iteration arguments."""
        self._condition = condition


class Branch:
    """An `if` that is being written, and what is left when it ends."""

    def __init__(self, results: tuple[Var, ...]) -> None:
        #: What the bodies yield, to be used after them.
        self.results = results


class FunctionBuilder:
    """A function that is being written."""

    def __init__(self, name: str, returns: Sequence[_TypeLike]) -> None:
        self.name = name
        self._returns = returns
        self._params: list[Var] = []
        self._made: Function | None = None

    def param(self, name: str, type: _TypeLike) -> Var:
        """One more parameter."""
        var = Var(name, type, _here())
        self._params.append(var)
        return var

    @property
    def function(self) -> Function:
        """The function, once its block has ended."""
        if self._made is None:
            raise InvalidValueError(f"the block of {self.name} has not ended")
        return self._made


class Builder:
    """Writes functions.

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
        """The functions written so far."""
        return Program(self._functions, name, _here())

    @contextmanager
    def function(self, name: str, returns: Sequence[_TypeLike] = ()) -> Iterator[FunctionBuilder]:
        """A function; its block is its body."""
        span = _here()
        if self._blocks:
            raise InvalidValueError(f"{name} is written inside another function; functions do not nest")
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
        """Adds a statement that was made elsewhere."""
        if not self._blocks:
            raise InvalidValueError("a statement stands in a function: with b.function(…):")
        self._blocks[-1].append(stmt)

    def let(self, name: str, value: Expr) -> Var:
        """A new variable with this value."""
        span = _here()
        var = Var(name, value.type, span)
        self.push(AssignStmt(var, value, span))
        return var

    def assign(self, var: Var, value: Expr) -> None:
        """``var = value``"""
        self.push(AssignStmt(var, value, _here()))

    def eval(self, expr: Expr) -> None:
        """An expression on its own, for what it does."""
        self.push(EvalStmt(expr, _here()))

    def yield_(self, *values: Expr) -> None:
        """Ends a body and gives values to what is around it."""
        self.push(YieldStmt(values, _here()))

    def return_(self, *values: Expr) -> None:
        """Ends the function."""
        self.push(ReturnStmt(values, _here()))

    @contextmanager
    def if_(self, condition: Expr, results: dict[str, _TypeLike] | None = None) -> Iterator[Branch]:
        """Runs the block where the condition holds; ``results`` are what both bodies yield, by name."""
        span = _here()
        made = tuple(Var(name, type, span) for name, type in (results or {}).items())
        with self._block() as stmts:
            yield Branch(made)
        self.push(IfStmt(condition, stmts, None, made, span))

    @contextmanager
    def else_(self) -> Iterator[None]:
        """Runs the block where the condition of the `if_` before does not hold."""
        before = self._blocks[-1][-1] if self._blocks and self._blocks[-1] else None
        if not isinstance(before, IfStmt) or before.else_body is not None:
            raise InvalidValueError("an else_ stands right after an if_")
        with self._block() as stmts:
            yield
        # The first body as it is: a list of one statement would be that statement.
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
        """A loop over a range; ``init`` has the initial values of its iteration arguments by name."""
        span = _here()
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
        """A loop with a condition, which its block says with ``loop.condition(…)``."""
        span = _here()
        args, results = _carried(init, DataType.INT64, span)
        loop = Loop(None, args, results)
        with self._block() as stmts:
            yield loop
        if loop._condition is None:
            raise InvalidValueError("a while loop needs its condition: loop.condition(…)")
        self.push(WhileStmt(args, loop._condition, _body(stmts), results, span))

    def op(self, name: str) -> Op:
        """An operation, to be called."""
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


def _here() -> Span:
    """Where the first caller outside of this file and of `contextlib` stands."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename in (__file__, _CONTEXTLIB):
        frame = frame.f_back
    return Span(frame.f_code.co_filename, frame.f_lineno, 0)


_CONTEXTLIB = contextmanager.__code__.co_filename
