"""The rows of the command on mlir-opt 22, on the programs of `programs.py`: whole processes.

Prints one JSON line per row, as `benches/README.md` describes. Needs `mlir-opt-22` (Debian package mlir-22-tools).
A run is repeated while a row has taken less than ten seconds. One that takes longer than half a minute is given up; the row then
says that long, which is less than it takes.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

from mlir_opt import find_tool
from programs import KINDS

OPS = 100_000
LIMIT_SECONDS = 30
ENOUGH_SECONDS = 10


def best(command, repeats):
    least = float("inf")
    first = time.perf_counter()
    for _ in range(repeats):
        began = time.perf_counter()
        if began - first > ENOUGH_SECONDS:
            break
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, timeout=LIMIT_SECONDS
        )
        least = min(least, time.perf_counter() - began)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode(errors="replace")[-2000:])
    return least * 1e3


def report(row, command, repeats, n):
    line = {"area": "command", "row": row}
    try:
        line |= {"value": best(command, repeats), "unit": "ms", "n": n}
    except subprocess.TimeoutExpired:
        line |= {"value": LIMIT_SECONDS * 1e3, "unit": "ms", "n": n, "note": "given up, it takes longer"}
    except RuntimeError as error:
        line["error"] = str(error)
    print(json.dumps(line), flush=True)


def main():
    try:
        tool = find_tool()
    except RuntimeError as missing:
        sys.exit(str(missing))
    with tempfile.TemporaryDirectory() as folder:
        source, output = os.path.join(folder, "in.mlir"), os.path.join(folder, "out.mlir")
        report("start-up", [tool, "--version"], 20, 1)
        for kind, make in KINDS:
            with open(source, "w", encoding="utf-8") as file:
                file.write(make(OPS))
            report(f"opt/{kind}/1e5", [tool, source, "-canonicalize", "-cse", "-o", output], 5, OPS)


if __name__ == "__main__":
    main()
