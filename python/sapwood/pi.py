"""The names of front-end programs, and `function`, which turns a Python function into one.

The body of a decorated function is never executed by Python: it is read from its source, as `sapwood.ir.parse` reads a text.

>>> from sapwood import ir
>>> ir.parse("def f(x: pi.INT64) -> pi.INT64:\\n    return x * x\\n").functions["f"].name
'f'
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from sapwood import _native, ir
from sapwood._native import DataType
from sapwood._op import OpDefinition
from sapwood._op_help import call_documentation, call_signature
from sapwood._unsupported import unsupported
from sapwood.errors import ParseError
from sapwood.ir import FunctionType, TensorType, TupleType, UnknownType

__all__ = [
    "Function",
    "FunctionType",
    "TensorType",
    "TupleType",
    "UnknownType",
    "cast",
    "cond",
    "function",
    "global_",
    "name",
    "neg",
    "op",
    "ops",
    "program",
    "range",
    "result",
    "seq",
    "typed",
    "while_",
    "xor",
    "yield_",
]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:
    # The data types: `pi.INT64`.
    for _dtype in DataType.ALL:
        globals()[_dtype.name] = _dtype
        __all__.append(_dtype.name)


#: The functions of the IR that have no `pi.` before their names.
_BUILT_IN = ("abs", "max", "min", "range")


class Function:
    """A function of the front-end IR that was written in Python.

    A call interprets it. `function` is its IR, and `program` a program of it and the functions that it calls, which are looked up by name
    at that moment, as Python does.
    """

    def __init__(self, python: Callable[..., Any]) -> None:
        self.__wrapped__ = python
        functools.update_wrapper(self, python)
        calls = list(_calls(python))
        self._called = [(name, exact) for name, exact, _ in calls]
        self._callees = dict(_decorated_callees(python, calls))
        self.function: ir.Function = _read(python, self._callees)
        self._program: tuple[list[ir.Function], ir.Program] | None = None

    @property
    def program(self) -> ir.Program:
        """A program of this function and of all that it calls. Raises a `sapwood.errors.VerifyError` if it is not well-formed."""
        found: dict[str, Function] = {}
        pending: list[Function] = [self]
        while pending:
            one = pending.pop()
            known = found.setdefault(one.function.name, one)
            if known is not one:
                message = f"two functions are called {one.function.name}: at {known.function.span} and {one.function.span}"
                raise ParseError(message)
            pending.extend(other for other in one._resolve() if found.get(other.function.name) is not other)
        functions = [one.function for one in found.values()]
        if self._program is None or not _are_same(self._program[0], functions):
            program = ir.Program(functions, span=functions[0].span)
            ir.verify(program)
            self._program = functions, program
        return self._program[1]

    def _resolve(self) -> list[Function]:
        """Returns the functions that it calls as they are defined now; reads it again if they are others than before."""
        callees = {}
        for name, exact in self._called:
            callee = _find(self.__wrapped__, name, exact)
            # The name of the function itself is bound after it is decorated.
            if isinstance(callee, Function) and callee.function.name == name and name != self.function.name:
                callees[name] = callee
        if callees.keys() != self._callees.keys() or any(self._callees[name] is not one for name, one in callees.items()):
            self.function = _read(self.__wrapped__, callees)
            self._callees = callees
        return list(callees.values())

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Interprets the function and returns its result, or a tuple of several."""
        if keywords:
            args = inspect.signature(self.__wrapped__).bind(*args, **keywords).args
        results = ir.interpret(self.program, self.function.name, *args)
        return results[0] if len(results) == 1 else results

    def __reduce__(self) -> str:
        # Like a Python function, it is pickled by name.
        return self.__wrapped__.__qualname__

    def __str__(self) -> str:
        return str(self.program)

    def __repr__(self) -> str:
        return f"<pi.Function {self.function.name}>"


def function(python: Callable[..., Any]) -> Function:
    """Turns a Python function into a function of the front-end IR, from its source.

    It may call other decorated functions of its module or of the functions around it. Their names are looked up when it is called, as
    Python does, so functions may call each other; a call of a function that is decorated later has no known type here. Raises a `sapwood.errors.ParseError` that shows
    your lines if the function uses Python that the IR does not have, or if its source cannot be found.
    """
    if not inspect.isfunction(python):
        raise TypeError(f"@pi.function expects a function, found {type(python).__name__}")
    return Function(python)


