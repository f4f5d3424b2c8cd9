//! PTIR's text, verifier and storage; the peer is mlir-opt.

use super::PerformanceTarget::{AtMost, TimesFaster};
use super::{BenchRow, SIZES};

const KINDS: [(&str, &str); 2] =
    [("chain", "a chain of elementwise ops"), ("blocks", "blocks as transformers have them")];

pub(super) fn rows() -> Vec<BenchRow> {
    let mut rows = Vec::new();
    for (kind, of) in KINDS {
        for size in SIZES {
            let mut row = |verb: &str, does: &str, unit, reach: &[_]| {
                let action = (verb, does);
                rows.push(BenchRow::of_programs("ptir", action, (kind, of), size, unit, reach));
            };
            row("parse", "parse and verify", "ns/node", &[TimesFaster(5.0)]);
            row("read", "parse without verifying", "ns/node", &[]);
            row("print", "print", "ns/node", &[TimesFaster(5.0)]);
            row("verify", "verify", "ns/node", &[AtMost(200.0)]);
            row("memory", "memory", "bytes/node", &[AtMost(250.0)]);
        }
    }
    rows
}
