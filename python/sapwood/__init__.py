"""A compiler-IR toolkit for tensor programs: define, compare, rewrite, match, run."""

from sapwood import errors, ir, ptir, rewrite, structural, testing
from sapwood._native import DataType, Diagnostic, __version__
from sapwood._jax import from_jax, simplify_jax, to_jax
from sapwood._onnx import from_onnx, from_torch, to_onnx
from sapwood.errors import SapwoodError

__all__ = [
    "DataType",
    "Diagnostic",
    "SapwoodError",
    "__version__",
    "errors",
    "from_jax",
    "from_onnx",
    "from_torch",
    "ir",
    "ptir",
    "rewrite",
    "simplify_jax",
    "structural",
    "testing",
    "to_jax",
    "to_onnx",
]
