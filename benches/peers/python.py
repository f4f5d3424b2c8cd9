"""The rows of Python: ours with `--ours`, else those of apache-tvm-ffi. One script, so that both sides make the same calls.

Prints one JSON line per row, as `benches/README.md` describes. Run by `cargo xtask bench python --peers`, each side in an
environment of its own, or by hand:

    python python.py [--ours] [GROUP ...]
"""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

from trees import LEVELS, OURS, Leaf, Object, Pair, best, expect, py_class, structural_equal, structural_hash, tree

HOOKED = 12
CALLS = 100_000


@py_class("bench.HookedPair", structural_eq="tree")
class HookedPair(Object):
    left: Object
    right: Object

    def __s_equal__(self, other, eq_cb):
        if not eq_cb(self.left, other.left, False, "left"):
            return False
        return eq_cb(self.right, other.right, False, "right")

    def __s_hash__(self, init_hash, hash_cb):
        h = hash_cb(self.left, init_hash, False)
        return hash_cb(self.right, h, False)


def emit(row, value, unit, n):
    print(json.dumps({"area": "python", "row": row, "value": value, "unit": unit, "n": n}), flush=True)


def tree_rows():
    nodes = (1 << LEVELS) - 1
    began = time.perf_counter()
    a = tree(Leaf, Pair, LEVELS)
    emit("build/py_class", (time.perf_counter() - began) / nodes * 1e6, "µs/node", nodes)
    b = tree(Leaf, Pair, LEVELS)
    emit("equal/tree", best(lambda: expect(structural_equal(a, b))) / nodes * 1e9, "ns/node", nodes)
    # A computed hash is cached, so that each tree is hashed once. Several trees are measured.
    trees = iter([a, b, tree(Leaf, Pair, LEVELS)])
    emit("hash/tree", best(lambda: structural_hash(next(trees))) / nodes * 1e9, "ns/node", nodes)


def hook_rows():
    nodes = (1 << (HOOKED - 1)) - 1
    a, b = tree(Leaf, HookedPair, HOOKED), tree(Leaf, HookedPair, HOOKED)
    emit("equal/hooks", best(lambda: expect(structural_equal(a, b))) / nodes * 1e6, "µs/node", nodes)
    emit("hash/hooks", best(lambda: structural_hash(a)) / nodes * 1e6, "µs/node", nodes)


def call_row():
    a, b = Leaf(1), Leaf(1)

    def calls():
        for _ in range(CALLS):
            structural_equal(a, b)

    def nothing():
        for _ in range(CALLS):
            pass

    emit("call", (best(calls) - best(nothing)) / CALLS * 1e6, "µs/call", CALLS)


def ir_row():
    if not OURS:
        return
    from sapwood import DataType, ir

    dtype, span = DataType.INT64, ir.Span.unknown()
    one = ir.ConstInt(1, dtype, span)

    def build():
        node, add = one, ir.Add
        for _ in range(CALLS):
            node = add(node, one, dtype, span)

    emit("build/ir", best(build) / CALLS * 1e6, "µs/node", CALLS)


