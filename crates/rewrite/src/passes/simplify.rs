//! `simplify`: canonicalization, CSE and DCE in one worklist, to their common fixpoint.

use super::greedy::{BasePatterns, GREEDY_OPTIONS, GreedyPass};
use crate::greedy::GreedyConfig;
use crate::pattern::FrozenPatternSet;
use crate::pipeline::{MakePass, PassInfo};

impl GreedyPass {
    /// Returns `simplify`, which applies these patterns and folds, and merges equal instructions along the way, until nothing is
    /// left to do.
    #[must_use]
    pub fn simplify(config: GreedyConfig, patterns: FrozenPatternSet) -> Self {
        let config = GreedyConfig { merge_equal: true, order_operands: true, ..config };
        Self::with_patterns(&INFO, config, patterns)
    }
}

/// Returns `simplify` with the shipped patterns.
impl Default for GreedyPass {
    fn default() -> Self {
        let mut pass = Self::new(&INFO, BasePatterns::Shipped);
        pass.config.merge_equal = true;
        pass.config.order_operands = true;
        pass
    }
}

pub(super) static INFO: PassInfo = PassInfo {
    name: "simplify",
    doc: "Canonicalizes, merges equal instructions and erases dead ones in one worklist, to their common fixpoint, and orders the operands of commutative ops.",
    options: &GREEDY_OPTIONS,
    make: MakePass::Plain(|options| GreedyPass::default().from_options(options)),
};
