//! `cse`: merges equal instructions.

use sapwood_ptir::Function;

use super::each_function::{FunctionOutcome, FunctionResult, function_pass};
use crate::cse::eliminate_common_subexpressions_with;
use crate::pass_trace::{PassListener, as_listener};
use crate::pipeline::{MakePass, PassInfo};

/// A pass that merges equal pure instructions, including those with regions.
#[derive(Clone, Copy, Debug, Default)]
pub struct CsePass;

function_pass!(CsePass, merge_equal_insts);

fn merge_equal_insts(
    _: &CsePass,
    f: &mut Function,
    mut listener: PassListener<'_>,
) -> FunctionResult {
    Ok(FunctionOutcome::counted(
        "merged",
        eliminate_common_subexpressions_with(f, as_listener(&mut listener)),
    ))
}

pub(super) static INFO: PassInfo = PassInfo {
    name: "cse",
    doc: "Merges equal pure instructions; an outer one replaces inner ones, never the reverse.",
    options: &[],
    make: MakePass::Plain(|options| options.fill(CsePass)),
};
