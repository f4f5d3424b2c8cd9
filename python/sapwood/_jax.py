"""Programs traced by JAX, where it is installed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sapwood import ptir
from sapwood.errors import ArgumentError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["from_jax"]


def from_jax(function: Callable[..., Any], *args: Any, **kwargs: Any) -> ptir.Program:
    """The program that JAX traces for a function of these arguments.

    A function that is jitted already is taken as it is.
    """
    if not callable(function):
        message = f"from_jax takes a function and its arguments, not {type(function).__name__}"
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
