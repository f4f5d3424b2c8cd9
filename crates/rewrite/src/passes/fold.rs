//! `fold`: evaluates instructions on constants.

use super::greedy::{BasePatterns, GreedyPass};
use crate::pass_options;
use crate::pipeline::{MakePass, PassInfo};

impl GreedyPass {
    /// Returns `fold`, which evaluates pure instructions whose operands are constants, and does nothing else.
    #[must_use]
    pub fn fold() -> Self {
        Self::new(&INFO, BasePatterns::None)
    }
}

pub(super) static INFO: PassInfo = PassInfo {
    name: "fold",
    doc: "Evaluates pure instructions whose operands are constants.",
    options: pass_options!(GreedyPass {
        "limit": config.fold_limits.max_elements, "The maximum number of elements of a folded constant.";
    }),
    make: MakePass::Plain(|options| options.fill(GreedyPass::fold())),
};
