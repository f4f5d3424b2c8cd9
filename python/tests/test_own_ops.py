"""Ops that are defined in Python."""

from __future__ import annotations

import copy
import ctypes
import gc
import inspect
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import sapwood
from sapwood import DataType, ir, ptir, rewrite
from sapwood.errors import ArgumentError, InvalidValueError, ParseError, RewriteError, RunError, SapwoodError

ROOT = Path(__file__).resolve().parents[2]


@sapwood.op("own.silu", elementwise=True, decompose=lambda op, x: op.mul(x, op.logistic(x)))
def silu(x: np.ndarray) -> np.ndarray:
    """x times its logistic."""
    return x / (1 + np.exp(-x))


@sapwood.op("own.fail")
def fail(x: np.ndarray) -> np.ndarray:
    raise ZeroDivisionError("boom")


def program_of(op: Any, *types: str, **attributes: Any) -> ptir.Program:
    b = ptir.Builder("main")
    results = op(*(b.parameter(f"x{n}", ty) for n, ty in enumerate(types)), **attributes)
    return ptir.Program([b.finish(results)])


def test_signature_becomes_the_definition() -> None:
    @sapwood.op("own.signature")
    def signature(
        x: np.ndarray,
        bias: np.ndarray | None = None,
        *,
        flag: bool,
        count: int = 3,
        scale: float = 0.5,
        label: str = "a",
        dtype: DataType = DataType.FP32,
        axes: Sequence[int] = (0, 1),
        mode: Literal["up", "down"] = "up",
        maybe: int | None = None,
    ) -> np.ndarray:
        """First line.

        Second line.
        """
        assert (flag, count, scale, label, dtype, axes, mode, maybe) == (True, 3, 0.5, "a", DataType.FP32, (0, 1), "up", None)
        return x if bias is None else x + bias

    info = next(row for row in ptir.ops() if row["name"] == "own.signature")
    assert info["operands"] == ["x", "bias?"]
    assert info["doc"] == "First line.\n\nSecond line."
    assert {name: row["required"] for name, row in info["attributes"].items()} == {
        "flag": True,
        "count": False,
        "scale": False,
        "label": False,
        "dtype": False,
        "axes": False,
        "mode": False,
        "maybe": False,
    }
    x = np.float32([1, 2])
    assert signature(x, flag=True).tolist() == [1, 2]
    assert signature(x, x, flag=True).tolist() == [2, 4]
    assert signature(x, bias=x, flag=True).tolist() == signature(x=x, bias=x, flag=True).tolist() == [2, 4]
    assert inspect.signature(signature) == inspect.signature(signature.evaluate)
    program = program_of(signature, "f32[2]", flag=True)
    assert ptir.equal(ptir.parse(str(program)), program)
    assert ptir.equal(ptir.from_stablehlo(ptir.to_stablehlo(program)), program)
    assert ptir.equal(ptir.from_json(program.to_json()), program)
    with pytest.raises(SapwoodError, match="mode"):
        signature(x, flag=True, mode="sideways")
    with pytest.raises(SapwoodError, match="flag"):
        signature(x)
    with pytest.raises(ArgumentError, match="has no attribute flags; did you mean flag"):
        signature(x, flags=True)


def test_several_results_and_variadic_operands() -> None:
    @sapwood.op("own.stats", infer=lambda *xs: (ptir.Type.tensor(xs[0].dtype, []), ptir.Type.tensor("i64", [])))
    def stats(*xs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(sum(x.sum() for x in xs), xs[0].dtype), np.asarray(len(xs), np.int64)

    total, count = stats(np.float32([1, 2]), np.float32([3]))
    assert (float(total), int(count)) == (6.0, 2)
    program = program_of(stats, "f32[2]", "f32[3]", "f32[4]")
    assert int(program.run(*(np.zeros(n, np.float32) for n in (2, 3, 4)))[1]) == 3

    @rewrite.subgraph
    def found(op, x, y, z):  # type: ignore[no-untyped-def]
        return op.neg(stats(x, y, z)[0])

    assert found.num_ops == 2


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("()", "at least one operand"),
        ("(x, **k)", "each attribute is a parameter of its own"),
        ("(x=1)", "may only be None by default"),
        ("(x=None, y=None)", "at most one operand that may be left out"),
        ("(x, *, a)", "attribute a needs the annotation"),
        ("(x, *, a: complex)", "found <class 'complex'>"),
        ("(x, *, a: int = 'no')", "the default of a must be an integer, found str"),
        ("(x, *, a: int = None)", "needs `| None`"),
        ("(x, *, a: float | None = 2.0)", "attribute a may be None, so its default is None; found 2.0"),
        ("(x) -> tuple", "needs `infer`"),
    ],
)
def test_wrong_signatures_are_refused(signature: str, message: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def f{signature}: ...", scope)
    with pytest.raises(ArgumentError, match=message.replace("(", r"\(").replace("|", r"\|")):
        sapwood.op("own.refused")(scope["f"])
    assert not any(row["name"] == "own.refused" for row in ptir.ops())


@pytest.mark.parametrize("name", ["nodot", "own.", "own op.x", "", "own.é\n", "onnx.Add"])
def test_wrong_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidValueError):
        sapwood.op(name)(lambda x: x)


