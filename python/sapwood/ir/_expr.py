"""Types and expressions. Their constructors and fields are native; this file declares their signatures and documentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from sapwood import _native
from sapwood._native import DataType, Map, Node, Span

if TYPE_CHECKING:
    _TypeLike = Union["Type", DataType]


class IRNode(Node):
    """The base class of all IR nodes. They are immutable; ``==`` and ``hash`` use identity, `structural_equal` compares structure."""

    __slots__ = ()

    def type_name(self) -> str:
        """Returns the name of the class, for example ``"Add"``."""
        return type(self).__name__

    def __str__(self) -> str:
        return _native.ir_text(self)

    def __replace__(self, **changes: Any) -> Any:
        values = {name: getattr(self, name) for name in getattr(type(self), "__match_args__", ())}
        # The constructors of operators call the type `dtype`.
        named = "dtype" if isinstance(self, (BinaryExpr, UnaryExpr)) else "type"
        if named == "dtype" or isinstance(self, Call):
            values[named] = self.type  # type: ignore[attr-defined]
        if named in values and "type" in changes:
            changes[named] = changes.pop("type")
        if hasattr(self, "span"):
            values["span"] = self.span
        return type(self)(**{**values, **changes})

    def _repr_html_(self) -> str:
        from sapwood.ir._html import highlight_node

        return highlight_node(self)


# ---------------------------------------------------------------------------------------------------------------------
# Types


class Type(IRNode):
    """The type of a value. A type that is written in a text has the span of its text; comparisons ignore it."""

    __slots__ = ()

    span: Span


class ScalarType(Type):
    """The type of a number or a bool."""

    __slots__ = ()
    __match_args__ = ("dtype",)

    dtype: DataType

    if TYPE_CHECKING:

        def __init__(self, dtype: DataType, span: Span | None = None) -> None: ...


class TensorType(Type):
    """The type of an array: ``TensorType(dtype, shape)`` or ``TensorType(shape, dtype)``. Dims are ints or expressions."""

    __slots__ = ()
    __match_args__ = ("dtype", "shape")

    dtype: DataType
    shape: tuple[Expr, ...]

    if TYPE_CHECKING:

        def __init__(
            self,
            dtype: DataType | Sequence[Expr | int],
            shape: Sequence[Expr | int] | DataType,
            span: Span | None = None,
        ) -> None: ...


class TupleType(Type):
    """The type of a tuple."""

    __slots__ = ()
    __match_args__ = ("types",)

    types: tuple[Type, ...]

    if TYPE_CHECKING:

        def __init__(self, types: Sequence[_TypeLike], span: Span | None = None) -> None: ...


class FunctionType(Type):
    """The type of a function."""

    __slots__ = ()
    __match_args__ = ("params", "results")

    params: tuple[Type, ...]
    results: tuple[Type, ...]

    if TYPE_CHECKING:

        def __init__(
            self, params: Sequence[_TypeLike], results: Sequence[_TypeLike], span: Span | None = None
        ) -> None: ...


class UnknownType(Type):
    """The type of a value whose type is not known."""

    __slots__ = ()
    __match_args__ = ()

    if TYPE_CHECKING:

        def __init__(self, span: Span | None = None) -> None: ...


# ---------------------------------------------------------------------------------------------------------------------
# Expressions


class Expr(IRNode):
    """An expression. Operators build nodes, as in ``x + 1``; comparisons are `Eq` and so on, because ``==`` compares identity."""

    __slots__ = ()

    span: Span
    type: Type

    @property
    def dtype(self) -> DataType | None:
        """The data type of a scalar, or of the elements of a tensor; ``None`` for other types."""
        return getattr(self.type, "dtype", None)

    def __add__(self, other: Any) -> Expr:
        return _binary("Add", self, other)

    def __radd__(self, other: Any) -> Expr:
        return _binary("Add", other, self)

    def __sub__(self, other: Any) -> Expr:
        return _binary("Sub", self, other)

    def __rsub__(self, other: Any) -> Expr:
        return _binary("Sub", other, self)

    def __mul__(self, other: Any) -> Expr:
        return _binary("Mul", self, other)

    def __rmul__(self, other: Any) -> Expr:
        return _binary("Mul", other, self)

    def __truediv__(self, other: Any) -> Expr:
        return _binary("FloatDiv", self, other)

    def __rtruediv__(self, other: Any) -> Expr:
        return _binary("FloatDiv", other, self)

    def __floordiv__(self, other: Any) -> Expr:
        return _binary("FloorDiv", self, other)

    def __rfloordiv__(self, other: Any) -> Expr:
        return _binary("FloorDiv", other, self)

    def __mod__(self, other: Any) -> Expr:
        return _binary("FloorMod", self, other)

    def __rmod__(self, other: Any) -> Expr:
        return _binary("FloorMod", other, self)

    def __pow__(self, other: Any) -> Expr:
        return _binary("Pow", self, other)

    def __rpow__(self, other: Any) -> Expr:
        return _binary("Pow", other, self)

    def __and__(self, other: Any) -> Expr:
        return _binary("BitAnd", self, other)

    def __rand__(self, other: Any) -> Expr:
        return _binary("BitAnd", other, self)

    def __or__(self, other: Any) -> Expr:
        return _binary("BitOr", self, other)

    def __ror__(self, other: Any) -> Expr:
        return _binary("BitOr", other, self)

    def __xor__(self, other: Any) -> Expr:
        return _binary("BitXor", self, other)

    def __rxor__(self, other: Any) -> Expr:
        return _binary("BitXor", other, self)

    def __lshift__(self, other: Any) -> Expr:
        return _binary("BitShiftLeft", self, other)

    def __rlshift__(self, other: Any) -> Expr:
        return _binary("BitShiftLeft", other, self)

    def __rshift__(self, other: Any) -> Expr:
        return _binary("BitShiftRight", self, other)

    def __rrshift__(self, other: Any) -> Expr:
        return _binary("BitShiftRight", other, self)

    def __neg__(self) -> Expr:
        return _unary("Neg", self)

    def __invert__(self) -> Expr:
        return _unary("BitNot", self)

    def __abs__(self) -> Expr:
        return _unary("Abs", self)


def _binary(op: str, left: Any, right: Any) -> Expr:
    made: Expr | None = _native.ir_binary(op, left, right)
    return NotImplemented if made is None else made


def _unary(op: str, operand: Expr) -> Expr:
    made: Expr = _native.ir_unary(op, operand)
    return made


class Var(Expr):
    """A variable. Two variables with the same name are different variables."""

    __slots__ = ()
    __match_args__ = ("name", "type")

    name: str

    if TYPE_CHECKING:

        def __init__(self, name: str, type: _TypeLike, span: Span | None = None) -> None: ...


class IterArg(Var):
    """An iteration argument of a loop: a variable with an initial value."""

    __slots__ = ()
    __match_args__ = ("name", "type", "init_value")

    init_value: Expr

    if TYPE_CHECKING:

        def __init__(
            self, name: str, type: _TypeLike, init_value: Expr, span: Span | None = None
        ) -> None: ...

    @property
    def initValue(self) -> Expr:
        """The value in the first iteration; an alias of ``init_value``."""
        return self.init_value


class ConstInt(Expr):
    """An integer constant."""

    __slots__ = ()
    __match_args__ = ("value", "dtype")

    value: int

    if TYPE_CHECKING:

        def __init__(self, value: int, dtype: DataType, span: Span | None = None) -> None: ...


class ConstFloat(Expr):
    """A floating-point constant, rounded to its data type."""

    __slots__ = ()
    __match_args__ = ("value", "dtype")

    value: float

    if TYPE_CHECKING:

        def __init__(self, value: float, dtype: DataType, span: Span | None = None) -> None: ...


class ConstBool(Expr):
    """A boolean constant."""

    __slots__ = ()
    __match_args__ = ("value",)

    value: bool

    if TYPE_CHECKING:

        def __init__(self, value: bool, span: Span | None = None) -> None: ...


class BinaryExpr(Expr):
    """An operator with two operands. The type is a data type or any type; the default is the type of the operands."""

    __slots__ = ()
    __match_args__ = ("left", "right")

    left: Expr
    right: Expr

    if TYPE_CHECKING:

        def __init__(
            self, left: Expr, right: Expr, dtype: _TypeLike = ..., span: Span | None = None
        ) -> None: ...


class Add(BinaryExpr):
    """``left + right``"""

    __slots__ = ()


class Sub(BinaryExpr):
    """``left - right``"""

    __slots__ = ()


class Mul(BinaryExpr):
    """``left * right``"""

    __slots__ = ()


class FloorDiv(BinaryExpr):
    """``left // right``, rounded down"""

    __slots__ = ()


