"""Measures the laws of `optimize` under XLA on the CPU: each program before and after, in one process.

    python tests/oracle/optimize.py SAPWOOD [NAME ...] [--corpus FOLDER [--simplify]]

`SAPWOOD` is the command. The programs are the files of `tests/oracle/optimize/`, three for each law, or those whose names are given. It needs jax. The
results before and after must agree, and the ratio of the times is printed. A program must reach half of the factor in its first comment. With `--corpus`, the StableHLO files of
a folder are measured instead, `NAME.mlir` or `NAME/model.mlir`; none may become slower than 1.05 times. `--simplify` compares these files with their simplification: none may become slower than 1.02 times.
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir

PROGRAMS = Path(__file__).parent / "optimize"
PIPELINE = "optimize{float=fast}"
# The corpus contains calls, and masks that only simplification shows.
CORPUS_PIPELINE = "inline,symbol-dce,simplify{float=fast}"
SIMPLIFY_PIPELINE = "inline,symbol-dce,simplify{float=nsz}"
LIMIT = 1.05
SIMPLIFY_LIMIT = 1.02
# A program that seems slower is measured again: the best times of several attempts count.
ATTEMPTS = 4


def parameters(text):
    """Returns the element types and shapes of the parameters of `@main` in StableHLO text."""
    start = text.index("@main(")
    # The result types follow the arrow; attributes of parameters have no tensor types before it.
    signature = text[start : text.index("->", start)]
    types = re.findall(r"%\w+: tensor<([^>]*)>", signature)
    for ty in types:
        *dims, dtype = ty.split("x")
        yield dtype, [int(n) for n in dims]


DTYPES = {"f32": np.float32, "i32": np.int32, "i64": np.int64, "i1": np.bool_, "ui32": np.uint32, "f64": np.float64, "f16": np.float16, "i8": np.int8}


def inputs_for(text):
    random = np.random.default_rng(0)
    for dtype, shape in parameters(text):
        kind = DTYPES[dtype]
        if np.issubdtype(kind, np.floating):
            yield (random.standard_normal(shape) / 8).astype(kind)
        elif kind is np.bool_:
            yield random.integers(0, 2, shape).astype(kind)
        else:
            yield random.integers(0, 8, shape).astype(kind)


def compiled(backend, text):
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
        start = time.perf_counter()
        program = backend.compile_and_load(module, devices, xla_client.CompileOptions())
        return program, time.perf_counter() - start


def best_times(programs, inputs, rounds):
    """Returns the best time of each program. The programs alternate, so that other work on the machine slows down both."""
    best = [float("inf")] * len(programs)
    for _ in range(rounds):
        for at, program in enumerate(programs):
            start = time.perf_counter()
            for result in program.execute(inputs):
                result.block_until_ready()
            best[at] = min(best[at], time.perf_counter() - start)
    return best


def stablehlo(command, path, pipeline):
    run = subprocess.run([command, "opt", str(path), "-p", pipeline, "--to", "mlir"], check=True, capture_output=True, text=True)
    return run.stdout


def measure(command, backend, path, pipelines, wanted):
    """Returns the times of two pipelines and the times of their compilation, or exits if the results differ. `wanted` is the factor that is expected."""
    # Without a pipeline, the file itself is measured.
    texts = [stablehlo(command, path, pipeline) if pipeline else path.read_text() for pipeline in pipelines]
    if texts[0] == texts[1]:
        return None
    (before, compile_before), (after, compile_after) = (compiled(backend, text) for text in texts)
    inputs = [jax.device_put(value) for value in inputs_for(texts[0])]
    for old, new in zip(before.execute(inputs), after.execute(inputs), strict=True):
        old, new = np.asarray(old, dtype=np.float64), np.asarray(new, dtype=np.float64)
        finite = np.isfinite(old)
        if not np.array_equal(finite, np.isfinite(new)):
            sys.exit(f"{path.name}: results differ in infinities or NaN")
        scale = np.max(np.abs(old[finite]), initial=1e-30)
        error = np.max(np.abs(old[finite] - new[finite]), initial=0) / scale
        if not error < 1e-3:
            sys.exit(f"{path.name}: results differ by {error:.1e}")
    first = best_times([before, after], inputs, 3)
    rounds = max(10, min(200, int(2 / max(first))))
    old, new = best_times([before, after], inputs, rounds)
    for _ in range(ATTEMPTS):
        if old / new >= wanted:
            break
        old, new = map(min, zip((old, new), best_times([before, after], inputs, rounds), strict=True))
    return old, new, compile_before, compile_after


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("command")
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--corpus", type=Path)
    arguments.add_argument("--simplify", action="store_true")
    options = arguments.parse_args()
    jax.config.update("jax_enable_x64", True)
    backend = xla_bridge.get_backend("cpu")
    failed = []
    folder = options.corpus or PROGRAMS
    for path in sorted([*folder.glob("*.ptir"), *folder.glob("*.mlir"), *folder.glob("*/model.mlir")]):
        name = path.parent.name if path.stem == "model" else path.stem
        if options.names and name not in options.names:
            continue
        if options.simplify:
            pipelines = ["", SIMPLIFY_PIPELINE]
        elif options.corpus:
            pipelines = [CORPUS_PIPELINE, f"{CORPUS_PIPELINE},{PIPELINE}"]
        else:
            pipelines = ["verify", PIPELINE]
        comment = "" if options.corpus else path.read_text().split("\n", 3)[2]
        stated = re.search(r"factor of the law: (\d+)", comment)
        limit = SIMPLIFY_LIMIT if options.simplify else LIMIT
        wanted = int(stated[1]) / 2 if stated else 1 / limit
        found = measure(options.command, backend, path, pipelines, wanted)
        if found is None:
            print(f"| `{name}` | unchanged | | |", flush=True)
            continue
        old, new, compile_before, compile_after = found
        factor = old / new
        if factor < wanted:
            failed.append(f"{name}: {factor:.2f}, expected at least {wanted:.2f}")
        print(
            f"| `{name}` | {old * 1e6:.0f} | {new * 1e6:.0f} | {factor:.2f} | {compile_before / compile_after:.1f} |",
            flush=True,
        )
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
