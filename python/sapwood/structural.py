"""User-defined node classes, compared and hashed by structure, up to renaming of variables.

>>> from sapwood.structural import Object, field, py_class, structural_equal
>>> @py_class(structural_eq="var")
... class Var(Object):
...     name: str = field(structural_eq="ignore")
>>> @py_class
... class Lambda(Object):
...     params: list[Var] = field(structural_eq="def")
...     body: Var
>>> x, y = Var("x"), Var("y")
>>> structural_equal(Lambda([x], x), Lambda([y], y))
True
"""

from __future__ import annotations

import builtins
import collections.abc
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeVar, overload

from sapwood import _native
from sapwood._native import (
    DataType,
    FieldGetter,
    Map,
    Node,
    Seq,
    Set,
    Span,
    StructuralKey,
    structural_equal,
    structural_hash,
)
from sapwood._fields import MISSING, Field, FieldSpec, field, singleton_getter
from sapwood._visit import Mutator, Stop, Visitor, asdict, delete, map, skip, stop, walk
from sapwood.errors import ArgumentError, InvalidValueError, NotEqualError

if typing.TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[Any], Any]:
        return lambda decorated: decorated


__all__ = [
    "AccessPath",
    "Field",
    "MISSING",
    "Map",
    "Mismatch",
    "Mutator",
    "Node",
    "Object",
    "Seq",
    "Set",
    "Stop",
    "StructuralKey",
    "Visitor",
    "asdict",
    "assert_structural_equal",
    "check_hooks",
    "delete",
    "diff",
    "field",
    "fields",
    "free_variables",
    "from_json",
    "get_first_structural_mismatch",
    "map",
    "py_class",
    "replace",
    "skip",
    "stop",
    "structural_equal",
    "structural_hash",
    "substitute",
    "to_json",
    "walk",
]

_T = TypeVar("_T")
_Kind = Literal["tree", "const-tree", "dag", "var", "singleton"]

for _abstract, _ours in (
    (collections.abc.Sequence, Seq),
    (collections.abc.Mapping, Map),
    (collections.abc.Set, Set),
):
    _abstract.register(_ours)


# ---------------------------------------------------------------------------------------------------------------------
# Node classes


