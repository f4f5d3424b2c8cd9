"""A compiler-IR toolkit for tensor programs: define, compare, rewrite, match, run."""

from sapwood import errors, ir, ptir, rewrite, structural, testing
from sapwood._native import DataType, Diagnostic, __version__
from sapwood._jax import from_jax, simplify_jax, to_jax
from sapwood._onnx import from_onnx, from_torch, to_onnx
from sapwood._op import OpDefinition, op
from sapwood.errors import SapwoodError
from sapwood import pi
from sapwood.structural import (
    StructuralKey,
    assert_structural_equal,
    get_first_structural_mismatch,
    structural_equal,
    structural_hash,
)

__all__ = [
    "DataType",
    "Diagnostic",
    "OpDefinition",
    "SapwoodError",
    "StructuralKey",
    "__version__",
    "assert_structural_equal",
    "errors",
    "from_jax",
    "from_onnx",
    "from_torch",
    "get_first_structural_mismatch",
    "ir",
    "op",
    "pi",
    "ptir",
    "rewrite",
    "simplify_jax",
    "structural",
    "structural_equal",
    "structural_hash",
    "testing",
    "to_jax",
    "to_onnx",
]
