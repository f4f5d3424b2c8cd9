//! Calls from Python; the peer is apache-tvm-ffi.

use super::BenchRow;
use super::PerformanceTarget::{AtLeast, AtMost, TimesFaster};

pub(super) fn rows() -> Vec<BenchRow> {
    bench_rows! { "python":
        "build/py_class" in "µs/node" [AtMost(2.0)]: "a node of a py_class, in a tree";
        "build/ir" in "µs/node" [AtMost(0.6)]: "a node of the front-end IR, an addition";
        "equal/tree" in "ns/node" [TimesFaster(10.0)]: "equal, two copies of a balanced tree of 2^20 - 1 nodes";
        "hash/tree" in "ns/node" [TimesFaster(10.0)]: "hash, the same tree, nothing cached";
        "equal/hooks" in "µs/node" [TimesFaster(2.0)]: "equal, a balanced tree of 2,047 nodes with hooks";
        "hash/hooks" in "µs/node" [TimesFaster(2.0)]: "hash, the same tree";
        "call" in "µs/call" [AtMost(0.5)]: "equal, two nodes with one int each";
        "visitor" in "×" [AtLeast(1.0)]: "a Visitor with a method for the leaves of a tree of 2^20 - 1 nodes: how much faster than ast.NodeVisitor";
        "mutator" in "×" [AtLeast(1.0)]: "a Mutator that replaces these leaves: how much faster than ast.NodeTransformer";
        "rewrite/pattern" in "µs/rewrite" [AtMost(5.0)]: "one rewrite by a pattern written in Python, x of -(-x), in a program with 10^4 of them";
        "threads" in "×" [AtLeast(1.6)]: "two threads simplify two programs of 10^5 ops: how much faster than one after the other";
        "import" in "ms" [AtMost(100.0)]: "import sapwood, beyond starting Python";
        "size" in "MB" [AtMost(30.0)]: "the installed package";
    }
}
