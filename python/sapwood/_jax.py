"""Programs from JAX."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from sapwood import ptir
from sapwood.errors import ArgumentError, RunError

__all__ = ["from_jax"]


def from_jax(function: Callable[..., Any], *args: Any, **kwargs: Any) -> ptir.Program:
    """The program that JAX makes of a function for arguments like these.

    Arguments are arrays, or what has a shape and a dtype, such as ``jax.ShapeDtypeStruct``; a function that is jitted already keeps
    its settings. JAX must be installed.
    """
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        raise RunError("from_jax needs JAX: pip install jax") from None
    if not callable(function):
        raise ArgumentError(f"from_jax takes a function, not {type(function).__name__}")
    traced = function if hasattr(function, "lower") else jax.jit(function)
    text: str = traced.lower(*args, **kwargs).as_text()
    return ptir.from_stablehlo(text, "<jax>")
