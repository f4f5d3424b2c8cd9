//! `canonicalize`: applies the patterns of the ops, and folding, to a fixpoint.

use super::greedy::{BasePatterns, GREEDY_OPTIONS, GreedyPass};
use crate::greedy::GreedyConfig;
use crate::pattern::FrozenPatternSet;
use crate::pipeline::{MakePass, PassInfo};

impl GreedyPass {
    /// Returns `canonicalize`, which applies these patterns and folds until nothing is left to do.
    #[must_use]
    pub fn canonicalize(config: GreedyConfig, patterns: FrozenPatternSet) -> Self {
        Self::with_patterns(&INFO, config, patterns)
    }
}

pub(super) static INFO: PassInfo = PassInfo {
    name: "canonicalize",
    doc: "Applies the canonicalizations of the ops and folds constants, until nothing is left to do.",
    options: &GREEDY_OPTIONS,
    make: MakePass::Plain(|options| {
        GreedyPass::new(&INFO, BasePatterns::Shipped).from_options(options)
    }),
};
