"""The PTIR rows on mlir-opt 22: the programs of `programs.py`, the same as in `benches/src/programs.rs`.

Prints one JSON line per row, as `benches/README.md` describes. Needs `mlir-opt-22` (Debian package mlir-22-tools).
One thread, its verifier on; times are those it reports for its parser and its output.
"""

import json
import re
import shutil
import subprocess
import tempfile

from programs import blocks, chain

SIZES = [("1e4", 10_000, 5), ("1e5", 100_000, 3), ("1e6", 1_000_000, 1)]


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
