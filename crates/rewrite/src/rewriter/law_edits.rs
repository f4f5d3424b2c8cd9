//! Edits that laws of `optimize` make and that are not public, for the mutated copies of the laws in the tests.

use sapwood_ptir::{InstId, OpParts, ValueId};
use sapwood_types::Span;

use super::{ProgramRewriter, RewriteError};

/// The methods of [`ProgramRewriter`] with these names, which are not public.
pub trait LawEdits {
    /// Returns true if an instruction may not be merged, erased, duplicated or reordered.
    fn is_ordered(&self, inst: InstId) -> bool;

    /// Replaces the values that a region yields.
    ///
    /// # Errors
    /// If the terminator cannot have these operands.
    fn set_yields(&mut self, end: InstId, yields: &[ValueId]) -> Result<(), RewriteError>;

    /// Inserts an instruction right before another one and moves the regions over.
    ///
    /// # Errors
    /// If the instruction would not be valid.
    fn insert_with_regions_of(
        &mut self,
        from: InstId,
        parts: &OpParts,
        span: Span,
    ) -> Result<InstId, RewriteError>;
}

impl LawEdits for ProgramRewriter<'_> {
    fn is_ordered(&self, inst: InstId) -> bool {
        self.is_ordered(inst)
    }

    fn set_yields(&mut self, end: InstId, yields: &[ValueId]) -> Result<(), RewriteError> {
        self.set_yields(end, yields)
    }

    fn insert_with_regions_of(
        &mut self,
        from: InstId,
        parts: &OpParts,
        span: Span,
    ) -> Result<InstId, RewriteError> {
        self.insert_with_regions_of(from, parts, span)
    }
}
