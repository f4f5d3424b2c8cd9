"""Walks over nodes: visitors, mutators, and functions that use them."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, Union

from sapwood import _native
from sapwood._native import Map, Node, Seq, Set
from sapwood.errors import ArgumentError, InvalidValueError

__all__ = ["Mutator", "Stop", "Visitor", "asdict", "delete", "map", "skip", "stop", "walk"]

_T = TypeVar("_T")
_Callback = Callable[..., Any]
_Callbacks = Union[_Callback, Mapping[Any, _Callback], Iterable[_Callback]]
_Order = Literal["pre", "post"]

skip: Final = "skip"
"""Returned by a callback of a walk: the nodes below this one are not visited."""


class Stop(Generic[_T]):
    """The end of a walk, with the value that the walk returns; see `stop`."""

    __slots__ = ("value",)

    def __init__(self, value: _T) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"stop({self.value!r})"


def stop(value: Any = None) -> Stop[Any]:
    """Returned by a callback of a walk: the walk ends and returns the value."""
    return Stop(value)


class _Delete:
    __slots__ = ()

    def __repr__(self) -> str:
        return "delete"

    def __reduce__(self) -> str:
        return "delete"


delete: Final = _Delete()
"""Returned by a method of a `Mutator`: the node is removed from its list, set or map; a field becomes ``None``."""


class Visitor:
    """Calls a method for each node: ``visit_Add(self, node)`` for nodes of class ``Add``, or of a subclass without a method of its own.

    Each distinct node is visited once, before the nodes below it; with ``order = "post"``, after them. A method returns ``None`` to go on,
    `skip` to leave out the nodes below, or `stop` with a value. Methods do not call each other, so that deep graphs need no deep stack.

    >>> from sapwood import DataType, ir
    >>> from sapwood.structural import Visitor
    >>> class Names(Visitor):
    ...     def __init__(self):
    ...         self.found = []
    ...     def visit_Var(self, node):
    ...         self.found.append(node.name)
    >>> x, y = (ir.Var(name, ir.ScalarType(DataType.INT64)) for name in "xy")
    >>> names = Names()
    >>> names.visit(x + y * x)
    >>> names.found
    ['x', 'y']
    """

    order: ClassVar[_Order] = "pre"
    """The order of the walk: nodes come before (``"pre"``) or after (``"post"``) the nodes below them."""

    def visit(self, value: Any) -> Any:
        """Visits all nodes of a value. Returns the value of `stop`, or ``None``."""
        _check_order(self.order)
        find = _method_finder(self, "visit_", Visitor)
        return _native.walk(
            value, find, Stop, delete, post_order=self.order == "post", every_occurrence=False, compared_only=False, regions=False
        )

    def generic_visit(self, node: Any) -> Any:
        """Called for nodes of classes without a method, if a subclass defines it."""


class Mutator:
    """Replaces nodes from the leaves up: ``visit_Add(self, node)`` is called for each node of class ``Add``, after the nodes below it.

    A method returns the replacement, ``None`` to keep the node, `delete` to remove it, or `stop` with a value. Before the nodes below, the
    method ``enter_Add(self, node)`` is called, if there is one; it may return `skip` to leave the node as it is. Only changed nodes and
    those above them are rebuilt, and sharing is preserved.

    >>> from sapwood import DataType, ir
    >>> from sapwood.structural import Mutator
    >>> class Fold(Mutator):
    ...     def visit_Add(self, node):
    ...         match node:
    ...             case ir.Add(ir.ConstInt(a), ir.ConstInt(b)):
    ...                 return ir.ConstInt(a + b, DataType.INT64)
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
    >>> one = ir.ConstInt(1, DataType.INT64)
    >>> print(Fold().visit(x * (one + one)))
    x * 2
    """

    def visit(self, value: Any) -> Any:
        """Returns the value with its nodes replaced, or the value of `stop`. A root that is deleted gives ``None``."""
        enter = None
        if any(name.startswith("enter_") for name in dir(type(self))):
            enter = _method_finder(self, "enter_", Mutator)
        leave = _method_finder(self, "visit_", Mutator)
        made, _ = _native.edit_nodes(value, enter, leave, Stop, delete)
        return made

    def generic_visit(self, node: Any) -> Any:
        """Called for nodes of classes without a method, if a subclass defines it."""


def _method_finder(visitor: Any, prefix: str, base: type) -> Callable[[type], _Callback | None]:
    """Returns the function that finds the method for a class of nodes: that of the class itself, or of the nearest base class."""
    generic = None
    if prefix == "visit_" and type(visitor).generic_visit is not base.generic_visit:  # type: ignore[attr-defined]
        generic = visitor.generic_visit

    def find(cls: type) -> _Callback | None:
        for known in cls.__mro__:
            method: _Callback | None = getattr(visitor, prefix + known.__name__, None)
            if method is not None:
                return method
        return generic

    return find


def _check_order(order: object) -> None:
    if order not in ("pre", "post"):
        raise InvalidValueError(f'order is "pre" or "post", not {order!r}')


def walk(
    value: Any,
    visit: _Callbacks,
    *,
    order: _Order = "pre",
    every_occurrence: bool = False,
    compared_only: bool = False,
    def_regions: bool = False,
) -> Any:
    """Calls ``visit(node)`` for each distinct node; with ``def_regions``, ``visit(node, in_def_region)``.

    ``visit`` is a function for all nodes, a mapping from classes to functions, or several functions whose first parameters are annotated
    with a class; of these, the first that fits a node is called. In pre-order a function may return `skip`, to leave out the nodes
    below, and in both orders `stop` with a value, which the walk returns.

    >>> from sapwood import DataType, ir
    >>> from sapwood.structural import stop, walk
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
    >>> walk((x + 1) * 2, {ir.ConstInt: lambda node: stop(node.value)})
    1
    """
    _check_order(order)
    return _native.walk(
        value,
        _callback_finder(visit),
        Stop,
        delete,
        post_order=order == "post",
        every_occurrence=every_occurrence,
        compared_only=compared_only,
        regions=def_regions,
    )


def _callback_finder(visit: _Callbacks) -> Callable[[type], _Callback | None]:
    if callable(visit):
        return lambda _cls: visit
    if isinstance(visit, Mapping):
        pairs = list(visit.items())
    elif isinstance(visit, Iterable):
        pairs = [(_parameter_class(function), function) for function in visit]
    else:
        raise ArgumentError(f"expected a function, a mapping or functions, found {type(visit).__name__}")
    for known, function in pairs:
        if not isinstance(known, type) or not callable(function):
            raise ArgumentError(f"expected a class and a function, found {known!r} and {function!r}")
    return lambda cls: next((function for known, function in pairs if issubclass(cls, known)), None)


def _parameter_class(function: Any) -> type:
    """Returns the class that annotates the first parameter of a function."""
    if not callable(function):
        raise ArgumentError(f"expected functions, found {type(function).__name__}")
    try:
        first = next(iter(inspect.signature(function).parameters))
        found = typing.get_type_hints(function)[first]
    except Exception as error:
        raise ArgumentError(f"the first parameter of {function!r} needs the annotation of a class: {error}") from error
    if found is Any or found is object:
        return object
    if not isinstance(found, type):
        raise ArgumentError(f"the first parameter of {function!r} needs the annotation of a class, found {found}")
    return found


def map(value: _T, f: Callable[[Any], Any]) -> _T:
    """Replaces nodes from the leaves up: ``f(node)`` returns the replacement of the node, or `None` to keep it.

    Only changed nodes and their ancestors are rebuilt, and sharing is preserved. `delete` removes a node, as in a `Mutator`.
    """
    made, _ = _native.edit_nodes(value, None, lambda _cls: f, Stop, delete)
    return typing.cast("_T", made)


def asdict(value: Any) -> Any:
    """Returns a node as a dictionary of its fields, in which nodes are dictionaries, sequences and sets are lists, and maps are dictionaries.

    A node that occurs several times is one dictionary. Keys of maps stay as they are.

    >>> from sapwood.structural import Object, asdict, py_class
    >>> @py_class
    ... class Pair(Object):
    ...     left: int
    ...     right: list[int]
    >>> asdict(Pair(1, [2, 3]))
    {'left': 1, 'right': [2, 3]}
    """
    made: dict[int, Any] = {}

    def convert(item: Any) -> Any:
        if isinstance(item, Node):
            return made[Node.__hash__(item)]
        if isinstance(item, tuple):
            return [convert(one) for one in item]
        if isinstance(item, Mapping):
            # The functions of a program.
            return {str(key): convert(one) for key, one in item.items()}
        return item

    def build(node: Any) -> None:
        plain: Any
        if isinstance(node, (Seq, Set)):
            plain = [convert(item) for item in node]
        elif isinstance(node, Map):
            plain = {key: convert(item) for key, item in node.items()}
        else:
            names = [name for name, _ in _native.class_fields(type(node)) or ()]
            plain = {name: convert(getattr(node, name)) for name in names if hasattr(node, name)}
        made[Node.__hash__(node)] = plain

    if not isinstance(value, Node):
        if isinstance(value, Mapping):
            value = Map(value)
        elif isinstance(value, AbstractSet):
            value = Set(value)
        elif isinstance(value, (list, tuple)):
            value = Seq(value)
    walk(value, build, order="post")
    return convert(value)
