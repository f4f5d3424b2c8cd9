//! `optimize`: rewrites that lower the number of operations.

use super::greedy::{BasePatterns, GREEDY_OPTIONS, GreedyPass};
use crate::pipeline::{MakePass, PassInfo};

impl GreedyPass {
    /// Returns `optimize`, which applies laws that lower the number of operations of a program.
    #[must_use]
    pub fn optimize() -> Self {
        Self::new(&INFO, BasePatterns::Optimization)
    }
}

pub(super) static INFO: PassInfo = PassInfo {
    name: "optimize",
    doc: "Lowers the number of operations: takes products in the cheapest order, and reduces operands instead of products. Most laws need `float=fast`.",
    options: &GREEDY_OPTIONS,
    make: MakePass::Plain(|options| GreedyPass::optimize().from_options(options)),
};
