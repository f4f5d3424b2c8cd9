"""NumPy arrays as values of fields: in and out for every data type, whatever their layout."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood
from sapwood import DataType, ptir
from sapwood.errors import SapwoodError
from sapwood.structural import Object, py_class, structural_equal, structural_hash


@py_class
class Const(Object):
    array: Any


@py_class
class Typed(Object):
    array: np.ndarray[Any, Any]


NUMPY = {
    "BOOL": np.bool_,
    **{f"{sign}INT{bits}": getattr(np, f"{sign.lower()}int{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64)},
    "INT4": ml_dtypes.int4,
    "UINT4": ml_dtypes.uint4,
    "BF16": ml_dtypes.bfloat16,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
    "FP8E4M3FN": ml_dtypes.float8_e4m3fn,
    "FP8E5M2": ml_dtypes.float8_e5m2,
    "COMPLEX64": np.complex64,
    "COMPLEX128": np.complex128,
    "FP8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "FP8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "FP8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "FP4E2M1FN": ml_dtypes.float4_e2m1fn,
    "INT2": ml_dtypes.int2,
    "UINT2": ml_dtypes.uint2,
}


def test_every_data_type_is_covered() -> None:
    assert {*NUMPY, "INDEX"} == {dtype.name for dtype in DataType.ALL}


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (2, 0, 3)], ids=str)
def test_in_and_out(name: str, shape: tuple[int, ...]) -> None:
    given = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(NUMPY[name])
    again = Const(given).array
    assert again.dtype == given.dtype and again.shape == given.shape
    # Zero is NaN in a type of powers of two.
    assert again.tobytes() == given.tobytes()
    assert not again.flags.writeable
    assert structural_equal(Const(given), Const(given.copy()))
    assert structural_hash(given) == structural_hash(given.copy())
    assert structural_equal(pickle.loads(pickle.dumps(Const(given))), Const(given))


@pytest.mark.parametrize("name", NUMPY)
def test_layouts(name: str) -> None:
    plain = np.array([[0, 1, 1], [1, 0, 1]]).astype(NUMPY[name])
    swapped = np.asfortranarray(plain)
    strided = np.repeat(plain, 2, axis=1)[:, ::2]
    negative = plain[::-1][::-1]
    frozen = plain.copy()
    frozen.setflags(write=False)
    for other in (swapped, strided, negative, frozen):
        assert structural_equal(plain, other)
    if plain.dtype.itemsize > 1 and plain.dtype.kind in "iufc":
        assert structural_equal(plain, plain.astype(plain.dtype.newbyteorder(">")))


def test_arrays_that_differ() -> None:
    ones = np.ones((2, 2), np.float32)
    assert not structural_equal(ones, np.ones((2, 2), np.float64))
    assert not structural_equal(ones, np.ones((4,), np.float32))
    assert not structural_equal(ones, np.zeros((2, 2), np.float32))
    assert structural_equal(ones, np.zeros((2, 2), np.float32), skip_tensor_content=True)
    assert structural_hash(ones, skip_tensor_content=True) == structural_hash(
        np.zeros((2, 2), np.float32), skip_tensor_content=True
    )


def test_arrays_are_copied() -> None:
    given = np.zeros(3)
    node = Const(given)
    given[0] = 1
    assert node.array[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        node.array[0] = 1


@pytest.mark.parametrize(
    "array",
    [
        np.array([object()]),
        np.array(["text"]),
        np.array([b"bytes"]),
        np.array(["2026-11-15"], "datetime64[D]"),
        np.zeros(2, [("a", "i4")]),
        np.zeros(2, np.longdouble),
    ],
    ids=lambda array: str(array.dtype),
)
def test_unsupported_array_types(array: Any) -> None:
    with pytest.raises(SapwoodError, match="are not supported; the data types are"):
        Const(array)


def test_huge_arrays_are_a_python_exception() -> None:
    with pytest.raises(SapwoodError, match="not enough memory to copy an array"):
        Const(np.broadcast_to(np.float64(1), (1 << 50,)))


@pytest.mark.parametrize(
    ("dtype", "odd", "plain"),
    [
        (np.bool_, b"\x02\x80\x00", [True, True, False]),
        (ml_dtypes.int4, b"\x7f\x17\xf8", [-1, 7, -8]),
        (ml_dtypes.uint4, b"\x7f\x17\xf8", [15, 7, 8]),
        (ml_dtypes.int2, b"\xff\x01\x02", [-1, 1, -2]),
        (ml_dtypes.uint2, b"\x07\x11\x02", [3, 1, 2]),
    ],
    ids=str,
)
def test_elements_have_one_spelling(dtype: Any, odd: bytes, plain: list[int]) -> None:
    given = np.frombuffer(odd, dtype)
    assert structural_equal(Const(given), Const(np.array(plain, dtype)))
    assert structural_hash(Const(given)) == structural_hash(Const(np.array(plain, dtype)))
    name = {np.bool_: "bool", ml_dtypes.int4: "i4", ml_dtypes.uint4: "u4", ml_dtypes.int2: "i2", ml_dtypes.uint2: "u2"}[dtype]
    b = ptir.Builder("f")
    (result,) = ptir.Program([b.finish(b.parameter("x", f"{name}[3]"))]).run(given)
    assert result.tolist() == plain


def test_annotated_fields() -> None:
    assert Typed(np.ones(2)).array.shape == (2,)
    with pytest.raises(SapwoodError, match="expected an array, found sequence|found node"):
        Typed([1, 2])  # type: ignore[arg-type]


@settings(deadline=None, max_examples=50, derandomize=True, database=None)
@given(st.sampled_from(sorted(NUMPY)), st.lists(st.integers(0, 3), max_size=3), st.binary(min_size=64, max_size=64))
def test_any_bits_come_back(name: str, shape: list[int], content: bytes) -> None:
    dtype = np.dtype(NUMPY[name])
    count = int(np.prod(shape, dtype=int))
    raw = (content * 32)[: count * dtype.itemsize]
    if name == "BOOL":
        raw = bytes(byte & 1 for byte in raw)
    if name in ("INT4", "UINT4"):
        raw = bytes(byte & 7 for byte in raw)
    if name in ("INT2", "UINT2", "FP4E2M1FN"):
        raw = bytes(byte & 1 for byte in raw)
    given_array = np.frombuffer(raw, dtype).reshape(shape) if count else np.empty(shape, dtype)
    assert Const(given_array).array.tobytes() == given_array.tobytes()


@pytest.mark.parametrize(("package", "name"), [("numpy", "FP32"), ("ml_dtypes", "BF16")])
def test_a_package_that_is_not_installed_is_named(package: str, name: str) -> None:
    """Runs in a separate process, because imported modules stay imported."""
    code = f"""
import sys
sys.modules[{package!r}] = None
from sapwood import ptir
from sapwood.errors import MissingPackageError
b = ptir.Builder("f")
x = b.parameter("x", {"f32[2]" if name == "FP32" else "bf16[2]"!r})
try:
    ptir.Program([b.finish(x)]).run([1.0, 2.0])
except MissingPackageError as error:
    assert isinstance(error, ImportError)
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(sapwood.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.strip().endswith(f"pip install {package}"), done.stderr
