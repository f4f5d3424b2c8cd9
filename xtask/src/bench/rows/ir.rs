//! The front-end IR; no peer.

use super::BenchRow;
use super::PerformanceTarget::{AtLeast, AtMost};

pub(super) fn rows() -> Vec<BenchRow> {
    bench_rows! { "ir":
        "equal/tree" in "ns/node" [AtMost(25.0)]: "equal, two copies of a balanced tree of 2^20 - 1 additions and constants";
        "hash/tree" in "ns/node" [AtMost(25.0)]: "hash, the same tree, nothing cached";
        "equal/statements" in "ns/node" [AtMost(25.0)]: "equal, two copies of 250,000 assignments of sums, each over the variable before";
        "hash/statements" in "ns/node" [AtMost(25.0)]: "hash, the same program, nothing cached";
        "mismatch/first" in "µs" [AtMost(100.0)]: "first mismatch at the root of two trees of 2^20 nodes";
        "chain" in "depth" [AtLeast(1e6)]: "equal and hash, the deepest chain that works";
        "print" in "MB/s" [AtLeast(100.0)]: "print, 100,000 assignments";
        "parse" in "MB/s" [AtLeast(50.0)]: "parse, the same text";
    }
}
