//! The steps of lowering, for logs.

use sapwood_ptir::{Function, InstId, ValueId};

/// A function that is told of each op that is replaced.
pub type Observer<'a> = dyn FnMut(&Function, &Step<'_>) + 'a;

/// The replacement of one op of ONNX. Its results have no uses any more, and it is about to be erased.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The reason.
    pub law: Law,
    /// The op.
    pub inst: InstId,
    /// The new instructions, in order.
    pub inserted: &'a [InstId],
    /// The results of the op, each with the value that replaces it.
    pub replaced: &'a [(ValueId, ValueId)],
}

/// The reason why an op of ONNX was replaced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Law {
    /// Core ops mean the same.
    CoreOps,
    /// Its operands are constants.
    Fold,
    /// It computes numbers that follow from known shapes.
    KnownNumbers,
    /// It is control flow that core ops have too.
    ControlFlow,
}

impl Law {
    /// Returns the name in logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CoreOps => "node_as_core_ops",
            Self::Fold => "fold",
            Self::KnownNumbers => "numbers_of_known_shapes",
            Self::ControlFlow => "control_flow_as_core_ops",
        }
    }
}

/// Returns the instructions between two others, in order.
pub(super) fn inserted_between(f: &Function, after: Option<InstId>, before: InstId) -> Vec<InstId> {
    let mut found: Vec<InstId> =
        std::iter::successors(f.prev_inst(before), |&inst| f.prev_inst(inst))
            .take_while(|&inst| Some(inst) != after)
            .collect();
    found.reverse();
    found
}
