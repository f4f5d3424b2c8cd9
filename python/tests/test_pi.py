"""`@pi.function`: Python functions become the IR that the text form gives, and are called."""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import linecache
import pickle
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sapwood
from sapwood import ir, pi
from sapwood._unsupported import unsupported
from sapwood.errors import InvalidValueError, ParseError, RunError, SapwoodError, VerifyError


@pi.function
def square(x: pi.INT64) -> pi.INT64:
    """Squares a number."""
    return x * x


@pi.function
def square_and_one(x: pi.INT64) -> pi.INT64:
    return square(x) + 1


@pi.function
def absolute(x: pi.FP32) -> pi.FP32:
    if x < 0:
        return -x
    return x


@pi.function
def sum_to(n: pi.INT32) -> pi.INT32:
    total = pi.INT32(0)
    for i in range(n):
        total += i
    return total


@pi.function
def collatz(n: pi.INT64) -> pi.INT64:
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@pi.function
def carried(n: pi.INT64) -> (pi.INT64, pi.INT64):
    for i, (a, b) in pi.range(0, n, 1, init_values=[0, 1]):
        pi.yield_(b, a + b)
    x: pi.INT64 = pi.result(0)
    y: pi.INT64 = pi.result(1)
    return x, y


@pi.function
def grade(x: pi.INT64) -> pi.INT64:
    if x > 90:
        g = 1
    elif x > 70:
        g = 2
    else:
        g = 3
    return g


@pi.function
def swapped(t: pi.TupleType([pi.INT64, pi.INT64])) -> (pi.INT64, pi.INT64):
    a, b = t
    a, b = b, a
    return a, b


@pi.function
def first_over(limit: pi.INT64, n: pi.INT64) -> pi.INT64:
    for i in range(n):
        if i * i > limit:
            return i
    return -1


@pi.function
def matmul(a: pi.TensorType(pi.FP32, [2, 3]), b: pi.TensorType(pi.FP32, [3, 4])) -> pi.TensorType(pi.FP32, [2, 4]):
    return a @ b


@pi.function
def softmax(n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 4])) -> pi.TensorType(pi.FP32, [n, 4]):
    m = pi.op.reduce_max(x, axes=[1], keepdims=True)
    e = pi.op.exp(x - pi.op.broadcast_to(m, shape=[n, 4]))
    s = pi.op.reduce_sum(e, axes=[1], keepdims=True)
    return e / pi.op.broadcast_to(s, shape=[n, 4])


@pi.function
def attention(
    q: pi.TensorType(pi.FP32, [2, 5, 4]),
    k: pi.TensorType(pi.FP32, [2, 5, 4]),
    v: pi.TensorType(pi.FP32, [2, 5, 4]),
) -> pi.TensorType(pi.FP32, [2, 5, 4]):
    scores = q @ pi.op.transpose(k, perm=[0, 2, 1]) * 0.5
    e = pi.op.exp(scores - pi.op.broadcast_to(pi.op.reduce_max(scores, axes=[2], keepdims=True), shape=[2, 5, 5]))
    weights = e / pi.op.broadcast_to(pi.op.reduce_sum(e, axes=[2], keepdims=True), shape=[2, 5, 5])
    return weights @ v


@pi.function
def convolution(
    x: pi.TensorType(pi.FP32, [1, 5, 5, 1]), w: pi.TensorType(pi.FP32, [3, 3, 1, 2])
) -> pi.TensorType(pi.FP32, [1, 3, 3, 2]):
    return pi.op.convolution(x, w, input_dims=[0, 3, 1, 2], kernel_dims=[2, 3, 0, 1], output_dims=[0, 3, 1, 2])


@pi.function
def gram(x: pi.TensorType(pi.FP32, [3, 4])) -> pi.TensorType(pi.FP32, [3, 3]):
    return x @ x.T


@pi.function
def inner(x: pi.TensorType(pi.FP32, [6, 8])) -> pi.TensorType(pi.FP32, [4, 4]):
    return x[1:-1, ::2]


@pi.function
def corner(x: pi.TensorType(pi.FP32, [6, 8])) -> pi.FP32:
    return x[0, -1]


@pi.function
def row(x: pi.TensorType(pi.FP32, [6, 8]), i: pi.INT32) -> pi.TensorType(pi.FP32, [8]):
    return x[i]


