//! PTIR's text, verifier and storage; the peer is mlir-opt.

use super::PerformanceTarget::{AtMost, TimesFaster};
use super::{BenchRow, ProgramAction, rows_of_programs};

const KINDS: [(&str, &str); 2] =
    [("chain", "a chain of elementwise ops"), ("blocks", "blocks as transformers have them")];

const ACTIONS: [ProgramAction<'_>; 5] = [
    ("parse", "parse and verify", "ns/node", &[TimesFaster(5.0)]),
    ("read", "parse without verifying", "ns/node", &[]),
    ("print", "print", "ns/node", &[TimesFaster(5.0)]),
    ("verify", "verify", "ns/node", &[AtMost(200.0)]),
    ("memory", "memory", "bytes/node", &[AtMost(250.0)]),
];

pub(super) fn rows() -> Vec<BenchRow> {
    KINDS.into_iter().flat_map(|kind| rows_of_programs("ptir", kind, &ACTIONS)).collect()
}
