"""The cost of programs."""

import pytest

from sapwood import ptir

TEXT = """\
ptir 1

func @f(%x: f32[?B, 8], %w: f32[8, 4]) -> f32[?B, 4] {
  %y = dot_general %x, %w {lhs_contract = [1], rhs_contract = [0]} : f32[?B, 4]
  %z = tanh %y : f32[?B, 4]
  return %z
}
"""


def test_open_extents_give_expressions() -> None:
    cost = ptir.parse(TEXT).cost()
    assert cost.flops == ptir.Dim("68*?B")
    assert cost.bytes == ptir.Dim("80*?B + 128")
    assert cost.families["dot"]["flops"] == ptir.Dim("64*?B")
    assert (cost.not_counted, cost.open_loops) == (0, 0)


def test_bound_extents_give_numbers() -> None:
    cost = ptir.parse(TEXT).bind(B=2).cost("f")
    assert (cost.flops, cost.bytes) == (136, 288)
    assert cost.peak_memory == 64 + 128 + 32 + 32
    assert repr(cost) == "<Cost of @f: flops=136, bytes=288, peak_memory=256>"


def test_a_function_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="unknown function g"):
        ptir.parse(TEXT).cost("g")
