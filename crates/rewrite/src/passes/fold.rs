//! `fold`: constants are computed.

use std::sync::{Arc, OnceLock};

use sapwood_ptir::Function;

use super::canonicalize::run;
use super::each::{Worked, function_pass};
use crate::greedy::GreedyConfig;
use crate::pass_trace::PassListener;
use crate::pattern::{FrozenPatternSet, PatternSet};
use crate::pipeline::{OptionInfo, PassInfo};

/// Evaluates pure instructions whose operands are constants, and nothing else.
#[derive(Clone, Debug, Default)]
pub struct FoldPass {
    /// How the driver runs.
    pub config: GreedyConfig,
}

fn nothing() -> &'static Arc<FrozenPatternSet> {
    static SET: OnceLock<Arc<FrozenPatternSet>> = OnceLock::new();
    SET.get_or_init(|| Arc::new(PatternSet::new().freeze()))
}

function_pass!(FoldPass, fold, options = stated);

fn stated(pass: &FoldPass) -> Vec<(&'static str, String)> {
    let elements = pass.config.fold_limits.max_elements;
    if elements == GreedyConfig::default().fold_limits.max_elements {
        return Vec::new();
    }
    vec![("limit", elements.to_string())]
}

fn fold(pass: &FoldPass, f: &mut Function, listener: PassListener<'_>) -> Worked {
    run(f, nothing(), &pass.config, listener)
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
