//! StableHLO programs that JAX printed; the peer is jaxlib.

use super::Reach::{AtMost, TimesFaster};
use super::Row;

const PROGRAMS: [&str; 2] = ["transformer", "train_step"];

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for program in PROGRAMS {
        let mut row = |verb: &str, does: &str, unit, reach: &[_]| {
            let name = format!("{verb}/{program}");
            rows.push(Row::new("stablehlo", name, format!("{does}, {program}"), unit, reach));
        };
        row("parse", "parse and verify", "ns/node", &[TimesFaster(10.0)]);
        row("simplify", "inline, canonicalize and CSE", "ns/node", &[TimesFaster(5.0)]);
        row("print", "print", "ns/node", &[TimesFaster(10.0)]);
        row("left", "ops left that are no constants", "ops", &[TimesFaster(1.0)]);
    }
    rows.push(Row::new(
        "stablehlo",
        "run/mlp",
        "run an MLP of 3 layers, beside the reference interpreter",
        "ms",
        &[TimesFaster(100.0), AtMost(10.0)],
    ));
    rows
}
