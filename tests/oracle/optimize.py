"""Measures `optimize` and `simplify` under XLA on the CPU: each program before and after, in one process.

    python tests/oracle/optimize.py SAPWOOD [NAME ...] [--corpus FOLDER ...] [--part PART ...] [--values]

`SAPWOOD` is the command, `NAME` a program; all by default. It needs jax. Part `laws` measures the files of `tests/oracle/optimize/`, three for each law. The parts `optimize` and `simplify` measure the StableHLO
files of the folders with a function `@main`, `NAME.mlir` or `NAME/model.mlir`. All parts are measured by default, those of folders if there are any.

The results before and after must agree, and the ratio of the times is printed. A program of a law must reach half of the factor in its first comment, and no program of a folder may be slower than 1.05 times after `optimize`,
or 1.02 times after `simplify`. `EXPLAINED` lists the programs that do not reach their bar, with the reason. `--values` only compares the results, so that other work on the machine does not matter.
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
# The pipelines before and after; without a pipeline, the file itself is measured.
PARTS = {
    "laws": ("verify", PIPELINE),
    "optimize": (CORPUS_PIPELINE, f"{CORPUS_PIPELINE},{PIPELINE}"),
    "simplify": ("", "inline,symbol-dce,simplify{float=nsz}"),
}
LIMITS = {"optimize": 1.05, "simplify": 1.02}
# Both programs together are measured for about twice as long, and at least ten times.
SECONDS = 0.4
# A program that seems slower is measured again: the best times of several attempts count.
ATTEMPTS = 4
# The products have a quarter of the operations of those that the factor was measured with, and operands of the same size.
BOUND = "reading both operands once, without a transpose, takes 40 of 300 microseconds, so that no form reaches more than 7.6"
EXPLAINED = {"diagonal_3": BOUND, "trace_3": BOUND}


def parameters(text):
    """Returns the element types and shapes of the parameters of `@main` in StableHLO text."""
    start = text.index("@main(")
    # The result types follow the arrow; attributes of parameters have no tensor types before it.
    signature = text[start : text.index("->", start)]
    types = re.findall(r"%\w+: tensor<([^>]*)>", signature)
    for ty in types:
        *dims, dtype = ty.split("x")
        yield dtype, [int(n) for n in dims]


DTYPES = {"f32": np.float32, "i32": np.int32, "i64": np.int64, "i1": np.bool_, "ui32": np.uint32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "ui8": np.uint8}


def inputs_for(path, text):
    """Returns the inputs in the folder of a model, or random ones."""
    stored = sorted(path.parent.glob("in_*.npy")) if path.name == "model.mlir" else []
    if stored:
        return [np.load(file) for file in stored]
    return list(random_inputs(text))


def random_inputs(text):
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


def difference(old, new):
    """Returns how two results differ, or `None` if they agree up to rounding."""
    if old.dtype.kind in "biu":
        return None if np.array_equal(old, new) else "integers differ"
    old, new = np.asarray(old, dtype=np.complex128), np.asarray(new, dtype=np.complex128)
    finite = np.isfinite(old)
    if not np.array_equal(finite, np.isfinite(new)):
        return "infinities or NaN differ"
    scale = np.max(np.abs(old[finite]), initial=1e-30)
    error = np.max(np.abs(old[finite] - new[finite]), initial=0) / scale
    return None if error < 1e-3 else f"results differ by {error:.1e}"


def measure(command, backend, path, pipelines, wanted):
    """Returns the times before and after two pipelines and the times of their compilation, `None` if both programs are equal, or exits if the results differ.

    `wanted` is the factor that is expected; without it, only the results are compared."""
    texts = [stablehlo(command, path, pipeline or "verify") if pipeline or path.suffix == ".ptir" else path.read_text() for pipeline in pipelines]
    if texts[0] == texts[1]:
        return None
    (before, compile_before), (after, compile_after) = (compiled(backend, text) for text in texts)
    inputs = [jax.device_put(value) for value in inputs_for(path, texts[0])]
    for old, new in zip(before.execute(inputs), after.execute(inputs), strict=True):
        problem = difference(np.asarray(old), np.asarray(new))
        if problem:
            sys.exit(f"{path}: {problem}")
    if wanted is None:
        return 0, 0, compile_before, compile_after
    first = best_times([before, after], inputs, 3)
    rounds = max(10, min(20_000, int(SECONDS / max(first))))
    old, new = best_times([before, after], inputs, rounds)
    for _ in range(ATTEMPTS):
        if old / new >= wanted:
            break
        old, new = map(min, zip((old, new), best_times([before, after], inputs, rounds), strict=True))
    return old, new, compile_before, compile_after


def measure_part(options, backend, part, folders):
    """Measures the programs of a part, prints a table, and returns those that miss their bar without an explanation."""
    print(f"\n{part}: `{PARTS[part][1]}`\n\n| program | before, µs | after, µs | times as fast | to reach | times faster to compile |\n| --- | --- | --- | --- | --- | --- |")
    paths = [path for folder in folders for path in [*folder.glob("*.ptir"), *folder.glob("*.mlir"), *folder.glob("*/model.mlir")]]
    paths = [path for path in paths if "@main(" in path.read_text()]
    counts = {"reach their bar": 0, "are unchanged": 0, "miss it for a known reason": 0, "miss it": 0}
    failed = []
    for path in sorted(paths):
        name = path.parent.name if path.stem == "model" else path.stem if part == "laws" else path.name
        if options.names and name not in options.names:
            continue
        stated = re.search(r"factor of the law: (\d+)", path.read_text().split("\n", 3)[2]) if part == "laws" else None
        bar = int(stated[1]) / 2 if stated else 1 / LIMITS.get(part, 1.05)
        found = measure(options.command, backend, path, PARTS[part], None if options.values else bar)
        if found is None:
            counts["are unchanged"] += 1
            print(f"| `{name}` | unchanged | | | | |", flush=True)
            continue
        old, new, compile_before, compile_after = found
        if options.values:
            counts["reach their bar"] += 1
            print(f"| `{name}` | same values | | | | |", flush=True)
            continue
        factor, note = old / new, ""
        if factor >= bar:
            counts["reach their bar"] += 1
        elif name in EXPLAINED:
            counts["miss it for a known reason"] += 1
            note = f" ({EXPLAINED[name]})"
        else:
            counts["miss it"] += 1
            failed.append(f"{name}: {factor:.2f}, expected at least {bar:.2f}")
        print(f"| `{name}` | {old * 1e6:.0f} | {new * 1e6:.0f} | {factor:.2f} | {bar:.2f}{note} | {compile_before / compile_after:.1f} |", flush=True)
    print(f"\n{part}: " + ", ".join(f"{count} {what}" for what, count in counts.items() if count))
    return failed


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command")
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--corpus", type=Path, action="append", default=[])
    arguments.add_argument("--part", choices=PARTS, action="append")
    arguments.add_argument("--values", action="store_true")
    options = arguments.parse_args()
    jax.config.update("jax_enable_x64", True)
    backend = xla_bridge.get_backend("cpu")
    parts = options.part or (list(PARTS) if options.corpus else ["laws"])
    failed = []
    for part in parts:
        failed += measure_part(options, backend, part, [PROGRAMS] if part == "laws" else options.corpus)
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
