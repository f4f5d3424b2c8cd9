"""`DataType` and `Span`."""

import copy
import pickle

import pytest

from sapwood import DataType, SapwoodError
from sapwood.ir import Span


def test_both_names_are_one_type() -> None:
    assert DataType.FLOAT32 is DataType.FP32
    assert DataType("f32") is DataType.FP32
    assert DataType(DataType.FP32) is DataType.FP32
    assert repr(DataType.INT64) == "DataType.INT64"


@pytest.mark.parametrize("dtype", DataType.ALL, ids=str)
def test_every_type_round_trips(dtype: DataType) -> None:
    assert DataType(dtype.name) is dtype
    assert DataType(dtype.short_name) is dtype
    assert getattr(DataType, dtype.name) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert dtype.itemsize == (dtype.bits + 7) // 8


def test_unknown_names_are_refused() -> None:
    with pytest.raises(SapwoodError, match="unknown data type `flaot32`"):
        DataType("flaot32")
    with pytest.raises(TypeError, match="a str, not int"):
        DataType(3)  # type: ignore[arg-type]


def test_spans() -> None:
    span = Span("example.py", 10, 5, 10, 20)
    assert (span.filename, span.begin_line, span.begin_column) == ("example.py", 10, 5)
    assert (span.end_line, span.end_column) == (10, 20)
    assert pickle.loads(pickle.dumps(span)) == span
    assert hash(span) == hash(Span("example.py", 10, 5, 10, 20))
    assert Span.unknown().is_unknown()
    with pytest.raises(SapwoodError, match="begin_line is -1"):
        Span("a.py", -1, 0)
