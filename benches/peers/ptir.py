"""The PTIR rows on mlir-opt 22: the same programs as `benches/src/bin/ptir.rs`, in MLIR's notation.

Prints one JSON line per row, as `benches/README.md` describes. Needs `mlir-opt-22` (Debian package mlir-22-tools).
One thread, its verifier on; times are those it reports for its parser and its output.
"""

import json
import re
import shutil
import subprocess
import tempfile

SIZES = [("1e4", 10_000, 5), ("1e5", 100_000, 3), ("1e6", 1_000_000, 1)]


def chain(ops):
    """A chain of elementwise ops on one type."""
    lines = ["func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {"]
    a, b = "%x", "%y"
    names = ["arith.addf", "arith.mulf", "arith.subf"]
    for i in range(ops):
        if i % 4 < 3:
            lines.append(f"  %{i} = {names[i % 4]} {a}, {b} : tensor<64xf32>")
        else:
            lines.append(f"  %{i} = math.exp {a} : tensor<64xf32>")
        a, b = f"%{i}", a
    lines += [f"  return {a} : tensor<64xf32>", "}"]
    return "\n".join(lines)


def blocks(ops):
    """Blocks as transformers have them; shapes and zero points, which tosa wants as values, are made once."""
    t, r, m = "tensor<1x64x64xf32>", "tensor<1x64x1xf32>", "tensor<64x64xf32>"
    lines = [
        f"func.func @main(%x: {t}, %w: {t}) -> {t} {{",
        '  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>',
        "  %flat = tosa.const_shape {values = dense<[64, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>",
        "  %cube = tosa.const_shape {values = dense<[1, 64, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>",
        "  %times = tosa.const_shape {values = dense<[1, 1, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>",
    ]
    x, n = "%x", 0
    while n + 10 <= ops:
        v = [f"%{n + k}" for k in range(10)]
        lines += [
            f"  {v[0]} = tosa.transpose {x} {{perms = array<i32: 0, 2, 1>}} : ({t}) -> {t}",
            f"  {v[1]} = tosa.matmul {x}, %w, %zp, %zp : ({t}, {t}, tensor<1xf32>, tensor<1xf32>) -> {t}",
            f"  {v[2]} = tosa.reduce_max {v[1]} {{axis = 2 : i32}} : ({t}) -> {r}",
            f"  {v[3]} = tosa.tile {v[2]}, %times : ({r}, !tosa.shape<3>) -> {t}",
            f"  {v[4]} = tosa.sub {v[1]}, {v[3]} : ({t}, {t}) -> {t}",
            f"  {v[5]} = tosa.exp {v[4]} : ({t}) -> {t}",
            f"  {v[6]} = tosa.reduce_sum {v[5]} {{axis = 2 : i32}} : ({t}) -> {r}",
            f"  {v[7]} = tosa.reshape {v[5]}, %flat : ({t}, !tosa.shape<2>) -> {m}",
            f"  {v[8]} = tosa.reshape {v[7]}, %cube : ({m}, !tosa.shape<3>) -> {t}",
            f"  {v[9]} = tosa.add {v[8]}, {v[0]} : ({t}, {t}) -> {t}",
        ]
        x, n = v[9], n + 10
    lines += [f"  return {x} : {t}", "}"]
    return "\n".join(lines)


def seconds(report, name):
    found = re.search(rf"^\s*([0-9.]+) \(\s*[0-9.]+%\)\s+{name}\s*$", report, re.MULTILINE)
    if not found:
        raise RuntimeError(f"mlir-opt reports no time for {name}:\n{report[-2000:]}")
    return float(found.group(1))


def measure(tool, path):
    command = [tool, "--mlir-disable-threading", "--mlir-timing", "--mlir-timing-display=list", path, "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return seconds(done.stderr, "Parser"), seconds(done.stderr, "Output")


def main():
    tool = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
    for kind, make in [("chain", chain), ("blocks", blocks)]:
        for size, ops, repeats in SIZES:
            rows = [f"parse/{kind}/{size}", f"print/{kind}/{size}"]
            try:
                if tool is None:
                    raise RuntimeError("mlir-opt-22 is not installed (Debian package mlir-22-tools)")
                with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
                    file.write(make(ops))
                    file.flush()
                    times = [measure(tool, file.name) for _ in range(repeats)]
            except RuntimeError as error:
                for row in rows:
                    print(json.dumps({"area": "ptir", "row": row, "error": str(error)}), flush=True)
                continue
            for row, best in zip(rows, (min(t[0] for t in times), min(t[1] for t in times))):
                value = best * 1e9 / ops
                print(json.dumps({"area": "ptir", "row": row, "value": value, "unit": "ns/node", "n": ops}), flush=True)


if __name__ == "__main__":
    main()
