"""Programs from ONNX models and PyTorch modules, and back to ONNX."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, overload

from sapwood import _native, ptir
from sapwood.errors import ArgumentError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["from_onnx", "from_torch", "to_onnx"]


def from_onnx(model: str | os.PathLike[str] | bytes | Any, *, inline_functions: bool = False) -> ptir.Program:
    """Returns the program of an ONNX model: a path, the bytes of a file, or an ``onnx.ModelProto``.

    Each node is one instruction, ``onnx.Conv`` and so on. `Program.simplify` replaces ops by core ops first, and `to_onnx` turns them back.
    Weights in other files are found beside the path. With ``inline_functions``, calls of the model's own functions are replaced by their nodes.
    """
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _native.onnx_read(bytes(model), inline_functions)
    if isinstance(model, (str, os.PathLike)):
        return _native.onnx_read(os.fspath(model), inline_functions)
    serialize = getattr(model, "SerializeToString", None)
    if serialize is None:
        message = f"from_onnx expects a path, bytes or a ModelProto, found {type(model).__name__}"
        raise ArgumentError(message)
    return _native.onnx_read(serialize(), inline_functions)


@overload
def to_onnx(program: ptir.Program, path: None = None) -> bytes: ...
@overload
def to_onnx(program: ptir.Program, path: str | os.PathLike[str]) -> None: ...
def to_onnx(program: ptir.Program, path: str | os.PathLike[str] | None = None) -> bytes | None:
    """Writes a program as an ONNX model to a file, or returns its bytes: ``onnx.load_model_from_string(to_onnx(program))``.

    What did not change since `from_onnx` is written as it was: nodes, names, documentation, unknown fields. A file over 2 GB has its weights
    in a second file, ``NAME.data``.
    """
    if not isinstance(program, ptir.Program):
        message = f"to_onnx expects a Program, found {type(program).__name__}"
        raise ArgumentError(message)
    return _native.onnx_write(program, None if path is None else os.fspath(path))


def from_torch(module: Any, args: Sequence[Any], *, dynamic_shapes: Any = None, **options: Any) -> ptir.Program:
    """Returns the program of a PyTorch module, as ``torch.onnx.export`` traces it for these arguments.

    With ``dynamic_shapes``, as ``torch.export`` takes them, extents are symbols: ``({0: "batch", 1: "length"},)``. Other keywords are those of
    ``torch.onnx.export``.
    """
    try:
        torch_onnx = importlib.import_module("torch.onnx")
    except ImportError:
        message = "from_torch needs PyTorch: pip install torch onnx onnxscript"
        raise MissingPackageError(message) from None
    exported = torch_onnx.export(module, tuple(args), dynamo=True, dynamic_shapes=dynamic_shapes, **options)
    return from_onnx(exported.model_proto, inline_functions=True)