@pi.function
def head(n: pi.INT64, k: pi.INT64, x: pi.TensorType(pi.FP32, [n, 8]), y: pi.TensorType(pi.FP32, [k])) -> pi.TensorType(
    pi.FP32, [n - 1, k]
):
    return x[1:, :k] + pi.op.broadcast_in_dim(y, dims=[1], shape=[n - 1, k])


@pi.function
def powers(x: pi.FP64) -> pi.FP64:
    return x**3 - 0.1 * x + 2


@pi.function
def bits(x: pi.UINT8) -> pi.UINT8:
    return (x << 1) & 0xF0 | ~x & 0b1111


@pi.function
def logic(a: pi.BOOL, b: pi.BOOL) -> pi.BOOL:
    return (a and not b) or pi.xor(a, b)


@pi.function
def halves(x: pi.FP16) -> pi.FP32:
    return pi.cast(x / 2, pi.FP32)


@pi.function
def clipped(x: pi.FP32) -> pi.FP32:
    return min(max(x, -1.0), 1.0)


@pi.function
def largest(x: pi.TensorType(pi.FP32, [8])) -> (pi.TensorType(pi.FP32, [2]), pi.TensorType(pi.INT32, [2])):
    values, places = pi.op.top_k(x, k=2)
    return values, places


@pi.function
def one_line(x: pi.INT64) -> pi.INT64: y = x + 1; return y * 2  # fmt: skip


@pi.function
def scaled(x: pi.TensorType(pi.FP32, [3])) -> pi.TensorType(pi.FP32, [3]):
    x *= 2
    return x + 0.5


@pi.function
def looped(a: pi.TensorType(pi.FP32, [2, 2]), n: pi.INT64) -> pi.TensorType(pi.FP32, [2, 2]):
    r = a
    for _ in range(n):
        r = r @ a
    return r


@pi.function
def normalized(n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 4])) -> pi.TensorType(pi.FP32, [n, 4]):
    return softmax(n, x * 0.5)


@pi.function
def mean(x: pi.TensorType(pi.FP32, [4, 5])) -> pi.TensorType(pi.FP32, [4]):
    return pi.op.reduce_sum(x, axes=[1]) / 5


@pi.function
def table() -> pi.TensorType(pi.FP32, [2, 2]):
    return pi.op.constant(value=[[1.0, 2.0], [3.0, 4.5]])


rng = np.random.default_rng(0)


def random(*shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def np_softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def np_conv(x: Any, w: Any) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x[0, :, :, 0], (3, 3))
    return np.einsum("ijab,abo->ijo", windows, w[:, :, 0, :])[None]


A, B, X34, X68, X54 = random(2, 3), random(3, 4), random(3, 4), random(6, 8), random(5, 4)
Q, K, V = random(2, 5, 4), random(2, 5, 4), random(2, 5, 4)
IMAGE, KERNEL = random(1, 5, 5, 1), random(3, 3, 1, 2)
EIGHT = random(8)

#: Each function with arguments and what NumPy or Python computes.
CASES: list[tuple[Any, tuple[Any, ...], Any]] = [
    (square, (7,), 49),
    (square_and_one, (7,), 50),
    (absolute, (-2.5,), 2.5),
    (sum_to, (10,), 45),
    (collatz, (27,), 111),
    (carried, (10,), (55, 89)),
    (grade, (80,), 2),
    (swapped, ((3, 4),), (4, 3)),
    (first_over, (50, 20), 8),
    (matmul, (A, B), A @ B),
    (softmax, (5, X54), np_softmax(X54)),
    (attention, (Q, K, V), np_softmax(Q @ K.transpose(0, 2, 1) * 0.5) @ V),
    (convolution, (IMAGE, KERNEL), np_conv(IMAGE, KERNEL)),
    (gram, (X34,), X34 @ X34.T),
    (inner, (X68,), X68[1:-1, ::2]),
    (corner, (X68,), X68[0, -1]),
    (row, (X68, 4), X68[4]),
    (head, (6, 3, X68, EIGHT[:3]), X68[1:, :3] + EIGHT[:3]),
    (powers, (1.5,), 1.5**3 - 0.1 * 1.5 + 2),
    (bits, (0b10110101,), ((0b10110101 << 1) & 0xF0) | (~0b10110101 & 0b1111)),
    (logic, (True, False), True),
    (halves, (3.0,), 1.5),
    (clipped, (-4.0,), -1.0),
    (largest, (EIGHT,), (np.sort(EIGHT)[::-1][:2], np.argsort(-EIGHT)[:2])),
    (one_line, (4,), 10),
    (scaled, (EIGHT[:3],), EIGHT[:3] * 2 + np.float32(0.5)),
    (looped, (A[:, :2], 3), np.linalg.matrix_power(A[:, :2], 4)),
    (normalized, (5, X54), np_softmax(X54 * np.float32(0.5))),
    (mean, (random(4, 5) * 0 + 2,), np.full(4, 2.0)),
    (table, (), [[1.0, 2.0], [3.0, 4.5]]),
]


