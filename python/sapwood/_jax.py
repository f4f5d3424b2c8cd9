"""Programs from JAX functions, and back, if JAX is installed."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, TypeVar, overload

from sapwood import ptir
from sapwood.errors import ArgumentError, InvalidValueError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sapwood.rewrite import FloatMode

__all__ = ["from_jax", "simplify_jax", "to_jax"]

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


class _Signature(NamedTuple):
    """The arguments and results of the function that a program was traced from."""

    in_tree: Any
    """The structure of ``(args, kwargs)``."""
    out_tree: Any
    """The structure of the results."""
    kept: tuple[int, ...] | None
    """The flat arguments that are parameters of the program; ``None`` if that is not known."""
    key_arguments: dict[int, Any]
    """The data types of the flat arguments that are typed PRNG keys (`jax.random.key`). The program has their data in their place."""
    key_results: dict[int, Any]
    """The data types of the flat results that are typed PRNG keys."""


def _import_jax(caller: str) -> Any:
    try:
        return importlib.import_module("jax")
    except ImportError:
        message = f"{caller} needs JAX: pip install jax"
        raise MissingPackageError(message) from None


def from_jax(function: Callable[..., Any], *args: Any, shapes: Any = None, **kwargs: Any) -> ptir.Program:
    """Returns the program that JAX traces for a function and its arguments.

    A function that is already jitted is used as it is. Of any other function, arguments that it does not use are parameters, too.

    With ``shapes``, the program has symbolic extents: a text such as ``"b, 2*s + 1, 8"`` for each argument, ``None`` for one whose shape is
    known, or one text for all. JAX reads the texts, as `jax.export.symbolic_args_specs` does. A dimension variable is at least one.
    """
    if not callable(function):
        message = f"from_jax expects a function and its arguments, found {type(function).__name__}"
        raise ArgumentError(message)
    if shapes is not None:
        return _from_exported(function, args, kwargs, shapes)
    lower = getattr(function, "lower", None)
    if lower is None:
        lower = _import_jax("from_jax").jit(function, keep_unused=True).lower
    name = getattr(function, "__name__", "jax")
    lowered = lower(*args, **kwargs)
    program = ptir.from_stablehlo(lowered.as_text(), f"<{name}>")
    in_tree = getattr(lowered, "in_tree", None)
    if in_tree is None:
        return program
    kept = _kept_arguments(lowered, in_tree.num_leaves, len(program.function().params))
    jax = _import_jax("from_jax")
    keys = [_key_types(jax, getattr(lowered, name, None)) for name in ("args_info", "out_info")]
    return program._with_origin(_Signature(in_tree, lowered.out_tree, kept, *keys))  # noqa: SLF001


def _from_exported(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], shapes: Any
) -> ptir.Program:
    """Returns the program of a function with symbolic extents."""
    jax = _import_jax("from_jax")
    export = importlib.import_module("jax.export")
    if kwargs:
        message = f"from_jax with shapes expects positional arguments only, found {', '.join(kwargs)}"
        raise ArgumentError(message)
    if isinstance(shapes, list):
        shapes = tuple(shapes)
    specs = export.symbolic_args_specs(args, shapes)
    jitted = function if hasattr(function, "lower") else jax.jit(function, keep_unused=True)
    exported = export.export(jitted)(*specs)
    program = ptir.from_stablehlo(str(exported.mlir_module()), f"<{getattr(function, '__name__', 'jax')}>")
    kept = tuple(exported.module_kept_var_idx)
    return program._with_origin(_Signature(exported.in_tree, exported.out_tree, kept, {}, {}))  # noqa: SLF001


def _is_key(jax: Any, value: Any) -> bool:
    return hasattr(value, "dtype") and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)


def _key_types(jax: Any, tree: Any) -> dict[int, Any]:
    """Returns the data types of the typed PRNG keys among the leaves of a pytree, by their indices."""
    leaves = enumerate(jax.tree.leaves(tree))
    return {n: leaf.dtype for n, leaf in leaves if _is_key(jax, leaf)}


def _kept_arguments(lowered: Any, given: int, parameters: int) -> tuple[int, ...] | None:
    """Returns the indices of the flat arguments that are parameters. JAX removes those that a jitted function does not use."""
    if given == parameters:
        return tuple(range(given))
    compile_args = getattr(getattr(lowered, "_lowering", None), "compile_args", None) or {}
    kept = compile_args.get("kept_var_idx")
    return tuple(sorted(kept)) if kept is not None and len(kept) == parameters else None


def to_jax(program: ptir.Program) -> Callable[..., Any]:
    """Returns a JAX function that runs a program, alone or inside ``jax.jit``.

    For a program from `from_jax`, also after passes, the function takes and returns the pytrees of the traced function. For any other
    program it takes an array per parameter of ``main``, or of the only function, and returns a tuple of arrays. It cannot be
    vectorized by ``jax.vmap``, and differentiating it raises an `InvalidValueError`; `simplify_jax` returns a function that can be
    differentiated.
    """
    if not isinstance(program, ptir.Program):
        message = f"to_jax expects a Program, found {type(program).__name__}"
        raise ArgumentError(message)
    jax = _import_jax("to_jax")
    main = program.function()
    inputs = [_abstract_array(jax, value.type, f"parameter {n}") for n, value in enumerate(main.params)]
    results = [_abstract_array(jax, type_, f"result {n}") for n, type_ in enumerate(main.result_types)]
    call = _exported_call(jax, _module_text(program, main), inputs, results)
    signature = program._origin  # noqa: SLF001
    if signature is None:

        def run_flat(*args: Any) -> tuple[Any, ...]:
            if len(args) != len(inputs):
                message = f"@{main.name} takes {len(inputs)} arrays, found {len(args)}"
                raise ArgumentError(message)
            return tuple(call(*(jax.random.key_data(arg) if _is_key(jax, arg) else arg for arg in args)))

        return _named(run_flat, main.name)
    if signature.kept is None:
        message = (
            "JAX removed unused arguments of the jitted function and does not tell which; "
            "trace the function itself, or jit it with keep_unused=True"
        )
        raise InvalidValueError(message)

    def array_of(n: int, leaf: Any) -> Any:
        traced = signature.key_arguments.get(n)
        found = leaf.dtype if _is_key(jax, leaf) else None
        if found != traced:
            kinds = [f"a PRNG key of type {kind}" if kind is not None else "no PRNG key" for kind in (traced, found)]
            message = f"argument {n} was traced as {kinds[0]}, found {kinds[1]}"
            raise ArgumentError(message)
        return leaf if found is None else jax.random.key_data(leaf)

    def result_of(n: int, array: Any) -> Any:
        key = signature.key_results.get(n)
        return array if key is None else jax.random.wrap_key_data(array, impl=key._impl.name)  # noqa: SLF001

    def run(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree.flatten((args, kwargs))
        if tree != signature.in_tree:
            message = f"the function was traced with the arguments {signature.in_tree}, found {tree}"
            raise ArgumentError(message)
        results = call(*(array_of(n, leaves[n]) for n in signature.kept))
        return jax.tree.unflatten(signature.out_tree, [result_of(n, array) for n, array in enumerate(results)])

    return _named(run, main.name)


def _named(function: AnyFunction, name: str) -> AnyFunction:
    function.__name__ = function.__qualname__ = name
    return function


def _module_text(program: ptir.Program, main: ptir.Function) -> str:
    """Returns the StableHLO text with the called function as ``main``, as JAX requires."""
    if main.name == "main":
        return ptir.to_stablehlo(program)
    # Without a `main`, this is the only function.
    return ptir.to_stablehlo(ptir.Program([main.with_name("main")]))


def _abstract_array(jax: Any, type_: ptir.Type, what: str) -> Any:
    if type_.dtype is None:
        message = f"to_jax takes tensors only, but {what} is {type_}"
        raise InvalidValueError(message)
    shape = type_.shape or ()
    if not all(isinstance(extent, int) for extent in shape):
        message = f"to_jax needs known extents, but {what} is {type_}"
        raise InvalidValueError(message)
    dtype = type_.dtype.to_numpy()
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        message = f"{what} is {type_}; JAX has such arrays after jax.config.update('jax_enable_x64', True)"
        raise InvalidValueError(message)
    return jax.ShapeDtypeStruct(shape, dtype)


def _exported_call(jax: Any, text: str, inputs: Sequence[Any], results: Sequence[Any]) -> Callable[..., Sequence[Any]]:
    """Returns a JAX function that runs a StableHLO module.

    A function of the right types is exported, and its module replaced by this one.
    """
    export = importlib.import_module("jax.export")
    mlir = importlib.import_module("jax.extend.mlir")
    stablehlo = importlib.import_module("jaxlib.mlir.dialects.stablehlo")

    def same_types(*_: Any) -> tuple[Any, ...]:
        return tuple(jax.numpy.zeros(result.shape, result.dtype) for result in results)

    exported = export.export(jax.jit(same_types, keep_unused=True))(*inputs)
    # The last argument also allows ops of other dialects than StableHLO, such as `chlo.erf`.
    module = mlir.serialize_portable_artifact(text, stablehlo.get_current_version(), True)  # noqa: FBT003
    call = jax.custom_jvp(dataclasses.replace(exported, mlir_module_serialized=module).call)

    def no_derivative(*_: Any) -> None:
        message = (
            "a function that to_jax returns has no derivative; "
            "simplify_jax returns a function with the derivatives of the function that it decorates"
        )
        raise InvalidValueError(message)

    # Without this rule the derivatives would be those of `same_types`: zeros.
    call.defjvp(no_derivative)
    result: Callable[..., Sequence[Any]] = call
    return result


@overload
def simplify_jax(function: AnyFunction, /) -> AnyFunction: ...
@overload
def simplify_jax(*, float: FloatMode = ..., check: bool = ...) -> Callable[[AnyFunction], AnyFunction]: ...
def simplify_jax(
    function: Any = None,
    /,
    *,
    float: FloatMode = "exact",  # noqa: A002
    check: bool = False,
) -> Any:
    """Decorates a JAX function so that a simplified program runs in its place.

    The function is traced and simplified once per combination of argument types; the result can be used inside ``jax.jit``. With
    ``check``, the programs before and after are also run on random inputs, and a difference raises an `InvalidValueError`.
    Derivatives are those of the function itself. ``jax.vmap`` belongs inside the function, not around the result.
    """
    if function is None:
        return functools.partial(simplify_jax, float=float, check=check)
    if not callable(function):
        message = f"simplify_jax expects a function, found {type(function).__name__}"
        raise ArgumentError(message)
    jax = _import_jax("simplify_jax")

    @functools.lru_cache(maxsize=128)
    def prepare(tree: Any, types: tuple[tuple[tuple[int, ...], Any, bool], ...]) -> tuple[Any, Callable[..., Any]]:
        leaves = [jax.ShapeDtypeStruct(shape, dtype, weak_type=weak) for shape, dtype, weak in types]
        args, kwargs = jax.tree.unflatten(tree, leaves)
        # An outer function, so that jit's options of the function itself do not matter.
        program = from_jax(lambda *args, **kwargs: function(*args, **kwargs), *args, **kwargs)
        simpler = program.simplify(float=float, inline=True)
        if check:
            report = program.check(simpler, float=float)
            if not report:
                message = f"the simplified program is not equivalent:\n{report}"
                raise InvalidValueError(message)
        run = to_jax(simpler)
        out_tree = program._origin.out_tree  # noqa: SLF001

        def flat(*leaves: Any) -> tuple[Any, ...]:
            args, kwargs = jax.tree.unflatten(tree, leaves)
            return tuple(jax.tree.leaves(run(*args, **kwargs)))

        def original(*leaves: Any) -> tuple[Any, ...]:
            args, kwargs = jax.tree.unflatten(tree, leaves)
            return tuple(jax.tree.leaves(function(*args, **kwargs)))

        differentiable = jax.custom_jvp(flat)
        differentiable.defjvp(lambda primals, tangents: jax.jvp(original, primals, tangents))
        return out_tree, differentiable

    @functools.wraps(function)
    def simplified(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree.flatten((args, kwargs))
        arrays = [jax.numpy.asarray(leaf) for leaf in leaves]
        weak = [getattr(array, "weak_type", False) for array in arrays]
        types = tuple((a.shape, a.dtype, w) for a, w in zip(arrays, weak))
        out_tree, run = prepare(tree, types)
        return jax.tree.unflatten(out_tree, run(*arrays))

    return simplified
