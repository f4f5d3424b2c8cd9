//! The greedy driver: folds and patterns, applied until nothing is left to do.

mod attempt;
mod config;
mod driver;
mod failure_cache;
mod float_modes;
mod merge_equal;
mod order_operands;
mod rewrite_cycles;
mod stats;
mod verify_changes;
mod worklist;

use sapwood_ptir::Function;
use sapwood_types::Diagnostics;

use crate::pattern::FrozenPatternSet;
use crate::rewriter::Listener;

pub(crate) use attempt::panic_message;
pub use config::{CostModel, GreedyConfig};
pub(crate) use driver::GreedyDriver;
pub use stats::{GreedyStats, Limit, PatternProblem, PatternStats, ProblemKind};

/// Rewrites a function, nested regions included, with patterns and folds until nothing is left to do.
///
/// Instructions are visited from the last to the first, and visited again only after something that their patterns may have
/// read has changed: the number of attempts is O(instructions + rewrites). The result is a function of the printed
/// program, and a second run changes nothing.
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

/// Rewrites a function as [`apply_patterns_and_fold_greedily`] does, and notifies a listener of every edit.
///
/// # Errors
/// If the function does not verify; then nothing was done.
pub fn apply_with_listener<'a>(
    function: &'a mut Function,
    patterns: &'a FrozenPatternSet,
    config: &'a GreedyConfig,
    listener: Option<&'a mut dyn Listener>,
) -> Result<GreedyStats, Diagnostics> {
    let mut stats = apply_without_names(function, patterns, config, listener)?;
    stats.name_patterns(patterns);
    Ok(stats)
}

/// Rewrites a function as [`apply_with_listener`] does, but leaves the names of the patterns empty: a caller with many
/// functions sets them once.
pub(crate) fn apply_without_names<'a>(
    function: &'a mut Function,
    patterns: &'a FrozenPatternSet,
    config: &'a GreedyConfig,
    listener: Option<&'a mut dyn Listener>,
) -> Result<GreedyStats, Diagnostics> {
    if config.verify_input {
        sapwood_ptir::verify_function(function)?;
    }
    let mut driver = GreedyDriver::new(function, patterns, config);
    if let Some(listener) = listener {
        driver.rewriter().listen(listener);
    }
    Ok(driver.run())
}
