//! `dce`: unused pure instructions go.

use sapwood_ptir::Function;

use super::each::{Outcome, Worked, function_pass};
use crate::dce::eliminate_dead_code_with;
use crate::pass_trace::{PassListener, as_listener};
use crate::pipeline::PassInfo;

/// Erases unused pure instructions in one walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct DcePass;

function_pass!(DcePass, erase);

fn erase(_: &DcePass, f: &mut Function, mut listener: PassListener<'_>) -> Worked {
    Ok(Outcome::counted("erased", eliminate_dead_code_with(f, as_listener(&mut listener))))
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "dce",
    doc: "Erases unused pure instructions, and those that only they used.",
    options: &[],
    make: |_| Ok(Box::new(DcePass)),
};