def _source(python: Callable[..., Any]) -> tuple[str, list[str], int]:
    """Returns the file name, the lines and the number of the first line of a function, decorators included."""
    code = inspect.unwrap(python).__code__
    try:
        lines, first = inspect.getsourcelines(python)
    except (OSError, TypeError, IndexError, SyntaxError) as error:
        raise ParseError(
            f"the source of {python.__qualname__} cannot be found: {error}; "
            "@pi.function reads a function from its file, so it does not work in `exec` or in an interpreter that keeps no source"
        ) from None
    if not any(line.lstrip().startswith(("def ", "async def ")) for line in lines):
        raise ParseError(f"{python.__qualname__} is not written with `def`: {code.co_filename}:{first}")
    return code.co_filename, lines, first


def _read(python: Callable[..., Any], others: dict[str, Function]) -> ir.Function:
    filename, lines, first = _source(python)
    indent = len(lines[0]) - len(lines[0].lstrip())
    tree = _tree(lines, indent)
    if not linecache.getlines(filename):
        text = "\n" * (first - 1) + "".join(lines)
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    kept = list(lines)
    above, below = _other_decorators(python, tree)
    for decorator in below:
        message = f"`@{ast.unparse(decorator)}` below `@pi.function` has no effect, because the function is read from its source"
        raise _error_at(decorator, filename, first, lines, indent, message, "write it above `@pi.function`, or leave it out")
    for decorator in above:
        kept[decorator.lineno - 1 : decorator.end_lineno] = ["\n"] * ((decorator.end_lineno or decorator.lineno) - decorator.lineno + 1)
    # The lines before the function are empty, so that locations are those of the file.
    text = "\n" * (first - 1) + "".join(kept)
    signatures = [_renamed(other.function, called) for called, other in others.items()]
    try:
        program: ir.Program = _native.ir_parse_indented(text, filename, indent, signatures)
    except ParseError as error:
        errors = [_error_at(node, filename, first, lines, indent, f"{what} cannot be written in a function of the IR", help_) for node, what, help_ in unsupported(tree)] if tree else []
        if errors:
            raise ParseError("\n\n".join(one.message for one in errors), tuple(one.diagnostics[0] for one in errors)) from None
        # A variable of the functions around it may have no value yet.
        known = {*python.__globals__, *python.__code__.co_freevars}
        missing = (re.fullmatch(r"unknown name `(\w+)`", one.message) for one in error.diagnostics)
        if name := next((found[1] for found in missing if found and found[1] in known), None):
            message = f"{error.message}\n  = help: `{name}` is a variable of Python; a function knows only its own parameters and variables"
            raise ParseError(message, error.diagnostics) from None
        raise
    functions = list(program.functions.values())
    if len(functions) != 1:
        raise ParseError(f"expected one function at {filename}:{first}, found {len(functions)}")
    return functions[0]


def _other_decorators(python: Callable[..., Any], tree: ast.stmt | None) -> tuple[list[ast.expr], list[ast.expr]]:
    """Returns the decorators that are not of `pi`: those above `function`, which Python applies to its result, and those below it."""
    decorators = tree.decorator_list if isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) else []

    def is_of_pi(decorator: ast.expr, meant: Any) -> bool:
        text = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
        root, *attributes = text.split(".")
        found = python.__globals__.get(root)
        for attribute in attributes:
            found = getattr(found, attribute, None)
        return found is meant or text == f"pi.{meant.__name__}"

    own = next((at for at, one in enumerate(decorators) if is_of_pi(one, function)), 0)
    others = [(at, one) for at, one in enumerate(decorators) if not is_of_pi(one, function) and not is_of_pi(one, name)]
    return [one for at, one in others if at < own], [one for at, one in others if at >= own]


def _renamed(node: ir.Function, name: str) -> ir.Function:
    return node if node.name == name else ir.Function(name, node.params, node.return_types, node.body, node.span)


def _are_same(a: list[ir.Function], b: list[ir.Function]) -> bool:
    return len(a) == len(b) and all(one is other for one, other in zip(a, b, strict=True))


