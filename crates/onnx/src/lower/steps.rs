//! The steps of lowering, for logs.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Function, InstId, ValueId};

/// A function that receives each step: an op that is replaced.
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

/// Returns those of some new instructions that are there, in the order in which they were made; those of regions follow their owners.
pub(super) fn in_reported_order(f: &Function, new: &[InstId]) -> Vec<InstId> {
    let all: HashSet<InstId, FxBuildHasher> = new.iter().copied().collect();
    let mut found = Vec::with_capacity(new.len());
    for &inst in new.iter().filter(|&&inst| f.is_live(inst)) {
        let owner = f.body_of(inst).and_then(|body| f.body_owner(body));
        if owner.is_some_and(|owner| all.contains(&owner)) {
            continue;
        }
        found.push(inst);
        let inner = f.regions(inst).iter().flat_map(|&body| f.walk_body(body));
        found.extend(inner.filter(|inst| all.contains(inst)));
    }
    found
}
