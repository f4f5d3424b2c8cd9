//! `cse`: equal instructions become one.

use sapwood_ptir::Function;

use super::each::{Outcome, Worked, function_pass};
use crate::cse::eliminate_common_subexpressions_with;
use crate::pass_trace::{PassListener, as_listener};
use crate::pipeline::PassInfo;

/// Merges equal pure instructions, those with regions included.
#[derive(Clone, Copy, Debug, Default)]
pub struct CsePass;

function_pass!(CsePass, merge);

fn merge(_: &CsePass, f: &mut Function, mut listener: PassListener<'_>) -> Worked {
    Ok(Outcome::counted(
        "merged",
        eliminate_common_subexpressions_with(f, as_listener(&mut listener)),
    ))
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "cse",
    doc: "Merges equal pure instructions; an outer one serves inner uses, never the reverse.",
    options: &[],
    make: |_| Ok(Box::new(CsePass)),
};
