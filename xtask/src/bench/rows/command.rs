//! The command as whole processes; the peer is mlir-opt.

use super::Reach::{AtMost, TimesFaster};
use super::Row;
use super::rewrite::KINDS;

pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![
        Row::new("command", "start-up", "from the call to the version", "ms", &[AtMost(10.0)]),
        Row::new(
            "command",
            "start-up/opt",
            "from the call to a file of two instructions, simplified",
            "ms",
            &[AtMost(10.0)],
        ),
    ];
    rows.extend(KINDS.iter().map(|(kind, of)| {
        Row::new(
            "command",
            format!("opt/{kind}/1e5"),
            format!("file to file through opt (the peer: -canonicalize -cse), {of}"),
            "ms",
            &[TimesFaster(5.0)],
        )
    }));
    rows
}
