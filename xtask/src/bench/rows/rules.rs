//! Rules; the peer is mlir-opt's PDL, where it can say the same.

use super::PerformanceTarget::{AtMost, TimesFaster};
use super::{BenchRow, SIZES};

pub(super) fn rows() -> Vec<BenchRow> {
    let mut rows = bench_rows! { "rules":
        "find/hundred/1e4" in "ms" []: "100 patterns, 1e4 ops in blocks";
        "find/hundred/1e5" in "ms" []: "100 patterns, 1e5 ops in blocks";
        "find/hundred/1e6" in "ms" [AtMost(2000.0)]: "100 patterns, 1e6 ops in blocks";
        "exponent/find/hundred" in "power" [AtMost(1.1)]: "how the time grows with the ops";
        "late/first" in "ms" []: "8 ops, 1e5 roots, all fail at the first";
        "late/last" in "ms" []: "8 ops, 1e5 roots, all fail at the last";
        "late/last-to-first" in "times" [AtMost(12.0)]: "what failing at the last of 8 ops costs";
        "open/plain" in "ms" []: "100 patterns of rules, 1e6 ops in blocks";
        "open/alternatives" in "ms" []: "the same with 3 alternatives and look-through";
        "open/alternatives-to-plain" in "times" [AtMost(3.0)]: "what 3 alternatives and look-through cost";
        "exponent/open/fan-out" in "power" [AtMost(1.1)]: "how the steps grow with the users of a value";
        "exponent/open/depth" in "power" [AtMost(1.1)]: "how the steps grow with the length of a chain";
    };
    for size in SIZES {
        rows.push(BenchRow::new(
            "rules",
            format!("find/one/{size}"),
            format!("mul(add(x, y), z) in a chain of {size} ops"),
            "ns/node",
            &[TimesFaster(1.0)],
        ));
    }
    rows
}
