//! `fold`: constants are computed.

use std::sync::OnceLock;

use sapwood_ptir::Program;

use super::canonicalize::run;
use super::{Pass, PassContext, PassError, each_function};
use crate::greedy::GreedyConfig;
use crate::pattern::{FrozenPatternSet, PatternSet};
use crate::pipeline::{OptionInfo, PassInfo};

/// Evaluates pure instructions whose operands are constants, and nothing else.
#[derive(Clone, Debug, Default)]
pub struct FoldPass {
    /// How the driver runs.
    pub config: GreedyConfig,
}

fn nothing() -> &'static FrozenPatternSet {
    static SET: OnceLock<FrozenPatternSet> = OnceLock::new();
    SET.get_or_init(|| PatternSet::new().freeze())
}

impl Pass for FoldPass {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        let elements = self.config.fold_limits.max_elements;
        if elements == GreedyConfig::default().fold_limits.max_elements {
            return Vec::new();
        }
        vec![("limit", elements.to_string())]
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        each_function(program, cx, |f, listener| run(f, nothing(), &self.config, listener))
    }
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "fold",
    doc: "Evaluates pure instructions whose operands are constants.",
    options: &[OptionInfo { name: "limit", doc: "How many elements a folded constant may have." }],
    make: |options| {
        let mut config = GreedyConfig { verify_input: false, ..GreedyConfig::default() };
        options.take("limit", &mut config.fold_limits.max_elements)?;
        Ok(Box::new(FoldPass { config }))
    },
};
