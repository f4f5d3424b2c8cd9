"""Compares the chains of `optimize` with the optimal paths of opt_einsum: the numbers of operations must be equal.

    python tests/oracle/chains.py SAPWOOD [COUNT]

`SAPWOOD` is the command, `COUNT` the number of random chains (1,000 by default). It needs numpy and opt_einsum. The extents are at least two: with extents of one, an outer product may be
cheaper than any order of the chain.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import opt_einsum


def chain(rng, name):
    """Returns the extents of a random chain, and a function that computes it in a random order."""
    count = rng.randint(3, 8)
    extents = [rng.randint(2, 40) for _ in range(count + 1)]
    params = ", ".join(f"%m{i}: f32[{extents[i]}, {extents[i + 1]}]" for i in range(count))
    lines = []

    def product(first, last):
        if first == last:
            return f"%m{first}"
        split = rng.randint(first, last - 1)
        left, right = product(first, split), product(split + 1, last)
        ty = f"f32[{extents[first]}, {extents[last + 1]}]"
        lines.append(f"  %p{len(lines)} = dot_general {left}, {right} {{lhs_contract = [1], rhs_contract = [0]}} : {ty}")
        return f"%p{len(lines) - 1}"

    result = product(0, count - 1)
    head = f"func @{name}({params}) -> f32[{extents[0]}, {extents[-1]}] {{"
    return extents, "\n".join([head, *lines, f"  return {result}", "}"])


def optimal_flops(extents):
    symbols = [opt_einsum.get_symbol(i) for i in range(len(extents))]
    terms = [a + b for a, b in zip(symbols, symbols[1:], strict=False)]
    subscripts = f"{','.join(terms)}->{symbols[0]}{symbols[-1]}"
    views = [np.broadcast_to(np.float32(0), shape) for shape in zip(extents, extents[1:], strict=False)]
    _, info = opt_einsum.contract_path(subscripts, *views, optimize="optimal")
    return int(info.opt_cost)


def main():
    command, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    rng = random.Random(0)
    chains = [chain(rng, f"c{i}") for i in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "before.ptir", Path(folder) / "after.ptir"
        before.write_text("ptir 1\n\n" + "\n\n".join(text for _, text in chains) + "\n")
        subprocess.run([command, "opt", before, "-p", "optimize{float=fast}", "-o", after], check=True)
        run = subprocess.run([command, "cost", after, "--format", "json"], check=True, capture_output=True, text=True)
    (file,) = json.loads(run.stdout)["files"]
    found = {function["function"]: function["flops"] for function in file["functions"]}
    different = 0
    for i, (extents, _) in enumerate(chains):
        expected = optimal_flops(extents)
        if found[f"c{i}"] != expected:
            different += 1
            print(f"{extents}: {found[f'c{i}']} operations, opt_einsum needs {expected}")
    print(f"{count - different} of {count} chains take as many operations as the optimal path of opt_einsum")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
