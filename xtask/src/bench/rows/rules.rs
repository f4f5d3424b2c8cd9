//! Rules; the peer is mlir-opt's PDL, where it can say the same.

use super::PerformanceTarget::{AtMost, TimesFaster};
use super::{BenchRow, SIZES};

pub(super) fn rows() -> Vec<BenchRow> {
    let row =
        |name: &str, what: &str, unit, reach: &[_]| BenchRow::new("rules", name, what, unit, reach);
    let mut rows = vec![
        row("find/hundred/1e4", "100 patterns, 1e4 ops in blocks", "ms", &[]),
        row("find/hundred/1e5", "100 patterns, 1e5 ops in blocks", "ms", &[]),
        row("find/hundred/1e6", "100 patterns, 1e6 ops in blocks", "ms", &[AtMost(2000.0)]),
        row("exponent/find/hundred", "how the time grows with the ops", "power", &[AtMost(1.1)]),
        row("late/first", "8 ops, 1e5 roots, all fail at the first", "ms", &[]),
        row("late/last", "8 ops, 1e5 roots, all fail at the last", "ms", &[]),
        row(
            "late/last-to-first",
            "what failing at the last of 8 ops costs",
            "times",
            &[AtMost(12.0)],
        ),
    ];
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
