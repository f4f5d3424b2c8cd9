//! `simplify`: canonicalization, CSE and DCE in one worklist, to their common fixpoint.

use std::sync::Arc;

use sapwood_ptir::Function;

use super::canonicalize::{OPTIONS, read, run, shipped, stated};
use super::each::{Worked, function_pass};
use crate::greedy::GreedyConfig;
use crate::pass_trace::PassListener;
use crate::pattern::FrozenPatternSet;
use crate::pipeline::PassInfo;

/// Applies patterns and folds, and merges equal instructions along the way, until nothing is left to do.
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

function_pass!(SimplifyPass, simplify, options = options);

fn options(pass: &SimplifyPass) -> Vec<(&'static str, String)> {
    stated(&pass.config, &pass.only)
}

fn simplify(pass: &SimplifyPass, f: &mut Function, listener: PassListener<'_>) -> Worked {
    run(f, &pass.patterns, &pass.config, listener)
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
