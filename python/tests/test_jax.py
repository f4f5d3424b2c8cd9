"""JAX functions as programs, and programs as JAX functions."""

from __future__ import annotations

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sapwood
from sapwood import errors, ptir, rewrite


def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    scores = jnp.einsum("td,sd->ts", q, k) / jnp.sqrt(q.shape[-1])
    return jax.nn.softmax(scores, axis=-1) @ v


def dense(params: dict[str, jax.Array], x: jax.Array, *, scale: float | jax.Array = 1.0) -> dict[str, object]:
    y = jnp.tanh(x @ params["w"] + params["b"]) * scale
    return {"y": y, "aux": (y.sum(), jnp.int32(3))}


def arguments() -> tuple[dict[str, jax.Array], jax.Array]:
    keys = jax.random.split(jax.random.key(0), 3)
    params = {"w": jax.random.normal(keys[0], (4, 5)), "b": jax.random.normal(keys[1], (5,))}
    return params, jax.random.normal(keys[2], (3, 4))


def assert_close(left: object, right: object) -> None:
    assert jax.tree.structure(left) == jax.tree.structure(right)
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right)):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_there_and_back() -> None:
    q, k, v = jax.random.normal(jax.random.key(1), (3, 16, 64))
    program = sapwood.from_jax(attend, q, k, v)
    simpler = program.simplify(inline=True)
    assert len(simpler) == 1 and simpler.num_instructions < program.num_instructions
    assert program.check(simpler)
    run = sapwood.to_jax(simpler)
    assert_close(run(q, k, v), attend(q, k, v))
    # Also inside a jitted function, between other ops.
    assert_close(jax.jit(lambda q: run(q * 2, k, v) + 1)(q), attend(q * 2, k, v) + 1)


def test_ops_of_other_dialects() -> None:
    """JAX writes `chlo.erf`, which is no op of StableHLO."""
    x = jnp.linspace(-2, 2, 9)
    program = sapwood.from_jax(lambda x: jax.nn.gelu(x, approximate=False), x)
    assert_close(sapwood.to_jax(program.simplify(inline=True))(x), jax.nn.gelu(x, approximate=False))


def test_pytrees_are_restored() -> None:
    params, x = arguments()
    program = sapwood.from_jax(dense, params, x, scale=2.0)
    for made in (program, program.simplify(inline=True), rewrite.run(program, "canonicalize,cse").program):
        assert_close(sapwood.to_jax(made)(params, x, scale=2.0), dense(params, x, scale=2.0))
    with pytest.raises(errors.ArgumentError, match="traced with the arguments"):
        sapwood.to_jax(program)(params, x)
    # A pickle holds the program alone.
    flat = sapwood.to_jax(pickle.loads(pickle.dumps(program)))
    leaves = jax.tree.leaves(((params, x), {"scale": jnp.float32(2.0)}))
    assert_close(list(flat(*leaves)), jax.tree.leaves(dense(params, x, scale=2.0)))


def test_unused_arguments() -> None:
    x = jnp.arange(3.0)
    plain = sapwood.from_jax(lambda a, b: b + 1, x, x)
    assert len(plain.function().params) == 2
    assert_close(sapwood.to_jax(plain)(x, x), x + 1)
    # JAX removes the unused argument of a function that is already jitted.
    jitted = sapwood.from_jax(jax.jit(lambda a, b: b + 1), x, x)
    assert len(jitted.function().params) == 1
    assert_close(sapwood.to_jax(jitted)(x * 0, x), x + 1)


def sample(key: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    key, used = jax.random.split(key)
    return key, x + jax.random.uniform(used, x.shape)


def assert_same_sample(left: tuple[jax.Array, jax.Array], right: tuple[jax.Array, jax.Array]) -> None:
    assert left[0].dtype == right[0].dtype
    assert_close([jax.random.key_data(left[0]), left[1]], [jax.random.key_data(right[0]), right[1]])


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_typed_random_keys(impl: str) -> None:
    key, x = jax.random.key(7, impl=impl), jnp.arange(4.0)
    program = sapwood.from_jax(sample, key, x)
    for made in (program, program.simplify(inline=True)):
        run = sapwood.to_jax(made)
        assert_same_sample(run(key, x), sample(key, x))
        assert_same_sample(jax.jit(run)(key, x), sample(key, x))
    simplified = sapwood.simplify_jax(sample)
    assert_same_sample(simplified(key, x), sample(key, x))
    assert_same_sample(jax.jit(simplified)(key, x), sample(key, x))
    # Several keys in one array.
    keys = jax.random.split(key, 3)
    run = sapwood.to_jax(sapwood.from_jax(lambda keys: keys[::-1], keys))
    assert run(keys).dtype == keys.dtype
    assert_close(jax.random.key_data(run(keys)), jax.random.key_data(keys[::-1]))
    # A pickle holds the program alone, whose parameter is the data of the key.
    flat = sapwood.to_jax(pickle.loads(pickle.dumps(program)))
    data, y = flat(key, x)
    assert_close([data, y], [jax.random.key_data(sample(key, x)[0]), sample(key, x)[1]])


def test_random_keys_of_other_types_are_refused() -> None:
    key, x = jax.random.key(7), jnp.arange(4.0)
    run = sapwood.to_jax(sapwood.from_jax(sample, key, x))
    with pytest.raises(errors.ArgumentError, match=r"argument 0 was traced as a PRNG key of type key<fry>, found no PRNG key"):
        run(jax.random.key_data(key), x)
    with pytest.raises(errors.ArgumentError, match=r"argument 1 was traced as no PRNG key, found a PRNG key of type key<fry>"):
        run(key, key)
    with pytest.raises(errors.ArgumentError, match=r"found a PRNG key of type key<rbg>"):
        run(jax.random.key(7, impl="rbg"), x)


def test_programs_of_other_origin() -> None:
    program = ptir.parse("ptir 1 func @twice(%x: f32[3]) -> (f32[3], i32[2]) { %y = add %x, %x : f32[3] %c = constant [1, 2] : i32[2] return %y, %c }")
    y, c = sapwood.to_jax(program)(np.array([1, 2, 3], np.float32))
    assert (y.tolist(), c.tolist()) == ([2, 4, 6], [1, 2])
    with pytest.raises(errors.ArgumentError, match="takes 1 arrays, found 2"):
        sapwood.to_jax(program)(1, 2)


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("f32[?n]", r"needs known extents, but parameter 0 is f32\[\?n\]"),
        ("f64[2]", r"parameter 0 is f64\[2\]; JAX has such arrays after"),
        ("tuple<f32[2]>", "takes tensors only, but parameter 0 is"),
    ],
)
def test_programs_that_jax_cannot_run(signature: str, message: str) -> None:
    program = ptir.parse(f"ptir 1 func @f(%x: {signature}) -> {signature} {{ return %x }}")
    with pytest.raises(errors.InvalidValueError, match=message):
        sapwood.to_jax(program)
    with pytest.raises(errors.ArgumentError, match="expects a Program, found int"):
        sapwood.to_jax(3)  # type: ignore[arg-type]