def _calls(python: Callable[..., Any]) -> Iterator[tuple[str, bool, ast.expr]]:
    """Finds the names that a function calls, and where; true for the names in ``pi.global_``."""
    filename, lines, first = _source(python)
    indent = len(lines[0]) - len(lines[0].lstrip())
    head = _tree(lines, indent)
    if head is None:
        return  # The reader of the IR reports it with its place.
    if isinstance(head, ast.FunctionDef) and head.name != python.__name__:
        raise ParseError(f"{filename}:{first} has the function {head.name} instead of {python.__name__}; the file has changed since it was imported")
    for node in (one for stmt in getattr(head, "body", ()) for one in ast.walk(stmt)):
        match node:
            case ast.Call(func=ast.Name(id=name)):
                yield name, False, node.func
            case ast.Call(func=ast.Attribute(value=ast.Name(id="pi"), attr="global_"), args=[ast.Constant(value=str(name))]):
                yield name, True, node.func


def _find(python: Callable[..., Any], name: str, exact: bool) -> Any:
    """Returns the value that a function finds under a name now; with ``exact``, a decorated function of this name in the IR."""
    free = python.__code__.co_freevars
    if exact:
        cells = zip(free, python.__closure__ or (), strict=True)
        around = [_content(cell) for _, cell in cells]
        known = [*around, *list(python.__globals__.values())]
        return next((one for one in known if isinstance(one, Function) and one.function.name == name), None)
    if name in free:
        return _content((python.__closure__ or ())[free.index(name)])
    return python.__globals__.get(name)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None  # The variable has no value yet.


def _decorated_callees(python: Callable[..., Any], calls: list[tuple[str, bool, ast.expr]]) -> Iterator[tuple[str, Function]]:
    """Returns the decorated functions that a function calls; raises for callees that it cannot call."""
    filename, lines, first = _source(python)
    indent = len(lines[0]) - len(lines[0].lstrip())
    for name, exact, node in calls:
        callee = _find(python, name, exact)
        refused = None
        if isinstance(callee, Function):
            if name in _BUILT_IN and not exact:
                refused = f"`{name}` is built in; give your function another name"
            elif callee.function.name != name:
                refused = f"`{name}` is another name of {callee.function.name}; call it by its own"
            elif name != python.__name__:
                yield name, callee
        elif name not in inspect.signature(python).parameters:
            if isinstance(callee, OpDefinition):
                refused = f"`{name}` is an op; call it as `pi.op.{callee.name}`"
            elif inspect.isfunction(callee):
                refused = f"`{name}` is a Python function; decorate it with `@pi.function`"
        if refused is not None:
            raise _error_at(node, filename, first, lines, indent, refused)


def _tree(lines: list[str], indent: int) -> ast.stmt | None:
    """Returns the syntax tree of a function, or none if it has a syntax error."""
    try:
        return ast.parse("".join(line[indent:] if line.strip() else line for line in lines)).body[0]
    except SyntaxError:
        return None


def _error_at(node: ast.expr | ast.stmt, filename: str, first: int, lines: list[str], indent: int, message: str, help_: str = "") -> ParseError:
    """Returns an error that shows the first line of a node."""
    text = lines[node.lineno - 1].rstrip("\r\n")
    bytes_ = text[indent:].encode()
    last = node.end_col_offset if node.end_lineno == node.lineno else None
    # `ast` counts bytes.
    begin, end = (indent + len(bytes_[:at].decode(errors="ignore")) for at in (node.col_offset, last or len(bytes_)))
    line = first + node.lineno - 1
    width = len(str(line))
    shown = f"error: {message}\n{' ' * width}--> {filename}:{line}:{begin + 1}\n{' ' * width} |\n{line} | {text}\n{' ' * width} | {' ' * begin}{'^' * (end - begin)}"
    if help_:
        shown += f"\n{' ' * width} |\n{' ' * width} = help: {help_}"
    span = _native.Span(filename, line, begin + 1, line, end + 1)
    return ParseError(shown, (_native.Diagnostic("error", message, span, [], help_ or None),))


