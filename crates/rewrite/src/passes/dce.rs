//! `dce`: unused pure instructions go.

use sapwood_ptir::Program;

use super::{Outcome, Pass, PassContext, PassError, each_function};
use crate::dce::eliminate_dead_code_with;
use crate::pipeline::PassInfo;
use crate::trace::told;

/// Erases unused pure instructions in one walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct DcePass;

impl Pass for DcePass {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        each_function(program, cx, |f, mut listener| {
            Ok(Outcome::counted("erased", eliminate_dead_code_with(f, told(&mut listener))))
        })
    }
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "dce",
    doc: "Erases unused pure instructions, and those that only they used.",
    options: &[],
    make: |_| Ok(Box::new(DcePass)),
};