def test_the_decorator() -> None:
    traced = []

    @sapwood.simplify_jax(check=True)
    def f(params: dict[str, jax.Array], x: jax.Array) -> dict[str, object]:
        traced.append(x.shape)
        return dense(params, x - 0.0)

    params, x = arguments()
    assert_close(f(params, x), dense(params, x))
    assert_close(f(params, x + 1), dense(params, x + 1))
    assert traced == [(3, 4)], "one trace per combination of types"
    assert_close(f(params, x[:2]), dense(params, x[:2]))
    assert traced == [(3, 4), (2, 4)]
    assert_close(jax.jit(f)(params, x), dense(params, x))
    assert f.__name__ == "f"


def test_functions_of_programs_have_no_derivative() -> None:
    x = jnp.ones(3)
    faster = sapwood.to_jax(sapwood.from_jax(lambda x: (x * x).sum(), x))
    assert float(faster(x)) == 3.0
    transforms = [jax.grad(faster), jax.jit(jax.grad(faster)), jax.value_and_grad(faster), lambda x: jax.jvp(faster, (x,), (x,))]
    for transform in transforms:
        with pytest.raises(errors.InvalidValueError, match="has no derivative; simplify_jax returns"):
            transform(x)


def test_derivatives_are_those_of_the_function() -> None:
    def loss(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        return (dense(params, x)["y"] ** 2).sum()  # type: ignore[operator, no-any-return]

    params, x = arguments()
    simplified = sapwood.simplify_jax(loss)
    assert_close(jax.grad(simplified)(params, x), jax.grad(loss)(params, x))
    assert_close(jax.jit(jax.value_and_grad(simplified))(params, x), jax.value_and_grad(loss)(params, x))


def test_weak_types() -> None:
    """A Python number takes the type of the other operand, as in JAX."""
    x = jnp.ones(3, jnp.bfloat16)
    scaled = sapwood.simplify_jax(lambda x, factor: x * factor)
    assert scaled(x, 2.0).dtype == (x * 2.0).dtype == jnp.bfloat16
    with pytest.raises(errors.ArgumentError, match="expects a function, found int"):
        sapwood.simplify_jax(3)  # type: ignore[call-overload]


def test_symbolic_extents() -> None:
    x = jnp.ones((2, 5, 4))
    program = sapwood.from_jax(lambda x: jax.nn.softmax(x, axis=1).reshape(x.shape[0], -1), x, shapes=["b, 2*s + 1, 4"])
    simple = program.simplify(inline=True)
    text = str(simple)
    assert "func @main(%arg0: f32[?b, 2*?s + 1, 4])" in text
    assert "where" in text
    assert "get_dimension_size" not in text
    assert "dynamic_" not in text
    for batch, length in [(1, 3), (3, 5), (2, 7)]:
        x = np.random.default_rng(0).normal(size=(batch, length, 4)).astype(np.float32)
        (found,) = simple.run(x)
        np.testing.assert_allclose(found, jax.nn.softmax(x, axis=1).reshape(batch, -1), rtol=1e-5)
    with pytest.raises(errors.SapwoodError):
        simple.run(np.ones((1, 4, 4), np.float32))


def test_symbolic_extents_need_positional_arguments() -> None:
    with pytest.raises(errors.ArgumentError, match="positional arguments only, found scale"):
        sapwood.from_jax(dense, *arguments(), scale=2.0, shapes="b, 4")


def test_a_traced_function_is_a_subgraph() -> None:
    def rms_norm(x: jax.Array, scale: jax.Array) -> jax.Array:
        return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale

    def model(x: jax.Array, w: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
        return jnp.tanh(rms_norm(x @ w, a)) + rms_norm(x, b)

    pattern = rewrite.subgraph_from_jax(rms_norm, jnp.ones((2, 4)), jnp.ones(4))
    assert pattern.name == "rms_norm"
    program = sapwood.from_jax(model, jnp.ones((3, 4)), jnp.ones((4, 4)), jnp.ones(4), jnp.ones(4))
    program = rewrite.simplify(program, inline=True)
    matches = rewrite.find_matches(program, [pattern])
    assert len(matches) == 2 and all(match["legal"] for match in matches)
    extracted = rewrite.extract(program, [pattern], share=True)
    assert [name for _, _, name in extracted.calls] == ["rms_norm_0"] * 2
    assert program.check(extracted.program)
