"""Ops that are defined in Python."""

from __future__ import annotations

import functools
import importlib
import inspect
import types
import typing
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, Union

from sapwood import _native
from sapwood._native import BuilderValue, DataType, Operand, Pattern, Program
from sapwood._trace import Term
from sapwood.errors import ArgumentError, InvalidValueError, RewriteError, RunError

__all__ = ["OpDefinition", "decompose", "import_op", "op"]

_DEFINITIONS: dict[str, OpDefinition] = {}


class OpDefinition:
    """An op that `op` defined. A call emits an instruction, or computes the op on arrays.

    With values of a `sapwood.ptir.Builder`, of a pattern or of a rule as operands, it becomes part of that function or rule; with arrays, it
    is evaluated.
    """

    name: str
    """The name of the op in programs."""
    evaluate: Callable[..., Any]
    """The function that computes the op on arrays."""
    infer: Callable[..., Any] | None
    """The function that infers the types of the results."""

    def __init__(
        self,
        name: str,
        evaluate: Callable[..., Any],
        infer: Callable[..., Any] | None,
        decompose: Callable[..., Any] | None,
        *,
        returns_tuple: bool = False,
    ) -> None:
        functools.update_wrapper(self, evaluate)
        self.name = name
        self.evaluate = evaluate
        self.infer = infer
        self._decompose = decompose
        parameters = inspect.signature(evaluate).parameters.values()
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        # The operands in order, and whether each may be a keyword.
        self._operands = [(one.name, one.kind is not one.POSITIONAL_ONLY) for one in parameters if one.kind in kinds]
        self._returns_tuple = returns_tuple

    @property
    def decomposition(self) -> Pattern | None:
        """The pattern that replaces the op by other ops, for `sapwood.rewrite.apply`; ``None`` if the op has no decomposition."""
        made = self._decompose
        if made is None:
            return None

        def replace(instruction: Any, rewriter: Any) -> Any:
            try:
                return made(rewriter, *instruction.operands, **instruction.attributes)
            except Exception as error:
                span = instruction.span
                place = "" if span.is_unknown() else f" at {span}"
                message = f"the decomposition of {self.name}{place} failed: {type(error).__name__}: {error}"
                raise RewriteError(message, (_native.Diagnostic("error", message, span),)) from error

        return Pattern(replace, [self.name], name=f"decompose_{self.name.replace('.', '_')}")

    def __call__(self, *operands: Any, **attributes: Any) -> Any:
        """Emits an instruction of the op, or computes it on arrays."""
        for name, may_be_keyword in self._operands[len(operands) :]:
            # Operands may be keywords, as parameters of a function are.
            if not may_be_keyword or name not in attributes:
                break
            operands = (*operands, attributes.pop(name))
        for operand in operands:
            if isinstance(operand, BuilderValue):
                return self._results(operand.builder.emit(self.name, *operands, **attributes))
            if isinstance(operand, Operand):
                return self._results(operand.rewriter.emit(self.name, *operands, **attributes))
            if isinstance(operand, Term):
                return operand.emit(self.name, *operands, **attributes)
        return self._run(operands, attributes)

    def _results(self, emitted: Any) -> Any:
        # An op that returns a tuple of one has one result.
        return (emitted,) if self._returns_tuple and not isinstance(emitted, tuple) else emitted

    def _run(self, operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
        import numpy

        arrays = [numpy.asarray(operand) for operand in operands if operand is not None]
        builder = _native.Builder(self.name)
        parameters = [
            builder.parameter(f"x{n}", _native.Type.tensor(array.dtype.name, array.shape))
            for n, array in enumerate(arrays)
        ]
        results = builder.emit(self.name, *parameters, **attributes)
        program = Program([builder.finish(results)])
        computed = program.run(*arrays)
        return computed if self._returns_tuple or isinstance(results, tuple) else computed[0]

    def __reduce__(self) -> tuple[Callable[..., OpDefinition], tuple[str, str]]:
        return import_op, (self.name, self.evaluate.__module__)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def op(
    name: str,
    *,
    infer: Callable[..., Any] | None = None,
    decompose: Callable[..., Any] | None = None,
    elementwise: bool = False,
    commutative: bool = False,
) -> Callable[[Callable[..., Any]], OpDefinition]:
    """Returns a decorator that defines an op. The decorated function computes it on read-only NumPy arrays.

    Positional parameters are operands: ``x``, ``bias=None`` for one that may be left out, ``*rest`` for any number. Keyword-only parameters
    are attributes, annotated as ``bool``, ``int``, ``float``, ``str``, ``DataType``, ``Sequence[int]``, a ``Literal`` of words, or one of
    these ``| None`` with the default ``None``. The docstring describes the op. A function that is annotated to return a tuple has several results.

    ``infer`` has the same parameters, but receives types, and returns the type of the result, or a tuple of them; it raises an exception if
    the operands do not fit. Without it, the result has the type of the first operand. ``decompose`` receives a rewriter, on which every op
    is a method, and then values and attributes; it returns the values that replace the results.

    ``elementwise`` ops compute each element alone, from operands of one shape. ``commutative`` means that the first two operands may be
    swapped. An op must compute the same from the same operands: instructions of it are merged, moved, and computed ahead of time.

    >>> import numpy as np
    >>> import sapwood
    >>> @sapwood.op("doc.cube", decompose=lambda op, x: op.mul(x, op.mul(x, x)), elementwise=True)
    ... def cube(x: np.ndarray) -> np.ndarray:
    ...     '''The third power of each element.'''
    ...     return x * x * x
    >>> cube(np.float32([2, 3])).tolist()
    [8.0, 27.0]
    """
    for function, role in ((infer, "infer"), (decompose, "decompose")):
        if function is not None and not callable(function):
            raise ArgumentError(f"{role} is {type(function).__name__}, expected a function")

    def decorate(evaluate: Callable[..., Any]) -> OpDefinition:
        if not callable(evaluate) or inspect.isclass(evaluate):
            raise ArgumentError(f"@sapwood.op expects a function, found {type(evaluate).__name__}")
        operands, attributes, many = _signature(name, evaluate)
        if many and infer is None:
            raise ArgumentError(f"{name} returns a tuple, so it needs `infer`, which returns one type for each result")
        _native.ptir_define_op(
            name,
            inspect.getdoc(evaluate) or "",
            operands,
            attributes,
            many=many,
            elementwise=bool(elementwise),
            commutative=bool(commutative),
            infer=infer,
            evaluate=_without_warnings(evaluate),
            module=getattr(evaluate, "__module__", None) or "__main__",
        )
        made = OpDefinition(name, evaluate, infer, decompose, returns_tuple=many)
        _DEFINITIONS[name] = made
        return made

    return decorate


def decompose(program: Program, *ops: OpDefinition) -> Program:
    """Replaces ops that were defined with a decomposition by other ops: all of them, or only the given ones.

    Raises a `sapwood.errors.RewriteError` if a decomposition fails or leads back to its op.

    >>> import numpy as np
    >>> import sapwood
    >>> from sapwood import ptir, rewrite
    >>> @sapwood.op("doc.twice", decompose=lambda op, x: op.add(x, x))
    ... def twice(x: np.ndarray) -> np.ndarray:
    ...     return x + x
    >>> b = ptir.Builder()
    >>> program = ptir.Program([b.finish(twice(b.parameter("x", "f32[2]")))])
    >>> [i.op for i in rewrite.decompose(program).functions[0].instructions]
    ['add', 'return']
    """
    patterns = []
    for definition in ops or _DEFINITIONS.values():
        if not isinstance(definition, OpDefinition):
            raise ArgumentError(f"expected ops that sapwood.op defined, found {type(definition).__name__}")
        if definition.decomposition is not None:
            patterns.append(definition.decomposition)
        elif ops:
            raise InvalidValueError(f"{definition.name} has no decomposition")
    if not patterns:
        return program
    made, report = _native.apply_patterns(program, patterns)
    for one in report.passes:
        found = one["greedy"]
        if not found["converged"]:
            cycles = [" and ".join(names) + " undo each other" for names in found["cycles"]]
            reasons = "; ".join([*found["problems"], *cycles]) or "a limit was reached"
            raise RewriteError(f"the decompositions lead back to their ops: {reasons}")
    return made


def import_op(name: str, module: str) -> OpDefinition:
    """Returns the op with this name; if this process does not have it, the module that defines it is imported."""
    if name not in _DEFINITIONS:
        where = f"op {name} is not defined in this process, and its module {module}"
        try:
            importlib.import_module(module)
        except Exception as error:
            raise RunError(f"{where} cannot be imported: {type(error).__name__}: {error}") from error
        if name not in _DEFINITIONS:
            raise RunError(f"{where} does not define it when it is imported; define the op at the top level of a module")
    return _DEFINITIONS[name]


def import_op_or_warn(name: str, module: str) -> None:
    """Imports the op of an unpickled program. If that fails, the program has an op that this process cannot run."""
    try:
        import_op(name, module)
    except RunError as error:
        warnings.warn(f"{error}; programs with it cannot run here", RuntimeWarning, stacklevel=2)


def _without_warnings(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function without NumPy's warnings: infinities and NaN are values like others here, and checks draw them."""

    def call(*operands: Any, **attributes: Any) -> Any:
        import numpy

        with numpy.errstate(all="ignore"):
            return evaluate(*operands, **attributes)

    return call


_Row = tuple[str, Any, Any, bool]


def _signature(name: str, function: Callable[..., Any]) -> tuple[list[tuple[str, str]], list[_Row], bool]:
    """Returns the operands, the attributes, and whether there are several results."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"the parameters of {function!r} are unknown; write a function around it") from error
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # noqa: BLE001
        # Annotations of operands may be names that only type checkers see.
        hints = {key: one.annotation for key, one in signature.parameters.items()}
        hints["return"] = signature.return_annotation
    operands: list[tuple[str, str]] = []
    attributes: list[_Row] = []
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY:
            required = one.default is one.empty
            kind, may_be_none = _attribute_kind(name, one.name, hints.get(one.name, one.annotation))
            if one.default is None and not may_be_none:
                raise ArgumentError(f"{name}: attribute {one.name} is None by default, so its annotation needs `| None`")
            if may_be_none and not required and one.default is not None:
                raise ArgumentError(
                    f"{name}: attribute {one.name} may be None, so its default is None; found {one.default!r} "
                    "(None means that the attribute is absent, and an absent attribute has its default)"
                )
            attributes.append((one.name, kind, None if required else one.default, required))
        elif one.kind is one.VAR_KEYWORD:
            raise ArgumentError(f"{name}: each attribute is a parameter of its own, found {one}")
        elif one.kind is one.VAR_POSITIONAL:
            operands.append((one.name, "variadic"))
        elif one.default is one.empty:
            operands.append((one.name, "one"))
        elif one.default is None:
            operands.append((one.name, "optional"))
        else:
            raise ArgumentError(
                f"{name}: operand {one.name} has the default {one.default!r}; an operand may only be None by default, "
                "and attributes come after a `*`"
            )
    kinds = [kind for _, kind in operands]
    if kinds.count("optional") > 1 or ("optional" in kinds and "variadic" in kinds):
        raise ArgumentError(f"{name}: an op has at most one operand that may be left out, and then no `*` operands")
    if not operands:
        raise ArgumentError(f"{name}: an op has at least one operand; positional parameters are operands")
    result = hints.get("return")
    many = result is tuple or typing.get_origin(result) is tuple or (isinstance(result, str) and result.startswith(("tuple", "Tuple")))
    return operands, attributes, many


_KINDS: dict[Any, str] = {bool: "bool", int: "int", float: "float", str: "str", DataType: "dtype"}


def _attribute_kind(op_name: str, name: str, annotation: Any) -> tuple[Any, bool]:
    """Returns the kind of an attribute, or its words, and whether it may be None."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Union or origin is types.UnionType:
        rest = [one for one in arguments if one is not type(None)]
        if len(rest) == 1 and len(rest) < len(arguments):
            return _attribute_kind(op_name, name, rest[0])[0], True
    elif origin is Literal and all(isinstance(one, str) for one in arguments):
        return tuple(arguments), False
    elif annotation in _KINDS:
        return _KINDS[annotation], False
    elif isinstance(origin, type) and issubclass(origin, Sequence) and arguments in ((int,), (int, ...)):
        return "ints", False
    found = "none" if annotation is inspect.Parameter.empty else f"{annotation}"
    raise ArgumentError(
        f"{op_name}: attribute {name} needs the annotation bool, int, float, str, DataType, Sequence[int], "
        f"a Literal of words, or one of these | None; found {found}"
    )
