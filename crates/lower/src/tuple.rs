//! Tuples.

use sapwood_ptir::ValueId;
use sapwood_ptir::ops::{GetTupleElement, Tuple};
use sapwood_types::Span;

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;

impl FunctionLowering<'_> {
    /// Emits a tuple.
    pub(crate) fn make_tuple(&mut self, elements: &[ValueId], span: Span) -> LoweredValue {
        self.emit(Tuple { elements: elements.iter().copied().collect() }, span)
    }

    /// Emits the access of one element of a tuple.
    pub(crate) fn tuple_element(&mut self, tuple: ValueId, index: u32, span: Span) -> LoweredValue {
        self.emit(GetTupleElement { input: tuple, index: index.into() }, span)
    }
}
