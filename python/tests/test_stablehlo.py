"""StableHLO import and export, and tracing with JAX."""

from __future__ import annotations

import copy
import pickle
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
    """A substitute for the result of jax.jit."""

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


def test_errors_have_a_place() -> None:
    with pytest.raises(errors.ParseError, match=r"relu.mlir:5:"):
        ptir.from_stablehlo(RELU.replace("%arg0, %0", "%arg0, %7"), "relu.mlir")


def test_traced_functions_of_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros(3, np.float32)
    assert "max" in str(sapwood.from_jax(Traced(), x))
    jax = types.ModuleType("jax")
    jax.jit = lambda function, **_: Traced()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jax", jax)
    assert "max" in str(sapwood.from_jax(lambda x: x, x))
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(errors.MissingPackageError, match="pip install jax") as caught:
        sapwood.from_jax(lambda x: x, x)
    assert isinstance(caught.value, ImportError) and isinstance(caught.value, sapwood.SapwoodError)
    with pytest.raises(errors.ArgumentError):
        sapwood.from_jax(3, x)  # type: ignore[arg-type]


def test_module_attributes_are_kept_through_passes() -> None:
    text = RELU.replace("module @jit_relu {", "module @jit_relu attributes {mhlo.num_partitions = 1 : i32} {")
    program = rewrite.simplify(ptir.from_stablehlo(text))
    assert "module @jit_relu attributes {mhlo.num_partitions = 1 : i32}" in ptir.to_stablehlo(program)
    assert program.notes == ()


SCOPED = """module @jit_f {
  func.func public @main(%arg0: tensor<3xf32> loc("x")) -> tensor<3xf32> {
    %0 = call @relu(%arg0) : (tensor<3xf32>) -> tensor<3xf32> loc(#loc2)
    return %0 : tensor<3xf32> loc(unknown)
  } loc(unknown)
  func.func private @relu(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<3xf32> loc("tanh")
    return %0 : tensor<3xf32>
  }
}
#loc1 = loc("model.py":3:4 to :9)
#loc2 = loc("jit(f)/layer_0/jit(relu)"(#loc1))
"""


def test_locations_are_kept_through_passes_and_pickles() -> None:
    program = ptir.from_stablehlo(SCOPED, "f.mlir")
    call = program["main"].instructions[0]
    assert call.span.scope == "jit(f)/layer_0/jit(relu)"
    assert call.span.loc == '"jit(f)/layer_0/jit(relu)"("model.py":3:4 to :9)'
    assert program["main"].instructions[1].span.loc is None
    program = rewrite.run(program, "inline,simplify").program
    for same in [program, pickle.loads(pickle.dumps(program)), ptir.from_stablehlo(ptir.to_stablehlo(program))]:
        tanh = same["main"].instructions[0]
        assert tanh.op == "tanh" and tanh.span.scope == "jit(f)/layer_0/jit(relu)/tanh"
        assert tanh.span.loc == 'callsite("tanh" at "jit(f)/layer_0/jit(relu)"("model.py":3:4 to :9))'
    for span in [call.span, tanh.span]:
        assert pickle.loads(pickle.dumps(span)) == span and "loc=" in repr(span)
    assert '#loc0 = loc("x")' in ptir.to_stablehlo(program)


def test_spans_with_locations() -> None:
    span = sapwood.ir.Span("f.mlir", 1, 2, 3, 4, '"a"("b.py":5:6)')
    assert (span.scope, span.loc, str(span)) == ("a", '"a"("b.py":5:6)', "f.mlir:1:2")
    assert span != sapwood.ir.Span("f.mlir", 1, 2, 3, 4)
    for wrong in ["a", '"a") ("b"', "#loc1"]:
        with pytest.raises(ValueError, match="location"):
            sapwood.ir.Span("f.mlir", 1, 2, 3, 4, wrong)


TAGGED = """module @tagged attributes {mhlo.num_partitions = 1 : i32} {
  func.func private @main(%arg0: tensor<3xf32> {jax.arg_info = "x"}) -> (tensor<3xf32> {jax.result_info = "y"}) {
    %0 = stablehlo.negate %arg0 {mine = "kept"} : tensor<3xf32>
    %1 = stablehlo.negate %arg0 : tensor<3xf32>
    %2 = stablehlo.add %0, %1 : tensor<3xf32>
    return %2 : tensor<3xf32>
  }
}
"""


def test_module_attributes_are_kept_by_pickle_and_copy() -> None:
    program = ptir.from_stablehlo(TAGGED)
    text = ptir.to_stablehlo(program)
    for word in ["@tagged", "num_partitions", "private", "arg_info", "result_info", "mine"]:
        assert word in text
    for again in [pickle.loads(pickle.dumps(program)), copy.copy(program), copy.deepcopy(program)]:
        assert ptir.to_stablehlo(again) == text and str(again) == str(program)
    # The text is stable when written twice, and after a pass.
    simple = rewrite.run(program, "dce").program
    twice = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(simple))))
    assert ptir.to_stablehlo(twice) == ptir.to_stablehlo(simple)


def test_extras_that_do_not_fit_are_refused() -> None:
    program = ptir.from_stablehlo(TAGGED)
    read, (text, extras, *_) = program.__reduce__()  # type: ignore[misc]
    assert ptir.to_stablehlo(read(text, extras)) == ptir.to_stablehlo(program)
    wrong = [extras[:-5], "[]", extras.replace('"main"', '"other"'), extras.replace('"insts":[0]', '"insts":[99]')]
    for changed in [*wrong, extras.replace('"version":1', '"version":9')]:
        assert changed != extras
        with pytest.raises(errors.ParseError, match="StableHLO extras"):
            read(text, changed)


def test_comments_are_kept_by_pickle() -> None:
    text = """ptir 1

// Adds one.
func @main(%x: f32[2]) -> f32[2] {
  // Turns the sign.
  %y = neg %x : f32[2]
  // Ends.
  return %y
}
"""
    program = ptir.parse(text)
    assert str(program) == text
    assert str(pickle.loads(pickle.dumps(program))) == text
    assert str(ptir.from_json(program.to_json())) == text
