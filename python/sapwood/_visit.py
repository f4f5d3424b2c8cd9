"""Walks over nodes: visitors, mutators, and functions that use them."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, Union

from sapwood import _native
from sapwood._native import DataType, Map, Node, Seq, Set, Span
from sapwood.errors import ArgumentError, InvalidValueError

__all__ = ["Mutator", "Stop", "Visitor", "asdict", "delete", "map", "skip", "stop", "walk"]

_T = TypeVar("_T")
_Callback = Callable[..., Any]
_Callbacks = Union[_Callback, Mapping[Any, _Callback], Iterable[_Callback]]
_Finder = Callable[[type], Union[_Callback, None]]
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
    Methods for numbers, texts and other values (``visit_int``, ``visit_str``, …) are called for those in fields and containers.

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
        run = _walk_values if _has_value_methods(self) else _native.walk
        return run(
            value, find, Stop, delete, post_order=self.order == "post", every_occurrence=False, compared_only=False, regions=False
        )

    def generic_visit(self, node: Any) -> Any:
        """Called for nodes of classes without a method, if a subclass defines it."""


class Mutator:
    """Replaces nodes from the leaves up: ``visit_Add(self, node)`` is called for each node of class ``Add``, after the nodes below it.

    A method returns the replacement, ``None`` to keep the node, `delete` to remove it, or `stop` with a value. Before the nodes below, the
    method ``enter_Add(self, node)`` is called, if there is one. It returns ``None`` to go on; with `skip`, a replacement or `delete`, the
    nodes below are not visited and ``visit_Add`` is not called, so that a method may visit the parts it wants itself, with ``self.visit``.
    Only changed nodes and those above them are rebuilt, and sharing is preserved. Methods such as ``visit_int`` replace the values in the fields and containers
    of a node, before the method of the node is called.

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
        return _edit(value, enter, _method_finder(self, "visit_", Mutator), _has_value_methods(self))

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
        return generic if issubclass(cls, Node) else None

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

    ``visit`` is a function for all nodes, a mapping from classes, or tuples of classes, to functions, or several functions whose first
    parameters are annotated with a class; of these, the first that fits a node is called. In pre-order a function may return `skip`, to
    leave out the nodes below, and in both orders `stop` with a value, which the walk returns. Functions for ``int``, ``str`` and other
    classes of values are called for the values in fields and containers, each time they occur, but not for keys of maps; ``object``
    stands for nodes and values.

    >>> from sapwood import DataType, ir
    >>> from sapwood.structural import stop, walk
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
    >>> walk((x + 1) * 2, {ir.ConstInt: lambda node: stop(node.value)})
    1
    >>> walk([1, ["a", 2.5]], {(int, float): print})
    1
    2.5
    """
    _check_order(order)
    find, values = _callback_finder(visit)
    run = _walk_values if values else _native.walk
    return run(
        value,
        find,
        Stop,
        delete,
        post_order=order == "post",
        every_occurrence=every_occurrence,
        compared_only=compared_only,
        regions=def_regions,
    )


def _callback_finder(visit: _Callbacks) -> tuple[_Finder, bool]:
    """Returns the function that finds the callback for a class, and whether a callback is for values."""
    if callable(visit):
        return lambda cls: visit if issubclass(cls, Node) else None, False
    if isinstance(visit, Mapping):
        pairs = list(visit.items())
    elif isinstance(visit, Iterable):
        pairs = [(_parameter_class(function), function) for function in visit]
    else:
        raise ArgumentError(f"expected a function, a mapping or functions, found {type(visit).__name__}")
    single: list[tuple[type, _Callback]] = []
    for known, function in pairs:
        for cls in known if isinstance(known, tuple) else (known,):
            if not isinstance(cls, type) or not callable(function):
                raise ArgumentError(f"expected a class and a function, found {known!r} and {function!r}")
            single.append((cls, function))
    find: _Finder = lambda cls: next((function for known, function in single if issubclass(cls, known)), None)  # noqa: E731
    return find, any(_is_value_class(known) for known, _ in single)


def _is_value_class(cls: type) -> bool:
    return cls is object or issubclass(cls, _VALUE_CLASSES) or cls.__module__ == "numpy"


def _has_value_methods(visitor: Any) -> bool:
    names = (*(cls.__name__ for cls in _VALUE_CLASSES), "bool", "ndarray", "object")
    return any(hasattr(visitor, f"visit_{name}") for name in names)


_VALUE_CLASSES = (int, float, str, bytes, DataType)


def _as_node(value: Any) -> Any:
    """Returns the container for a list, tuple, mapping or set of Python; other values as they are."""
    if not isinstance(value, Node):
        if isinstance(value, Mapping):
            return Map(value)
        if isinstance(value, AbstractSet):
            return Set(value)
        if isinstance(value, (list, tuple)):
            return Seq(value)
    return value


def _walk_values(
    value: Any,
    find: _Finder,
    _stop: type,
    _delete: object,
    *,
    post_order: bool,
    every_occurrence: bool,
    compared_only: bool,
    regions: bool,
) -> Any:
    """Does what `_native.walk` does, which visits only nodes, for nodes and values."""
    callbacks: dict[type, _Callback | None] = {}
    seen: set[int] = set()
    # Items with their regions; `True` at the end for nodes whose content was visited.
    work: list[tuple[Any, bool, bool]] = [(_as_node(value), False, False)]
    while work:
        item, bound, done = work.pop()
        if item is None or isinstance(item, Span):
            continue
        node = isinstance(item, Node)
        if not node and isinstance(item, (tuple, Mapping)):
            # The list of a field of the front-end IR, or the functions of a program.
            work.extend((one, bound, False) for one in reversed(tuple(item.values() if isinstance(item, Mapping) else item)))
            continue
        if node and not done:
            identity = Node.__hash__(item)
            if not every_occurrence and identity in seen:
                continue
            seen.add(identity)
            if post_order:
                work.append((item, bound, True))
                work.extend(reversed(_content(item, bound, compared_only)))
                continue
        cls = type(item)
        if cls not in callbacks:
            callbacks[cls] = find(cls)
        callback = callbacks[cls]
        answer = None
        if callback is not None:
            answer = callback(item, bound) if regions else callback(item)
        if isinstance(answer, Stop) or (isinstance(answer, str) and answer == "stop"):
            return answer.value if isinstance(answer, Stop) else None
        if answer is delete:
            raise ArgumentError("a visitor cannot delete nodes; use a Mutator")
        if answer is not None and not (isinstance(answer, str) and answer == skip):
            raise ArgumentError(f'a visitor returns None, "skip" or stop(value), it returned {answer}')
        if node and not post_order and answer is None:
            work.extend(reversed(_content(item, bound, compared_only)))
    return None


def _content(node: Any, bound: bool, compared_only: bool) -> list[tuple[Any, bool, bool]]:
    """Returns the nodes and values in a node, in order; of the keys of a map only the nodes."""
    if isinstance(node, (Seq, Set)):
        return [(item, bound, False) for item in node]
    if isinstance(node, Map):
        return [(item, bound, False) for key, value in node.items() for item in ((key, value) if isinstance(key, Node) else (value,))]
    roles = _native.class_fields(type(node)) or ()
    return [
        (getattr(node, name, None), bound or role == "def", False) for name, role in roles if not (compared_only and role == "ignore")
    ]


def _edit(value: Any, enter: _Finder | None, leave: _Finder, values: bool) -> Any:
    """Replaces nodes, and with `values` also the values in them."""
    if not values:
        made, _ = _native.edit_nodes(value, enter, leave, Stop, delete)
        return made
    value = _as_node(value)
    if not isinstance(value, Node):
        made = _replaced(value, leave)
        if isinstance(made, Stop):
            return made.value
        return None if made is delete else made

    def leave_with_values(cls: type) -> _Callback:
        callback = leave(cls)

        def edit(node: Any) -> Any:
            made = _replace_content(node, leave)
            if callback is None or isinstance(made, Stop):
                return None if made is node else made
            answer = callback(made)
            return made if answer is None and made is not node else answer

        return edit

    made, _ = _native.edit_nodes(value, enter, leave_with_values, Stop, delete)
    return made


def _replaced(value: Any, find: _Finder) -> Any:
    """Returns the replacement of a value: it itself for nodes, `delete`, or the end of the walk."""
    if value is None or isinstance(value, (Node, Span)):
        return value
    callback = find(type(value))
    answer = callback(value) if callback is not None else None
    return value if answer is None else answer


def _replace_content(node: Any, find: _Finder) -> Any:
    """Returns a node with the values in it replaced, the node itself if none changes, or the end of the walk."""

    def items(old: Iterable[Any]) -> tuple[list[Any], bool]:
        made: list[Any] = []
        changed = False
        for item in old:
            new = _replaced(item, find)
            changed = changed or new is not item
            if isinstance(new, Stop):
                raise _Stopped(new)
            if new is not delete:
                made.append(new)
        return made, changed

    try:
        if isinstance(node, (Seq, Set)):
            made, changed = items(node)
            return type(node)(made) if changed else node
        if isinstance(node, Map):
            pairs = [(key, *items([value])) for key, value in node.items()]
            return Map({key: made[0] for key, made, _ in pairs if made}) if any(changed for *_, changed in pairs) else node
        changes: dict[str, Any] = {}
        for name, _ in _native.class_fields(type(node)) or ():
            old = getattr(node, name, None)
            if isinstance(old, Mapping):
                continue
            made, changed = items(old if isinstance(old, tuple) else (old,))
            if changed:
                changes[name] = made if isinstance(old, tuple) else (made[0] if made else None)
    except _Stopped as stopped:
        return stopped.end
    if not changes:
        return node
    from sapwood.structural import replace

    return replace(node, **changes)


class _Stopped(Exception):
    def __init__(self, end: Stop[Any]) -> None:
        self.end = end


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


def map(value: _T, f: _Callbacks) -> _T:
    """Replaces nodes from the leaves up: ``f(node)`` returns the replacement of the node, or `None` to keep it.

    ``f`` may also be a mapping from classes to functions, or annotated functions, as in `walk`; functions for ``int``, ``str`` and other
    values replace those in the fields and containers of a node, before the function of the node is called. Keys of maps stay. Only
    changed nodes and their ancestors are rebuilt, and sharing is preserved. `delete` removes a node, as in a `Mutator`.

    >>> from sapwood import structural
    >>> structural.map([1, [2, "a"]], {int: lambda number: number + 1})
    Seq([2, [3, "a"]])
    """
    return typing.cast("_T", _edit(value, None, *_callback_finder(f)))


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

    value = _as_node(value)
    walk(value, build, order="post")
    return convert(value)
