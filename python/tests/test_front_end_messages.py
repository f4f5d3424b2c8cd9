"""Messages about mistakes that users of Python and NumPy make in functions of the IR, and other spellings that the reader accepts."""

from __future__ import annotations

import pytest
from sapwood import ir
from sapwood.errors import RunError, SapwoodError

HEAD = "def f(x: pi.TensorType(pi.FP32, [3, 4]), y: pi.TensorType(pi.FP32, [4]), n: pi.INT64, s: pi.FP32):\n    "


def refused(text: str) -> SapwoodError:
    with pytest.raises(SapwoodError) as caught:
        program = ir.parse(text, "mistakes.py")
        ir.verify(program)
        ir.lower(program)
    assert "mistakes.py:" in str(caught.value) and "^" in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("line", "help_"),
    [
        # Types of operands.
        ("z = x + y", "tensors are not broadcast; write `pi.op.broadcast_to(y, shape=[3, 4])`"),
        ("z = y - x", "tensors are not broadcast; write `pi.op.broadcast_to(y, shape=[3, 4])`"),
        ("z = n * s", "cast one operand: `pi.cast(n, pi.FP32)`"),
        ("z = s - n", "cast one operand: `pi.cast(n, pi.FP32)`"),
        ("z = n ** 0.5", "cast one operand: `pi.cast(n, pi.FP32)`"),
        ("n += 0.5", "cast one operand: `pi.cast(n, pi.FP32)`"),
        ("z = n & True", "cast one operand: `pi.cast(True, pi.INT64)`"),
        ("z = x * pi.FP16(2)", "cast one operand: `pi.cast(pi.FP16(2.0), pi.FP32)`"),
        # Names of NumPy and Python.
        ("z = pi.op.sum(x)", "no op of this name is registered; write `pi.op.reduce_sum(x, axes=[…])`"),
        ("z = pi.op.Exp(x)", "no op of this name is registered; did you mean `exp`?"),
        ("z = pi.op.sqr(x)", "no op of this name is registered; did you mean `sqrt`?"),
        ("z = pi.op.my.thing(x)", "no op of this name is registered, so the call must state its type"),
        ("z = pi.exp(x)", "write `pi.op.exp(…)`"),
        ("z = exp(x)", "write `pi.op.exp(…)`"),
        ("z = x.sum(axis=1)", "write `pi.op.reduce_sum(x, axes=[…])`"),
        ("z = x.exp()", "write `pi.op.exp(…)`"),
        ("z = x.shape[0]", "write the dims of the type of `x`: numbers and parameters"),
        ("z = len(x)", "write the dims of the type of `x`: numbers and parameters"),
        ("z = np.exp(x)", "functions of Python and its libraries cannot be called; ops are called `pi.op.name(x)`"),
        ("z = pi.zeros([3])", "write `pi.op.broadcast_to(0.0, shape=[…])`"),
        ("z = pi.op.relu(x)", "no op of this name is registered; write `max(x, 0)`"),
        ("z = pi.op.where(x > 0, x, x)", "no op of this name is registered; write `pi.op.select(condition, x, y)`"),
        ("z = pi.op.max(x, axes=[0])", "`pi.op.reduce_max` reduces axes of a tensor"),
        ("z = pi.op.reduce_sum(x, axes=1)", "write `axes=[1]`"),
        ("n = 2.5", "convert the value, `pi.cast(…, pi.INT64)`, or begin with the other type, `n: pi.FP32 = …`"),
        ("z = float(n)", "`pi.cast(x, pi.FP32)` converts a value"),
        ("z = int(s)", "`pi.cast(x, pi.INT64)` converts a value"),
        ("z = pi.FP32(n)", "`pi.cast(x, pi.FP32)` converts a value"),
        # Lists.
        ("z = pi.op.reduce_sum(x, [1])", "attributes of an op have names, as in `axes=[0]`"),
        ("z = pi.op.concat([x, x], axis=0)", "its operands are written one by one"),
    ],
)
def test_helps(line: str, help_: str) -> None:
    shown = refused(HEAD + line + "\n")
    assert help_ in (shown.diagnostics[0].help or ""), str(shown)


def test_runs_name_the_op_that_was_meant() -> None:
    for name, correction in (("relu", r"; write `max\(x, 0\)`"), ("sqr", r"; did you mean `sqrt`\?"), ("no.such", "$")):
        program = ir.parse(HEAD + f"z = pi.op.{name}(s)\n")
        with pytest.raises(RunError, match=rf"unknown op `{name}`{correction}"):
            ir.interpret(program, "f", [[0.0] * 4] * 3, [0.0] * 4, 1, 2.0)


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        ("def f(x: pi.INT64) -> tuple[pi.INT64, pi.INT64]:\n    return x, x\n", "several results are in parentheses"),
        (
            "def f(x: pi.INT64) -> pi.TupleType([pi.INT64, pi.INT64]):\n    return x, x\n",
            "the result is one tuple: write `return (…),` with a comma at the end",
        ),
        (
            "def f(x: pi.INT64) -> (pi.INT64, pi.INT64):\n    y = (x, x)\n    return y\n",
            "a tuple is one value; return its elements: `return t[0], t[1]`",
        ),
    ],
)
def test_helps_for_results(text: str, help_: str) -> None:
    shown = refused(text)
    assert help_ in (shown.diagnostics[0].help or ""), str(shown)


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("def f(x: pi.INT64) -> None:\n    return\n", "def f(x: pi.INT64):\n    return\n"),
        ("def f(x: pi.TensorType([3, 4], pi.FP32)):\n    return\n", "def f(x: pi.TensorType(pi.FP32, [3, 4])):\n    return\n"),
        ("def f(x: pi.TensorType(pi.FP32, (3,))):\n    return\n", "def f(x: pi.TensorType(pi.FP32, [3])):\n    return\n"),
        (
            "def f(n: pi.INT64, x: pi.TensorType(pi.FP32, (n, 4))):\n    y = pi.op.reshape(x, shape=(2 * n, 2))\n    return\n",
            "def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 4])):\n    y = pi.typed(pi.op.reshape(x), pi.TensorType(pi.FP32, [2 * n, 2]))\n    return\n",
        ),
    ],
)
def test_other_ways_to_write_it(written: str, printed: str) -> None:
    program = ir.parse(written)
    ir.verify(program)
    assert str(program) == printed
    assert ir.structural_equal(ir.parse(printed), program)
