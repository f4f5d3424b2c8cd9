//! The greedy driver: folds and patterns, applied until nothing is left to do.

mod attempt;
mod check;
mod config;
mod driver;
mod lineage;
mod merge;
mod queue;
mod stats;

use sapwood_ptir::Function;
use sapwood_types::Diagnostics;

use crate::pattern::FrozenPatternSet;
use crate::rewriter::Listener;

pub(crate) use attempt::panic_message;
pub use config::{CostModel, GreedyConfig};
pub(crate) use driver::Driver;
pub use stats::{GreedyStats, Limit, PatternProblem, PatternStats, ProblemKind};

/// Rewrites a function, nested regions included, with patterns and folds until nothing is left to do.
///
/// Instructions are looked at from the last to the first, each again only after something it may have looked at has
/// changed: attempts are O(instructions + rewrites). The result is a function of the printed program, and a second run
/// changes nothing.
///
/// # Errors
/// If the function does not verify; then nothing was done.
pub fn apply_patterns_and_fold_greedily(
    function: &mut Function,
    patterns: &FrozenPatternSet,
    config: &GreedyConfig,
) -> Result<GreedyStats, Diagnostics> {
    apply_with_listener(function, patterns, config, None)
}

/// As [`apply_patterns_and_fold_greedily`], with somebody who is told about every edit.
///
/// # Errors
/// If the function does not verify; then nothing was done.
pub fn apply_with_listener<'a>(
    function: &'a mut Function,
    patterns: &'a FrozenPatternSet,
    config: &'a GreedyConfig,
    listener: Option<&'a mut dyn Listener>,
) -> Result<GreedyStats, Diagnostics> {
    let mut stats = apply_unnamed(function, patterns, config, listener)?;
    stats.name_patterns(patterns);
    Ok(stats)
}

/// The same, the names of the patterns left empty: over many functions they are put in once.
pub(crate) fn apply_unnamed<'a>(
    function: &'a mut Function,
    patterns: &'a FrozenPatternSet,
    config: &'a GreedyConfig,
    listener: Option<&'a mut dyn Listener>,
) -> Result<GreedyStats, Diagnostics> {
    if config.verify_input {
        sapwood_ptir::verify_function(function)?;
    }
    let mut driver = Driver::new(function, patterns, config);
    if let Some(listener) = listener {
        driver.rewriter().listen(listener);
    }
    Ok(driver.run())
}
