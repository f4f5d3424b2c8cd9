//! `fixpoint(…)`: repeats passes until none changes anything.

use std::sync::Arc;

use sapwood_ptir::Program;
use sapwood_types::counted;

use super::{Pass, PassContext, PassError};
use crate::pass_options;
use crate::pipeline::{MakePass, PassInfo};

/// A pass that runs passes one after the other, repeatedly, until none changes anything.
pub struct FixpointPass {
    /// The passes.
    pub passes: Vec<Arc<dyn Pass>>,
    /// The maximum number of rounds.
    pub max_rounds: usize,
}

impl FixpointPass {
    /// The default of `max_rounds`.
    pub const MAX_ROUNDS: usize = 1000;

    pub(crate) const NAME: &'static str = "fixpoint";

    /// Returns a pass that runs these passes to their fixpoint.
    #[must_use]
    pub fn new(passes: Vec<Arc<dyn Pass>>) -> Self {
        Self { passes, max_rounds: Self::MAX_ROUNDS }
    }
}

impl Pass for FixpointPass {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn reports_changes(&self) -> bool {
        self.inner().iter().all(|pass| pass.reports_changes())
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        INFO.options_of(self, &Self::new(Vec::new()))
    }

    fn inner(&self) -> &[Arc<dyn Pass>] {
        &self.passes
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        let mut changed = false;
        for round in 0..self.max_rounds {
            let mut round_changed = false;
            for pass in &self.passes {
                cx.pass_started(&**pass, program);
                let result = pass.run_on_program(program, cx);
                cx.pass_ended(program, result.as_ref().copied());
                round_changed |= result?;
            }
            cx.count("rounds", 1);
            changed |= round_changed;
            if !round_changed {
                return Ok(changed);
            }
            if round + 1 == self.max_rounds {
                let names: Vec<&str> = self.passes.iter().map(|p| p.name()).collect();
                cx.warnings.push(format!(
                    "fixpoint({}) did not converge in {}",
                    names.join(","),
                    counted(self.max_rounds, "round")
                ));
            }
        }
        Ok(changed)
    }
}

pub(super) static INFO: PassInfo = PassInfo {
    name: FixpointPass::NAME,
    doc: "Repeats the passes in its parentheses until none changes anything.",
    options: pass_options!(FixpointPass {
        "max-rounds": max_rounds, "The maximum number of rounds."
    }),
    make: MakePass::Plain(|options| {
        options.refuse("", "fixpoint needs passes: `fixpoint(canonicalize,cse)`")
    }),
};
