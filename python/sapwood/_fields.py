"""The fields of node classes."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, Literal

from sapwood import _native
from sapwood.errors import InvalidValueError

__all__ = ["MISSING", "Field", "FieldSpec", "field", "singleton_getter"]

_Role = Literal["def", "ignore"]


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()
"""The default of a field that has none."""


class Field:
    """A field of a node class, as `fields` returns it."""

    __slots__ = ("compare", "default", "default_factory", "doc", "init", "kw_only", "metadata", "name", "repr", "role", "type")

    name: str
    """The name."""
    role: str
    """The role in comparisons: ``"usual"``, ``"def"`` or ``"ignore"``."""
    type: Any
    """The annotation, evaluated; ``Any`` if it is unknown."""
    default: Any
    """The default, or `MISSING`."""
    default_factory: Any
    """The function that makes the default, or `MISSING`."""
    init: bool
    """True if the field is a parameter of the constructor."""
    repr: bool
    """True if ``repr`` shows the field."""
    compare: bool
    """True if comparisons and hashes use the field."""
    kw_only: bool
    """True if the field is a keyword of the constructor."""
    metadata: Mapping[Any, Any]
    """Values of the user, read-only."""
    doc: str | None
    """The documentation."""

    def __init__(self, spec: FieldSpec, name: str, role: str, type: Any) -> None:  # noqa: A002
        self.name, self.role, self.type = name, role, type
        self.default, self.default_factory = spec.default, spec.default_factory
        self.init, self.repr, self.compare = spec.init, spec.repr, role != "ignore"
        self.kw_only, self.metadata, self.doc = bool(spec.kw_only), spec.metadata, spec.doc

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Field({self.name!r}, role={self.role!r}, type={self.type!r})"


class FieldSpec:
    """The arguments of `field`, until `py_class` reads them."""

    __slots__ = ("default", "default_factory", "doc", "init", "kw_only", "metadata", "repr", "structural_eq")

    def __init__(
        self,
        default: Any = MISSING,
        default_factory: Any = MISSING,
        structural_eq: Any = None,
        kw_only: Any = None,
        *,
        init: bool = True,
        repr: bool = True,  # noqa: A002
        metadata: Mapping[Any, Any] | None = None,
        doc: str | None = None,
    ) -> None:
        self.default = default
        self.default_factory = default_factory
        self.structural_eq = structural_eq
        self.kw_only = kw_only
        self.init = init
        self.repr = repr
        self.metadata = types.MappingProxyType(dict(metadata or {}))
        self.doc = doc


def field(
    *,
    default: Any = MISSING,
    default_factory: Callable[[], Any] | Any = MISSING,
    init: bool = True,
    repr: bool = True,  # noqa: A002
    compare: bool = True,
    metadata: Mapping[Any, Any] | None = None,
    kw_only: bool | None = None,
    doc: str | None = None,
    structural_eq: _Role | None = None,
) -> Any:
    """Declares a field with more options than its annotation. Those of ``dataclasses.field`` mean the same here.

    ``compare=False``, or ``structural_eq="ignore"``, excludes the field from comparison and hash; ``structural_eq="def"`` makes it a field
    that binds variables. A field with ``init=False`` is not a parameter of the constructor, and has a default.

    >>> from sapwood.structural import Object, field, py_class, structural_equal
    >>> @py_class
    ... class Load(Object):
    ...     address: int
    ...     comment: str = field(default="", compare=False)
    >>> structural_equal(Load(1, "first"), Load(1, "second"))
    True
    """
    if structural_eq not in (None, "def", "ignore"):
        raise InvalidValueError(
            f'structural_eq of a field is "def", "ignore" or None, not {structural_eq!r}'
        )
    if not compare and structural_eq == "def":
        raise InvalidValueError('compare=False contradicts structural_eq="def"; variables that a field binds are compared')
    if default is not MISSING and default_factory is not MISSING:
        raise InvalidValueError("both default and default_factory are given; a field has at most one of them")
    if not init and default is MISSING and default_factory is MISSING:
        raise InvalidValueError("a field with init=False needs a default or a default_factory")
    role = structural_eq if compare else "ignore"
    only = kw_only if init else True
    return FieldSpec(default, default_factory, role, only, init=init, repr=repr, metadata=metadata, doc=doc)


def singleton_getter(cls: type, signature: inspect.Signature, doc: str | None) -> Callable[..., Any]:
    """Returns the function behind ``Object.get``, with the parameters of a class."""

    def get(cls: type, *args: Any, **kwargs: Any) -> Any:
        return _native.get_singleton(cls, *args, **kwargs)

    get.__doc__ = doc
    get.__qualname__ = f"{cls.__qualname__}.get"
    own = inspect.Parameter("cls", inspect.Parameter.POSITIONAL_ONLY)
    parameters = [own, *signature.parameters.values()]
    get.__signature__ = signature.replace(parameters=parameters, return_annotation=cls)  # type: ignore[attr-defined]
    return get
