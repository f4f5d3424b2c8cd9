"""The PTIR rows on mlir-opt 22: the programs of `programs.py`, the same as in `benches/src/programs.rs`.

Prints one JSON line per row, as `benches/README.md` describes. Needs `mlir-opt-22` (Debian package mlir-22-tools).
One thread, its verifier on; times are those it reports for its parser and its output.
"""

import json
import subprocess

from mlir_opt import TIMED, find_tool, program_file, seconds
from programs import blocks, chain

SIZES = [("1e4", 10_000, 5), ("1e5", 100_000, 3), ("1e6", 1_000_000, 1)]


def measure(tool, path):
    command = [tool, *TIMED, path, "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return seconds(done.stderr, "Parser"), seconds(done.stderr, "Output")


def main():
    for kind, make in [("chain", chain), ("blocks", blocks)]:
        for size, ops, repeats in SIZES:
            rows = [f"parse/{kind}/{size}", f"print/{kind}/{size}"]
            try:
                tool = find_tool()
                with program_file(make(ops)) as path:
                    times = [measure(tool, path) for _ in range(repeats)]
            except RuntimeError as error:
                for row in rows:
                    print(json.dumps({"area": "ptir", "row": row, "error": str(error)}), flush=True)
                continue
            for row, best in zip(rows, (min(t[0] for t in times), min(t[1] for t in times))):
                value = best * 1e9 / ops
                print(json.dumps({"area": "ptir", "row": row, "value": value, "unit": "ns/node", "n": ops}), flush=True)


if __name__ == "__main__":
    main()