def text_of(function: Any) -> str:
    """Returns the source of a decorated function and of those it calls, as a text."""
    return textwrap.dedent(inspect.getsource(function))


@pytest.mark.parametrize(("function", "args", "expected"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_functions(function: Any, args: tuple[Any, ...], expected: Any) -> None:
    program = function.program
    ir.verify(program)
    # The text gives the same IR.
    text = "".join(text_of(one) + "\n" for one in (function, *function._callees.values()))
    assert ir.structural_equal(ir.parse(text), program)
    assert ir.structural_equal(ir.parse(str(program)), program)
    assert ir.structural_equal(ir.from_json(ir.to_json(program)), program)
    results = [function(*args)]
    lowered = ir.lower(program)
    for one in (lowered, lowered.simplify()):
        ran = one.run(*args, function=function.function.name)
        results.append(ran[0] if isinstance(ran, (tuple, list)) and len(ran) == 1 else ran)
    for result in results:
        if isinstance(expected, tuple):
            assert len(result) == len(expected)
            for left, right in zip(result, expected):
                np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_docs_and_names() -> None:
    assert square.__doc__ == "Squares a number."
    assert square.__name__ == "square"
    assert repr(square) == "<pi.Function square>"
    assert str(square_and_one) == str(square_and_one.program)
    span = square.function.span
    assert span.filename == __file__ and square.program.span == span
    assert inspect.getsourcelines(square.__wrapped__)[1] < span.begin_line < span.begin_line + 2


def test_functions_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps([square, absolute])) == [square, absolute]
    assert copy.deepcopy(square) is square


def test_functions_inside_functions() -> None:
    @pi.function
    def local(x: pi.INT64) -> pi.INT64:
        y = square(x)
        return y + 1

    assert local(3) == 10


def test_places_in_the_file() -> None:
    def wrong(x: pi.INT64) -> pi.INT64:
        y = x + 1
        return y + missing  # noqa: F821

    with pytest.raises(ParseError, match="unknown name `missing`") as caught:
        pi.function(wrong)
    span = caught.value.span
    assert span is not None
    first = inspect.getsourcelines(wrong)[1]
    assert (span.filename, span.begin_line, span.begin_column) == (__file__, first + 2, 20)
    assert "return y + missing" in str(caught.value)


#: A body with a construct that the IR does not have, and a part of the message. Each is a function of its own.
MATCH = """match x:
    case None | [1, *_] | {"a": 1} | C(y) | 2 as z:
        x = 2"""

UNSUPPORTED = [
    ("break", "while x > 0:\n    break", "found `break`"),
    ("continue", "while x > 0:\n    continue", "found `continue`"),
    ("while-else", "while x > 0:\n    x = x - 1\nelse:\n    x = 2", "`else` without an `if`"),
    ("for-else", "for i in range(3):\n    x = i\nelse:\n    x = 2", "`else` without an `if`"),
    ("for-list", "for i in [1, 2]:\n    x = i", "expected `range`, `pi.range` or `pi.while_`"),
    ("if-expression", "y = 1 if x else 2", "found `if`"),
    ("lambda", "y = lambda z: z", "found `lambda`"),
    ("comparison chain", "y = 0 < x < 3", "chained comparisons"),
    ("is", "y = x is 1", "found `is`"),
    ("in", "y = x in (1, 2)", "found `in`"),
    ("not in", "y = x not in (1, 2)", "found `not`"),
    ("list", "y = [1, 2]", "expected an expression, found a list"),
    ("dict", "y = {1: 2}", "no dicts and no sets"),
    ("set", "y = {1, 2}", "no dicts and no sets"),
    ("string", "y = 'a'", "expected an expression, found a string"),
    ("f-string", "y = f'a{x}'", "a string with the prefix `f`"),
    ("bytes", "y = b'a'", "a string with the prefix `b`"),
    ("complex number", "y = 2j", "a letter right after a number"),
    ("None", "y = None", "found `None`"),
    ("list comprehension", "y = [i for i in x]", "found `for`"),
    ("generator", "y = (i for i in x)", "found `for`"),
    ("starred argument", "y = square(*x)", "found `*`"),
    ("keyword argument", "y = square(x=x)", "found `=`"),
    ("starred assignment", "y, *z = x, x", "found `*`"),
    ("nested targets", "y, (z, w) = x, (x, x)", "found `(`"),
    ("chained assignment", "y = z = x", "found `=`"),
    ("subscript assignment", "x[0] = 1", "which is not a tuple"),
    ("attribute assignment", "x.y = 1", "unknown attribute `.y`"),
    ("attribute", "y = x.real", "unknown attribute `.real`"),
    ("annotation alone", "y: pi.INT64", "expected `=`"),
    ("assert", "assert x > 0", "found `assert`"),
    ("del", "del x", "found `del`"),
    ("raise", "raise ValueError", "found `raise`"),
    ("try", "try:\n    x = 1\nexcept ValueError:\n    x = 2", "found `try`"),
    ("with", "with open(x):\n    x = 1", "a `with` statement of Python"),
    ("class", "class C:\n    x = 1", "found `class`"),
    ("inner function", "def g(y):\n    return y", "found `def`"),
    ("import", "import os", "write imports outside functions"),
    ("from", "from os import path", "write imports outside functions"),
    ("global", "global x", "found `global`"),
    ("nonlocal", "nonlocal x", "found `nonlocal`"),
    ("yield", "yield x", "found `yield`"),
    ("await", "await x", "found `await`"),
    ("unary plus", "y = +x", "found `+`"),
    ("unknown function", "y = len(x)", "the program has no function called `len`"),
    ("match", "match x:\n    case 1:\n        x = 2", "a `match` statement cannot be written here"),
    ("match with patterns", MATCH, "a `match` statement cannot be written here"),
    ("async for", "async for i in x:\n    x = i", "found `async`"),
    ("async with", "async with x:\n    x = 1", "found `async`"),
    ("async comprehension", "y = [i async for i in x]", "found `async`"),
    ("inner async function", "async def g(y):\n    return y", "found `async`"),
    ("yield from", "yield from x", "found `yield`"),
    ("yield as a value", "y = yield x", "found `yield`"),
    ("dict comprehension", "y = {i: i for i in x}", "no dicts and no sets"),
    ("set comprehension", "y = {i for i in x}", "no dicts and no sets"),
    ("ellipsis", "y = ...", "found `.`"),
    ("starred item", "y = [*x]", "found `*`"),
    ("double-starred argument", "y = square(**x)", "found `**`"),
    ("is not", "y = x is not 1", "found `is`"),
    ("assignment of a product", "x @= x", "`@` of pi.INT64 and pi.INT64"),
    ("slice of a number", "y = x[0:1:2]", "expected the number of an element"),
]
if sys.version_info >= (3, 11):
    UNSUPPORTED.append(("try star", "try:\n    x = 1\nexcept* ValueError:\n    x = 2", "found `try`"))
if sys.version_info >= (3, 12):
    UNSUPPORTED.append(("type alias", "type T = int", "a type cannot be given a name here"))
if sys.version_info >= (3, 14):
    UNSUPPORTED.append(("t-string", "y = t'a{x}'", "a string with the prefix `t`"))


@pytest.mark.parametrize(("body", "message"), [case[1:] for case in UNSUPPORTED], ids=[c[0] for c in UNSUPPORTED])
def test_unsupported_python(body: str, message: str) -> None:
    text = "def f(x: pi.INT64) -> pi.INT64:\n" + textwrap.indent(body, "    ") + "\n    return x\n"
    with pytest.raises(SapwoodError) as caught:
        ir.verify(ir.parse(text, "example.py"))
    shown = str(caught.value)
    assert message in shown, shown
    assert "example.py:" in shown, shown
    assert "^" in shown, shown


#: What `@pi.function` calls these constructs; the others get the message of the reader, or are refused by Python.
NAMED = {
    "break": "a `break`",
    "continue": "a `continue`",
    "while-else": "the `else` of a loop",
    "for-else": "the `else` of a loop",
    "for-list": "a loop over anything but a range",
    "if-expression": "a conditional expression",
    "lambda": "a `lambda`",
    "comparison chain": "a chain of comparisons",
    "is": "`is`",
    "is not": "`is not`",
    "in": "`in`",
    "not in": "`not in`",
    "list": "a list",
    "starred item": "a list",
    "dict": "a dict",
    "set": "a set",
    "string": "a string",
    "f-string": "an f-string",
    "t-string": "a t-string",
    "bytes": "a bytes literal",
    "complex number": "a complex number",
    "None": "`None`",
    "ellipsis": "an ellipsis",
    "list comprehension": "a list comprehension",
    "set comprehension": "a set comprehension",
    "dict comprehension": "a dict comprehension",
    "generator": "a generator expression",
    "starred argument": "an unpacking with `*`",
    "starred assignment": "an unpacking with `*`",
    "keyword argument": "an argument by name",
    "double-starred argument": "an argument by name",
    "nested targets": "an assignment to nested targets",
    "chained assignment": "an assignment to several targets",
    "subscript assignment": "an assignment to an element",
    "attribute assignment": "an assignment to an attribute",
    "annotation alone": "a declaration without a value",
    "assert": "an `assert`",
    "del": "a `del`",
    "raise": "a `raise`",
    "try": "a `try`",
    "try star": "a `try`",
    "with": "a `with`",
    "class": "a class",
    "inner function": "an inner function",
    "inner async function": "an async function",
    "import": "an `import`",
    "from": "an `import`",
    "yield": "a `yield`",
    "yield from": "a `yield`",
    "yield as a value": "a `yield`",
    "unary plus": "a unary `+`",
    "match": "a `match`",
    "type alias": "a `type` statement",
}


@pytest.mark.filterwarnings("ignore:.is:SyntaxWarning")
@pytest.mark.parametrize(("name", "body"), [case[:2] for case in UNSUPPORTED], ids=[c[0] for c in UNSUPPORTED])
def test_decorated_functions_name_the_construct(name: str, body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "unsupported_body", raising=False)
    text = "from sapwood import pi\nclass A:\n    def f(x: pi.INT64) -> pi.INT64:\n" + textwrap.indent(body, " " * 8) + "\n"
    (tmp_path / "unsupported_body.py").write_text(text)
    importlib.invalidate_caches()
    try:
        module = importlib.import_module("unsupported_body")
    except SyntaxError:
        assert name not in NAMED
        return
    with pytest.raises(SapwoodError) as caught:
        ir.verify(pi.function(module.A.f).program)
    shown = str(caught.value)
    if name in NAMED:
        assert shown.startswith(f"error: {NAMED[name]} cannot be written in a function of the IR\n"), shown
    span = caught.value.span
    assert span is not None and span.begin_line >= 4 and span.filename.endswith("unsupported_body.py")
    assert f" {span.begin_line} | {text.splitlines()[span.begin_line - 1]}"[1:] in shown
    assert " " * (span.begin_column - 1) + "^" in shown


def test_functions_that_are_read_have_no_unsupported_constructs() -> None:
    bodies = ["def f(x: pi.INT64) -> pi.INT64:\n" + textwrap.indent(body, "    ") for body in SUPPORTED]
    for text in [*bodies, *(text_of(function) for function, *_ in CASES)]:
        assert list(unsupported(ast.parse(text).body[0])) == []


#: Nodes of Python's grammar that functions never contain, or that are parts of others.
NOT_WRITTEN = {"FunctionType", "Expression", "Interactive", "Module", "TypeIgnore", "Load", "Store", "Del", "Param", "AugLoad", "AugStore"}
#: Nodes of older versions of Python, which remain as names.
OUTDATED = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice", "Suite"}


def test_each_construct_of_the_grammar_has_a_case() -> None:
    """Each statement and expression of this Python's grammar is in a function that is read, or in one that is refused with a message."""
    read = [text_of(function) for function, *_ in CASES]
    read += ["def f(x: pi.INT64) -> pi.INT64:\n" + textwrap.indent(body, "    ") for body in SUPPORTED]
    refused = ["async def f(x):\n" + textwrap.indent(body, "    ") for _, body, _ in UNSUPPORTED]
    seen: set[type] = set()
    for text in (*read, *refused):
        for node in ast.walk(ast.parse(text)):
            seen.update(type(node).__mro__)
    groups = (ast.stmt, ast.expr, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.excepthandler, ast.pattern)
    missing = [
        one.__name__
        for group in groups
        for one in group.__subclasses__()
        if one.__module__ in ("ast", "_ast") and one not in seen and one.__name__ not in NOT_WRITTEN | OUTDATED
    ]
    assert not missing, missing


#: Bodies that are read, for constructs that the functions above do not have.
SUPPORTED = ["pass", "y = x >> 1", "y = x ^ 1", "y = x != 1", "y = x >= 1", "y = x <= 1 or x > 2", "y = not x", "y = (z := x) + z", "y = x[0]", "[y, z] = x, x"]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("def f(x: pi.INT64 = 1):", "`=`"),
        ("def f(*x):", "found `*`"),
        ("def f(**x):", "found `**`"),
        ("def f(x, /):", "found `/`"),
        ("async def f(x):", "found `async`"),
        ("@other\ndef f(x):", "unknown decorator `@other`"),
        ("def f[T](x):", "found `[`"),
    ],
)
def test_unsupported_headers(header: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        ir.parse(header + "\n    return\n", "example.py")
    assert message in str(caught.value)
    assert "^" in str(caught.value)


def test_sources_that_cannot_be_found() -> None:
    scope: dict[str, Any] = {"pi": pi}
    with pytest.raises(ParseError, match="the source of f cannot be found"):
        exec("@pi.function\ndef f(x: pi.INT64) -> pi.INT64:\n    return x\n", scope)
    with pytest.raises(TypeError, match="expects a function, found type"):
        pi.function(int)  # type: ignore[arg-type]
    with pytest.raises(ParseError, match="is not written with `def`"):
        pi.function(lambda x: x)


LIMIT = 3


def plain(x: Any) -> Any:
    return x


@sapwood.op("pi_tests.twice")
def twice(x: np.ndarray) -> np.ndarray:
    return x + x


other_name = square


def calls_plain(x: pi.INT64) -> pi.INT64:
    return plain(x)


def calls_op(x: pi.FP32) -> pi.FP32:
    return twice(x)


def calls_other_name(x: pi.INT64) -> pi.INT64:
    größe = x; return größe + other_name(x)  # fmt: skip


def uses_a_variable(x: pi.INT64) -> pi.INT64:
    return x + LIMIT


@pytest.mark.parametrize(
    ("function", "word", "message"),
    [
        (calls_plain, "plain", "`plain` is a Python function; decorate it with `@pi.function`"),
        (calls_op, "twice", "`twice` is an op; call it as `pi.op.pi_tests.twice`"),
        (calls_other_name, "other_name", "`other_name` is another name of square"),
        (uses_a_variable, "LIMIT", "`LIMIT` is a variable of Python"),
    ],
)
def test_names_of_python_that_functions_cannot_use(function: Any, word: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        pi.function(function)
    shown = str(caught.value).splitlines()
    assert any(message in line for line in shown), shown
    line, carets = next((line, shown[at + 1]) for at, line in enumerate(shown) if " | " in line and "^" in shown[at + 1])
    assert line[carets.index("^") : carets.rindex("^") + 1] == word
    span = caught.value.span
    assert span is not None and span.filename == __file__
    assert span.begin_line == inspect.getsourcelines(function)[1] + 1


def test_a_file_that_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (one, two) = (f"def {name}(x: pi.INT64) -> pi.INT64:\n    return x + {n}\n" for n, name in enumerate("fg"))
    head = "from sapwood import pi\n"
    (tmp_path / "changed_functions.py").write_text(head + one + two)
    module = importlib.import_module("changed_functions")
    assert pi.function(module.g)(3) == 4
    (tmp_path / "changed_functions.py").write_text(head + two + one)
    linecache.checkcache()
    with pytest.raises(ParseError, match=r"changed_functions.py:2 has the function g instead of f; the file has changed"):
        pi.function(module.f)


def test_arguments_by_name() -> None:
    assert sum_to(n=10) == 45
    assert swapped(t=(3, 4)) == (4, 3)
    with pytest.raises(TypeError, match="argument"):
        sum_to(m=10)


def test_names_work_only_inside() -> None:
    for name in ("cast", "typed", "range", "yield_"):
        with pytest.raises(RuntimeError, match=f"pi.{name} has a meaning only inside"):
            getattr(pi, name)(1)
    with pytest.raises(RuntimeError, match="only inside"):
        pi.op.exp(1)


def test_errors_of_a_run() -> None:
    with pytest.raises(RunError):

        @pi.function
        def unknown(x: pi.INT64) -> pi.INT64:
            return pi.typed(pi.op.my.unknown(x), pi.INT64)

        unknown(1)
