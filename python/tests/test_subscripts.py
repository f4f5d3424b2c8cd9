"""Tests of subscripts in functions of the front-end IR: `x[i, 1:n]` against NumPy, interpreted and lowered."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from sapwood import ir
from sapwood.errors import ParseError, RunError, VerifyError

TEN = np.arange(10, dtype=np.float32)
T10 = "pi.TensorType(pi.FP32, [10])"


def run(text: str, *args: Any, lowered: bool = True) -> list[np.ndarray]:
    """Returns the result of `f`: interpreted, and of the lowered program."""
    program = ir.parse(text)
    ir.verify(program)
    results = [ir.interpret(program, "f", *args)[0]]
    if lowered:
        before = ir.lower(program)
        results += [one.run(*args, function="f")[0] for one in (before, before.simplify())]
    return [np.asarray(result) for result in results]


@pytest.mark.parametrize(
    ("params", "body", "args", "expected"),
    [
        # An index may be negative, and its operators wrap around.
        ("i: pi.INT64, x: T10", "return x[max(i, 0) + 2]", (-5, TEN), 2.0),
        ("i: pi.INT64, x: T10", "j = max(i, 0) + 2; return x[j]", (-5, TEN), 2.0),
        ("i: pi.INT64, x: T10", "return x[min(i, 0) + 5]", (-3, TEN), 2.0),
        ("i: pi.INT8, x: T10", "return x[(i + i) // 16 + 9]", (64, TEN), 1.0),
        ("i: pi.INT8, x: T10", "j = (i + i) // 16 + 9; return x[j]", (64, TEN), 1.0),
        # Indices of different types.
        ("n: pi.INT64, i: pi.INT8, x: pi.TensorType(pi.FP32, [4, n])", "return x[i, -1]", (1000, 0, np.float32(range(4000)).reshape(4, 1000)), 999.0),
        ("i: pi.INT8, x: pi.TensorType(pi.FP32, [4, 1000])", "return x[i, 300]", (0, np.float32(range(4000)).reshape(4, 1000)), 300.0),
        ("n: pi.INT8, x: pi.TensorType(pi.FP32, [n])", "return x[-1]", (10, TEN), 9.0),
        # Indices that are no dims.
        ("i: pi.INT64, x: T10, y: pi.TensorType(pi.INT64, [10])", "return x[y[i]]", (3, TEN, np.arange(10)[::-1].copy()), 6.0),
        ("t: pi.TupleType([pi.INT64, pi.INT64]), x: T10", "return x[t[1]]", ((3, 4), TEN), 4.0),
        ("i: pi.INT64, x: T10", "return x[abs(i)]", (-3, TEN), 3.0),
        ("i: pi.INT64, j: pi.INT64, x: T10", "return x[i // j]", (7, 2, TEN), 3.0),
        ("i: pi.INT64, x: T10", "return x[i & 3]", (6, TEN), 2.0),
        ("i: pi.INT64, x: T10", "return x[pi.cast(i, pi.INT32)]", (6, TEN), 6.0),
        ("i: pi.INT64, x: T10", "return pi.op.reduce_sum(x[abs(i):abs(i) + 3], axes=[0])", (-2, TEN), 9.0),
        # An index outside is moved to the nearest element; a negative one counts from the end only if it is a constant.
        ("i: pi.INT64, x: T10", "return x[i]", (-1, TEN), 0.0),
        ("i: pi.INT64, x: T10", "return x[i]", (77, TEN), 9.0),
    ],
)
def test_subscripts(params: str, body: str, args: tuple[Any, ...], expected: float) -> None:
    text = f"def f({params}) -> pi.FP32:\n    {body}\n".replace("T10", T10)
    for result in run(text, *args):
        assert result == expected
    # The text that is printed means the same.
    assert ir.structural_equal(ir.parse(str(ir.parse(text))), ir.parse(text))


def test_an_index_that_is_a_call_is_evaluated_once() -> None:
    text = f"def g(i: pi.INT64) -> pi.INT64:\n    return i + 1\ndef f(i: pi.INT64, x: {T10}) -> pi.FP32:\n    return x[g(i)]\n"
    assert [float(one) for one in run(text, 3, TEN)] == [4.0] * 3
    program = ir.parse(text)
    assert str(program).count("g(") == 2  # its definition and one call


N = "pi.TensorType(pi.FP32, [n])"


@pytest.mark.parametrize(
    ("params", "body", "message"),
    [
        (f"n: pi.INT64, x: {N}", "n = n - 3\n    return pi.op.reduce_sum(x[:n], axes=[0])", "`n` is a dim of this tensor, but it is also assigned"),
        (f"n: pi.INT64, x: {N}", "n = n - 3\n    return x[-1]", "`n` is a dim of this tensor"),
        (f"n: pi.INT64, x: {N}", "n -= 3\n    return pi.op.reduce_sum(x[1:], axes=[0])", "`n` is a dim of this tensor"),
        (f"k: pi.INT64, x: {T10}", "y = x[:k]\n    k = k - 1\n    return pi.op.reduce_sum(y[:-1], axes=[0])", "`k` is a dim of this tensor"),
        (f"n: pi.INT64, x: {N}", "a = x[-1]\n    n = n - 1\n    return a", "`n` is a dim of a tensor with a subscript, so it keeps its value"),
        (f"n: pi.INT64, x: {N}", "x = x[1:]\n    return x[-1]", "`x` was assigned a value of other dims"),
        (f"n: pi.INT64, x: {N}", "for n in range(3):\n        a = x[-1]\n    return x[0]", "`n` is a dim of this tensor"),
    ],
)
def test_a_variable_in_a_dim_keeps_its_value(params: str, body: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        ir.parse(f"def f({params}) -> pi.FP32:\n    {body}\n")


def test_variables_that_are_not_dims_may_change() -> None:
    text = f"""
