//! `simplify`: canonicalization, CSE and DCE in one worklist, to their common fixpoint.

use std::sync::Arc;

use sapwood_ptir::Program;

use super::canonicalize::{OPTIONS, read, run, shipped, stated};
use super::{Pass, PassContext, PassError, each_function};
use crate::greedy::GreedyConfig;
use crate::pattern::FrozenPatternSet;
use crate::pipeline::PassInfo;

/// Applies patterns and folds and merges equal instructions as they appear, until nothing is left to do.
pub struct SimplifyPass {
    /// How the driver runs.
    pub config: GreedyConfig,
    /// The patterns.
    pub patterns: Arc<FrozenPatternSet>,
    only: Vec<String>,
}

impl SimplifyPass {
    /// The pass with patterns of your own.
    #[must_use]
    pub fn new(config: GreedyConfig, patterns: FrozenPatternSet) -> Self {
        let config = GreedyConfig { merge_equal: true, ..config };
        Self { config, patterns: Arc::new(patterns), only: Vec::new() }
    }
}

impl Default for SimplifyPass {
    fn default() -> Self {
        let config = GreedyConfig { merge_equal: true, ..GreedyConfig::default() };
        Self { config, patterns: shipped(), only: Vec::new() }
    }
}

impl Pass for SimplifyPass {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        stated(&self.config, &self.only)
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        each_function(program, cx, |f, listener| run(f, &self.patterns, &self.config, listener))
    }
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "simplify",
    doc: "Canonicalizes, merges equal instructions and erases dead ones in one worklist, to their common fixpoint.",
    options: OPTIONS,
    make: |options| {
        let (config, patterns, only) = read(options)?;
        let config = GreedyConfig { merge_equal: true, ..config };
        Ok(Box::new(SimplifyPass { config, patterns, only }))
    },
};