def visit_rows():
    """Compares visitors with those of `ast` in CPython, over trees of the same shape."""
    if not OURS:
        return
    import ast

    from sapwood.structural import Mutator, Visitor

    class TreeLeaf(ast.AST):
        _fields = ("value",)

    class TreePair(ast.AST):
        _fields = ("left", "right")

    def peer_tree(levels, first=0):
        if levels == 1:
            return TreeLeaf(value=first)
        left = peer_tree(levels - 1, first)
        return TreePair(left=left, right=peer_tree(levels - 1, first + (1 << (levels - 2))))

    class Sum(Visitor):
        total = 0

        def visit_Leaf(self, node):
            self.total += node.value

    class PeerSum(ast.NodeVisitor):
        total = 0

        def visit_TreeLeaf(self, node):
            self.total += node.value

    class Increase(Mutator):
        def visit_Leaf(self, node):
            return Leaf(node.value + 1)

    class PeerIncrease(ast.NodeTransformer):
        def visit_TreeLeaf(self, node):
            return TreeLeaf(value=node.value + 1)

    nodes = (1 << LEVELS) - 1
    ours, peer = tree(Leaf, Pair, LEVELS), peer_tree(LEVELS)
    results = [Sum(), PeerSum()]
    results[0].visit(ours)
    results[1].visit(peer)
    expect(results[0].total == results[1].total)
    seconds, peer_seconds = best(lambda: Sum().visit(ours)), best(lambda: PeerSum().visit(peer))
    emit("visitor", peer_seconds / seconds, "×", nodes)
    seconds, peer_seconds = best(lambda: Increase().visit(ours)), best(lambda: PeerIncrease().visit(peer))
    emit("mutator", peer_seconds / seconds, "×", nodes)


def rewrite_row():
    if not OURS:
        return
    from sapwood import ptir, rewrite

    pairs = 10_000
    b = ptir.Builder("f")
    x = total = b.parameter("x", "f32[4]")
    for _ in range(pairs):
        total = b.add(total, b.neg(b.neg(x)))
    program = ptir.Program([b.finish(total)])

    @rewrite.pattern("neg")
    def neg_of_neg(op, rw):
        inner = op.operands[0].definition
        return inner.operands[0] if inner and inner.name == "neg" else None

    made = rewrite.apply(program, [neg_of_neg])
    expect(made.program.num_instructions == pairs + 1)
    # The passes verify their input and output, which is not a cost of the pattern.
    nothing = best(lambda: rewrite.apply(program, []), 5)
    seconds = best(lambda: rewrite.apply(program, [neg_of_neg]), 5) - nothing
    emit("rewrite/pattern", seconds / pairs * 1e6, "µs/rewrite", pairs)


def threads_row():
    if not OURS:
        return
    from sapwood import ptir, rewrite

    ops = 100_000

    def make(name):
        b = ptir.Builder(name)
        x = b.parameter("x", "f32[4]")
        total = x
        for n in range(ops // 4):
            total = b.add(b.neg(b.neg(total)), b.mul(x, float(n % 7)))
        return ptir.Program([b.finish(total)])

    programs = [make("f"), make("g")]

    def in_turn():
        for program in programs:
            rewrite.simplify(program)

    def at_once():
        threads = [threading.Thread(target=rewrite.simplify, args=(program,)) for program in programs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    emit("threads", best(in_turn, 5) / best(at_once, 5), "×", ops)


def package_rows():
    if not OURS:
        return
    import sapwood

    command = [sys.executable, "-c", "import sapwood"]
    bare = [sys.executable, "-c", ""]
    seconds = best(lambda: subprocess.check_call(command), 5) - best(lambda: subprocess.check_call(bare), 5)
    emit("import", seconds * 1e3, "ms", 1)
    files = [path for path in Path(sapwood.__file__).parent.rglob("*") if path.is_file()]
    emit("size", sum(path.stat().st_size for path in files) / 1e6, "MB", 1)


GROUPS = {
    "tree": tree_rows,
    "hooks": hook_rows,
    "call": call_row,
    "ir": ir_row,
    "visit": visit_rows,
    "rewrite": rewrite_row,
    "threads": threads_row,
    "package": package_rows,
}


def main(arguments):
    if not arguments:
        side = ["--ours"] if OURS else []
        # Each group runs in a separate process, so that none depends on the heap of another one.
        return max(subprocess.call([sys.executable, __file__, *side, group]) for group in GROUPS)
    for group in arguments:
        if group not in GROUPS:
            print(f"unknown group {group!r}; one of {', '.join(GROUPS)}", file=sys.stderr)
            return 2
        GROUPS[group]()
    return 0


if __name__ == "__main__":
    sys.exit(main([argument for argument in sys.argv[1:] if argument != "--ours"]))
