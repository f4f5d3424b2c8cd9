//! `optimize`: rewrites that lower the cost of a program.

use super::greedy::{BasePatterns, GREEDY_OPTIONS, GreedyPass};
use crate::pass_options;
use crate::pipeline::{MakePass, OptionInfo, PassInfo};

impl GreedyPass {
    /// Returns `optimize`, which applies laws that lower the cost of a program: operations, bytes or peak memory.
    #[must_use]
    pub fn optimize() -> Self {
        let mut pass = Self::new(&INFO, BasePatterns::Optimization);
        // The exact form of a law would hide a cheaper one.
        pass.config.float_stages = false;
        pass
    }
}

const OPTIONS: [OptionInfo; GREEDY_OPTIONS.len() + 1] = {
    let [cost] = *pass_options!(GreedyPass {
        "cost": config.goals, "The costs to lower: `flops`, `bytes` or `memory`, or several separated by `|`. None of them rises; the default is `flops`.";
    });
    let mut options = [cost; GREEDY_OPTIONS.len() + 1];
    let mut n = 0;
    while n < GREEDY_OPTIONS.len() {
        options[n] = GREEDY_OPTIONS[n];
        n += 1;
    }
    options
};

pub(super) static INFO: PassInfo = PassInfo {
    name: "optimize",
    doc: "Lowers the number of operations, the bytes moved or the memory: takes products in the cheapest order, reduces operands instead of products, uses the structure of operands, and turns loops into operations on whole tensors. Most laws need `float=fast`.",
    options: &OPTIONS,
    make: MakePass::Plain(|options| GreedyPass::optimize().from_options(options)),
};
