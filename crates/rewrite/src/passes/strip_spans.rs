//! `strip-spans`: where things were written is forgotten.

use sapwood_ptir::{InstId, Program};
use sapwood_types::Span;

use super::{Outcome, Pass, PassContext, PassError, each_function};
use crate::pipeline::PassInfo;

/// Forgets the spans of functions and instructions.
#[derive(Clone, Copy, Debug, Default)]
pub struct StripSpansPass;

impl Pass for StripSpansPass {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        each_function(program, cx, |f, _| {
            let known: Vec<InstId> = f.walk().filter(|&i| !f.inst_span(i).is_unknown()).collect();
            let changed = !known.is_empty() || !f.span().is_unknown();
            for &inst in &known {
                f.set_inst_span(inst, Span::unknown());
            }
            f.set_span(Span::unknown());
            Ok(Outcome { changed, counters: vec![("stripped", known.len())], greedy: None })
        })
    }
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "strip-spans",
    doc: "Forgets where functions and instructions were written.",
    options: &[],
    make: |_| Ok(Box::new(StripSpansPass)),
};
