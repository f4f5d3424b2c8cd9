//! The configuration of the greedy driver.

use sapwood_ptir::InstId;
use sapwood_ptir::eval::FoldLimits;

use crate::cost_goals::CostGoals;
use crate::pattern::PatternId;
use crate::{FloatMode, ProgramRewriter};

/// A function that returns the benefit of a pattern at a root; larger is tried first.
pub type CostModel = fn(InstId, PatternId, &ProgramRewriter<'_>) -> u16;

/// The configuration of a run of the greedy driver. Its limits are those of one function.
#[derive(Clone, Copy, Debug)]
pub struct GreedyConfig {
    /// The maximum number of rounds. A round ends when everything that was in the worklist at its start was visited.
    pub max_iterations: usize,
    /// The maximum number of folds and rewrites together; the default is 4096 plus 16 per instruction.
    pub max_rewrites: Option<usize>,
    /// Enables the evaluation of instructions with constant operands.
    pub enable_constant_fold: bool,
    /// Enables the erasure of unused pure instructions.
    pub enable_dce: bool,
    /// A cost model that replaces the static benefit of patterns.
    pub cost_model: Option<CostModel>,
    /// Enables checks of every attempt: rewrites that violate the contract of patterns are rolled back and reported.
    pub expensive_checks: bool,
    /// Enables the verification of the instructions that each rewrite inserted or changed. A rewrite that leaves something
    /// invalid is rolled back, and its pattern is named in the problems. `expensive_checks` includes this.
    pub verify_rewrites: bool,
    /// Visits instructions from the first to the last instead of from the last to the first.
    pub top_down: bool,
    /// Enables the merging of equal instructions along the way, at the end of each round at the latest.
    pub merge_equal: bool,
    /// Brings the operands of commutative instructions into canonical order when nothing else is left to do.
    pub order_operands: bool,
    /// Reaches the fixpoint of each stricter float mode before that of `floats`, so that more freedom never leaves more instructions. Without
    /// it, patterns that need the freer mode compete with all others from the start.
    pub float_stages: bool,
    /// The float mode: the changes of float results that rewrites may make.
    pub floats: FloatMode,
    /// The costs that rewrites must lower: see [`CostGoals`]. Without any, every rewrite applies.
    pub goals: CostGoals,
    /// The limits on the size of folded constants. Together they have at most 256 times the elements of the largest one.
    pub fold_limits: FoldLimits,
    /// Enables the failure cache: a pattern that failed at an instruction is tried there again only after something that it may
    /// read has changed. It changes no result; only a test or a measurement disables it.
    pub failure_cache: bool,
    /// Refuses functions that do not verify. A pipeline verifies once for all its passes.
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
            order_operands: false,
            float_stages: true,
            floats: FloatMode::Exact,
            goals: CostGoals::NONE,
            fold_limits: FoldLimits::default(),
            failure_cache: true,
            verify_input: true,
        }
    }
}
