"""The rows of running programs in NumPy and in XLA on the CPU.

Prints one JSON line per row, as `benches/README.md` describes. NumPy takes as many threads as it likes for matrix products, and one for
the rest; where it has no such op, it computes the same with those that it has, the fastest way that we know. XLA takes as many as there are processors, as our side does. The models are `NAME/model.mlir` below `$SAPWOOD_PROGRAMS` and
`$SAPWOOD_BATCHED`.
"""

import json
import math
import os
import pathlib
import re
import time

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir
from jax.scipy.special import erf

REPEATS = 7


def softmax(np, x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def layer_norm(np, x):
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return centred / np.sqrt(variance + np.float32(1e-5))


def attention(np, q, k, v):
    return softmax(np, q @ k.transpose(0, 2, 1) * np.float32(0.125)) @ v


def gelu_by_tanh(x, b):
    """NumPy has no `erf`: this is the usual form with `tanh`, with as few temporaries as NumPy allows."""
    y = x + b
    inner = y * y
    inner *= np.float32(0.044715)
    inner += np.float32(1)
    inner *= y
    inner *= np.float32(0.79788456)
    np.tanh(inner, out=inner)
    inner += np.float32(1)
    inner *= y
    inner *= np.float32(0.5)
    return inner


def windows_of(x):
    """Returns the windows of 3 by 3 around each position, as a view."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))


def convolve_by_product(x, k):
    """A convolution as one product with the collected windows."""
    windows = windows_of(x).transpose(0, 1, 2, 4, 5, 3)
    return (windows.reshape(-1, k.shape[0] * k.shape[1] * k.shape[2]) @ k.reshape(-1, k.shape[3])).reshape(*x.shape[:3], -1)


def convolve_by_sum(x, k):
    """A convolution with one kernel per feature as a sum of nine products."""
    _, height, width, _ = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    total, product = np.zeros_like(x), np.empty_like(x)
    for i in range(3):
        for j in range(3):
            np.multiply(padded[:, i : i + height, j : j + width], k[i, j, 0], out=product)
            total += product
    return total


def bf16_product(p, q):
    """Rounds to bf16, multiplies in f32, whose products of bf16 are exact, and rounds the result."""
    p, q = (a.astype(ml_dtypes.bfloat16).astype(np.float32) for a in (p, q))
    return (p @ q).astype(ml_dtypes.bfloat16)


def gelu(x, b):
    y = x + b
    return (erf(y * np.float32(0.70710678)) + 1) * y * np.float32(0.5)


def convolve(x, k, groups):
    dims = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, k, (1, 1), ((1, 1), (1, 1)), dimension_numbers=dims, feature_group_count=groups)


def scatter_add(x, i, u):
    y = x.copy()
    np.add.at(y, i, u)
    return y


def best(work, repeats=REPEATS):
    least = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        made = work()
        least = min(least, time.perf_counter() - began)
        del made
    return least


def row(name, seconds, n):
    print(json.dumps({"area": "eval", "row": name, "value": seconds * 1e3, "unit": "ms", "n": n}), flush=True)


def failed(name, error):
    print(json.dumps({"area": "eval", "row": name, "error": str(error)[:200]}), flush=True)


def kernels():
    """Yields name, size, NumPy's function, XLA's function, and the arguments."""
    random = np.random.default_rng(1)

    def values(*shape):
        return random.standard_normal(shape, dtype=np.float32)

    a, b, x, y, rows = values(1024, 1024), values(1024, 1024), values(10_000_000), values(10_000_000), values(4096, 1024)
    heads, table = [values(8, 256, 64) for _ in range(3)], values(10_000, 64)
    index = np.abs((np.arange(65_536, dtype=np.int32) * np.int32(7919)) % 10_000)
    image, deep = values(1, 56, 56, 64), values(1, 56, 56, 128)
    long, square = values(1024, 4096), values(2048, 2048)
    half, other = values(512, 512), values(512, 512)
    yield "matmul", 1024**3, np.matmul, jnp.matmul, (a, b)
    yield "add", x.size, np.add, jnp.add, (x, y)
    yield "exp", x.size, np.exp, jnp.exp, (x,)
    yield "softmax", rows.size, lambda r: softmax(np, r), lambda r: softmax(jnp, r), (rows,)
    yield "layer_norm", rows.size, lambda r: layer_norm(np, r), lambda r: layer_norm(jnp, r), (rows,)
    yield "gelu", rows.size, gelu_by_tanh, gelu, (rows, values(1024))
    yield "conv_resnet", 56 * 56 * 64 * 64 * 9, convolve_by_product, lambda x, k: convolve(x, k, 1), (image, values(3, 3, 64, 64))
    yield "conv_mobilenet", 56 * 56 * 128 * 9, convolve_by_sum, lambda x, k: convolve(x, k, 128), (deep, values(3, 3, 1, 128))
    yield "attention", 8 * 256 * 256 * 64, lambda *h: attention(np, *h), lambda *h: attention(jnp, *h), tuple(heads)
    yield "gather", 65_536 * 64, lambda t, i: t[i], lambda t, i: t[i], (table, index)
    yield "scatter", 65_536 * 64, scatter_add, lambda t, i, u: t.at[i].add(u), (table, index, values(65_536, 64))
    yield "sort", 1000 * 1000, lambda t: np.sort(t, axis=1), lambda t: jnp.sort(t, axis=1), (values(1000, 1000),)
    yield "transpose", 2048 * 2048, lambda t: np.ascontiguousarray(t.T), lambda t: t.T, (square,)
    product = lambda p, q: p.astype(jnp.bfloat16) @ q.astype(jnp.bfloat16)
    yield "bf16_matmul", 512**3, bf16_product, product, (half, other)
    yield "cumsum", long.size, lambda t: np.cumsum(t, axis=1), lambda t: jnp.cumsum(t, axis=1), (long,)


def argument(text):
    """Returns an input of a model, the same as ours."""
    *extents, dtype = text.split("x")
    shape = [int(n) for n in extents]
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    if dtype == "f32":
        return ((i * 7919 % 1000) / 1000 - 0.5).astype(np.float32).reshape(shape)
    if dtype == "i32":
        return (i * 7919 % 10_007).astype(np.int32).reshape(shape)
    return np.zeros(shape, {"ui32": np.uint32, "i1": bool}[dtype])


def model(text):
    client = xla_bridge.get_backend("cpu")
    device = client.local_devices()[0]
    with mlir.make_ir_context():
        module = str(ir.Module.parse(text))
    options = xla_client.CompileOptions()
    program = client.compile_and_load(module, xla_client.DeviceList((device,)), options)
    signature = re.search(r"func.func public @main\((.*?)\)\s*->", text, re.S).group(1)
    types = re.findall(r"%arg\d+: tensor<([^>]*)>", signature)
    arguments = [jax.device_put(argument(ty), device) for ty in types]

    def run():
        results = program.execute_sharded(arguments).disassemble_into_single_device_arrays()
        return [[array.block_until_ready() for array in arrays] for arrays in results]

    first = best(run, 1)
    memory = program.get_compiled_memory_stats()
    peak = memory.temp_size_in_bytes + memory.output_size_in_bytes
    return best(run, int(min(300, max(5, 1 / first)))), peak


def main():
    for name, n, in_numpy, in_xla, arguments in kernels():
        row(f"run/{name}", best(lambda: in_numpy(*arguments)), n)
        compiled = jax.jit(in_xla)
        arrays = [jax.device_put(value) for value in arguments]
        compiled(*arrays).block_until_ready()
        row(f"xla/{name}", best(lambda: compiled(*arrays).block_until_ready()), n)
    logarithms = []
    for folder in ["SAPWOOD_PROGRAMS", "SAPWOOD_BATCHED"]:
        folder = pathlib.Path(os.environ.get(folder, "no-such-folder"))
        for path in sorted(folder.glob("*/model.mlir")):
            name = path.parent.name
            try:
                seconds, peak = model(path.read_text())
            except Exception as error:  # a model that this version of XLA refuses
                failed(f"model/{name}", error)
                failed(f"memory/{name}", error)
                continue
            row(f"model/{name}", seconds, 1)
            print(json.dumps({"area": "eval", "row": f"memory/{name}", "value": peak, "unit": "bytes", "n": 1}), flush=True)
            logarithms.append(math.log(seconds))
    if logarithms:
        row("model/mean", math.exp(sum(logarithms) / len(logarithms)), len(logarithms))


if __name__ == "__main__":
    main()
