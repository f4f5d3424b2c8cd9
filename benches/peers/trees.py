"""The classes, the trees and the clock of `structural.py` and `python.py`: of sapwood with `--ours`, else of apache-tvm-ffi."""

import sys
import time

OURS = "--ours" in sys.argv

if OURS:
    from sapwood.structural import Object, py_class, structural_equal, structural_hash
else:
    from tvm_ffi import Object, structural_equal, structural_hash
    from tvm_ffi.dataclasses import py_class

__all__ = [
    "LEVELS", "OURS", "Leaf", "Object", "Pair", "best", "define_tree", "expect", "py_class", "structural_equal", "structural_hash", "tree",
]

LEVELS = 20  # a complete binary tree of 2^20 - 1 nodes


def define_tree(prefix, kind):
    """Returns two classes of nodes of a kind: leaves with a number, and pairs."""

    @py_class(f"bench.{prefix}Leaf", structural_eq=kind)
    class Leaf(Object):
        value: int

    @py_class(f"bench.{prefix}Pair", structural_eq=kind)
    class Pair(Object):
        left: Object
        right: Object

    return Leaf, Pair


Leaf, Pair = define_tree("", "tree")


def tree(leaf, pair, levels, first=0):
    """Returns a complete binary tree, built depth first, with leaves numbered from the left."""
    if levels == 1:
        return leaf(first)
    left = tree(leaf, pair, levels - 1, first)
    return pair(left, tree(leaf, pair, levels - 1, first + (1 << (levels - 2))))


def best(work, repeats=3):
    """Returns the shortest of a few times in seconds."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def expect(truth):
    """Fails if a comparison of two equal terms returned false."""
    if not truth:
        raise AssertionError("two equal terms are called different")
