//! Tuples.

use sapwood_ptir::ValueId;
use sapwood_ptir::ops::{GetTupleElement, Tuple};
use sapwood_types::Span;

use crate::function::Lowering;
use crate::scope::Val;

impl Lowering<'_> {
    /// A tuple.
    pub(crate) fn make_tuple(&mut self, elements: &[ValueId], span: Span) -> Val {
        self.emit(Tuple { elements: elements.iter().copied().collect() }, span)
    }

    /// One element of a tuple.
    pub(crate) fn tuple_element(&mut self, tuple: ValueId, index: u32, span: Span) -> Val {
        self.emit(GetTupleElement { input: tuple, index: index.into() }, span)
    }
}
