"""Extents as expressions over symbols."""

import pickle

import pytest
from sapwood import ptir


def test_expressions_have_a_normal_form():
    s = ptir.Dim("?S")
    assert str(2 * s + 1 + s) == "3*?S + 1"
    assert (s + 1) * 2 == ptir.Dim("2*?S + 2")
    assert hash(s + s) == hash(2 * s)
    assert str((4 * s + 6) // 4) == "?S + 1"
    assert str((4 * s + 6) % 4) == "2"
    assert str(s.max(8)) == "max(?S, 8)" and str(10 - s) == "-?S + 10"
    assert (s * ptir.Dim("?B")).symbols == ["B", "S"]
    assert (2 * s + 1).evaluate(S=3) == 7
    assert pickle.loads(pickle.dumps(s + 1)) == s + 1
    assert repr(s) == 'Dim("?S")'


def test_types_have_expressions():
    ty = ptir.Type("f32[?B, 2*?S + 1, ?, 4]")
    assert ty.shape == ("B", ptir.Dim("2*?S + 1"), None, 4)
    assert ptir.Type.tensor("f32", ty.shape) == ty
    assert ptir.Type.tensor("f32", ["?S + 1"]) == ptir.Type("f32[?S + 1]")


def test_bad_expressions_are_refused():
    with pytest.raises(ValueError, match="expected a number"):
        ptir.Dim("2*")
    with pytest.raises(ValueError, match="-1 is not an extent"):
        ptir.Type.tensor("f32", [ptir.Dim(-1)])
    with pytest.raises(ZeroDivisionError):
        ptir.Dim("?S") // 0
    with pytest.raises(TypeError, match="has no value"):
        ptir.Dim("?S").evaluate(B=1)
    with pytest.raises(TypeError):
        ptir.Dim("?S") + 1.5


