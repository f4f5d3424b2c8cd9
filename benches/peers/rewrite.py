"""The rewriting rows on mlir-opt 22, on the programs of `programs.py`.

Prints one JSON line per row, as `benches/README.md` describes. Needs `mlir-opt-22` (Debian package mlir-22-tools).
One thread, its verifier on; times are those it reports for its passes. A run that takes longer than a minute is given up,
and with it the larger sizes of that kind.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading

from mlir_opt import TIMED, find_tool, program_file, seconds
from programs import KINDS

SIZES = [("1e4", 10_000, 5), ("1e5", 100_000, 3), ("1e6", 1_000_000, 2)]
LIMIT_SECONDS = 60
# Constants and broadcasts are not counted as ops. `tile` is tosa's broadcast.
NOT_COUNTED = ("arith.constant", "tosa.const", "tosa.const_shape", "tosa.tile", "tensor.splat", "func.func", "return")


def run(tool, path, passes, output="/dev/null"):
    """Returns the report and the peak memory in bytes."""
    command = [tool, *TIMED, path, "-o", output]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as report:
        child = subprocess.Popen([*command, *passes], stdout=subprocess.DEVNULL, stderr=report)
        limit = threading.Timer(LIMIT_SECONDS, child.kill)
        limit.start()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        late = not limit.is_alive()
        limit.cancel()
        report.seek(0)
        text = report.read()
    if child.returncode != 0:
        raise RuntimeError(f"given up after {LIMIT_SECONDS} s" if late else text[-2000:])
    return text, usage.ru_maxrss * 1024


def ops_left(path):
    count = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            found = re.match(r'\s*(?:%\S+ = )?"?([a-z]\w*\.\w+)', line)
            if found and found.group(1) not in NOT_COUNTED:
                count += 1
    return count


def measure(tool, path, repeats, empty, given_up):
    """Returns the values by row; a row that takes too long has an error. One run of both passes gives all values but `cse`."""
    times, ops, memory, error = [], None, None, given_up
    with tempfile.NamedTemporaryFile("r", suffix=".mlir") as output:
        for _ in range(0 if given_up else repeats):
            try:
                report, memory = run(tool, path, ["--canonicalize", "--cse"], "/dev/null" if times else output.name)
                times.append((seconds(report, "Canonicalizer"), seconds(report, "CSE")))
                ops = ops or ops_left(output.name)
            except RuntimeError as problem:
                error = problem
                break
    yield "canonicalize", error or min(first for first, _ in times)
    try:
        yield "cse", min(seconds(run(tool, path, ["--cse"])[0], "CSE") for _ in range(repeats))
    except RuntimeError as problem:
        yield "cse", problem
    yield "simplify", error or min(first + second for first, second in times)
    yield "ops", error or ops
    yield "memory", error or memory - empty


def main():
    try:
        tool = find_tool()
    except RuntimeError as missing:
        sys.exit(str(missing))
    units = {"ops": "ops", "memory": "bytes/node"}
    with program_file("") as path:
        _, empty = run(tool, path, ["--canonicalize", "--cse"])
    for kind, make in KINDS:
        given_up = None
        for size, ops, repeats in SIZES:
            with program_file(make(ops)) as path:
                for verb, value in measure(tool, path, repeats, empty, given_up):
                    row = {"area": "rewrite", "row": f"{verb}/{kind}/{size}"}
                    if isinstance(value, RuntimeError):
                        row["error"] = str(value)
                        # A row that took too long at one size is not measured at the next.
                        given_up = value if verb == "canonicalize" else given_up
                    else:
                        scale = {"ops": 1, "memory": 1 / ops}.get(verb, 1e9 / ops)
                        row |= {"value": value * scale, "unit": units.get(verb, "ns/node"), "n": ops}
                    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
