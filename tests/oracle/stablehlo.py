"""Checks StableHLO programs that Sapwood printed with jaxlib.

    python tests/oracle/stablehlo.py ORIGINALS PRINTED [--counts [--iree IREE_OPT]]

PRINTED has `name.before.mlir` and `name.after.mlir` for the programs of ORIGINALS (`cargo xtask corpus DIR OUT` writes
them). Every printed program is parsed and verified by jaxlib, compiled for XLA:CPU and run on the inputs in the folder of its
original, or on generated ones, and its results are compared with those of the original. `--counts` compares the number of
remaining ops with that of jaxlib's inline, canonicalize and CSE, which must not be lower in any program, and the total with
that of IREE's own canonicalizer.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import jax
import numpy as np
from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir, passmanager

# Compiled programs may sum in different orders.
RELATIVE = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 2e-4, "complex64": 2e-4}
DTYPES = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16",
          "ui32": "uint32", "ui64": "uint64", "f32": "float32", "f64": "float64", "f16": "float16"}


def without_checks(text):
    """Removes the checks, which are calls that XLA does not know."""
    return "\n".join(line for line in text.split("\n") if "custom_call @check." not in line)


class Runner:
    def __init__(self):
        self.backend = xla_bridge.get_backend("cpu")
        self.devices = self.backend.local_devices()[:1]

    def run(self, text, inputs):
        with mlir.make_ir_context():
            module = ir.Module.parse(without_checks(text))
            module.operation.verify()
            program = self.backend.compile_and_load(
                module, xla_client.DeviceList(tuple(self.devices)), xla_client.CompileOptions())
        buffers = [jax.device_put(x, self.devices[0]) for x in inputs]
        return [np.asarray(x) for x in program.execute(buffers)]


def inputs_of(original, text):
    found = sorted(original.parent.glob("in_*.npy")) if original.name == "model.mlir" else []
    if found:
        return [np.load(path) for path in found]
    signature = re.search(r"func\.func (?:public )?@main\((.*?)\) ->", text, re.S).group(1)
    random = np.random.default_rng(1)
    made = []
    for dims, element in re.findall(r"%\S+: tensor<((?:\d+x)*)(\w+)>", signature):
        shape = [int(n) for n in dims.split("x") if n]
        values = random.standard_normal(shape) * 0.1
        made.append(np.asarray(values).astype(DTYPES[element]))
    return made


def difference(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype}{a.shape} and {b.dtype}{b.shape}"
    if a.dtype.kind in "biu":
        return None if np.array_equal(a, b) else "integers differ"
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    tolerance = RELATIVE.get(str(a.dtype), 1e-10)
    x, y = a.astype(wide), b.astype(wide)
    close = np.isclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)
    if close.all():
        return None
    at = tuple(np.argwhere(~close)[0])
    return f"{(~close).sum()} of {close.size} elements differ, first {at}: {x[at]} and {y[at]}"


def count(text, passes=""):
    with mlir.make_ir_context():
        module = ir.Module.parse(without_checks(text))
        if passes:
            passmanager.PassManager.parse(f"builtin.module({passes})").run(module.operation)
        left = 0

        def walk(operation):
            nonlocal left
            for region in operation.regions:
                for block in region:
                    for op in block:
                        name = op.operation.name
                        left += name not in ("stablehlo.constant", "func.func", "func.return", "stablehlo.return")
                        walk(op.operation)

        walk(module.operation)
        return left


IREE = ("builtin.module(inline,symbol-dce,"
        "func.func(iree-stablehlo-canonicalize,cse,iree-stablehlo-canonicalize,cse))")


def count_iree(tool, path):
    done = subprocess.run([tool, "--mlir-disable-threading", f"--pass-pipeline={IREE}", path],
                          check=True, capture_output=True, text=True)
    return count(done.stdout)


def compare_counts(originals, printed, iree):
    """Returns the problems, and one line per model."""
    problems, total = [], [0, 0, 0]
    for name, path in originals.items():
        if path.name != "model.mlir":
            continue
        original = path.read_text()
        found = [
            count((printed / f"{name}.after.mlir").read_text()),
            count(original, "inline,symbol-dce,canonicalize,cse,canonicalize,cse"),
            count_iree(iree, path) if iree else 0,
        ]
        total = [a + b for a, b in zip(total, found)]
        ours, theirs, other = found
        print(f"{name:<28} sapwood {ours:>6}  jaxlib {theirs:>6}" + (f"  iree {other:>6}" if iree else ""))
        if ours > theirs:
            problems.append(f"{name}: {ours} ops are left, jaxlib leaves {theirs}")
    if iree and total[0] > total[2]:
        problems.append(f"{total[0]} ops are left in all, IREE leaves {total[2]}")
    words = f"{total[0]} ops are left, jaxlib leaves {total[1]}"
    print(words + (f", IREE {total[2]}" if iree else ""))
    return problems


def main():
    jax.config.update("jax_enable_x64", True)
    parser = argparse.ArgumentParser()
    parser.add_argument("originals", type=pathlib.Path)
    parser.add_argument("printed", type=pathlib.Path)
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--iree", help="the iree-opt to compare counts with")
    arguments = parser.parse_args()
    originals = {}
    for path in sorted(arguments.originals.rglob("*.mlir")):
        originals[path.parent.name if path.name == "model.mlir" else path.stem] = path
    if arguments.counts:
        problems = compare_counts(originals, arguments.printed, arguments.iree)
        for problem in problems:
            print(problem)
        return 1 if problems else 0
    runner, checked, problems = Runner(), 0, []
    for name, path in originals.items():
        original = path.read_text()
        inputs = inputs_of(path, original)
        try:
            expected = runner.run(original, inputs)
        except Exception as why:  # noqa: BLE001 what XLA itself cannot run says nothing about us
            expected = None
            note = str(why).split("\n")[0][:120]
        for kind in ("before", "after"):
            text = (arguments.printed / f"{name}.{kind}.mlir").read_text()
            try:
                if expected is None:
                    with mlir.make_ir_context():
                        ir.Module.parse(text).operation.verify()
                    print(f"{name}: XLA cannot run the original, only parsed: {note}")
                    found = []
                else:
                    found = runner.run(text, inputs)
            except Exception as why:  # noqa: BLE001
                problems.append(f"{name}.{kind}: not accepted: {str(why)[:300]}")
                continue
            checked += 1
            for i, (a, b) in enumerate(zip(found, expected or [])):
                if wrong := difference(a, b):
                    problems.append(f"{name}.{kind}: result {i}: {wrong}")
    print(f"{checked} printed programs of {len(originals)} accepted by jaxlib and run on XLA:CPU")
    for problem in problems:
        print(problem)
    print(f"{len(originals) - len(problems)} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