def test_arguments_of_the_decorator_are_checked() -> None:
    with pytest.raises(ArgumentError, match="infer is int"):
        sapwood.op("own.a", infer=3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="expects a function"):
        sapwood.op("own.a")(3)  # type: ignore[arg-type]


def test_a_second_definition_replaces_the_functions() -> None:
    def define(factor: int, commutative: bool = False) -> Any:
        @sapwood.op("own.again", commutative=commutative)
        def again(x: np.ndarray) -> np.ndarray:
            return x * np.float32(factor)

        return again

    first = define(2)
    program = program_of(first, "f32[1]")
    define(3)
    assert program.run(np.float32([1]))[0].tolist() == [3]
    with pytest.raises(InvalidValueError, match="already defined with another signature"):
        define(4, commutative=True)
    assert program.run(np.float32([1]))[0].tolist() == [3]


def test_exceptions_name_the_op_and_the_place() -> None:
    text = "ptir 1\nfunc @f(%x: f32[1]) -> f32[1] {\n  %y = own.fail %x : f32[1]\n  return %y\n}"
    program = ptir.parse(text, "my.ptir")
    for run in (program.run, ptir.Executable(program), lambda x: program.run(x, threads=4)):
        with pytest.raises(RunError, match=r"@f: `%y = own.fail %x : f32\[1\]`: ZeroDivisionError: boom") as caught:
            run(np.float32([1]))
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert caught.value.span is not None and (caught.value.span.filename, caught.value.span.begin_line) == ("my.ptir", 3)


def test_keyboard_interrupts_pass_through() -> None:
    @sapwood.op("own.interrupt")
    def interrupt(x: np.ndarray) -> np.ndarray:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt(np.float32([1]))


def test_checks_do_not_report_keyboard_interrupts() -> None:
    stops = True

    @sapwood.op("own.exits")
    def exits(x: np.ndarray) -> np.ndarray:
        if stops:
            raise KeyboardInterrupt
        return x

    program = program_of(exits, "f32[1]")
    with pytest.raises(KeyboardInterrupt):
        program.check(program)
    rule = rewrite.rules("rule r: own.exits(own.exits(x)) => own.exits(x)")[0]
    with pytest.raises(KeyboardInterrupt):
        rewrite.check_rule(rule)
    # No later error has this exception as its cause.
    with pytest.raises(ParseError) as caught:
        ptir.parse("KeyboardInterrupt")
    assert caught.value.__cause__ is None


