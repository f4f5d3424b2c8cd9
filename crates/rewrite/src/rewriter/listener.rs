//! Listeners: objects that are notified of edits.

use sapwood_ptir::{Function, InstId, ValueId};

/// An object that is notified of the edits of a [`ProgramRewriter`](crate::ProgramRewriter). An edit that is rolled back is
/// never reported. All methods do nothing by default.
pub trait Listener {
    /// Reports that an instruction was inserted.
    fn inserted(&mut self, function: &Function, inst: InstId) {
        let _ = (function, inst);
    }

    /// Reports that all uses of one value are now uses of another.
    fn replaced(&mut self, function: &Function, from: ValueId, to: ValueId) {
        let _ = (function, from, to);
    }

    /// Reports that operands or attributes of an instruction changed.
    fn operands_changed(&mut self, function: &Function, inst: InstId) {
        let _ = (function, inst);
    }

    /// Reports that an instruction is about to be erased with its regions: its op, operands and results can still be read.
    fn erased(&mut self, function: &Function, inst: InstId) {
        let _ = (function, inst);
    }

    /// Reports a step at an instruction: the edits that are reported after it belong to it. A step that is refused is never reported. So
    /// the function has changed already if the edits could be checked only after they were made: by a trait pattern, by a fold that
    /// changes an instruction in place, by a pattern that changes regions, and by every pattern if rewrites are verified.
    fn step(&mut self, function: &Function, kind: StepKind<'_>, root: InstId) {
        let _ = (function, kind, root);
    }
}

/// The kind of a step: the reason for the edits that follow it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum StepKind<'a> {
    /// A pattern of this name fires.
    Pattern(&'a str),
    /// An instruction is folded.
    Fold,
    /// An instruction is replaced by an equal one.
    Cse,
    /// An unused instruction is erased.
    Dce,
    /// A call is replaced by the body of its function.
    Inline,
}

impl<'a> StepKind<'a> {
    /// Returns the name of the pattern, or `fold`, `cse`, `dce` or `inline`.
    #[must_use]
    pub fn name(self) -> &'a str {
        match self {
            Self::Pattern(name) => name,
            Self::Fold => "fold",
            Self::Cse => "cse",
            Self::Dce => "dce",
            Self::Inline => "inline",
        }
    }
}
