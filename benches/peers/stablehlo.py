"""The StableHLO rows on jaxlib: parse, inline + canonicalize + CSE, print, and its reference interpreter.

Prints one JSON line per row, as `benches/README.md` describes. The programs are `NAME/model.mlir` below
`$SAPWOOD_PROGRAMS`, or `programs/*.mlir`.
"""

import json
import math
import os
import pathlib
import time

import numpy as np
from jax._src.interpreters import mlir
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

FOLDER = pathlib.Path(os.environ.get("SAPWOOD_PROGRAMS", pathlib.Path(__file__).parents[2] / "programs"))
PIPELINE = "builtin.module(inline,symbol-dce,canonicalize,cse)"


def best(repeats, make, work):
    least = float("inf")
    for _ in range(repeats):
        given = make()
        began = time.perf_counter()
        made = work(given)
        least = min(least, time.perf_counter() - began)
        del made  # outside the time, as on our side
    return least


def count(module, left_out=()):
    total = 0
    work = [module.operation]
    while work:
        for region in work.pop().regions:
            for block in region:
                for op in block:
                    name = op.operation.name
                    total += name != "func.func" and name not in left_out
                    work.append(op.operation)
    return total


def row(name, value, unit, n):
    print(json.dumps({"area": "stablehlo", "row": name, "value": value, "unit": unit, "n": n}), flush=True)


def programs():
    """Returns the folders with a `model.mlir`, or the two programs of the repository that are large enough."""
    return sorted(p.parent.name for p in FOLDER.glob("*/model.mlir")) or ["train_step", "transformer"]


def load(name):
    model = FOLDER / name / "model.mlir"
    return (model if model.is_file() else FOLDER / f"{name}.mlir").read_text()


def measure(name, means):
    text = load(name)
    module = ir.Module.parse(text)
    n = count(module)
    passes = passmanager.PassManager.parse(PIPELINE)
    repeats = min(max(4000 // n, 10), 100)
    times = {
        "parse": best(repeats, lambda: text, ir.Module.parse),
        "simplify": best(repeats, lambda: ir.Module.parse(text), lambda m: passes.run(m.operation)),
        "print": best(repeats, lambda: module, lambda m: m.operation.get_asm()),
    }
    for verb, seconds in times.items():
        row(f"{verb}/{name}", seconds * 1e9 / n, "ns/node", n)
        means.setdefault(verb, []).append(seconds * 1e9 / n)
    after = ir.Module.parse(text)
    passes.run(after.operation)
    left = count(after, ("stablehlo.constant", "func.return", "stablehlo.return"))
    row(f"left/{name}", left, "ops", n)
    return left, n


def run():
    name = "flax_mlp" if (FOLDER / "flax_mlp").is_dir() else "mlp"
    module = ir.Module.parse(load(name))
    main = module.body.operations[0]
    inputs = []
    for argument in main.arguments:
        shape = ir.RankedTensorType(argument.type).shape
        size = int(np.prod(shape))
        values = ((np.arange(size) % 7).astype(np.float32) * np.float32(0.1) - np.float32(0.3)).reshape(shape)
        inputs.append(ir.DenseElementsAttr.get(values))
    row("run/mlp", best(3, lambda: inputs, lambda given: stablehlo.eval_module(module, given)) * 1e3, "ms", 1)


def main():
    with mlir.make_ir_context(), ir.Location.unknown():
        means, left, size = {}, 0, 0
        for name in programs():
            ops, n = measure(name, means)
            left, size = left + ops, size + n
        for verb, values in means.items():
            mean = math.exp(sum(math.log(v) for v in values) / len(values))
            row(f"{verb}/mean", mean, "ns/node", size)
        row("left/total", left, "ops", size)
        run()


if __name__ == "__main__":
    main()
