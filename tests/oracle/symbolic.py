#!/usr/bin/env python3
"""JAX programs with symbolic extents, and their results at several extents.

    symbolic.py export            writes tests/oracle/symbolic/NAME.mlir for every program
    symbolic.py check COMMAND     reads, simplifies, runs and writes back each file with `sapwood`, and compares with JAX

A program is exported with `jax.export.symbolic_shape`. The check needs JAX; the files do not.
"""

import argparse
import dataclasses
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

FOLDER = Path(__file__).resolve().parent / "symbolic"
PROGRAMS = {}
F32, I32 = jnp.float32, jnp.int32


def program(dims, bindings, *shapes, constraints=()):
    """Registers a function: its symbols, five bindings of them, and the shapes of its arguments as texts."""

    def register(function):
        PROGRAMS[function.__name__] = (function, dims, bindings, shapes, constraints)
        return function

    return register


BS = [(1, 1), (2, 3), (3, 2), (1, 5), (4, 4)]


@program("b, s", BS, "b, s, 8", "b, s, 8", "b, s, 8")
def attention(q, k, v):
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / jnp.sqrt(8.0)
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores, axis=-1), v)


@program("b, s", BS, "b, s, 8", "b, s, 8", "b, s, 8")
def causal_attention(q, k, v):
    s = q.shape[1]
    scores = jnp.einsum("bqd,bkd->bqk", q, k)
    mask = jnp.arange(s)[:, None] >= jnp.arange(s)[None, :]
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1), v)


@program("b, s", BS, "b, s, 8", "8, 8", "8, 8", "8, 8")
def multi_head_attention(x, wq, wk, wv):
    b, s, _ = x.shape
    q, k, v = [(x @ w).reshape(b, s, 2, 4).transpose(0, 2, 1, 3) for w in (wq, wk, wv)]
    y = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2)) @ v
    return y.transpose(0, 2, 1, 3).reshape(b, s, 8)


@program("b", [(1,), (2,), (3,), (5,), (8,)], "b, 4", "4, 8", "8", "8, 2")
def mlp(x, w1, b1, w2):
    return jax.nn.relu(x @ w1 + b1) @ w2


@program("b, s", BS, "b, 2*s + 1, 8")
def odd_length(x):
    return jax.nn.softmax(x, axis=1)


@program("b, s", BS, "b, s, 4")
def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


@program("b, s", BS, "b, s, 4")
def mean_of_all(x):
    return x.mean()


@program("b, s", BS, "b, s, 4")
def flatten(x):
    return x.reshape(x.shape[0], -1)


@program("b, s", BS, "b, s, 4")
def merge_and_split(x):
    b, s, d = x.shape
    return jnp.tanh(x.reshape(b * s, d)).reshape(b, s, 2, 2)


@program("b, s", BS, "b, 2*s, 4")
def pairs(x):
    return x.reshape(x.shape[0], -1, 2, 4).sum(2)


@program("b, s", BS, "b, s, 4")
def padding(x):
    return jnp.pad(x, ((0, 0), (1, 2), (0, 0)), constant_values=1.0)


@program("b, s", BS, "b, s, 4", "b, 3, 4")
def concat(x, y):
    return jnp.concatenate([x, y, x], axis=1)


@program("b, s", [(1, 2), (2, 3), (3, 2), (1, 5), (4, 4)], "b, s, 4", constraints=["s >= 2"])
def differences(x):
    return x[:, 1:] - x[:, :-1]


@program("b, s", BS, "b, s, 4")
def last_step(x):
    return x[:, -1]


@program("b, s", BS, "b, s", "16, 8")
def embedding(ids, table):
    return jnp.take(table, ids.astype(I32) % 16, axis=0)


@program("b, s", BS, "b, s, 4")
def positions(x):
    return x + jnp.arange(x.shape[1], dtype=F32)[None, :, None]


@program("b, s", BS, "b, s, 8")
def scan_over_steps(x):
    def step(carry, row):
        carry = jnp.tanh(carry + row)
        return carry, carry

    return jax.lax.scan(step, jnp.zeros((x.shape[0], 8)), jnp.swapaxes(x, 0, 1))


@program("b, s", BS, "b, s, 4", "4, 4", "4, 4")
def rnn(x, w, u):
    def step(h, row):
        return jnp.tanh(row @ w + h @ u), None

    return jax.lax.scan(step, jnp.zeros((x.shape[0], 4)), jnp.swapaxes(x, 0, 1))[0]