def f(n: pi.INT64, k: pi.INT64, x: {N}) -> pi.FP32:
    s = pi.FP32(0.0)
    while k > 0:
        k = k - 1
        s = s + x[k] + pi.op.reduce_sum(x[:k], axes=[0])
    return s
"""
    (result,) = run(text, 10, 4, TEN, lowered=False)
    assert result == 6 + sum(TEN[:k].sum() for k in range(4))


def test_sizes_that_depend_on_calls() -> None:
    head = "def g(i: pi.INT64) -> pi.INT64:\n    return i + 1\n"
    with pytest.raises(ParseError, match="the size of the part depends on a call"):
        ir.parse(head + f"def f(i: pi.INT64, x: {T10}) -> pi.FP32:\n    return pi.op.reduce_sum(x[:g(i)], axes=[0])\n")
    text = head + f"def f(i: pi.INT64, x: {T10}) -> pi.FP32:\n    k = g(i)\n    return pi.op.reduce_sum(x[:k], axes=[0])\n"
    assert run(text, 3, TEN, lowered=False) == [6.0]


def test_a_size_below_zero_is_named() -> None:
    text = f"def f(n: pi.INT64, x: {N}) -> pi.FP32:\n    return pi.op.reduce_sum(x[2:], axes=[0])\n"
    with pytest.raises(RunError, match="dynamic_slice: the dim n - 2 of its result is -1"):
        ir.interpret(ir.parse(text), "f", 1, TEN[:1])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return pi.op.my.f(x[a=0])", "a=0"),
        ("return x[010]", "an integer with a zero before it"),
        ("return pi.typed(pi.op.my.f(x, a=1e999), pi.FP32)", "out of the range of FP64"),
    ],
)
def test_texts_that_are_not_read(body: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        ir.parse(f"def f(x: {T10}) -> pi.FP32:\n    {body}\n")
    assert message in str(caught.value)


def test_infinite_attributes_are_read_back() -> None:
    text = 'def f(x: pi.FP32) -> pi.FP32:\n    return pi.typed(pi.op.my.f(x, a=pi.FP64("inf"), b=pi.FP64("-inf"), c=pi.FP64("nan")), pi.FP32)\n'
    program = ir.parse(text)
    assert 'a=pi.FP64("inf"), b=pi.FP64("-inf"), c=pi.FP64("nan")' in str(program)
    assert ir.structural_equal(ir.parse(str(program)), program)


DTYPES = {"INT8": 127, "INT16": 1000, "INT32": 1000, "INT64": 1000}


class Draw:
    """Draws a subscript of an array: its text, the parameters of its indices, and what NumPy selects."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.params: list[str] = []
        self.args: list[Any] = []

    def param(self, ty: str, value: Any) -> str:
        name = f"p{len(self.params)}"
        self.params.append(f"{name}: {ty}")
        self.args.append(value)
        return name

    def index(self, target: int) -> str:
        """Returns an expression that is computed at run time and has this value."""
        draw = self.draw
        dtype = draw.choice([name for name, most in DTYPES.items() if target + 20 <= most] or ["INT64"])
        ty, below = f"pi.{dtype}", draw.randint(1, 9)
        match draw.randrange(9):
            case 0:
                return f"max({self.param(ty, -below)}, 0) + {target}"
            case 1:
                return f"min({self.param(ty, -below)}, 0) + {target + below}"
            case 2 if target + 8 <= 127:
                i = self.param("pi.INT8", 64)
                return f"({i} + {i}) // 16 + {target + 8}"
            case 3:
                return f"abs({self.param(ty, -target)})"
            case 4:
                return f"{self.param('pi.INT64', target * below + below - 1)} // {self.param('pi.INT64', below)}"
            case 5:
                table = np.arange(5) + target
                return f"{self.param('pi.TensorType(pi.INT64, [5])', table)}[{self.param('pi.INT32', 0)}]"
            case 6:
                return f"pi.cast({self.param(ty, target)}, pi.INT32)"
            case 7:
                return f"{self.param(f'pi.TupleType([{ty}])', (target,))}[0]"
            case _:
                return self.param(ty, target)

    def item(self, extent: int) -> tuple[str, Any]:
        draw = self.draw
        start = draw.randrange(extent)
        size = draw.randint(0, extent - start)
        match draw.randrange(7):
            case 0:
                return ":", slice(None)
            case 1:
                return f"{start}", start
            case 2:
                return f"{start - extent}", start
            case 3:
                return f"{start}:{start + size}", slice(start, start + size)
            case 4:
                text = self.index(start)
                return f"{text}:{text} + {size}", slice(start, start + size)
            case 5:
                back = draw.randint(1, extent)
                return f":-{back}", slice(0, extent - back)
            case _:
                return self.index(start), start