def test_threads_have_their_own_causes() -> None:
    @sapwood.op("own.by_thread")
    def by_thread(x: np.ndarray) -> np.ndarray:
        raise (KeyboardInterrupt if x[0] == 0 else ValueError)("failed")

    program = program_of(by_thread, "f32[1]")
    found: list[tuple[int, type, Any]] = []

    def work(which: int) -> None:
        for _ in range(100):
            try:
                program.run([float(which)])
            except BaseException as error:  # noqa: BLE001
                found.append((which, type(error), type(error.__cause__)))

    threads = [threading.Thread(target=work, args=(n % 2,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {(0, KeyboardInterrupt, type(None)), (1, RunError, ValueError)}
    assert len(found) == 400


def test_ctrl_c_ends_a_function_that_does_not_return() -> None:
    loops = True

    @sapwood.op("own.endless")
    def endless(x: np.ndarray) -> np.ndarray:
        while loops:
            time.sleep(0.01)
        return x

    program = program_of(endless, "f32[1]")
    try:
        for work in (lambda: program.run([1.0]), lambda: program.check(program)):
            timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                work()
            timer.join()
    finally:
        loops = False


def test_inference_errors_are_diagnostics() -> None:
    def infer(x: ptir.Type) -> object:
        return {"f32": "f32[", "f64": 3, "i32": None}[x.dtype.short_name] if x.dtype else x  # type: ignore[union-attr]

    @sapwood.op("own.infer", infer=infer)
    def inferred(x: np.ndarray) -> np.ndarray:
        return x

    for dtype, message in (("f32", "is not a type"), ("f64", "a type is a Type"), ("i32", "a type is a Type"), ("i8", "KeyError")):
        with pytest.raises(SapwoodError, match=message):
            program_of(inferred, f"{dtype}[1]")
        with pytest.raises(ParseError, match=f"own.infer.*{message}"):
            ptir.parse(f"ptir 1 func @f(%x: {dtype}[1]) -> {dtype}[1] {{ %y = own.infer %x : {dtype}[1] return %y }}")


def test_inference_cannot_use_its_builder() -> None:
    b = ptir.Builder("main")
    x = b.parameter("x", "f32[1]")

    @sapwood.op("own.reenter", infer=lambda ty: (b.exp(x), ty)[1])
    def reenter(x: np.ndarray) -> np.ndarray:
        return x

    with pytest.raises(SapwoodError, match="the builder is in use"):
        reenter(x)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("x[:1]", r"returned f32\[1\], expected f32\[2\]"),
        ("x.astype(np.float64)", r"returned f64\[2\], expected f32\[2\]"),
        ("x.tolist()", "returned list, expected an array"),
        ("None", "returned NoneType"),
        ("1.0", "returned float"),
        ("x.astype(object)", "arrays of object are not supported"),
        ("(x, x)", "returned tuple"),
        ("x.__setitem__(0, 1)", "read-only"),
        ("x.setflags(write=True)", "WRITEABLE"),
        ("[].pop()", "IndexError: pop from empty list"),
        ("(lambda f: f(f))(lambda f: f(f))", "RecursionError"),
    ],
)
def test_wrong_results_are_errors(returned: str, message: str) -> None:
    name = f"own.returns{''.join(c for c in returned if c.isalnum())}"
    function = eval(f"lambda x: {returned}", {"np": np})  # noqa: S307
    op = sapwood.op(name)(function)
    with pytest.raises(RunError, match=message):
        op(np.float32([1, 2]))
    # Folding leaves the instruction; checking reports that nothing was compared.
    b = ptir.Builder("main")
    program = ptir.Program([b.finish(op(b.constant(np.float32([1, 2]))))])
    assert any(i.op == name for i in rewrite.simplify(program).functions[0].instructions)
    assert not program.check(program)


@pytest.mark.parametrize(
    "statement",
    [
        "x += 1",
        "x[:] = 9",
        "x.sort()",
        "x.fill(9)",
        "x.put(0, 9)",
        "x.byteswap(inplace=True)",
        "np.add(x, 1, out=x)",
        "np.copyto(x, 9)",
        "np.asarray(x)[0] = 9",
        "x.reshape(1, 3)[0, 0] = 9",
        "x.view(np.int32)[0] = 9",
        "memoryview(x)[0] = 9",
        "x.flags.writeable = True",
    ],
)
def test_operands_cannot_be_changed(statement: str) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(f"def change(x):\n    {statement}\n    return x.copy()", scope)  # noqa: S102
    name = f"own.changes{''.join(c for c in statement if c.isalnum())}"
    op = sapwood.op(name)(scope["change"])
    given = np.float32([3, 1, 2])
    text = ir.parse(
        "def f(x: pi.TensorType(pi.FP32, [3])) -> pi.TensorType(pi.FP32, [3]):\n"
        f"    return pi.typed(pi.op.{name}(x), pi.TensorType(pi.FP32, [3]))\n"
    )
    for run in (program_of(op, "f32[3]").run, op, lambda x: ir.interpret(text, "f", x)):
        with pytest.raises(RunError, match=rf"{name}.*(read-only|WRITEABLE)"):
            run(given)
    assert given.tolist() == [3, 1, 2]


def test_operands_and_results_are_copies() -> None:
    """Memory that a function keeps, or writes behind NumPy's back, is not that of the program."""
    kept: list[np.ndarray] = []

    @sapwood.op("own.keeps")
    def keeps(x: np.ndarray) -> np.ndarray:
        ctypes.memset(x.ctypes.data, 0xFF, x.nbytes)
        kept.append(np.ones_like(x))
        return kept[-1]

    b = ptir.Builder("main")
    x, c = b.parameter("x", "f32[3]"), b.constant(np.float32([5, 6, 7]))
    program = ptir.Program([b.finish((keeps(x), keeps(c), b.neg(x), b.neg(c)))])
    given = np.float32([3, 1, 2])
    for _ in range(2):
        results = program.run(given)
        for array in kept:
            array[:] = 9
        assert [one.tolist() for one in results] == [[1, 1, 1], [1, 1, 1], [-3, -1, -2], [-5, -6, -7]]
    assert given.tolist() == [3, 1, 2]


def test_constants_are_folded() -> None:
    b = ptir.Builder("main")
    program = ptir.Program([b.finish(silu(b.constant(np.float32([0, 0]))))])
    assert [i.op for i in rewrite.simplify(program).functions[0].instructions] == ["constant", "return"]


def test_programs_that_are_older_than_the_op() -> None:
    text = "ptir 1 func @main(%x: f32[1]) -> f32[1] { %y = own.later %x {k = 2} : f32[1] return %y }"
    program = ptir.parse(text)
    core = ptir.parse("ptir 1 func @main(%x: f32[1]) -> f32[1] { %y = exp %x : f32[1] return %y }")
    with pytest.raises(RunError, match="own.later"):
        program.run(np.float32([1]))

    @sapwood.op("own.later")
    def later(x: np.ndarray, *, k: int = 1) -> np.ndarray:
        return x * np.float32(k)

    assert program.run(np.float32([3]))[0].tolist() == [6]

    @rewrite.rule(lambda op, x: op.exp(x))
    def to_later(op, x):  # type: ignore[no-untyped-def]
        return later(x)

    made = rewrite.apply(core, [to_later]).program
    assert [i.op for i in made.functions[0].instructions] == ["own.later", "return"]
    assert made.run(np.float32([3]))[0].tolist() == [3]


def test_patterns_emit_the_op() -> None:
    @rewrite.pattern("exp")
    def exp_to_silu(op, rw):  # type: ignore[no-untyped-def]
        return silu(op.operands[0])

    core = ptir.parse("ptir 1 func @main(%x: f32[1]) -> f32[1] { %y = exp %x : f32[1] return %y }")
    made = rewrite.apply(core, [exp_to_silu]).program
    assert [i.op for i in made.functions[0].instructions] == ["own.silu", "return"]
    assert [i.op for i in rewrite.decompose(made).functions[0].instructions] == ["logistic", "mul", "return"]
    assert [i.op for i in rewrite.decompose(made, silu).functions[0].instructions] == ["logistic", "mul", "return"]
    with pytest.raises(InvalidValueError, match="own.fail has no decomposition"):
        rewrite.decompose(made, fail)
    with pytest.raises(ArgumentError, match="expected ops"):
        rewrite.decompose(made, 3)  # type: ignore[arg-type]


def test_decompositions_that_fail_or_do_not_end() -> None:
    def divide(op: Any, x: Any) -> Any:
        return 1 / 0

    raises = sapwood.op("own.raises", decompose=divide)(lambda x: x)
    program = ptir.parse("ptir 1\nfunc @f(%x: f32[1]) -> f32[1] {\n  %y = own.raises %x : f32[1]\n  return %y\n}", "my.ptir")
    with pytest.raises(RewriteError, match="the decomposition of own.raises at my.ptir:3:3 failed: ZeroDivisionError") as caught:
        rewrite.decompose(program, raises)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.span is not None and caught.value.span.begin_line == 3
    there = sapwood.op("own.there", decompose=lambda op, x: op.emit("own.back", x))(lambda x: x)
    sapwood.op("own.back", decompose=lambda op, x: op.emit("own.there", x))(lambda x: x)
    again = sapwood.op("own.itself", decompose=lambda op, x: op.emit("own.itself", x))(lambda x: x)
    grows = sapwood.op("own.grows", decompose=lambda op, x: op.neg(op.emit("own.grows", x)))(lambda x: x)
    for definition in (there, again, grows):
        with pytest.raises(RewriteError, match="the decompositions lead back to their ops"):
            rewrite.decompose(program_of(definition, "f32[1]"))


def test_rules_with_ops_in_text() -> None:
    rules = rewrite.rules("rule r: own.silu(own.silu(x)) => own.silu(x)")
    program = program_of(lambda x: silu(silu(x)), "f32[2]")
    assert rewrite.apply(program, rules).program.num_instructions == 2
    assert rewrite.check_rule(rules[0]) is not None


def test_pickles_and_copies() -> None:
    program = program_of(silu, "f32[2]")
    for made in (pickle.loads(pickle.dumps(program)), copy.deepcopy(program), copy.copy(program)):
        assert ptir.equal(made, program)
    function = program.functions[0]
    assert str(pickle.loads(pickle.dumps(function))) == str(function)
    assert pickle.loads(pickle.dumps(silu)) is silu


def test_a_process_imports_the_module_of_an_op(tmp_path: Path) -> None:
    (tmp_path / "my_ops.py").write_text(
        textwrap.dedent(
            """
            import numpy as np, sapwood
            @sapwood.op("worker.twice")
            def twice(x: np.ndarray) -> np.ndarray:
                return x + x
            """
        )
    )
    make = "import my_ops, pickle, sys, sapwood; from sapwood import ptir; b = ptir.Builder(); "
    make += "sys.stdout.buffer.write(pickle.dumps(ptir.Program([b.finish(my_ops.twice(b.parameter('x', 'f32[1]')))])))"
    load = "import pickle, sys; p = pickle.loads(sys.stdin.buffer.read()); print(p.run([3.0])[0].tolist())"
    made = subprocess.run([sys.executable, "-c", make], cwd=tmp_path, capture_output=True, check=True)
    again = subprocess.run([sys.executable, "-c", load], cwd=tmp_path, input=made.stdout, capture_output=True, check=True)
    assert again.stdout.decode().strip() == "[6.0]"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    failed = subprocess.run([sys.executable, "-c", load], cwd=elsewhere, input=made.stdout, capture_output=True, check=False)
    assert failed.returncode == 1
    assert b"RuntimeWarning: op worker.twice is not defined in this process, and its module my_ops cannot be imported" in failed.stderr
    assert b"RunError: " in failed.stderr and failed.stderr.count(b"worker.twice") > 1
    (elsewhere / "my_ops.py").write_text("")
    failed = subprocess.run([sys.executable, "-c", load], cwd=elsewhere, input=made.stdout, capture_output=True, check=False)
    assert b"does not define it when it is imported" in failed.stderr


def test_a_pool_answers_for_an_op_that_workers_cannot_import(tmp_path: Path) -> None:
    script = """
        import multiprocessing, sapwood
        from sapwood import ptir
        def work(program): return program.run([3.0])
        if __name__ == "__main__":
            @sapwood.op("worker.hidden")
            def hidden(x): return x + x
            b = ptir.Builder()
            program = ptir.Program([b.finish(hidden(b.parameter("x", "f32[1]")))])
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                try:
                    pool.apply_async(work, (program,)).get(timeout=60)
                except sapwood.SapwoodError as error:
                    print(error)
        """
    (tmp_path / "pool.py").write_text(textwrap.dedent(script))
    done = subprocess.run([sys.executable, "pool.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "op `worker.hidden` has no evaluation" in done.stdout, done.stdout + done.stderr
    assert "RuntimeWarning: op worker.hidden is not defined in this process" in done.stderr


def test_many_threads_evaluate_ops() -> None:
    b = ptir.Builder("main")
    x = b.parameter("x", "f32[100]")
    values = [silu(b.add(x, float(n))) for n in range(50)]
    total = values[0]
    for value in values[1:]:
        total = b.add(total, value)
    program = ptir.Program([b.finish(total)])
    inputs = np.linspace(-1, 1, 100, dtype=np.float32)
    alone = program.run(inputs)[0]
    assert np.array_equal(program.run(inputs, threads=4)[0], alone)
    optimized = rewrite.run(program, "simplify", threads=4).program
    assert np.allclose(optimized.run(inputs)[0], alone)


class Marker:
    """An object that only the frame of a failed call refers to."""


@sapwood.op("own.frames")
def frames(x: np.ndarray) -> np.ndarray:
    marker = Marker()
    raise ValueError(str(type(marker)))


def assert_no_markers() -> None:
    gc.collect()
    assert not any(isinstance(one, Marker) for one in gc.get_objects())


def test_failures_release_their_frames() -> None:
    with pytest.raises(RunError):
        frames(np.float32([1]))
    assert_no_markers()


def test_exceptions_that_a_check_reports_are_released() -> None:
    program = program_of(frames, "f32[1]")
    assert not program.check(program)
    assert_no_markers()


def test_positional_only_operands() -> None:
    @sapwood.op("own.positional")
    def positional(a: np.ndarray, /, b: np.ndarray) -> np.ndarray:
        return a - b

    x, y = np.float32([3]), np.float32([1])
    assert positional(x, b=y).tolist() == positional(x, y).tolist() == [2]
    with pytest.raises(ArgumentError, match="has no attribute a"):
        positional(a=x, b=y)


def test_a_tuple_of_one_result() -> None:
    @sapwood.op("own.single", infer=lambda x: (x,))
    def single(x: np.ndarray) -> tuple[np.ndarray]:
        return (x + 1,)

    (result,) = single(np.float32([1]))
    assert result.tolist() == [2]
    b = ptir.Builder("main")
    (value,) = single(b.parameter("x", "f32[1]"))
    assert ptir.Program([b.finish(value)]).run([1.0])[0].tolist() == [2]
