"""Tensor programs from Python: read, build, walk, compare, run."""

from __future__ import annotations

import copy
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest

from sapwood import DataType, errors, ptir

TEXT = """ptir 1

func @main(%x: f32[2, 3], %y: f32[2, 3]) -> f32[3, 2] {
  %s = add %x, %y : f32[2, 3]
  %t = transpose %s {perm = [1, 0]} : f32[3, 2]
  return %t
}
"""


def small() -> ptir.Program:
    return ptir.parse(TEXT)


def test_text_comes_back_as_it_was() -> None:
    assert str(small()) == TEXT
    assert ptir.equal(ptir.from_json(small().to_json()), small(), ordered=True)


def test_errors_name_the_place() -> None:
    with pytest.raises(errors.ParseError) as caught:
        ptir.parse("ptir 1\nfunc @f(%x: f32[4]) -> f32[4] {\n  %y = ad %x : f32[4]\n  return %y\n}\n", "a.ptir")
    assert "a.ptir:3:8" in str(caught.value)
    assert "did you mean `add`" in str(caught.value)
    assert caught.value.span is not None
    assert caught.value.span.begin_line == 3


def test_a_program_can_be_walked() -> None:
    main = small()["main"]
    assert [p.name for p in main.params] == ["%x", "%y"]
    add, transpose, end = main.instructions
    assert (add.op, transpose.op, end.op) == ("add", "transpose", "return")
    assert transpose.attributes == {"perm": (1, 0)}
    assert transpose.operands[0] == add.results[0]
    assert hash(transpose.operands[0]) == hash(add.results[0])
    assert add.results[0].users == (transpose,)
    assert main.results == transpose.results
    assert main.results[0].type == ptir.Type("f32[3, 2]")
    assert main.results[0].dtype is DataType("f32")
    assert main.params[0].definition is None
    assert str(transpose).startswith("%t = transpose %s")
    assert transpose.function == main
    assert main.num_instructions == 3
    assert main.body.owner is None


def test_regions_can_be_walked() -> None:
    b = ptir.Builder("main")
    p = b.parameter("p", "bool[]")
    x = b.parameter("x", "f32[2]")
    then = b.region([], lambda: b.exp(x))
    other = b.region([], lambda: x)
    program = ptir.Program([b.finish(b.cond(p, then, other))])
    cond = program["main"].instructions[0]
    first, second = cond.regions
    assert [i.op for i in first.instructions] == ["exp", "yield"]
    assert second.results[0] == program["main"].params[1]
    assert first.owner == cond
    assert [i.op for i in program["main"].walk()] == ["cond", "exp", "yield", "yield", "return"]
    np.testing.assert_array_equal(program.run(False, [1.0, 2.0])[0], [1.0, 2.0])
    np.testing.assert_allclose(program.run(True, [0.0, 1.0])[0], np.exp([0.0, 1.0]), rtol=1e-6)


def test_types() -> None:
    ty = ptir.Type.tensor("f32", [4, "n", None])
    assert str(ty) == "f32[4, ?n, ?]"
    assert ty == ptir.Type("f32[4, ?n, ?]")
    assert ty.shape == (4, "n", None)
    assert hash(ty) == hash(ptir.Type(str(ty)))
    pair = ptir.Type.tuple([ty, "token"])
    assert pair.elements == (ty, ptir.Type.token())
    assert pickle.loads(pickle.dumps(pair)) == pair
    for wrong in ["f32", "f33[]", "f32[-1]", "f32[2] 3"]:
        with pytest.raises(errors.InvalidValueError):
            ptir.Type(wrong)
    with pytest.raises(errors.ArgumentError):
        ptir.Type.tensor("f32", [2.5])  # type: ignore[list-item]


def test_builder_gives_the_program_of_the_text() -> None:
    b = ptir.Builder("main")
    x = b.parameter("x", "f32[2, 3]")
    y = b.parameter("y", ptir.Type.tensor("f32", [2, 3]))
    program = ptir.Program([b.finish(b.transpose(x + y, perm=[1, 0]))])
    assert ptir.equal(program, small())


def test_numbers_and_arrays_are_operands() -> None:
    b = ptir.Builder()
    x = b.parameter("x", "i32[2]")
    f = b.finish(2 * x - np.array([1, 5], np.int32))
    assert ptir.Program([f]).run([3, 4])[0].tolist() == [5, 3]


