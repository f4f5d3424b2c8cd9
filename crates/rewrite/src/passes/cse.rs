//! `cse`: equal instructions become one.

use sapwood_ptir::Program;

use super::{Outcome, Pass, PassContext, PassError, each_function};
use crate::cse::eliminate_common_subexpressions_with;
use crate::pipeline::PassInfo;
use crate::trace::told;

/// Merges equal pure instructions, those with regions included.
#[derive(Clone, Copy, Debug, Default)]
pub struct CsePass;

impl Pass for CsePass {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        each_function(program, cx, |f, mut listener| {
            Ok(Outcome::counted(
                "merged",
                eliminate_common_subexpressions_with(f, told(&mut listener)),
            ))
        })
    }
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "cse",
    doc: "Merges equal pure instructions; an outer one serves inner uses, never the reverse.",
    options: &[],
    make: |_| Ok(Box::new(CsePass)),
};
