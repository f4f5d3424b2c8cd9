//! The command as whole processes; the peer is mlir-opt.

use super::BenchRow;
use super::PerformanceTarget::{AtMost, TimesFaster};
use super::rewrite::KINDS;

pub(super) fn rows() -> Vec<BenchRow> {
    let mut rows = vec![
        BenchRow::new("command", "start-up", "from the call to the version", "ms", &[AtMost(10.0)]),
        BenchRow::new(
            "command",
            "start-up/opt",
            "from the call to a file of two instructions, simplified",
            "ms",
            &[AtMost(10.0)],
        ),
    ];
    rows.extend(KINDS.iter().map(|(kind, of)| {
        BenchRow::new(
            "command",
            format!("opt/{kind}/1e5"),
            format!("file to file through opt (the peer: -canonicalize -cse), {of}"),
            "ms",
            &[TimesFaster(5.0)],
        )
    }));
    rows
}
