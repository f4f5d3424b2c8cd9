"""Import of functions that JAX traces, if JAX is installed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sapwood import ptir
from sapwood.errors import ArgumentError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["from_jax"]


def from_jax(function: Callable[..., Any], *args: Any, **kwargs: Any) -> ptir.Program:
    """Returns the program that JAX traces for a function and its arguments.

    A function that is already jitted is used as it is.
    """
    if not callable(function):
        message = f"from_jax expects a function and its arguments, found {type(function).__name__}"
        raise ArgumentError(message)
    lower = getattr(function, "lower", None)
    if lower is None:
        try:
            jax = importlib.import_module("jax")
        except ImportError:
            message = "from_jax needs JAX: pip install jax"
            raise MissingPackageError(message) from None
        lower = jax.jit(function).lower
    name = getattr(function, "__name__", "jax")
    return ptir.from_stablehlo(lower(*args, **kwargs).as_text(), f"<{name}>")