@program("b, h", [(1, 4), (2, 5), (1, 6), (3, 4), (2, 7)], "b, h, h, 3", "3, 3, 3, 5", constraints=["h >= 4"])
def conv_valid(x, k):
    return jax.lax.conv_general_dilated(x, k, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program("b, h", [(1, 4), (2, 5), (1, 6), (3, 4), (2, 7)], "b, h, h, 3", "3, 3, 3, 5", constraints=["h >= 4"])
def conv_same(x, k):
    return jax.lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program("b, h", [(1, 2), (2, 3), (1, 4), (3, 5), (2, 6)], "b, h, 2*h, 3", constraints=["h >= 2"])
def max_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@program("b", [(1,), (2,), (3,), (5,), (8,)], "b, 4", "4, 3", "b, 3")
def grad_of_mlp(x, w, y):
    return jax.grad(lambda w: ((jax.nn.relu(x @ w) - y) ** 2).mean())(w)


@program("b, s", BS, "b, s, 4", "4, 4")
def grad_of_softmax(x, w):
    return jax.grad(lambda x: jax.nn.softmax(x @ w, axis=1).max(-1).sum())(x)


@program("n", [(1,), (2,), (3,), (5,), (8,)], "n", "n")
def outer(x, y):
    return x[:, None] * y[None, :] + jnp.eye(x.shape[0])


@program("b, s", BS, "b, s, 4")
def repeat_and_roll(x):
    return jnp.tile(x, (1, 2, 1)) + jnp.concatenate([x, x], axis=1)[:, ::-1]


def specs(entry):
    function, dims, _, shapes, constraints = entry
    scope = export.SymbolicScope(constraints)
    export.symbolic_shape(dims, scope=scope)
    return [jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), F32) for text in shapes]


def exported(name):
    return export.export(jax.jit(PROGRAMS[name][0]))(*specs(PROGRAMS[name]))


def text_of(module):
    text = re.sub(r" loc\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*\)", "", str(module))
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#loc"))
    # Messages are long, and Sapwood does not read them.
    return re.sub(r'error_message = "(?:[^"\\]|\\.)*"', 'error_message = "shapes"', text).strip() + "\n"


def arguments(name, binding):
    _, dims, _, shapes, _ = PROGRAMS[name]
    values = dict(zip((d.strip() for d in dims.split(",")), binding))
    rng = np.random.default_rng(sum(name.encode()) + sum(binding))
    extents = [tuple(int(eval(part, {}, values)) for part in text.split(",")) for text in shapes]
    return [rng.uniform(-1, 1, shape).astype(np.float32) for shape in extents]


def run(command, file, args, folder):
    inputs = []
    for n, arg in enumerate(args):
        np.save(folder / f"in{n}.npy", arg)
        inputs += ["--in", folder / f"in{n}.npy"]
    results = folder / "out"
    subprocess.run([command, "run", file, *inputs, "-o", results], check=True, capture_output=True)
    paths = sorted(results.glob("result*.npy"), key=lambda p: int(re.sub(r"\D", "", p.stem)))
    return [np.load(path) for path in paths]


def call_in_jax(original, text, args):
    """Runs a module with the signature of an exported program."""
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir

    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        module.operation.verify()
        data = mlir.module_to_bytecode(module)
    from jax._src.export import _export

    with mlir.make_ir_context():
        data = _export._module_to_bytecode(ir.Module.parse(text))
    return jax.tree.leaves(dataclasses.replace(original, mlir_module_serialized=data).call(*args))


def worst(found, expected):
    expected = [np.asarray(e) for e in jax.tree.leaves(expected)]
    assert len(found) == len(expected), f"{len(found)} results, expected {len(expected)}"
    for f, e in zip(found, expected):
        assert np.shape(f) == np.shape(e), f"shape {np.shape(f)}, expected {np.shape(e)}"
        np.testing.assert_allclose(np.asarray(f), e, rtol=2e-5, atol=2e-5)


def check(command, names):
    failures = 0
    for name in names:
        original, file = exported(name), FOLDER / f"{name}.mlir"
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            step = "simplify"
            try:
                for to in ("ptir", "mlir"):
                    subprocess.run(
                        [command, "opt", file, "-p", "inline,symbol-dce,simplify", "-o", folder / f"a.{to}"],
                        check=True, capture_output=True,
                    )
                for binding in PROGRAMS[name][2]:
                    args = arguments(name, binding)
                    expected = jax.tree.leaves(PROGRAMS[name][0](*args))
                    for step, path in [("run", file), ("run simplified", folder / "a.ptir"), ("run written", folder / "a.mlir")]:
                        worst(run(command, path, args, folder), expected)
                    step = "JAX runs written"
                    worst(call_in_jax(original, (folder / "a.mlir").read_text(), args), expected)
                ops = sorted(set(re.findall(r"= ([a-z_0-9]+)", (folder / "a.ptir").read_text())))
                print(f"{name}: {len(PROGRAMS[name][2])} bindings; ops: {' '.join(ops)}")
            except (AssertionError, subprocess.CalledProcessError, Exception) as error:
                failures += 1
                text = error.stderr.decode() if isinstance(error, subprocess.CalledProcessError) else str(error)
                print(f"{name}: FAILED in {step}: {text[:600]}")
    print(f"{len(names) - failures} of {len(names)} programs agree with JAX")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["export", "check"])
    parser.add_argument("command", nargs="?")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    names = options.only or list(PROGRAMS)
    if options.what == "export":
        FOLDER.mkdir(exist_ok=True)
        for name in names:
            (FOLDER / f"{name}.mlir").write_text(text_of(exported(name).mlir_module()))
        print(f"{len(names)} programs")
    else:
        sys.exit(1 if check(options.command, names) else 0)


if __name__ == "__main__":
    main()
