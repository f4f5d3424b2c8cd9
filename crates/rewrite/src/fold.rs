//! Folding: what an instruction gives is known, or is a value that is there already.

use sapwood_ptir::{Function, InstId, TensorLiteral, ValueId};
use smallvec::SmallVec;

use crate::ProgramRewriter;

/// What folding found out about an instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum FoldResult {
    /// Nothing.
    Nothing,
    /// What each result is.
    Results(SmallVec<[Folded; 1]>),
}

/// What one result is.
#[derive(Clone, PartialEq, Debug)]
pub enum Folded {
    /// A value that is there already.
    Value(ValueId),
    /// A constant.
    Constant(TensorLiteral),
}

/// The fold of an op.
pub type FoldFn = dyn Fn(InstId, &ProgramRewriter<'_>) -> FoldResult + Send + Sync;

/// How large the results of evaluation may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FoldLimits {
    /// How many elements a result may have that is not the same everywhere.
    pub elements: u64,
}

impl Default for FoldLimits {
    fn default() -> Self {
        Self { elements: 64 * 1024 }
    }
}

/// Evaluates a pure instruction whose operands are all constants. `None` if it cannot be or is too large.
pub(crate) fn evaluate(
    function: &Function,
    inst: InstId,
    limits: FoldLimits,
) -> Option<SmallVec<[TensorLiteral; 1]>> {
    let _ = (function, inst, limits);
    None
}
