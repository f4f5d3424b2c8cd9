"""The rewriting rows on mlir-opt 22, on the programs of `programs.py`.

Prints one JSON line per row, as `benches/README.md` describes. Needs `mlir-opt-22` (Debian package mlir-22-tools).
One thread, its verifier on; times are those it reports for its passes. A run that takes longer than a minute is given up.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile

from programs import KINDS

SIZES = [("1e4", 10_000, 5), ("1e5", 100_000, 3), ("1e6", 1_000_000, 1)]
LIMIT_SECONDS = 60
# Neither counts as an op: what is constant, and what only spreads a value. `tile` is tosa's broadcast.
NOT_COUNTED = ("arith.constant", "tosa.const", "tosa.const_shape", "tosa.tile", "tensor.splat", "func.func", "return")


def seconds(report, name):
    found = re.search(rf"^\s*([0-9.]+) \(\s*[0-9.]+%\)\s+{name}\s*$", report, re.MULTILINE)
    if not found:
        raise RuntimeError(f"mlir-opt reports no time for {name}:\n{report[-2000:]}")
    return float(found.group(1))


def run(tool, path, passes, output="/dev/null"):
    command = [tool, "--mlir-disable-threading", "--mlir-timing", "--mlir-timing-display=list", path, "-o", output]
    try:
        done = subprocess.run(
            [*command, *passes], capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"given up after {LIMIT_SECONDS} s") from None
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return done.stderr


def ops_left(path):
    count = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            found = re.match(r'\s*(?:%\S+ = )?"?([a-z]\w*\.\w+)', line)
            if found and found.group(1) not in NOT_COUNTED:
                count += 1
    return count


def peak(tool, path):
    """Peak memory of reading and simplifying, less that of an empty program; in a process of its own."""
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)"
    )
    command = [sys.executable, "-c", script, tool, "--mlir-disable-threading", "--canonicalize", "--cse"]
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as empty:
        sizes = [
            int(subprocess.run([*command, p, "-o", "/dev/null"], capture_output=True, text=True, check=True).stdout)
            for p in (path, empty.name)
        ]
    return sizes[0] - sizes[1]


def measure(tool, path, repeats):
    """The values by verb; a verb that takes too long has its error."""
    canonicalize, cse, both = ["--canonicalize"], ["--cse"], ["--canonicalize", "--cse"]
    work = {
        "canonicalize": lambda: seconds(run(tool, path, canonicalize), "Canonicalizer"),
        "cse": lambda: seconds(run(tool, path, cse), "CSE"),
        "simplify": lambda: (lambda r: seconds(r, "Canonicalizer") + seconds(r, "CSE"))(run(tool, path, both)),
    }
    for verb, once in work.items():
        try:
            yield verb, min(once() for _ in range(repeats))
        except RuntimeError as error:
            yield verb, error
    with tempfile.NamedTemporaryFile("r", suffix=".mlir") as output:
        try:
            run(tool, path, both, output.name)
            yield "ops", ops_left(output.name)
            yield "memory", peak(tool, path)
        except RuntimeError as error:
            yield "ops", error
            yield "memory", error


def main():
    tool = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
    if tool is None:
        sys.exit("mlir-opt-22 is not installed (Debian package mlir-22-tools)")
    units = {"ops": "ops", "memory": "bytes/node"}
    for kind, make in KINDS:
        for size, ops, repeats in SIZES:
            with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
                file.write(make(ops))
                file.flush()
                for verb, value in measure(tool, file.name, repeats):
                    row = {"area": "rewrite", "row": f"{verb}/{kind}/{size}"}
                    if isinstance(value, RuntimeError):
                        row["error"] = str(value)
                    else:
                        scale = {"ops": 1, "memory": 1 / ops}.get(verb, 1e9 / ops)
                        row |= {"value": value * scale, "unit": units.get(verb, "ns/node"), "n": ops}
                    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
