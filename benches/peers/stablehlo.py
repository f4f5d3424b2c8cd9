"""The StableHLO rows on jaxlib: parse, inline + canonicalize + CSE, print, and its reference interpreter.

Prints one JSON line per row, as `benches/README.md` describes. The programs are `programs/*.mlir`, or other files of
these names below `$SAPWOOD_PROGRAMS`.
"""

import json
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
        work(given)
        least = min(least, time.perf_counter() - began)
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


def measure(name):
    text = (FOLDER / f"{name}.mlir").read_text()
    module = ir.Module.parse(text)
    n = count(module)
    row(f"parse/{name}", best(30, lambda: text, ir.Module.parse) * 1e9 / n, "ns/node", n)
    passes = passmanager.PassManager.parse(PIPELINE)
    simplify = best(30, lambda: ir.Module.parse(text), lambda m: passes.run(m.operation))
    row(f"simplify/{name}", simplify * 1e9 / n, "ns/node", n)
    row(f"print/{name}", best(30, lambda: module, lambda m: m.operation.get_asm()) * 1e9 / n, "ns/node", n)
    after = ir.Module.parse(text)
    passes.run(after.operation)
    left = count(after, ("stablehlo.constant", "func.return", "stablehlo.return"))
    row(f"left/{name}", left, "ops", n)


def run():
    module = ir.Module.parse((FOLDER / "mlp.mlir").read_text())
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
        for name in ("transformer", "train_step"):
            measure(name)
        run()


if __name__ == "__main__":
    main()