def _only_inside(stub: Callable[..., Any]) -> Any:
    """Returns a function with the signature and documentation of a stub, for a name that only the reader knows. It cannot be called."""

    @functools.wraps(stub)
    def outside(*_args: Any, **_kwargs: Any) -> NoReturn:
        raise RuntimeError(f"pi.{stub.__name__} has a meaning only inside a function that @pi.function decorates")

    return outside


class _OpName:
    """``pi.op.name``: a call of an op. Each op is an attribute, with its signature and documentation."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        if found := call_documentation(name):
            self.__doc__ = found

    def __getattr__(self, name: str) -> Any:
        if name == "__signature__" and self.__name__:
            return call_signature(self.__name__)
        if name.startswith("__"):
            raise AttributeError(name)
        return _OpName(f"{self.__name__}.{name}" if self.__name__ else name)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *(one["name"] for one in _native.ptir_ops() if not self.__name__ and one["family"] != "control")]

    def __call__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise RuntimeError("pi.op has a meaning only inside a function that @pi.function decorates")

    def __repr__(self) -> str:
        return f"pi.op.{self.__name__}" if self.__name__ else "pi.op"


op: Any = _OpName("")


@_only_inside
def cast(value: Any, type: Any) -> Any:  # noqa: A002
    """Converts a value to a type. A tensor that is cast to a data type keeps its shape.

    >>> from sapwood import ir
    >>> ir.interpret(ir.parse("def f(x: pi.FP32) -> pi.INT64:\\n    return pi.cast(x, pi.INT64)\\n"), "f", 2.5)
    (2,)
    """


@_only_inside
def cond(condition: Any) -> Any:
    """States the condition of a loop of `while_`, as the first statement of its body."""


@_only_inside
def global_(name: str) -> Any:
    """Names a function whose name is not a Python identifier: ``pi.global_("my function")(x)``."""


@_only_inside
def neg(value: Any) -> Any:
    """Negates a constant; ``-1`` is a constant itself."""


@_only_inside
def ops() -> Any:
    """Begins a block of assignments: ``with pi.ops():``."""


@_only_inside
def program(name: str) -> Any:
    """States the name of a program, before its functions."""


@_only_inside
def range(start: Any, stop: Any = None, step: Any = 1, *, init_values: Any = (), iter_types: Any = None, loop_type: Any = None) -> Any:
    """Begins a loop over a range that carries values; `result` takes them afterwards.

    >>> from sapwood import ir
    >>> text = '''
    ... def total(n: pi.INT64) -> pi.INT64:
    ...     for i, (s,) in pi.range(n, init_values=[0]):
    ...         pi.yield_(s + i)
    ...     end: pi.INT64 = pi.result(0)
    ...     return end
    ... '''
    >>> ir.interpret(ir.parse(text), "total", 5)
    (10,)
    """


@_only_inside
def result(index: int) -> Any:
    """Takes a value that the loop or conditional above yields: ``y: pi.INT64 = pi.result(0)``. Each value is taken, in order."""


@_only_inside
def seq() -> Any:
    """Begins a block of statements: ``with pi.seq():``."""


@_only_inside
def typed(value: Any, type: Any) -> Any:  # noqa: A002
    """States the type of an expression that does not follow from its parts."""


@_only_inside
def while_(*, init_values: Any, iter_types: Any = None) -> Any:
    """Begins a loop with a condition that carries values.

    >>> from sapwood import ir
    >>> text = '''
    ... def log2(n: pi.INT64) -> pi.INT64:
    ...     for (left, bits) in pi.while_(init_values=[n, 0]):
    ...         pi.cond(left > 1)
    ...         pi.yield_(left // 2, bits + 1)
    ...     rest: pi.INT64 = pi.result(0)
    ...     bits_out: pi.INT64 = pi.result(1)
    ...     return bits_out
    ... '''
    >>> ir.interpret(ir.parse(text), "log2", 64)
    (6,)
    """


@_only_inside
def xor(left: Any, right: Any) -> Any:
    """Returns true if exactly one of two truth values is true."""


@_only_inside
def yield_(*values: Any) -> Any:
    """Gives the values of a body to its loop or conditional."""


def name(_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """States the name of a function that is not a Python identifier; `function` reads it from the source."""
    return lambda python: python
