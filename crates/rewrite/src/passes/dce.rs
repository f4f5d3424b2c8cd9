//! `dce`: erases unused pure instructions.

use sapwood_ptir::Function;

use super::each_function::{FunctionOutcome, FunctionResult, function_pass};
use crate::dce::eliminate_dead_code_with;
use crate::pass_trace::{PassListener, as_listener};
use crate::pipeline::{MakePass, PassInfo};

/// A pass that erases unused pure instructions in one walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct DcePass;

function_pass!(DcePass, erase_dead_insts);

fn erase_dead_insts(
    _: &DcePass,
    f: &mut Function,
    mut listener: PassListener<'_>,
) -> FunctionResult {
    Ok(FunctionOutcome::counted("erased", eliminate_dead_code_with(f, as_listener(&mut listener))))
}

pub(super) static INFO: PassInfo = PassInfo {
    name: "dce",
    doc: "Erases unused pure instructions, and those that only they used.",
    options: &[],
    make: MakePass::Plain(|options| options.fill(DcePass)),
};
