//! Rewriting; the peer is mlir-opt.

use super::PerformanceTarget::{AtMost, TimesFaster, TimesPeer};
use super::{BenchRow, ProgramAction, rows_of_programs};

/// The kinds of programs, as `benches/src/programs.rs` names them.
pub(super) const KINDS: [(&str, &str); 8] = [
    ("blocks", "blocks as transformers have them"),
    ("nothing", "nothing to do"),
    ("identities", "a chain with x + 0 and x * 1"),
    ("shapes", "pairs of transposes and of reshapes, and casts to the same type"),
    ("duplicates", "nine of ten ops are duplicates"),
    ("dead", "99 of 100 ops are dead"),
    ("constants", "a tree over constants"),
    ("sums", "x + c1 + c2 + …"),
];

const ACTIONS: [ProgramAction<'_>; 5] = [
    ("canonicalize", "canonicalize and verify", "ns/node", &[TimesFaster(5.0)]),
    ("cse", "cse and verify", "ns/node", &[TimesFaster(5.0)]),
    (
        "simplify",
        "simplify and verify (the peer: canonicalize, cse)",
        "ns/node",
        &[TimesFaster(5.0)],
    ),
    ("ops", "ops left after it, no constants or broadcasts", "ops", &[TimesPeer(1.0)]),
    ("memory", "peak memory of reading and simplifying", "bytes/node", &[TimesPeer(0.5)]),
];

pub(super) fn rows() -> Vec<BenchRow> {
    let mut rows = Vec::new();
    for (kind, of) in KINDS {
        rows.extend(rows_of_programs("rewrite", (kind, of), &ACTIONS));
        let mut exponent = |verb: &str| {
            rows.push(BenchRow::new(
                "rewrite",
                format!("exponent/{verb}/{kind}"),
                format!("how the time of {verb} grows with the ops, {of}"),
                "power",
                &[AtMost(1.1)],
            ));
        };
        exponent("canonicalize");
        exponent("cse");
        exponent("simplify");
    }
    rows.push(BenchRow::new(
        "rewrite",
        "threads",
        "simplify 64 functions of 10^4 ops with two threads, beside one",
        "times",
        &[super::PerformanceTarget::AtLeast(1.6)],
    ));
    rows
}
