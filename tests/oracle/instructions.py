"""Counts the instructions of `optimize` and `simplify` on long programs, under Valgrind.

    python tests/oracle/instructions.py SAPWOOD [KIND ...] [--sizes N ...]

`SAPWOOD` is the command, `KIND` a name in `KINDS`. The instructions of a pipeline are those of a run without those of reading, verifying and printing. `optimize` must not take more than twice those of `simplify`, and
both must grow linearly. Programs of 10,000 and 100,000 instructions take some minutes.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 2
# Tables that double in size make ten times as many instructions of a program a little dearer.
LINEAR = 11.5
DOT = "dot_general {}, {} {{lhs_contract = [1], rhs_contract = [0]}}"
TRANSPOSE = "transpose @ {perm = [1, 0]}"
# The lines of a chain, in turns. `@` is the value of the line before.
KINDS = {
    "layers": [DOT.format("@", "%w"), "add @, %b", "tanh @"],
    "products": [DOT.format("@", "%w")],
    "products, from the left": [DOT.format("%w", "@")],
    "elementary functions": ["exp @", "sin @", "tanh @", "cos @"],
    "elementwise products": ["mul @, %w"],
    "products and sums": ["mul @, %w", "add @, %b"],
    "products and transposes": [DOT.format("@", "%w"), TRANSPOSE],
    "functions and transposes": ["tanh @", TRANSPOSE],
    "squares and differences": ["mul @, @", "sub @, %w"],
    "minima and maxima": ["max @, %w", "min @, %b"],
}
MODES = ["exact", "fast"]


def program(lines, size):
    """Returns a chain of instructions as text."""
    ty = "f32[4, 4]"
    text = [f"ptir 1\nfunc @f(%v0: {ty}, %w: {ty}, %b: {ty}) -> {ty} {{"]
    for at in range(size):
        line = lines[at % len(lines)].replace("@", f"%v{at}")
        text.append(f"  %v{at + 1} = {line} : {ty}")
    return "\n".join([*text, f"  return %v{size}\n}}\n"])


def instructions(command, path, pipeline):
    """Returns the number of instructions of a run of the command."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    run = subprocess.run([*valgrind, command, "opt", path, "-p", pipeline, "-o", "/dev/null"], check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", run.stderr)[1])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command")
    arguments.add_argument("kinds", nargs="*")
    arguments.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    options = arguments.parse_args()
    failed, worst = [], 0.0
    print("Millions of instructions of the passes.\n\n| chain | length | mode | `simplify` | `optimize` | ratio |\n| --- | --- | --- | --- | --- | --- |")
    for kind in options.kinds or KINDS:
        before = {}
        for size in options.sizes:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "program.ptir"
                path.write_text(program(KINDS[kind], size))
                rest = instructions(options.command, path, "verify")
                for mode in MODES:
                    found = [instructions(options.command, path, f"{name}{{float={mode}}}") - rest for name in ("simplify", "optimize")]
                    ratio = found[1] / found[0]
                    print(f"| {kind} | {size} | {mode} | {found[0] / 1e6:.0f} | {found[1] / 1e6:.0f} | {ratio:.2f} |", flush=True)
                    worst = max(worst, ratio)
                    if ratio > LIMIT:
                        failed.append(f"{kind}, {size}, {mode}: `optimize` takes {ratio:.2f} times as long as `simplify`")
                    previous = before.get(mode)
                    if previous and max(new / old for new, old in zip(found, previous[1], strict=True)) > LINEAR * size / previous[0] / 10:
                        failed.append(f"{kind}, {mode}: from {previous[0]} to {size}, the passes grow by more than linearly")
                    before[mode] = (size, found)
    if failed:
        sys.exit("\n".join(failed))
    print(f"`optimize` takes at most {worst:.2f} times as many instructions as `simplify`")


if __name__ == "__main__":
    main()
