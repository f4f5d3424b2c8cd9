#!/usr/bin/env python3
"""Runs ONNX models as StableHLO under XLA:CPU, and StableHLO programs as ONNX in ONNX Runtime.

usage: onnx_jax.py SAPWOOD to-mlir MODELS_DIR     each model, with fixed extents, by `sapwood opt -p decompose,simplify --to mlir`
       onnx_jax.py SAPWOOD to-onnx PROGRAMS_DIR   each `.mlir` file, by `sapwood opt -O1 -o model.onnx`

The results are compared with those of the other side. Each model runs in a process of its own. Prints one line per model and a count. The exit code is 0 if
at least 30 models, or 5 programs, have the same values. Needs jax, onnx and onnxruntime."""
import glob, os, subprocess, sys, tempfile

import jax
import numpy as np
import onnx
import onnxruntime as rt
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir

TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32,
         "tensor(uint8)": np.uint8, "tensor(uint32)": np.uint32, "tensor(uint64)": np.uint64, "tensor(int16)": np.int16, "tensor(int8)": np.int8, "tensor(bool)": np.bool_, "tensor(float16)": np.float16}
SIZES = (32, 64, 96, 320, 16, 512, 8, 1, 16000, 2)
jax.config.update("jax_enable_x64", True)


def session(path):
    options = rt.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = rt.GraphOptimizationLevel.ORT_DISABLE_ALL, 4
    return rt.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def random_array(rng, shape, dtype, size=8):
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    return rng.integers(1, min(size, 8), shape).astype(dtype) if dtype.kind in "iu" else rng.standard_normal(shape).astype(dtype)


def run_under_xla(text, inputs):
    backend = jax.devices("cpu")[0].client
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
        program = backend.compile_and_load(module, devices, xla_client.CompileOptions())
    results = program.execute([jax.device_put(x, jax.devices("cpu")[0]) for x in inputs])
    return [np.asarray(x) for x in results]


def differ(got, wanted):
    for a, b in zip(got, wanted):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{a.shape}, expected {b.dtype}{b.shape}"
        if a.dtype.kind == "f":
            if not np.allclose(a, b, rtol=1e-3, atol=1e-3 * max(1e-3, np.abs(b[np.isfinite(b)]).max(initial=0)), equal_nan=True):
                return "values differ"
        elif not np.array_equal(a, b):
            return "integers differ"
    return None


def to_mlir(sapwood, path, folder):
    run, rng = session(path), np.random.default_rng(0)
    for size in SIZES:
        shapes = {i.name: [d if isinstance(d, int) and d > 0 else 1 if k == 0 and len(i.shape) > 1 else size for k, d in enumerate(i.shape)]
                  for i in run.get_inputs()}
        feed = {i.name: random_array(rng, shapes[i.name], np.dtype(TYPES[i.type])) for i in run.get_inputs()}
        if sum(x.size for x in feed.values()) > 2e6:
            continue
        try:
            wanted = run.run(None, feed)
            break
        except Exception:
            continue
    else:
        return "ONNX Runtime does not run it"
    command = [sapwood, "opt", path, "-p", "onnx-to-core,decompose,simplify", "-q", "-o", os.path.join(folder, "m.mlir")]
    for name, shape in shapes.items():
        command += ["--input-shape", f"{name}={'x'.join(map(str, shape))}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["?"])[-1][:160]
    with open(os.path.join(folder, "m.mlir")) as file:
        return differ(run_under_xla(file.read(), list(feed.values())), wanted)


def to_onnx(sapwood, path, folder):
    model = os.path.join(folder, "m.onnx")
    done = subprocess.run([sapwood, "opt", path, "-O1", "-q", "-o", model], capture_output=True, text=True, timeout=300)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["?"])[-1][:160]
    run, rng = session(model), np.random.default_rng(0)
    feed = {i.name: random_array(rng, i.shape, np.dtype(TYPES[i.type])) for i in run.get_inputs()}
    with open(path) as file:
        wanted = run_under_xla(file.read(), list(feed.values()))
    return differ(run.run(None, feed), wanted)


# The fewest models that must have the same values.
AT_LEAST = {"to-mlir": 30, "to-onnx": 5}
SAME = "same values"


def compare(sapwood, what, path):
    """Compares one model, and prints the verdict."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            why = (to_mlir if what == "to-mlir" else to_onnx)(sapwood, path, folder)
        except Exception as error:
            why = f"{type(error).__name__}: {str(error).splitlines()[0][:160] if str(error) else ''}"
    print(why or SAME, flush=True)


def main():
    sapwood, what, root = sys.argv[1:4]
    paths = sorted(glob.glob(os.path.join(root, "**/*.onnx" if what == "to-mlir" else "**/*.mlir"), recursive=True))
    right = 0
    for path in paths:
        child = subprocess.run([sys.executable, os.path.abspath(__file__), "--one", sapwood, what, path], capture_output=True, text=True)
        said = child.stdout.strip() or f"ends with {child.returncode}"
        right += said == SAME
        print(f"{os.path.relpath(path, root)}: {said}", flush=True)
    print(f"{right} of {len(paths)} {'models under JAX' if what == 'to-mlir' else 'JAX programs as ONNX'} have the same values")
    sys.exit(right < AT_LEAST[what])


if __name__ == "__main__":
    compare(*sys.argv[2:5]) if sys.argv[1] == "--one" else main()
