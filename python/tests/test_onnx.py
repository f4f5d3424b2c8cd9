"""ONNX models and PyTorch modules as programs."""

from __future__ import annotations

import pickle
import sys
import types
from typing import TYPE_CHECKING, Any

import pytest

import sapwood
from sapwood import errors, ptir, rewrite

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """ptir 1
func @main(%x: f32[?batch, 2]) -> f32[?batch, 3] {
  %w = constant [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]] : f32[2, 3]
  %zero = constant 0.0 : f32[2, 3]
  %sum = add %w, %zero : f32[2, 3]
  %y = dot_general %x, %sum {lhs_contract = [1], rhs_contract = [0]} : f32[?batch, 3]
  return %y
}
"""


class Proto:
    """A substitute for ``onnx.ModelProto``."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def SerializeToString(self) -> bytes:  # noqa: N802
        return self.data


@pytest.fixture
def model() -> bytes:
    return sapwood.to_onnx(ptir.parse(SOURCE))


def test_a_model_is_read_from_bytes_a_path_or_a_proto(model: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model)
    programs = [sapwood.from_onnx(source) for source in (model, path, str(path), Proto(model), bytearray(model))]
    assert {str(program) for program in programs} == {str(programs[0])}
    assert "onnx.MatMul" in str(programs[0])
    assert programs[0].run([[1.0, 2.0]])[0].tolist() == [[1.0, 2.0, 4.0]]


def test_an_unchanged_model_is_written_as_the_same_bytes(model: bytes, tmp_path: Path) -> None:
    program = sapwood.from_onnx(model)
    assert sapwood.to_onnx(program) == model
    assert sapwood.to_onnx(program, tmp_path / "again.onnx") is None
    assert (tmp_path / "again.onnx").read_bytes() == model


def test_a_simplified_model_is_smaller_and_computes_the_same(model: bytes) -> None:
    program = sapwood.from_onnx(model)
    simpler = program.simplify(float="fast")
    assert program.check(simpler, float="fast")
    again = sapwood.from_onnx(sapwood.to_onnx(simpler))
    assert [inst.op for inst in again.function().instructions] == ["constant", "onnx.MatMul", "return"]
    assert again.run([[1.0, 2.0]])[0].tolist() == [[1.0, 2.0, 4.0]]


def test_passes_on_onnx_are_listed_and_named_in_pipelines(model: bytes) -> None:
    assert {"onnx-to-core", "decompose"} <= {info["name"] for info in rewrite.passes()}
    lowered = rewrite.run(sapwood.from_onnx(model), "onnx-to-core").program
    assert "dot_general" in str(lowered)


def test_a_program_of_onnx_is_pickled_with_its_model(model: bytes) -> None:
    program = sapwood.from_onnx(model)
    again = pickle.loads(pickle.dumps(program))
    assert str(again) == str(program)
    assert sapwood.to_onnx(again) == model


def test_the_text_of_a_program_of_onnx_reads_back(model: bytes) -> None:
    text = str(sapwood.from_onnx(model))
    assert str(ptir.parse(text)) == text


def test_bad_models_are_errors(tmp_path: Path) -> None:
    with pytest.raises(errors.ParseError, match="byte"):
        sapwood.from_onnx(b"\xff\xff")
    with pytest.raises(errors.ParseError, match="missing.onnx"):
        sapwood.from_onnx(tmp_path / "missing.onnx")
    with pytest.raises(errors.ArgumentError, match="found int"):
        sapwood.from_onnx(3)
    with pytest.raises(errors.ArgumentError, match="found str"):
        sapwood.to_onnx("m.onnx")  # type: ignore[call-overload]


def test_programs_that_onnx_cannot_express_are_errors() -> None:
    text = "ptir 1\nfunc @main(%x: f32[2]) -> f32[2] {\n  %y = cbrt %x : f32[2]\n  return %y\n}\n"
    with pytest.raises(errors.InvalidValueError, match="cbrt"):
        sapwood.to_onnx(ptir.parse(text))


def test_modules_of_torch_are_exported(model: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def export(*args: Any, **kwargs: Any) -> Any:
        calls.append((args, kwargs))
        return types.SimpleNamespace(model_proto=Proto(model))

    torch_onnx = types.ModuleType("torch.onnx")
    torch_onnx.export = export  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    monkeypatch.setitem(sys.modules, "torch.onnx", torch_onnx)
    program = sapwood.from_torch("module", [1], dynamic_shapes=({0: "batch"},), opset_version=20)
    assert str(program) == str(sapwood.from_onnx(model))
    assert calls == [
        (("module", (1,)), {"dynamo": True, "dynamic_shapes": ({0: "batch"},), "opset_version": 20}),
    ]


def test_torch_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "torch.onnx", None)
    with pytest.raises(errors.MissingPackageError, match="pip install torch"):
        sapwood.from_torch(None, [])


def test_functions_of_a_model_are_inlined_on_request() -> None:
    onnx = pytest.importorskip("onnx")
    helper, double = onnx.helper, onnx.TensorProto.FLOAT
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    twice = helper.make_function(
        "local", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    graph = helper.make_graph(
        [helper.make_node("Twice", ["x"], ["y"], domain="local")],
        "main",
        [helper.make_tensor_value_info("x", double, [2])],
        [helper.make_tensor_value_info("y", double, [2])],
    )
    made = helper.make_model(graph, opset_imports=opsets, functions=[twice], ir_version=9)
    assert 'onnx.node "Twice"' in str(sapwood.from_onnx(made))
    inlined = sapwood.from_onnx(made, inline_functions=True)
    assert "onnx.Add" in str(inlined)
    assert "Twice" not in str(inlined)