class FloorMod(BinaryExpr):
    """``left % right``, with the sign of ``right``"""

    __slots__ = ()


class FloatDiv(BinaryExpr):
    """``left / right``; integers round toward zero"""

    __slots__ = ()


class Min(BinaryExpr):
    """``min(left, right)``"""

    __slots__ = ()


class Max(BinaryExpr):
    """``max(left, right)``"""

    __slots__ = ()


class Pow(BinaryExpr):
    """``left ** right``"""

    __slots__ = ()


class Eq(BinaryExpr):
    """``left == right``"""

    __slots__ = ()


class Ne(BinaryExpr):
    """``left != right``"""

    __slots__ = ()


class Lt(BinaryExpr):
    """``left < right``"""

    __slots__ = ()


class Le(BinaryExpr):
    """``left <= right``"""

    __slots__ = ()


class Gt(BinaryExpr):
    """``left > right``"""

    __slots__ = ()


class Ge(BinaryExpr):
    """``left >= right``"""

    __slots__ = ()


class And(BinaryExpr):
    """``left and right``"""

    __slots__ = ()


class Or(BinaryExpr):
    """``left or right``"""

    __slots__ = ()


class Xor(BinaryExpr):
    """Exclusive or: true if exactly one operand is true."""

    __slots__ = ()


