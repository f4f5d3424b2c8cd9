//! How a run goes.

use sapwood_ptir::InstId;
use sapwood_ptir::eval::FoldLimits;

use crate::pattern::PatternId;
use crate::{FloatMode, ProgramRewriter};

/// Gives the benefit of a pattern at a root; larger is tried first.
pub type CostModel = fn(InstId, PatternId, &ProgramRewriter<'_>) -> u16;

/// How the greedy driver runs.
#[derive(Clone, Copy, Debug)]
pub struct GreedyConfig {
    /// How many rounds at most. A round ends when everything that was queued at its start was looked at.
    pub max_iterations: usize,
    /// How many folds and rewrites at most, together; if not given, 16 per instruction and some.
    pub max_rewrites: Option<usize>,
    /// Whether instructions with constant operands are evaluated.
    pub enable_constant_fold: bool,
    /// Whether unused pure instructions are erased.
    pub enable_dce: bool,
    /// Replaces the static benefit.
    pub cost_model: Option<CostModel>,
    /// Whether every attempt is checked: patterns that lie, look too far or break the program are taken back and named.
    pub expensive_checks: bool,
    /// Whether the instructions that each rewrite inserted or changed are verified. A rewrite that leaves something invalid
    /// is rolled back, and its pattern is named in the problems. `expensive_checks` do this and more.
    pub verify_rewrites: bool,
    /// Whether instructions are looked at from the first to the last instead of from the last to the first.
    pub top_down: bool,
    /// Whether equal instructions are merged along the way, at the end of each round at the latest.
    pub merge_equal: bool,
    /// How freely floats may be treated.
    pub floats: FloatMode,
    /// How large folded constants may be. Together they have 256 times as many elements at most.
    pub fold_limits: FoldLimits,
    /// Whether a function that does not verify is refused. A pipeline asks once for all its passes.
    pub verify_input: bool,
}

impl Default for GreedyConfig {
    fn default() -> Self {
        Self {
            max_iterations: usize::MAX,
            max_rewrites: None,
            enable_constant_fold: true,
            enable_dce: true,
            cost_model: None,
            expensive_checks: cfg!(debug_assertions),
            verify_rewrites: false,
            top_down: false,
            merge_equal: false,
            floats: FloatMode::Exact,
            fold_limits: FoldLimits::default(),
            verify_input: true,
        }
    }
}
