"""StableHLO in and out, and what JAX traces."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import sapwood
from sapwood import errors, ptir, rewrite

RELU = """module @jit_relu {
  func.func public @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}
"""


class Traced:
    """What jax.jit gives, as far as it is needed."""

    __name__ = "relu"

    def __call__(self) -> None: ...

    def lower(self, *args: object) -> Traced:
        assert len(args) == 1
        return self

    def as_text(self) -> str:
        return RELU


def test_stablehlo_is_read_run_and_written() -> None:
    program = ptir.from_stablehlo(RELU)
    assert program.run([-1.0, 0.5, 2.0])[0].tolist() == [0.0, 0.5, 2.0]
    again = ptir.from_stablehlo(ptir.to_stablehlo(rewrite.simplify(program)))
    assert again.run([-1.0, 0.5, 2.0])[0].tolist() == [0.0, 0.5, 2.0]


def test_what_is_wrong_has_its_place() -> None:
    with pytest.raises(errors.ParseError, match=r"relu.mlir:5:"):
        ptir.from_stablehlo(RELU.replace("%arg0, %0", "%arg0, %7"), "relu.mlir")


def test_what_jax_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros(3, np.float32)
    assert "max" in str(sapwood.from_jax(Traced(), x))
    jax = types.ModuleType("jax")
    jax.jit = lambda function: Traced()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jax", jax)
    assert "max" in str(sapwood.from_jax(lambda x: x, x))
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(errors.MissingPackageError, match="pip install jax") as caught:
        sapwood.from_jax(lambda x: x, x)
    assert isinstance(caught.value, ImportError) and isinstance(caught.value, sapwood.SapwoodError)
    with pytest.raises(errors.ArgumentError):
        sapwood.from_jax(3, x)  # type: ignore[arg-type]


def test_what_a_module_says_besides_is_kept_through_passes() -> None:
    text = RELU.replace("module @jit_relu {", "module @jit_relu attributes {mhlo.num_partitions = 1 : i32} {")
    program = rewrite.simplify(ptir.from_stablehlo(text))
    assert "module @jit_relu attributes {mhlo.num_partitions = 1 : i32}" in ptir.to_stablehlo(program)
    assert program.notes == ()