class BitAnd(BinaryExpr):
    """``left & right``"""

    __slots__ = ()


class BitOr(BinaryExpr):
    """``left | right``"""

    __slots__ = ()


class BitXor(BinaryExpr):
    """``left ^ right``"""

    __slots__ = ()


class BitShiftLeft(BinaryExpr):
    """``left << right``"""

    __slots__ = ()


class BitShiftRight(BinaryExpr):
    """``left >> right``"""

    __slots__ = ()


class UnaryExpr(Expr):
    """An operator with one operand."""

    __slots__ = ()
    __match_args__ = ("operand",)

    operand: Expr

    if TYPE_CHECKING:

        def __init__(
            self, operand: Expr, dtype: _TypeLike = ..., span: Span | None = None
        ) -> None: ...


class Abs(UnaryExpr):
    """``abs(operand)``"""

    __slots__ = ()


class Neg(UnaryExpr):
    """``-operand``"""

    __slots__ = ()


class Not(UnaryExpr):
    """``not operand``"""

    __slots__ = ()


class BitNot(UnaryExpr):
    """``~operand``"""

    __slots__ = ()


class Cast(UnaryExpr):
    """A conversion of the operand to another type."""

    __slots__ = ()


class Op(IRNode):
    """An operation, identified by its name and its attributes.

    Attributes are numbers, strings, data types and lists of these: ``Op("reduce_sum", {"axes": [1]})``.
    """

    __slots__ = ()
    __match_args__ = ("name", "attrs")

    span: Span
    name: str
    attrs: Map[str, Any] | None

    if TYPE_CHECKING:

        def __init__(
            self, name: str, attrs: Mapping[str, Any] | None = None, span: Span | None = None
        ) -> None: ...


class GlobalVar(Op):
    """A reference to a function of the same program."""

    __slots__ = ()
    __match_args__ = ("name",)

    #: A function has no attributes.
    attrs: None = None

    if TYPE_CHECKING:

        def __init__(self, name: str, span: Span | None = None) -> None: ...


class Call(Expr):
    """A call: ``Call(op, args, span)``, or with its type, ``Call(op, args, type, span)``."""

    __slots__ = ()
    __match_args__ = ("op", "args")

    callee: Op
    args: tuple[Expr, ...]

    if TYPE_CHECKING:

        def __init__(
            self,
            op: Op,
            args: Sequence[Expr],
            span: Span | _TypeLike | None = None,
            type: _TypeLike | Span | None = None,
        ) -> None: ...

    @property
    def op(self) -> Op:
        """The callee; an alias of ``callee``."""
        return self.callee


class TupleGetItemExpr(Expr):
    """An element of a tuple. Its type is that of the element."""

    __slots__ = ()
    __match_args__ = ("tuple", "index")

    tuple: Expr
    index: int

    if TYPE_CHECKING:

        def __init__(self, tuple: Expr, index: int, span: Span | None = None) -> None: ...


class MakeTuple(Expr):
    """A tuple. Its type is derived from its elements."""

    __slots__ = ()
    __match_args__ = ("elements",)

    elements: tuple[Expr, ...]

    if TYPE_CHECKING:

        def __init__(self, elements: Sequence[Expr], span: Span | None = None) -> None: ...


#: Every class of types, expressions and callees that has instances.
EXPRESSION_NODES: tuple[type[IRNode], ...] = (
    *(ScalarType, TensorType, TupleType, FunctionType, UnknownType),
    *(Var, IterArg, ConstInt, ConstFloat, ConstBool),
    *(Add, Sub, Mul, FloorDiv, FloorMod, FloatDiv, Min, Max, Pow, Eq, Ne, Lt, Le, Gt, Ge, And, Or, Xor),
    *(BitAnd, BitOr, BitXor, BitShiftLeft, BitShiftRight, Abs, Neg, Not, BitNot, Cast),
    *(Op, GlobalVar, Call, TupleGetItemExpr, MakeTuple),
)
