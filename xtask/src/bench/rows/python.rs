//! Calls from Python; the peer is apache-tvm-ffi.

use super::BenchRow;
use super::PerformanceTarget::{AtLeast, AtMost, TimesFaster};

pub(super) fn rows() -> Vec<BenchRow> {
    let row = |name, what, unit, reach: &[_]| BenchRow::new("python", name, what, unit, reach);
    vec![
        row("build/py_class", "a node of a py_class, in a tree", "µs/node", &[AtMost(2.0)]),
        row("build/ir", "a node of the front-end IR, an addition", "µs/node", &[AtMost(0.6)]),
        row(
            "equal/tree",
            "equal, two copies of a balanced tree of 2^20 - 1 nodes",
            "ns/node",
            &[TimesFaster(10.0)],
        ),
        row("hash/tree", "hash, the same tree, nothing cached", "ns/node", &[TimesFaster(10.0)]),
        row(
            "equal/hooks",
            "equal, a balanced tree of 2,047 nodes with hooks",
            "µs/node",
            &[TimesFaster(2.0)],
        ),
        row("hash/hooks", "hash, the same tree", "µs/node", &[TimesFaster(2.0)]),
        row("call", "equal, two nodes with one int each", "µs/call", &[AtMost(0.5)]),
        row(
            "rewrite/pattern",
            "one rewrite by a pattern written in Python, x of -(-x), in a program with 10^4 of them",
            "µs/rewrite",
            &[AtMost(5.0)],
        ),
        row(
            "threads",
            "two threads simplify two programs of 10^5 ops: how much faster than one after the other",
            "×",
            &[AtLeast(1.6)],
        ),
        row("import", "import sapwood, beyond starting Python", "ms", &[AtMost(100.0)]),
        row("size", "the installed package", "MB", &[AtMost(30.0)]),
    ]
}