@pytest.mark.parametrize("seed", range(150))
def test_random_subscripts_select_what_numpy_selects(seed: int) -> None:
    draw = Draw(seed)
    extents = [draw.draw.choice([1, 3, 5]) for _ in range(draw.draw.randint(1, 3))]
    if draw.draw.random() < 0.5:
        # More elements than INT8 can count.
        extents[draw.draw.randrange(len(extents))] = 200
    shape = tuple(extents)
    dims = []
    for axis, extent in enumerate(shape):
        if draw.draw.random() < 0.4:
            draw.params.append(f"n{axis}: pi.INT64")
            draw.args.append(extent)
            dims.append(f"n{axis}")
        else:
            dims.append(f"{extent}")
    items = [draw.item(extent) for extent in shape[: draw.draw.randint(1, len(shape))]]
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    expected = x[tuple(item for _, item in items)]
    rest = ", ".join(f"{axis}" for axis in range(expected.ndim))
    part = f"x[{', '.join(text for text, _ in items)}]"
    body = f"pi.op.reduce_sum({part}, axes=[{rest}])" if expected.ndim else part
    params = ", ".join([*draw.params, f"x: pi.TensorType(pi.FP32, [{', '.join(dims)}])"])
    text = f"def f({params}) -> pi.FP32:\n    return {body}\n"
    try:
        results = run(text, *draw.args, x)
    except VerifyError as error:
        pytest.fail(f"{text}\n{error}")
    for result in results:
        np.testing.assert_allclose(result, expected.sum(dtype=np.float64), rtol=1e-4, err_msg=text)
