//! The greedy driver: folds and patterns, applied until nothing is left to do.

mod attempt;
mod config;
mod driver;
mod failure_cache;
mod float_modes;
mod folds;
mod merge_equal;
mod order_operands;
mod rewrite_cycles;
mod stats;
mod verify_changes;
mod worklist;

use sapwood_ptir::{Function, Program};
use sapwood_types::Diagnostics;

use crate::pattern::FrozenPatternSet;
use crate::rewriter::Listener;

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

/// Rewrites every function of a program as [`apply_patterns_and_fold_greedily`] does, and adds up the statistics.
///
/// The limits of the configuration apply to each function separately: if one function reaches a limit, the others still have theirs.
///
/// ```
/// use sapwood_ptir::ops::Neg;
/// use sapwood_ptir::{Value, parse};
/// use sapwood_rewrite::{GreedyConfig, PatternSet, Rewrite, apply_patterns_to_program};
///
/// /// `-(-x) = x`.
/// fn neg_of_neg(outer: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
///     Some(rw.def::<Neg>(outer.input)?.input)
/// }
///
/// let function = "(%x: f32[4]) -> f32[4] { %a = neg %x : f32[4] %b = neg %a : f32[4] return %b }";
/// let mut program = parse(&format!("ptir 1 func @f{function} func @g{function}"))?;
/// let mut set = PatternSet::new();
/// set.add(neg_of_neg);
/// let stats = apply_patterns_to_program(&mut program, &set.freeze(), &GreedyConfig::default())?;
/// assert_eq!((stats.rewrites, program.num_insts()), (2, 2));
/// # Ok::<(), sapwood_types::Diagnostics>(())
/// ```
///
/// # Errors
/// If a function does not verify; then nothing was done.
pub fn apply_patterns_to_program(
    program: &mut Program,
    patterns: &FrozenPatternSet,
    config: &GreedyConfig,
) -> Result<GreedyStats, Diagnostics> {
    if config.verify_input {
        program.functions().iter().try_for_each(|f| sapwood_ptir::verify_function(f))?;
    }
    let verified = GreedyConfig { verify_input: false, ..*config };
    let mut total = GreedyStats { converged: true, ..GreedyStats::default() };
    for function in program.functions_mut() {
        total.add(&apply_without_names(function, patterns, &verified, None)?);
    }
    total.name_patterns(patterns);
    Ok(total)
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
