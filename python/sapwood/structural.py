"""Node classes of your own, compared and hashed by structure, up to renaming of variables.

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
from sapwood.errors import ArgumentError, InvalidValueError, NotEqualError

if typing.TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[Any], Any]:
        return lambda decorated: decorated


__all__ = [
    "AccessPath",
    "Map",
    "Mismatch",
    "Node",
    "Object",
    "Seq",
    "Set",
    "StructuralKey",
    "assert_structural_equal",
    "check_hooks",
    "diff",
    "field",
    "fields",
    "free_variables",
    "from_json",
    "get_first_structural_mismatch",
    "map",
    "py_class",
    "replace",
    "structural_equal",
    "structural_hash",
    "substitute",
    "to_json",
    "walk",
]

_T = TypeVar("_T")
_Kind = Literal["tree", "const-tree", "dag", "var", "singleton"]
_Role = Literal["def", "ignore"]

for _abstract, _ours in (
    (collections.abc.Sequence, Seq),
    (collections.abc.Mapping, Map),
    (collections.abc.Set, Set),
):
    _abstract.register(_ours)


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


_MISSING: Any = _Missing()


# ---------------------------------------------------------------------------------------------------------------------
# Classes of nodes


class _FieldSpec:
    """What `field` says of a field, until `py_class` reads it."""

    __slots__ = ("default", "default_factory", "kw_only", "structural_eq")

    def __init__(self, default: Any, default_factory: Any, structural_eq: Any, kw_only: Any) -> None:
        self.default = default
        self.default_factory = default_factory
        self.structural_eq = structural_eq
        self.kw_only = kw_only


def field(
    *,
    default: Any = _MISSING,
    default_factory: Callable[[], Any] | Any = _MISSING,
    structural_eq: _Role | None = None,
    kw_only: bool | None = None,
) -> Any:
    """Says more of a field of a class than its annotation does.

    ``structural_eq="ignore"`` leaves the field out of comparison and hash; ``structural_eq="def"`` makes it a place where
    variables are bound.
    """
    if structural_eq not in (None, "def", "ignore"):
        raise InvalidValueError(
            f'structural_eq of a field is "def", "ignore" or None, not {structural_eq!r}'
        )
    if default is not _MISSING and default_factory is not _MISSING:
        raise InvalidValueError("a field has a default or a default_factory, not both")
    return _FieldSpec(default, default_factory, structural_eq, kw_only)


class _ObjectMeta(type):
    """Instances of classes of nodes hold their node and nothing else."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **keywords: Any
    ) -> _ObjectMeta:
        if namespace.setdefault("__slots__", ()) != ():
            raise ArgumentError(f"{name} cannot have __slots__ of its own: it has fields")
        return super().__new__(mcs, name, bases, namespace, **keywords)

    def __setattr__(cls, name: str, value: object) -> None:
        _refuse_late(cls, name)
        super().__setattr__(name, value)

    def __delattr__(cls, name: str) -> None:
        _refuse_late(cls, name)
        super().__delattr__(name)


#: What `py_class` reads when it registers a class; a later change would have no effect.
_READ_ONCE = ("__s_equal__", "__s_hash__", "__post_init__", "__init__", "__new__")


def _refuse_late(cls: type, name: str) -> None:
    if name not in _READ_ONCE and name not in (known for known, _ in _native.class_fields(cls) or ()):
        return
    registered = next((known for known in _SPECS if issubclass(known, cls)), None)
    if registered is not None:
        raise ArgumentError(
            f"{cls.__qualname__}.{name} cannot be changed: {registered.__qualname__} is registered already; "
            "define it in the body of the class, before py_class"
        )


