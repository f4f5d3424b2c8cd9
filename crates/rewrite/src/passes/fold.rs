//! `fold`: evaluates instructions on constants.

use std::sync::{Arc, OnceLock};

use sapwood_ptir::Function;

use super::canonicalize::run_greedy;
use super::each_function::{FunctionResult, function_pass};
use crate::greedy::GreedyConfig;
use crate::pass_trace::PassListener;
use crate::pattern::{FrozenPatternSet, PatternSet};
use crate::pipeline::{OptionInfo, PassInfo};

/// A pass that evaluates pure instructions whose operands are constants, and does nothing else.
#[derive(Clone, Debug, Default)]
pub struct FoldPass {
    /// The configuration of the greedy driver.
    pub config: GreedyConfig,
}

fn empty_pattern_set() -> &'static Arc<FrozenPatternSet> {
    static SET: OnceLock<Arc<FrozenPatternSet>> = OnceLock::new();
    SET.get_or_init(|| Arc::new(PatternSet::new().freeze()))
}

function_pass!(FoldPass, fold_constants, options = non_default_options);

fn non_default_options(pass: &FoldPass) -> Vec<(&'static str, String)> {
    let elements = pass.config.fold_limits.max_elements;
    if elements == GreedyConfig::default().fold_limits.max_elements {
        return Vec::new();
    }
    vec![("limit", elements.to_string())]
}

fn fold_constants(pass: &FoldPass, f: &mut Function, listener: PassListener<'_>) -> FunctionResult {
    run_greedy(f, empty_pattern_set(), &pass.config, listener)
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "fold",
    doc: "Evaluates pure instructions whose operands are constants.",
    options: &[OptionInfo {
        name: "limit",
        doc: "The maximum number of elements of a folded constant.",
    }],
    make: |options| {
        let mut config = GreedyConfig { verify_input: false, ..GreedyConfig::default() };
        options.take("limit", &mut config.fold_limits.max_elements)?;
        Ok(Box::new(FoldPass { config }))
    },
};