class _ObjectMeta(type):
    """The metaclass of node classes, whose instances hold their node and nothing else."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any
    ) -> _ObjectMeta:
        if namespace.setdefault("__slots__", ()) != ():
            raise ArgumentError(f"{name} cannot define __slots__, because its instances hold only fields")
        return super().__new__(mcs, name, bases, namespace, **keywords)

    def __setattr__(cls, name: str, value: object) -> None:
        _reject_late_change(cls, name)
        super().__setattr__(name, value)

    def __delattr__(cls, name: str) -> None:
        _reject_late_change(cls, name)
        super().__delattr__(name)


#: Attributes that `py_class` reads when it registers a class; a later change would have no effect.
_READ_AT_REGISTRATION = ("__s_equal__", "__s_hash__", "__post_init__", "__init__", "__new__")


def _reject_late_change(cls: type, name: str) -> None:
    if name not in _READ_AT_REGISTRATION and name not in (known for known, _ in _native.class_fields(cls) or ()):
        return
    registered = next((known for known in _FIELDS_OF_CLASS if issubclass(known, cls)), None)
    if registered is not None:
        raise ArgumentError(
            f"{cls.__qualname__}.{name} cannot be changed: {registered.__qualname__} is registered already; "
            "define it in the body of the class, before py_class"
        )


class Object(Node, metaclass=_ObjectMeta):
    """The base class of all user-defined nodes: decorate its subclasses with `py_class`.

    Instances are immutable. ``==`` and ``hash`` use the identity of the node; compare by structure with
    `structural_equal`.
    """

    @classmethod
    def get(cls: type[_T], *args: Any, **kwargs: Any) -> _T:
        """Returns the unique singleton with these fields; for classes with ``structural_eq="singleton"``."""
        return typing.cast("_T", _native.get_singleton(cls, *args, **kwargs))

    def __replace__(self, **changes: Any) -> Any:
        return replace(self, **changes)


@overload
def py_class(cls: type[_T], /) -> type[_T]: ...
@overload
def py_class(
    type_key: str | None = None,
    /,
    *,
    structural_eq: _Kind | None = "tree",
    scope: bool = False,
    kw_only: bool = False,
    key: str | None = None,
) -> Callable[[type[_T]], type[_T]]: ...
@dataclass_transform(field_specifiers=(field,), frozen_default=True, eq_default=False)
def py_class(
    cls_or_key: Any = None,
    /,
    *,
    structural_eq: Any = "tree",
    scope: bool = False,
    kw_only: bool = False,
    key: str | None = None,
) -> Any:
    """Registers a subclass of `Object` with annotated fields as a node class.

    ``structural_eq`` is the node kind, which decides how nodes are compared: ``"tree"`` (the default), ``"const-tree"``, ``"dag"``,
    ``"var"``, ``"singleton"``, or ``None`` for nodes that cannot be compared. Variables bound by the def fields of a ``scope`` are
    visible only inside the node. ``key`` is the name of the type in hashes and files; the default is the module and name of the class.

    >>> from sapwood.structural import Object, py_class, structural_equal
    >>> @py_class
    ... class Point(Object):
    ...     x: int
    ...     y: int = 0
    >>> Point(1), structural_equal(Point(1), Point(1, 0))
    (Point(x=1, y=0), True)
    """
    if isinstance(cls_or_key, str):
        key = cls_or_key
        cls_or_key = None
    kind = "none" if structural_eq is None else structural_eq
    _native.check_kind(kind)

    def decorate(cls: type[_T]) -> type[_T]:
        return _register(cls, kind, scope, kw_only, key)

    return decorate if cls_or_key is None else decorate(cls_or_key)


def _register(
    cls: type[_T], kind: str, scope: bool, kw_only: bool, key: str | None
) -> type[_T]:
    if not (isinstance(cls, type) and issubclass(cls, Object)):
        raise ArgumentError(f"{cls!r} cannot be registered; py_class is for subclasses of Object")
    name = cls.__qualname__
    if "__init__" in vars(cls) or "__new__" in vars(cls):
        raise ArgumentError(
            f"{name} cannot define __init__ or __new__, because instances are built from their fields; "
            "check the fields in __post_init__, and add other ways of construction as class methods"
        )
    bases = [base for base in cls.__mro__[1:] if _native.class_fields(base) is not None]
    if bases and any(not issubclass(bases[0], base) for base in bases):
        raise ArgumentError(f"{name} extends two node classes; their fields have no common order")
    specs = _own_specs(cls)
    own = _own_fields(specs, kw_only)
    inherited = _FIELDS_OF_CLASS.get(bases[0], []) if bases else []
    _check_defaults(name, [*inherited, *own])
    post_init = hasattr(cls, "__post_init__")
    hooks = (hasattr(cls, "__s_equal__"), hasattr(cls, "__s_hash__"), post_init)
    full = key or f"{cls.__module__}.{name}"
    base = bases[0] if bases else None
    _native.register_class(cls, full, kind, scope, base, own, _field_type_specs, MISSING, hooks)
    if post_init:
        type.__setattr__(cls, "__init__", _post_init)
    _FIELDS_OF_CLASS[cls] = [*inherited, *own]
    _SPECS_OF_CLASS[cls] = {**(_SPECS_OF_CLASS[base] if base else {}), **specs}
    _CLASSES_BY_NAME[name] = cls
    _hide_fields(cls)
    positional = tuple(spec[0] for spec in _FIELDS_OF_CLASS[cls] if not spec[4])
    type.__setattr__(cls, "__match_args__", positional)
    type.__setattr__(cls, "__signature__", _signature(cls))
    if kind == "singleton":
        type.__setattr__(cls, "get", classmethod(singleton_getter(cls, _signature(cls), Object.get.__doc__)))
    return cls


def _signature(cls: type) -> inspect.Signature:
    """Returns the signature of the constructor of a class."""
    parameters = []
    for name, _, default, factory, only in sorted(_FIELDS_OF_CLASS[cls], key=lambda spec: spec[4]):
        if not _SPECS_OF_CLASS[cls][name].init:
            continue
        owner = next(base for base in cls.__mro__ if name in _annotations(base))
        shown = default if factory is MISSING else _DEFAULT_FACTORY
        kind = inspect.Parameter.KEYWORD_ONLY if only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = inspect.Parameter.empty if shown is MISSING else shown
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=_annotations(owner)[name]))
    return inspect.Signature(parameters)


class _DefaultFactory:
    """The default that signatures show for a field with a default factory."""

    def __repr__(self) -> str:
        return "<factory>"


_DEFAULT_FACTORY = _DefaultFactory()


_FieldTuple = tuple[str, str, Any, Any, bool]
#: The fields of every class, base class first.
_FIELDS_OF_CLASS: dict[type, list[_FieldTuple]] = {}
#: The options of the fields of every class.
_SPECS_OF_CLASS: dict[type, dict[str, FieldSpec]] = {}
#: Classes by qualified name, for annotations of classes inside functions.
_CLASSES_BY_NAME: dict[str, type] = {}


def _post_init(self: Any, *_: Any, **__: Any) -> None:
    self.__post_init__()


def _hide_fields(cls: type) -> None:
    """Hides fields with ``init=False`` from the constructor, and fields with ``repr=False`` from ``repr``."""
    specs = _SPECS_OF_CLASS[cls]
    hidden = [name for name, spec in specs.items() if not spec.init]
    if hidden:

        def new(made: type, /, *args: Any, **kwargs: Any) -> Any:
            for name in hidden:
                if name in kwargs:
                    raise ArgumentError(f"{cls.__qualname__} takes no argument {name}: the field has init=False")
            return Node.__new__(made, *args, **kwargs)

        type.__setattr__(cls, "__new__", staticmethod(new))
    shown = [name for name, spec in specs.items() if spec.repr]
    # A `repr` that the user wrote, here or in a base class, stays.
    inherited: Any = cls.__repr__
    is_generated = inherited is Node.__repr__ or getattr(inherited, "_is_generated", False)
    if len(shown) < len(specs) and is_generated:

        def show(self: Any) -> str:
            parts = (f"{name}={_native.abridged(getattr(self, name))}" for name in shown)
            return f"{type(self).__name__}({', '.join(parts)})"

        show._is_generated = True  # type: ignore[attr-defined]
        type.__setattr__(cls, "__repr__", show)


def _own_specs(cls: type) -> dict[str, FieldSpec]:
    own: dict[str, FieldSpec] = {}
    for name, annotation in _annotations(cls).items():
        if annotation is typing.ClassVar or str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            continue
        if typing.get_origin(annotation) is typing.ClassVar:
            continue
        given = vars(cls).get(name, MISSING)
        if isinstance(given, FieldGetter):
            raise ArgumentError(f"{cls.__qualname__} is registered already")
        own[name] = given if isinstance(given, FieldSpec) else FieldSpec(given)
    for name, value in vars(cls).items():
        if isinstance(value, FieldSpec) and name not in own:
            raise ArgumentError(f"{cls.__qualname__}.{name} needs an annotation to be a field")
    return own


def _own_fields(specs: dict[str, FieldSpec], kw_only: bool) -> list[_FieldTuple]:
    own: list[_FieldTuple] = []
    for name, spec in specs.items():
        only = kw_only if spec.kw_only is None else spec.kw_only
        own.append((name, spec.structural_eq or "usual", spec.default, spec.default_factory, only))
    return own


def _annotations(cls: type) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        found: dict[str, Any] = annotationlib.get_annotations(
            cls, format=annotationlib.Format.FORWARDREF
        )
        return found
    return dict(vars(cls).get("__annotations__", {}))


def _check_defaults(name: str, specs: list[_FieldTuple]) -> None:
    optional = None
    for spec in specs:
        if spec[4]:
            continue
        if spec[2] is not MISSING or spec[3] is not MISSING:
            optional = spec[0]
        elif optional is not None:
            raise ArgumentError(f"{name}: {spec[0]} has no default and follows {optional}, which has one")


# The type of a field is passed to the native half as a word, a class, or a tuple of a word and its parts. Annotations are evaluated
# when the first instance is built, so that a class can name one that is defined after it.

_WORDS: dict[Any, str] = {
    Any: "any",
    object: "any",
    None: "none",
    type(None): "none",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    bytes: "bytes",
    DataType: "dtype",
    Span: "span",
}
_SEQUENCES = (list, tuple, collections.abc.Sequence, collections.abc.Iterable, Seq)
_MAPS = (dict, collections.abc.Mapping, Map)
_SETS = (set, frozenset, collections.abc.Set, Set)


def _field_type_specs(cls: type) -> list[Any]:
    found = []
    for name, _ in _native.class_fields(cls) or ():
        owner = next(base for base in cls.__mro__ if name in _annotations(base))
        found.append(_type_spec(_evaluate(owner, _annotations(owner)[name])))
    return found


def _evaluate(owner: type, annotation: Any) -> Any:
    """Evaluates an annotation; returns `Any` if it contains unknown names."""
    module = sys.modules.get(owner.__module__)
    scope = dict(vars(module)) if module else {}
    prefix = owner.__qualname__.rpartition(".")[0]
    while prefix:
        for name, known in _CLASSES_BY_NAME.items():
            if name.rpartition(".")[0] == prefix:
                scope.setdefault(known.__name__, known)
        prefix = prefix.rpartition(".")[0]
    scope.setdefault(owner.__name__, owner)

    def holder() -> None: ...

    holder.__annotations__ = {"it": annotation}
    try:
        return typing.get_type_hints(holder, scope, {owner.__name__: owner})["it"]
    except Exception:
        # An annotation that cannot be evaluated allows any value.
        return Any


def _type_spec(hint: Any) -> Any:
    try:
        if hint in _WORDS:
            return _WORDS[hint]
    except TypeError:
        return "any"
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin is typing.Annotated:
        return _type_spec(arguments[0])
    if origin is typing.Union or origin is types.UnionType:
        parts = [_type_spec(argument) for argument in arguments]
        return "any" if "any" in parts else ("union", *parts)
    if origin is typing.Literal:
        parts = [_type_spec(type(argument)) for argument in arguments]
        return ("union", *parts)
    kind = origin or hint
    if kind is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return ("seq", _type_spec(arguments[0]))
        return ("seq", "any")
    if kind in _SEQUENCES:
        return ("seq", _type_spec(arguments[0]) if arguments else "any")
    if kind in _MAPS:
        key, value = arguments if len(arguments) == 2 else (Any, Any)
        return ("map", _type_spec(key), _type_spec(value))
    if kind in _SETS:
        return ("set", _type_spec(arguments[0]) if arguments else "any")
    if isinstance(kind, type):
        if issubclass(kind, Node):
            return kind
        if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
            return "tensor"
    return "any"


def fields(node_or_class: Node | type[Node]) -> tuple[Field, ...]:
    """Returns the fields of a node class, base class first.

    >>> from sapwood.structural import Object, field, fields, py_class
    >>> @py_class
    ... class Load(Object):
    ...     address: int
    ...     comment: str = field(default="", compare=False)
    >>> [(f.name, f.role, f.type, f.default) for f in fields(Load)]
    [('address', 'usual', <class 'int'>, MISSING), ('comment', 'ignore', <class 'str'>, '')]
    """
    cls = node_or_class if isinstance(node_or_class, type) else type(node_or_class)
    found = _native.class_fields(cls)
    if found is None:
        raise ArgumentError(f"{cls.__qualname__} is not a node class")
    specs = _SPECS_OF_CLASS.get(cls, {})

    def annotation(name: str) -> Any:
        owner = next((base for base in cls.__mro__ if name in _annotations(base)), None)
        return Any if owner is None else _evaluate(owner, _annotations(owner)[name])

    return tuple(Field(specs.get(name, FieldSpec()), name, role, annotation(name)) for name, role in found)


def replace(node: _T, /, **changes: Any) -> _T:
    """Returns a copy of a node with other values in some fields: an instance of a `py_class` class, or a node of `sapwood.ir`.

    >>> from sapwood import DataType, ir
    >>> from sapwood.structural import replace
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
    >>> print(replace(x + 1, right=x))
    x + x
    """
    if not isinstance(node, Object):
        if isinstance(node, Node) and hasattr(node, "__replace__"):
            return typing.cast("_T", node.__replace__(**changes))
        raise ArgumentError(f"expected a node with fields to replace, found {type(node).__name__}")
    names = [name for name, _ in _native.class_fields(type(node)) or ()]
    values = {name: getattr(node, name) for name in names}
    made = Node.__new__(type(node), **{**values, **changes})
    made.__init__()  # type: ignore[misc]
    return typing.cast("_T", made)


# ---------------------------------------------------------------------------------------------------------------------
# Mismatches


class AccessPath:
    """A path from a root to a value inside it; prints as ``<root>.body[1]["k"]``."""

    __slots__ = ("_steps",)

    def __init__(self, steps: tuple[tuple[str, Any], ...] = ()) -> None:
        self._steps = tuple(steps)

    @property
    def steps(self) -> tuple[tuple[str, Any], ...]:
        """The steps, outermost first: ``("field", name)``, ``("index", number)`` or ``("key", value)``."""
        return self._steps

    def values(self, root: Any) -> Iterator[Any]:
        """Yields the values along the path, starting with the root, as far as they exist."""
        yield root
        for kind, where in self._steps:
            try:
                root = getattr(root, where) if kind == "field" else root[where]
            except (AttributeError, LookupError, TypeError):
                return
            yield root

    def resolve(self, root: Any) -> Any:
        """Returns the value at the end of the path."""
        found = list(self.values(root))
        if len(found) <= len(self._steps):
            raise InvalidValueError(f"the path {self} leads to no value")
        return found[-1]

    def __str__(self) -> str:
        steps = self._steps
        hidden = len(steps) - 64
        if hidden > 0:
            first, last = AccessPath(steps[:32]), AccessPath(steps[-32:])
            return f"{first} … {hidden} steps … {str(last)[len('<root>'):]}"
        return "<root>" + "".join(builtins.map(_step_text, steps))

    def __repr__(self) -> str:
        return f"AccessPath({str(self)!r})"

    def __len__(self) -> int:
        return len(self._steps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AccessPath) and self._steps == other._steps

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return (AccessPath, (self._steps,))


def _step_text(step: tuple[str, Any]) -> str:
    kind, where = step
    if kind == "field":
        return f".{where}"
    return f"[{where}]" if kind == "index" else f"[{_native.abridged(where)}]"


class Mismatch(tuple[AccessPath, AccessPath]):
    """A mismatch between two values: the pair of paths, and the reason."""

    #: `"type"`, `"value"`, `"length"`, `"missing"`, `"binding"`, `"sharing"` or `"hook"`.
    reason: str
    #: The mismatch as text, with both paths and both values.
    message: str
    #: The values on the left and on the right; `None` where a value is missing.
    values: tuple[Any, Any]

    def __new__(
        cls, lhs: AccessPath, rhs: AccessPath, reason: str, message: str, values: tuple[Any, Any]
    ) -> Mismatch:
        self = super().__new__(cls, (lhs, rhs))
        self.reason, self.message, self.values = reason, message, values
        return self

    @property
    def lhs(self) -> AccessPath:
        """The path on the left."""
        return self[0]

    @property
    def rhs(self) -> AccessPath:
        """The path on the right."""
        return self[1]

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"<Mismatch {self.reason} at {self.lhs}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Mismatch, (self[0], self[1], self.reason, self.message, self.values))


def diff(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool = False,
    skip_tensor_content: bool = False,
    *,
    limit: int = 100,
) -> list[Mismatch]:
    """Returns at most ``limit`` mismatches, none of them below another.

    >>> from sapwood.structural import diff
    >>> for mismatch in diff([1, 2, 3], [1, 5, 7]):
    ...     print(mismatch.lhs, *mismatch.values)
    <root>[1] 2 5
    <root>[2] 3 7
    """
    found = _native.mismatches(lhs, rhs, map_free_vars, skip_tensor_content, limit)
    return [
        Mismatch(AccessPath(left), AccessPath(right), reason, message, (left_value, right_value))
        for left, right, reason, message, left_value, right_value in found
    ]


def get_first_structural_mismatch(
    lhs: Any, rhs: Any, map_free_vars: bool = False, skip_tensor_content: bool = False
) -> Mismatch | None:
    """Returns the first mismatch of two values, or `None` if they are equal.

    >>> from sapwood.structural import get_first_structural_mismatch
    >>> print(get_first_structural_mismatch({"a": [1]}, {"a": [2]}))
    their values differ
      left  <root>["a"][0]: 1
      right <root>["a"][0]: 2
    """
    found = diff(lhs, rhs, map_free_vars, skip_tensor_content, limit=1)
    return found[0] if found else None


def assert_structural_equal(
    lhs: Any, rhs: Any, map_free_vars: bool = False, skip_tensor_content: bool = False
) -> None:
    """Raises `NotEqualError`, an `AssertionError` with the first mismatch, if two values differ.

    >>> from sapwood.structural import assert_structural_equal
    >>> assert_structural_equal({"a": 1, "b": 2}, {"b": 2, "a": 1})
    """
    mismatch = get_first_structural_mismatch(lhs, rhs, map_free_vars, skip_tensor_content)
    if mismatch is not None:
        raise NotEqualError(f"not structurally equal: {mismatch}")


def check_hooks(lhs: Any, rhs: Any) -> str | None:
    """Describes two nodes that a hook compares as equal but hashes differently; returns `None` if there are no such nodes.

    >>> from sapwood.structural import Object, check_hooks, py_class
    >>> @py_class
    ... class Parity(Object):
    ...     value: int
    ...     def __s_equal__(self, other, eq_cb):
    ...         return eq_cb(self.value % 2, other.value % 2, False, "value")
    ...     def __s_hash__(self, init_hash, hash_cb):
    ...         return hash_cb(self.value % 2, init_hash, False)
    >>> print(check_hooks(Parity(1), Parity(3)))
    None
    """
    return _native.hook_disagreement(lhs, rhs)


# ---------------------------------------------------------------------------------------------------------------------
# Walks and rebuilding


def substitute(value: _T, replacements: Mapping[Any, Any]) -> _T:
    """Replaces free variables by values, all at once and without capture.

    >>> from sapwood.structural import Object, field, py_class, substitute
    >>> @py_class(structural_eq="var")
    ... class Name(Object):
    ...     name: str = field(structural_eq="ignore")
    >>> x = Name("x")
    >>> substitute([x, 1], {x: 5})
    Seq([5, 1])
    """
    return typing.cast("_T", _native.replace_variables(value, dict(replacements)))


def free_variables(value: Any) -> list[Any]:
    """Returns the free variables in the order of their first occurrence.

    >>> from sapwood import DataType, ir
    >>> from sapwood.structural import free_variables
    >>> x, y = (ir.Var(name, ir.ScalarType(DataType.INT64)) for name in "xy")
    >>> [one.name for one in free_variables(y * (x + y))]
    ['y', 'x']
    """
    return _native.variables_of(value)


def to_json(value: Any) -> str:
    """Returns the JSON graph form of a value, which is flat and contains shared nodes once.

    >>> from sapwood.structural import from_json, to_json
    >>> from_json(to_json([1, {"a": 2.5}]))
    Seq([1, {"a": 2.5}])
    """
    return _native.graph_to_json(value)[0]


def from_json(text: str, classes: collections.abc.Iterable[type] = ()) -> Any:
    """Reads a value from its JSON graph form; ``classes`` are the user-defined classes that it names."""
    return _native.restore(text, classes)