def test_builder_refuses_and_goes_on() -> None:
    b = ptir.Builder()
    x = b.parameter("x", "f32[2]")
    y = b.parameter("y", "f32[3]")
    with pytest.raises(errors.InvalidValueError, match="add"):
        b.add(x, y)
    with pytest.raises(errors.ArgumentError, match="did you mean perm"):
        b.transpose(x, prem=[0])
    with pytest.raises(errors.ArgumentError, match="perm is a list of integers"):
        b.transpose(x, perm="10")
    with pytest.raises(AttributeError, match="did you mean transpose"):
        b.transpos(x)
    with pytest.raises(errors.ArgumentError, match="has no type; a number"):
        b.exp(1.0)
    with pytest.raises(errors.InvalidValueError, match="another builder"):
        ptir.Builder().exp(x)
    with pytest.raises(ZeroDivisionError):
        b.region(["f32[2]"], lambda _: 1 // 0)
    f = b.finish(b.exp(x), y)
    assert f.num_instructions == 2
    with pytest.raises(errors.InvalidValueError, match="finished"):
        b.exp(x)


def test_values_of_a_region_stay_in_it() -> None:
    b = ptir.Builder()
    x = b.parameter("x", "f32[2]")
    p = b.parameter("p", "bool[]")
    kept = []

    def inside() -> object:
        kept.append(b.exp(x))
        return kept[0]

    b.cond(p, b.region([], inside), b.region([], lambda: x))
    with pytest.raises(errors.VerifyError):
        b.finish(kept[0])


def test_ops_of_ones_own() -> None:
    b = ptir.Builder()
    x = b.parameter("x", "f32[2]")
    y = b.emit("my.op", x, result_types=["f32[2]"], note="hello", sizes=[1, 2], deep={"a": [True, 1.5]})
    program = ptir.Program([b.finish(y)])
    assert ptir.equal(ptir.parse(str(program)), program)
    attributes = program["main"].instructions[0].attributes
    assert attributes == {"note": "hello", "sizes": (1, 2), "deep": {"a": (True, 1.5)}}
    with pytest.raises(errors.RunError, match="my.op"):
        program.run([1.0, 2.0])


def test_lists_that_contain_themselves_end() -> None:
    loop: list[object] = []
    loop.append(loop)
    b = ptir.Builder()
    x = b.parameter("x", "f32[2]")
    with pytest.raises(errors.InvalidValueError, match="nest at most"):
        b.emit("my.op", x, result_types=["f32[2]"], loop=loop)
    with pytest.raises(errors.ArgumentError):
        b.emit("my.op", loop, result_types=["f32[2]"])


@pytest.mark.parametrize("dtype", [d for d in DataType.ALL if d.short_name != "index"], ids=str)
def test_every_data_type_goes_in_and_comes_out(dtype: DataType) -> None:
    name = {"BOOL": "bool"}.get(dtype.name)
    arrays = {"bool": [True, False, True], None: [0, 1, 1]}
    special = {
        "bf16": ml_dtypes.bfloat16,
        "f8e4m3fn": ml_dtypes.float8_e4m3fn,
        "f8e5m2": ml_dtypes.float8_e5m2,
        "i4": ml_dtypes.int4,
        "u4": ml_dtypes.uint4,
        "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
        "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
        "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
        "f4e2m1fn": ml_dtypes.float4_e2m1fn,
        "i2": ml_dtypes.int2,
        "u2": ml_dtypes.uint2,
        "bool": np.bool_,
    }
    short = dtype.short_name
    numpy_dtype = special.get(short) or np.dtype(
        {"i": "int", "u": "uint", "f": "float", "c": "complex"}[short[0]] + short[1:]
    )
    array = np.array(arrays[name]).astype(numpy_dtype)
    text = f"ptir 1 func @main(%x: {short}[3]) -> {short}[3] {{ %y = reverse %x {{axes = [0]}} : {short}[3] return %y }}"
    (out,) = ptir.parse(text).run(array)
    assert out.dtype == array.dtype
    assert out.tobytes() == array[::-1].tobytes()


def test_arrays_of_every_layout() -> None:
    program = ptir.parse("ptir 1 func @main(%x: f32[2, 2]) -> f32[2, 2] { return %x }")
    array = np.arange(4, dtype=np.float32).reshape(2, 2)
    for given in [array.T.copy().T, array.astype(">f4"), np.asfortranarray(array), np.repeat(array, 2, 1)[:, ::2]]:
        np.testing.assert_array_equal(program.run(given)[0], array)
    out = program.run(array)[0]
    assert not out.flags.writeable
    with pytest.raises(errors.SapwoodError):
        program.run(np.array([[object(), 1], [2, 3]]))
    with pytest.raises(errors.SapwoodError):
        program.run(array.astype(np.float64))
    with pytest.raises(errors.SapwoodError):
        program.run(array[0])
    with pytest.raises(errors.ArgumentError, match="takes 1 argument, 2 given"):
        program.run(array, array)


def test_empty_and_scalar_arrays() -> None:
    program = ptir.parse("ptir 1 func @main(%x: f32[0, 3], %s: i64[]) -> (f32[0, 3], i64[]) { return %x, %s }")
    empty, scalar = program.run(np.zeros((0, 3), np.float32), 7)
    assert empty.shape == (0, 3)
    assert scalar.shape == ()
    assert int(scalar) == 7


def test_splats_come_out_small() -> None:
    program = ptir.parse("ptir 1 func @main() -> f32[1000000, 1000] { %c = constant 1.5 : f32[1000000, 1000] return %c }")
    (out,) = program.run()
    assert out.shape == (1_000_000, 1000)
    assert out.strides == (0, 0)
    assert out[5, 7] == 1.5


def test_limits_are_kept() -> None:
    forever = """ptir 1
func @main(%x: i32[]) -> i32[] {
  %0 = while %x (%c: i32[]) {
    %1 = constant true : bool[]
    yield %1
  } (%d: i32[]) {
    yield %d
  } : i32[]
  return %0
}
"""
    with pytest.raises(errors.RunError):
        ptir.parse(forever).run(1, max_steps=1000)
    with pytest.raises(errors.InvalidValueError):
        small().run(1, time_limit=-1.0)


def test_an_executable_runs_from_several_threads() -> None:
    executable = ptir.Executable(small())
    assert [str(t) for t in executable.parameter_types] == ["f32[2, 3]", "f32[2, 3]"]
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    found: list[bool] = []

    def work() -> None:
        for _ in range(50):
            found.append(bool((executable(x, x)[0] == (2 * x).T).all()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200
    assert all(found)


def test_comparison() -> None:
    renamed = ptir.parse(TEXT.replace("%s", "%sum").replace("%x", "%a"))
    assert ptir.equal(small(), renamed)
    assert ptir.hash(small()) == ptir.hash(renamed)
    assert ptir.first_mismatch(small(), renamed) is None
    other = ptir.parse(TEXT.replace("add", "mul"))
    assert not ptir.equal(small(), other)
    first = ptir.first_mismatch(small(), other)
    assert first is not None and (first.left, first.right) == ("@main.body[0]", "@main.body[0]")
    assert first.reason == "op add on the left, mul on the right" and first.reason in str(first)
    (difference,) = ptir.diff(small(), other)
    assert "add" in difference.before
    assert "mul" in difference.after
    assert ptir.equal(small()["main"], renamed["main"])
    with pytest.raises(errors.ArgumentError, match="two programs or two functions"):
        ptir.equal(small(), small()["main"])
    assert small() != small()


def test_pickle_and_copy() -> None:
    program = small()
    again = pickle.loads(pickle.dumps(program))
    assert str(again) == str(program)
    assert ptir.equal(copy.deepcopy(program)["main"], program["main"])
    function = pickle.loads(pickle.dumps(program["main"]))
    assert ptir.equal(function, program["main"])


def test_handles_outlive_their_program() -> None:
    value = small()["main"].results[0]
    assert value.definition is not None
    assert value.definition.op == "transpose"


def test_ops_are_listed() -> None:
    by_name = {op["name"]: op for op in ptir.ops()}
    assert by_name["add"]["commutative"]
    assert by_name["transpose"]["attributes"]["perm"]["required"]
    assert by_name["concat"]["operands"] == ["inputs..."]


def test_notebooks_show_escaped_text() -> None:
    program = ptir.parse('ptir 1 func @"<script>"(%x: f32[?"<b>"]) -> f32[?"<b>"] { return %x }')
    shown = program._repr_html_()
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "&lt;script&gt;" in shown
    assert "<span" in program["<script>"]._repr_html_()


def test_missing_functions_are_named() -> None:
    with pytest.raises(errors.InvalidValueError, match="did you mean main"):
        small()["mian"]
    with pytest.raises(errors.InvalidValueError, match="no functions"):
        ptir.Program().function()
    with pytest.raises(errors.InvalidValueError):
        ptir.Program([small()["main"], small()["main"]])


def test_a_million_instructions() -> None:
    b = ptir.Builder()
    x = b.parameter("x", "f32[]")
    neg = b.neg
    for _ in range(1_000_000):
        x = neg(x)
    program = ptir.Program([b.finish(x)])
    assert program.num_instructions == 1_000_001
    assert program.run(1.0)[0] == 1.0
    assert len(repr(program)) < 100
