"""Measures the laws of `optimize` under XLA on the CPU: each program before and after, in one process.

    python tests/oracle/optimize.py SAPWOOD

`SAPWOOD` is the command. It needs jax. The results before and after must agree, and the ratio of the times is printed.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax
import numpy as np
from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir

N = 512
MATRIX = f"f32[{N}, {N}]"


def dot(lhs, rhs, result, left=1, right=0):
    return f"dot_general {lhs}, {rhs} {{lhs_contract = [{left}], rhs_contract = [{right}]}} : {result}"


# The parameters, the result and the body of a program for each law.
PROGRAMS = {
    "chain": (f"%a: {MATRIX}, %b: {MATRIX}, %v: f32[{N}]", f"f32[{N}]", [
        f"%ab = {dot('%a', '%b', MATRIX)}",
        f"%r = {dot('%ab', '%v', f'f32[{N}]')}"]),
    "low_rank": (f"%x: f32[32, {N}], %u: f32[{N}, 8], %v: f32[8, {N}]", f"f32[32, {N}]", [
        f"%uv = {dot('%u', '%v', MATRIX)}",
        f"%r = {dot('%x', '%uv', f'f32[32, {N}]')}"]),
    "slice_of_dot": (f"%x: {MATRIX}, %y: {MATRIX}", f"f32[8, {N}]", [
        f"%d = {dot('%x', '%y', MATRIX)}",
        f"%r = slice %d {{starts = [16, 0], limits = [24, {N}]}} : f32[8, {N}]"]),
    "dynamic_slice_of_dot": (f"%x: {MATRIX}, %y: {MATRIX}, %i: i32[]", f"f32[1, {N}]", [
        "%z = constant 0 : i32[]",
        f"%d = {dot('%x', '%y', MATRIX)}",
        f"%r = dynamic_slice %d, %i, %z {{sizes = [1, {N}]}} : f32[1, {N}]"]),
    "sum_of_dot": (f"%x: {MATRIX}, %y: {MATRIX}", f"f32[{N}]", [
        f"%d = {dot('%x', '%y', MATRIX)}",
        f"%r = reduce_sum %d {{axes = [0]}} : f32[{N}]"]),
    "dot_of_repeated_rows": (f"%x: {MATRIX}, %v: f32[{N}]", MATRIX, [
        f"%b = broadcast_in_dim %v {{dims = [0]}} : {MATRIX}",
        f"%r = {dot('%x', '%b', MATRIX)}"]),
    "dot_of_repeated_contraction": (f"%x: {MATRIX}, %v: f32[{N}]", MATRIX, [
        f"%b = broadcast_in_dim %v {{dims = [1]}} : {MATRIX}",
        f"%r = {dot('%x', '%b', MATRIX)}"]),
    "sum_of_dots": (f"%x: {MATRIX}, %c: {MATRIX}, %d: {MATRIX}", MATRIX, [
        f"%xc = {dot('%x', '%c', MATRIX)}",
        f"%xd = {dot('%x', '%d', MATRIX)}",
        f"%r = add %xc, %xd : {MATRIX}"]),
}


def compiled(backend, text):
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
        return backend.compile_and_load(module, devices, xla_client.CompileOptions())


def best_time(program, inputs):
    best = float("inf")
    for _ in range(40):
        start = time.perf_counter()
        for result in program.execute(inputs):
            result.block_until_ready()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    command = sys.argv[1]
    backend = xla_bridge.get_backend("cpu")
    random = np.random.default_rng(0)
    for name, (params, result, body) in PROGRAMS.items():
        lines = "\n  ".join(body)
        text = f"ptir 1\n\nfunc @main({params}) -> {result} {{\n  {lines}\n  return %r\n}}\n"
        inputs = []
        for dtype, dims in re.findall(r"(f32|i32)\[([^\]]*)\]", params):
            shape = [int(n) for n in dims.split(",") if n]
            value = np.int32(5) if dtype == "i32" else random.standard_normal(shape).astype(np.float32)
            inputs.append(jax.device_put(value))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.ptir"
            path.write_text(text)
            both = [
                compiled(backend, subprocess.run(
                    [command, "opt", str(path), "-p", pipeline, "--to", "mlir"],
                    check=True, capture_output=True, text=True).stdout)
                for pipeline in ("verify", "optimize{float=fast}")
            ]
        before, after = (np.asarray(program.execute(inputs)[0]) for program in both)
        error = np.max(np.abs(before - after)) / np.max(np.abs(before))
        if not error < 1e-5:
            sys.exit(f"{name}: results differ by {error:.1e}")
        old, new = (best_time(program, inputs) for program in both)
        print(f"| `{name}` | {old * 1e6:.0f} | {new * 1e6:.0f} | {old / new:.1f} |")


if __name__ == "__main__":
    main()
