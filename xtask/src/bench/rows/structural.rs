//! Structural comparison; the peer is apache-tvm-ffi.

use super::BenchRow;
use super::PerformanceTarget::{AtLeast, AtMost, TimesFaster};

pub(super) fn rows() -> Vec<BenchRow> {
    let row = |name, what, unit, reach: &[_]| BenchRow::new("structural", name, what, unit, reach);
    vec![
        row(
            "equal/tree",
            "equal, two copies of a balanced tree of 2^20 - 1 nodes, built depth first",
            "ns/node",
            &[AtMost(25.0), TimesFaster(10.0)],
        ),
        row(
            "hash/tree",
            "hash, the same tree, nothing cached",
            "ns/node",
            &[AtMost(25.0), TimesFaster(10.0)],
        ),
        row(
            "equal/tree-by-levels",
            "equal, the same tree built level by level",
            "ns/node",
            &[AtMost(25.0)],
        ),
        row(
            "hash/tree-by-levels",
            "hash, the same tree built level by level",
            "ns/node",
            &[AtMost(25.0)],
        ),
        row(
            "equal/dag",
            "equal, the same tree of kind dag, unshared copies",
            "ns/node",
            &[AtMost(60.0)],
        ),
        row(
            "equal/lambda",
            "equal, lambda of 10^5 parameters, each used once",
            "ns/node",
            &[AtMost(40.0)],
        ),
        row(
            "equal/ladder",
            "equal, tree ladder: 1000 levels, 2^1000 paths (the peer: 22 levels)",
            "ms",
            &[AtMost(1.0)],
        ),
        row("equal/chain", "equal, the deepest chain that works", "depth", &[AtLeast(1e6)]),
        row("hash/chain", "hash, the deepest chain that works", "depth", &[AtLeast(1e6)]),
    ]
}
