//! Structural comparison; the peer is apache-tvm-ffi.

use super::BenchRow;
use super::PerformanceTarget::{AtLeast, AtMost, TimesFaster};

pub(super) fn rows() -> Vec<BenchRow> {
    bench_rows! { "structural":
        "equal/tree" in "ns/node" [AtMost(25.0), TimesFaster(10.0)]: "equal, two copies of a balanced tree of 2^20 - 1 nodes, built depth first";
        "hash/tree" in "ns/node" [AtMost(25.0), TimesFaster(10.0)]: "hash, the same tree, nothing cached";
        "equal/tree-by-levels" in "ns/node" [AtMost(25.0)]: "equal, the same tree built level by level";
        "hash/tree-by-levels" in "ns/node" [AtMost(25.0)]: "hash, the same tree built level by level";
        "equal/dag" in "ns/node" [AtMost(60.0)]: "equal, the same tree of kind dag, unshared copies";
        "equal/lambda" in "ns/node" [AtMost(40.0)]: "equal, lambda of 10^5 parameters, each used once";
        "equal/ladder" in "ms" [AtMost(1.0)]: "equal, tree ladder: 1000 levels, 2^1000 paths (the peer: 22 levels)";
        "equal/chain" in "depth" [AtLeast(1e6)]: "equal, the deepest chain that works";
        "hash/chain" in "depth" [AtLeast(1e6)]: "hash, the deepest chain that works";
    }
}
