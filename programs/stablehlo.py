"""Makes the StableHLO programs beside this file with JAX: `python programs/stablehlo.py`.

They are what a user would have: written with jax.numpy, printed by `jax.jit(f).lower(...).as_text()`. `scopes.mlir` is printed with
the locations of its ops.
"""

import pathlib

import jax
import jax.numpy as jnp

WIDTH, HEADS, LENGTH, BATCH, LAYERS = 64, 4, 32, 2, 4


def mlp(weights, x):
    for w, b in weights[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = weights[-1]
    return x @ w + b


def norm(x, scale, offset):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + offset


def block(x, p):
    y = norm(x, p["scale1"], p["offset1"])
    q, k, v = (jnp.einsum("btd,dhe->bthe", y, p[n]) for n in "qkv")
    scores = jnp.einsum("bqhe,bkhe->bhqk", q, k) / jnp.sqrt(WIDTH / HEADS)
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    x = x + jnp.einsum("bhqk,bkhe,hed->bqd", weights, v, p["out"])
    y = norm(x, p["scale2"], p["offset2"])
    return x + jax.nn.gelu(y @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"]


def transformer(layers, x):
    for p in layers:
        x = block(x, p)
    return x


def train_step(weights, momentum, x, labels):
    def loss(weights):
        logits = jax.nn.log_softmax(mlp(weights, x))
        return -jnp.take_along_axis(logits, labels[:, None], 1).mean()

    value, grads = jax.value_and_grad(loss)(weights)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    weights = jax.tree.map(lambda w, m: w - 0.1 * m, weights, momentum)
    return weights, momentum, value


def newton(x):
    return jax.lax.while_loop(lambda c: c[1] < 20, lambda c: ((c[0] + x / c[0]) / 2, c[1] + 1), (x, 0))[0]


def scopes(layers, x):
    for number, (w, b) in enumerate(layers):
        with jax.named_scope(f"layer_{number}"):
            x = jax.nn.relu(x @ w + b)
    with jax.named_scope("head"):
        return jax.nn.softmax(x)


def shaped(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def main():
    weights = [(shaped(64, 128), shaped(128)), (shaped(128, 64), shaped(64)), (shaped(64, 10), shaped(10))]
    head = WIDTH // HEADS
    layer = {"q": shaped(WIDTH, HEADS, head), "k": shaped(WIDTH, HEADS, head), "v": shaped(WIDTH, HEADS, head),
             "out": shaped(HEADS, head, WIDTH), "up": shaped(WIDTH, 256), "up_bias": shaped(256),
             "down": shaped(256, WIDTH), "down_bias": shaped(WIDTH), "scale1": shaped(WIDTH),
             "offset1": shaped(WIDTH), "scale2": shaped(WIDTH), "offset2": shaped(WIDTH)}
    programs = {
        "mlp": (mlp, weights, shaped(32, 64)),
        "transformer": (transformer, [layer] * LAYERS, shaped(BATCH, LENGTH, WIDTH)),
        "train_step": (train_step, weights, weights, shaped(32, 64), shaped(32, dtype=jnp.int32)),
        "newton": (newton, shaped(8)),
        "scopes": (scopes, [(shaped(8, 8), shaped(8))] * 2, shaped(4, 8)),
    }
    folder = pathlib.Path(__file__).parent
    for name, (function, *arguments) in programs.items():
        text = jax.jit(function).lower(*arguments).as_text(debug_info=name == "scopes")
        (folder / f"{name}.mlir").write_text(text.replace(f"{folder}/", ""))


if __name__ == "__main__":
    main()