class Object(Node, metaclass=_ObjectMeta):
    """The base of all classes of nodes: decorate its subclasses with `py_class`.

    Instances are immutable. ``==`` and ``hash`` go by identity of the node; compare by structure with
    `structural_equal`.
    """

    @classmethod
    def get(cls: type[_T], *args: Any, **kwargs: Any) -> _T:
        """The one singleton with these fields; for classes with ``structural_eq="singleton"``."""
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
    """Makes a class of nodes from a subclass of `Object` with annotated fields.

    ``structural_eq`` says how its nodes are compared: ``"tree"`` (the default), ``"const-tree"``, ``"dag"``, ``"var"``,
    ``"singleton"``, or ``None`` for nodes that cannot be compared. What the def fields of a ``scope`` bind is unbound when
    the node ends. ``key`` is the name of the type in hashes and files; module and name of the class, if not given.
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
        raise ArgumentError(f"py_class is for subclasses of Object, and {cls!r} is none")
    name = cls.__qualname__
    if "__init__" in vars(cls) or "__new__" in vars(cls):
        raise ArgumentError(
            f"{name} cannot have an __init__ or __new__ of its own: instances are made from their fields; "
            "check them in __post_init__, and make them in other ways in class methods"
        )
    bases = [base for base in cls.__mro__[1:] if _native.class_fields(base) is not None]
    if bases and any(not issubclass(bases[0], base) for base in bases):
        raise ArgumentError(f"{name} extends two classes of nodes; their fields have no common order")
    own = _own_fields(cls, kw_only)
    inherited = _SPECS.get(bases[0], []) if bases else []
    _check_defaults(name, [*inherited, *own])
    post_init = hasattr(cls, "__post_init__")
    hooks = (hasattr(cls, "__s_equal__"), hasattr(cls, "__s_hash__"), post_init)
    full = key or f"{cls.__module__}.{name}"
    base = bases[0] if bases else None
    _native.register_class(cls, full, kind, scope, base, own, _resolve, _MISSING, hooks)
    if post_init:
        type.__setattr__(cls, "__init__", _post_init)
    _SPECS[cls] = [*inherited, *own]
    _LOCAL[name] = cls
    positional = tuple(spec[0] for spec in _SPECS[cls] if not spec[4])
    type.__setattr__(cls, "__match_args__", positional)
    return cls


_FieldTuple = tuple[str, str, Any, Any, bool]
#: The fields of every class, base class first.
_SPECS: dict[type, list[_FieldTuple]] = {}
#: Classes by qualified name, for annotations of classes inside functions.
_LOCAL: dict[str, type] = {}


def _post_init(self: Any, *_: Any, **__: Any) -> None:
    self.__post_init__()


def _own_fields(cls: type, kw_only: bool) -> list[_FieldTuple]:
    own: list[_FieldTuple] = []
    for name, annotation in _annotations(cls).items():
        if annotation is typing.ClassVar or str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            continue
        if typing.get_origin(annotation) is typing.ClassVar:
            continue
        given = vars(cls).get(name, _MISSING)
        if isinstance(given, FieldGetter):
            raise ArgumentError(f"{cls.__qualname__} is registered already")
        spec = given if isinstance(given, _FieldSpec) else _FieldSpec(given, _MISSING, None, None)
        only = kw_only if spec.kw_only is None else spec.kw_only
        own.append((name, spec.structural_eq or "usual", spec.default, spec.default_factory, only))
    for name, value in vars(cls).items():
        if isinstance(value, _FieldSpec) and not any(name == known[0] for known in own):
            raise ArgumentError(f"{cls.__qualname__}.{name} needs an annotation to be a field")
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
        if spec[2] is not _MISSING or spec[3] is not _MISSING:
            optional = spec[0]
        elif optional is not None:
            raise ArgumentError(f"{name}: {spec[0]} has no default and follows {optional}, which has one")


# What a field may hold, for the native half: a word, a class, or a tuple of a word and its parts. Annotations are looked at
# when the first instance is made, so that a class can name one that is defined after it.

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


def _resolve(cls: type) -> list[Any]:
    found = []
    for name, _ in _native.class_fields(cls) or ():
        owner = next(base for base in cls.__mro__ if name in _annotations(base))
        found.append(_check(_evaluate(owner, _annotations(owner)[name])))
    return found


def _evaluate(owner: type, annotation: Any) -> Any:
    """The annotation, names replaced by what they mean; `Any` where that is not known."""
    module = sys.modules.get(owner.__module__)
    scope = dict(vars(module)) if module else {}
    prefix = owner.__qualname__.rpartition(".")[0]
    while prefix:
        for name, known in _LOCAL.items():
            if name.rpartition(".")[0] == prefix:
                scope.setdefault(known.__name__, known)
        prefix = prefix.rpartition(".")[0]
    scope.setdefault(owner.__name__, owner)

    def holder() -> None: ...

    holder.__annotations__ = {"it": annotation}
    try:
        return typing.get_type_hints(holder, scope, {owner.__name__: owner})["it"]
    except Exception:
        # An annotation is advice; one that cannot be read asks for nothing.
        return Any


def _check(hint: Any) -> Any:
    try:
        if hint in _WORDS:
            return _WORDS[hint]
    except TypeError:
        return "any"
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin is typing.Annotated:
        return _check(arguments[0])
    if origin is typing.Union or origin is types.UnionType:
        parts = [_check(argument) for argument in arguments]
        return "any" if "any" in parts else ("union", *parts)
    if origin is typing.Literal:
        parts = [_check(type(argument)) for argument in arguments]
        return ("union", *parts)
    kind = origin or hint
    if kind is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return ("seq", _check(arguments[0]))
        return ("seq", "any")
    if kind in _SEQUENCES:
        return ("seq", _check(arguments[0]) if arguments else "any")
    if kind in _MAPS:
        key, value = arguments if len(arguments) == 2 else (Any, Any)
        return ("map", _check(key), _check(value))
    if kind in _SETS:
        return ("set", _check(arguments[0]) if arguments else "any")
    if isinstance(kind, type):
        if issubclass(kind, Node):
            return kind
        if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
            return "tensor"
    return "any"


def fields(node_or_class: Node | type[Node]) -> tuple[str, ...]:
    """The names of the fields of a class of nodes, base class first."""
    cls = node_or_class if isinstance(node_or_class, type) else type(node_or_class)
    found = _native.class_fields(cls)
    if found is None:
        raise ArgumentError(f"{cls.__qualname__} is no class of nodes")
    return tuple(name for name, _ in found)


def replace(node: _T, /, **changes: Any) -> _T:
    """The same node with other values in some fields."""
    if not isinstance(node, Object):
        raise ArgumentError(f"replace is for instances of py_class classes, not {type(node).__name__}")
    values = {name: getattr(node, name) for name in fields(node)}
    return type(node)(**{**values, **changes})


# ---------------------------------------------------------------------------------------------------------------------
# Where values differ


class AccessPath:
    """The way from a root to a place below it; prints as ``<root>.body[1]["k"]``."""

    __slots__ = ("_steps",)

    def __init__(self, steps: tuple[tuple[str, Any], ...] = ()) -> None:
        self._steps = tuple(steps)

    @property
    def steps(self) -> tuple[tuple[str, Any], ...]:
        """The steps, outermost first: ``("field", name)``, ``("index", number)`` or ``("key", value)``."""
        return self._steps

    def values(self, root: Any) -> Iterator[Any]:
        """What stands along the way, from the root to the place, as far as there is something."""
        yield root
        for kind, where in self._steps:
            try:
                root = getattr(root, where) if kind == "field" else root[where]
            except (AttributeError, LookupError, TypeError):
                return
            yield root

    def resolve(self, root: Any) -> Any:
        """What stands at the place."""
        found = list(self.values(root))
        if len(found) <= len(self._steps):
            raise InvalidValueError(f"there is nothing at {self}")
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
    """Where two values differ: the pair of places, and why."""

    #: `"type"`, `"value"`, `"length"`, `"missing"`, `"binding"`, `"sharing"` or `"hook"`.
    reason: str
    #: The same in words, with both places and both values.
    message: str
    #: What is there on the left, and on the right; `None` if there is nothing.
    values: tuple[Any, Any]

    def __new__(
        cls, lhs: AccessPath, rhs: AccessPath, reason: str, message: str, values: tuple[Any, Any]
    ) -> Mismatch:
        self = super().__new__(cls, (lhs, rhs))
        self.reason, self.message, self.values = reason, message, values
        return self

    @property
    def lhs(self) -> AccessPath:
        """The place on the left."""
        return self[0]

    @property
    def rhs(self) -> AccessPath:
        """The place on the right."""
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
    """All differences that are not below another one, ``limit`` at most."""
    found = _native.mismatches(lhs, rhs, map_free_vars, skip_tensor_content, limit)
    return [
        Mismatch(AccessPath(left), AccessPath(right), reason, message, (left_value, right_value))
        for left, right, reason, message, left_value, right_value in found
    ]


def get_first_structural_mismatch(
    lhs: Any, rhs: Any, map_free_vars: bool = False, skip_tensor_content: bool = False
) -> Mismatch | None:
    """The first place where two values differ; `None` if they are equal."""
    found = diff(lhs, rhs, map_free_vars, skip_tensor_content, limit=1)
    return found[0] if found else None


def assert_structural_equal(
    lhs: Any, rhs: Any, map_free_vars: bool = False, skip_tensor_content: bool = False
) -> None:
    """Raises `NotEqualError`, which is an `AssertionError`, if two values differ, and says where."""
    mismatch = get_first_structural_mismatch(lhs, rhs, map_free_vars, skip_tensor_content)
    if mismatch is not None:
        raise NotEqualError(f"not structurally equal: {mismatch}")


def check_hooks(lhs: Any, rhs: Any) -> str | None:
    """Looks for hooks that call two nodes equal and hash them differently; says which, or gives `None`."""
    return _native.hook_disagreement(lhs, rhs)


# ---------------------------------------------------------------------------------------------------------------------
# Walking and rebuilding


def walk(
    value: Any,
    visit: Callable[..., Any],
    *,
    order: Literal["pre", "post"] = "pre",
    every_occurrence: bool = False,
    compared_only: bool = False,
    def_regions: bool = False,
) -> None:
    """Calls ``visit(node)`` for each distinct node; with ``def_regions``, ``visit(node, in_def_region)``.

    In pre-order ``visit`` may return ``"skip"`` to leave out what is below, and in both orders ``"stop"``.
    """
    if order not in ("pre", "post"):
        raise InvalidValueError(f'order is "pre" or "post", not {order!r}')
    call: Any = visit if def_regions else lambda node, _: visit(node)
    _native.walk(value, call, order == "post", every_occurrence, compared_only)


def map(value: _T, f: Callable[[Any], Any]) -> _T:
    """Replaces nodes from the leaves up: ``f(node)`` gives what to put in the node's place, `None` to keep it.

    Only what changed is rebuilt, and what was shared is shared in the result.
    """
    return typing.cast("_T", _native.map_nodes(value, f))


def substitute(value: _T, replacements: Mapping[Any, Any]) -> _T:
    """Replaces free variables by values, all at once, so that nothing is captured."""
    return typing.cast("_T", _native.replace_variables(value, dict(replacements)))


def free_variables(value: Any) -> list[Any]:
    """The variables that occur free, as they are first met."""
    return _native.variables_of(value)


def to_json(value: Any) -> str:
    """The JSON graph form of a value: flat, and what is shared is written once."""
    return _native.graph_to_json(value)[0]


def from_json(text: str, classes: collections.abc.Iterable[type] = ()) -> Any:
    """A value from its JSON graph form; ``classes`` are those that it names, besides the ones of this package."""
    return _native.restore(text, classes)
