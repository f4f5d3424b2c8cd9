//! `simplify`: canonicalization, CSE and DCE in one worklist, to their common fixpoint.

use std::sync::Arc;

use sapwood_ptir::Function;

use super::canonicalize::{
    OPTIONS, non_default_options, read_options, run_greedy, shipped_patterns,
};
use super::each_function::{FunctionResult, function_pass};
use crate::greedy::GreedyConfig;
use crate::pass_trace::PassListener;
use crate::pattern::FrozenPatternSet;
use crate::pipeline::PassInfo;

/// A pass that applies patterns and folds, and merges equal instructions along the way, until nothing is left to do.
pub struct SimplifyPass {
    /// The configuration of the greedy driver.
    pub config: GreedyConfig,
    /// The patterns.
    pub patterns: Arc<FrozenPatternSet>,
    only: Vec<String>,
}

impl SimplifyPass {
    /// Returns the pass with other patterns than the shipped ones.
    #[must_use]
    pub fn new(config: GreedyConfig, patterns: FrozenPatternSet) -> Self {
        let config = GreedyConfig { merge_equal: true, ..config };
        Self { config, patterns: Arc::new(patterns), only: Vec::new() }
    }
}

impl Default for SimplifyPass {
    fn default() -> Self {
        let config = GreedyConfig { merge_equal: true, ..GreedyConfig::default() };
        Self { config, patterns: shipped_patterns(), only: Vec::new() }
    }
}

function_pass!(SimplifyPass, simplify, options = options);

fn options(pass: &SimplifyPass) -> Vec<(&'static str, String)> {
    non_default_options(&pass.config, &pass.only)
}

fn simplify(pass: &SimplifyPass, f: &mut Function, listener: PassListener<'_>) -> FunctionResult {
    run_greedy(f, &pass.patterns, &pass.config, listener)
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "simplify",
    doc: "Canonicalizes, merges equal instructions and erases dead ones in one worklist, to their common fixpoint.",
    options: OPTIONS,
    make: |options| {
        let (config, patterns, only) = read_options(options)?;
        let config = GreedyConfig { merge_equal: true, ..config };
        Ok(Box::new(SimplifyPass { config, patterns, only }))
    },
};
