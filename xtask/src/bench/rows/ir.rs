//! The front-end IR; no peer.

use super::BenchRow;
use super::PerformanceTarget::{AtLeast, AtMost};

pub(super) fn rows() -> Vec<BenchRow> {
    let row = |name, what, unit, reach: &[_]| BenchRow::new("ir", name, what, unit, reach);
    vec![
        row(
            "equal/tree",
            "equal, two copies of a balanced tree of 2^20 - 1 additions and constants",
            "ns/node",
            &[AtMost(25.0)],
        ),
        row("hash/tree", "hash, the same tree, nothing cached", "ns/node", &[AtMost(25.0)]),
        row(
            "equal/statements",
            "equal, two copies of 250,000 assignments of sums, each over the variable before",
            "ns/node",
            &[AtMost(25.0)],
        ),
        row(
            "hash/statements",
            "hash, the same program, nothing cached",
            "ns/node",
            &[AtMost(25.0)],
        ),
        row(
            "mismatch/first",
            "first mismatch at the root of two trees of 2^20 nodes",
            "µs",
            &[AtMost(100.0)],
        ),
        row("chain", "equal and hash, the deepest chain that works", "depth", &[AtLeast(1e6)]),
        row("print", "print, 100,000 assignments", "MB/s", &[AtLeast(100.0)]),
        row("parse", "parse, the same text", "MB/s", &[AtLeast(50.0)]),
    ]
}
