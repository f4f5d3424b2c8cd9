"""The structural rows on apache-tvm-ffi, with the shapes of `benches/src/bin/structural.rs`.

Prints one JSON line per row, as `benches/README.md` describes. Run by
`cargo xtask bench structural --peers` in an environment of its own, or by hand:

    python structural.py [GROUP ...]
"""

import json
import subprocess
import sys

from trees import LEVELS, Leaf, Object, Pair, best, define_tree, expect, py_class, structural_equal, structural_hash, tree
from tvm_ffi.dataclasses import field

PARAMS = 100_000
LADDER = 22  # each level doubles the time, so 1000 is out of reach here
CHAINS = [1_000, 2_000, 4_000, 8_000, 16_000, 64_000, 1_000_000]
SECONDS_PER_CHAIN = 120


DagLeaf, DagPair = define_tree("Dag", "dag")


@py_class("bench.Var", structural_eq="var")
class Var(Object):
    name: str = field(structural_eq="ignore")


@py_class("bench.Lambda", structural_eq="tree")
class Lambda(Object):
    params: list[Var] = field(structural_eq="def")
    body: list[Var]


@py_class("bench.Link", structural_eq="tree")
class Link(Object):
    value: int
    next: Object | None


def tree_by_levels(leaf, pair, levels):
    """Returns a complete binary tree, built level by level from the leaves up."""
    row = [leaf(n) for n in range(1 << (levels - 1))]
    while len(row) > 1:
        row = [pair(row[n], row[n + 1]) for n in range(0, len(row), 2)]
    return row[0]


def function(params):
    names = [Var(f"x{n}") for n in range(params)]
    return Lambda(names, names)


def ladder(levels):
    """Returns a ladder: both children of every node are the same object, 2^levels paths, levels + 1 nodes."""
    node = Leaf(0)
    for _ in range(levels):
        node = Pair(node, node)
    return node


def chain(depth):
    node = None
    for n in range(depth):
        node = Link(n, node)
    return node


def emit(row, **fields):
    print(json.dumps({"area": "structural", "row": row, **fields}), flush=True)


def per_node(row, seconds, nodes):
    emit(row, value=seconds / nodes * 1e9, unit="ns/node", n=nodes)


def tree_rows(_):
    nodes = (1 << LEVELS) - 1
    a, b = (tree(Leaf, Pair, LEVELS) for _ in range(2))
    per_node("equal/tree", best(lambda: expect(structural_equal(a, b))), nodes)
    per_node("hash/tree", best(lambda: structural_hash(a)), nodes)


def level_rows(_):
    nodes = (1 << LEVELS) - 1
    a, b = (tree_by_levels(Leaf, Pair, LEVELS) for _ in range(2))
    per_node("equal/tree-by-levels", best(lambda: expect(structural_equal(a, b))), nodes)
    per_node("hash/tree-by-levels", best(lambda: structural_hash(a)), nodes)


def dag_row(_):
    a, b = (tree(DagLeaf, DagPair, LEVELS) for _ in range(2))
    per_node("equal/dag", best(lambda: expect(structural_equal(a, b))), (1 << LEVELS) - 1)


def lambda_row(_):
    a, b = function(PARAMS), function(PARAMS)
    # The walk visits one node for each parameter and one for each use.
    per_node("equal/lambda", best(lambda: expect(structural_equal(a, b))), 2 * PARAMS)


def ladder_row(_):
    a, b = ladder(LADDER), ladder(LADDER)
    seconds = best(lambda: expect(structural_equal(a, b)), repeats=1)
    emit("equal/ladder", value=seconds * 1e3, unit="ms", n=LADDER)


def chain_row(row):
    """Measures the deepest of a few chains that a separate process survives."""
    deepest, shallowest_failure = 0, None
    sizes = list(CHAINS)
    while sizes:
        size = sizes.pop(0)
        if survives(row, size):
            deepest = size
        else:
            shallowest_failure = size
            break
    for _ in range(4):
        if shallowest_failure is None or deepest == 0:
            break
        middle = (deepest + shallowest_failure) // 2
        if survives(row, middle):
            deepest = middle
        else:
            shallowest_failure = middle
    emit(row, value=deepest, unit="depth", n=deepest)


def survives(row, depth):
    command = [sys.executable, __file__, "--chain", row, str(depth)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS_PER_CHAIN)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def run_chain(row, depth):
    a = chain(depth)
    if row == "hash/chain":
        structural_hash(a)
    else:
        expect(structural_equal(a, chain(depth)))


GROUPS = {
    "tree": tree_rows,
    "levels": level_rows,
    "dag": dag_row,
    "lambda": lambda_row,
    "ladder": ladder_row,
    "equal/chain": chain_row,
    "hash/chain": chain_row,
}


def main(arguments):
    if arguments[:1] == ["--chain"]:
        run_chain(arguments[1], int(arguments[2]))
        return 0
    if not arguments:
        # Each group runs in a separate process, so that none depends on the heap of another one.
        return max(subprocess.call([sys.executable, __file__, group]) for group in GROUPS)
    for group in arguments:
        if group not in GROUPS:
            print(f"unknown group {group!r}; one of {', '.join(GROUPS)}", file=sys.stderr)
            return 2
        GROUPS[group](group)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
