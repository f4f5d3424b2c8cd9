//! `dce`: unused pure instructions go.

use sapwood_ptir::Program;

use super::{Outcome, Pass, PassContext, PassError, each_function};
use crate::dce::eliminate_dead_code;
use crate::pipeline::PassInfo;

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
        each_function(program, cx, |f| {
            let erased = eliminate_dead_code(f);
            Ok(Outcome { changed: erased > 0, counters: vec![("erased", erased)], greedy: None })
        })
    }
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "dce",
    doc: "Erases unused pure instructions, and those that only they used.",
    options: &[],
    make: |_| Ok(Box::new(DcePass)),
};
