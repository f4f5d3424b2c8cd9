//! Unary operators and casts.

use sapwood_ir::{TypeRef, UnaryOp};
use sapwood_ptir::ValueId;
use sapwood_ptir::ops::{Abs, Neg, Not};
use sapwood_types::{DataType, Span};

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;

impl FunctionLowering<'_> {
    /// Lowers `op input`, or a cast to type `ty`.
    pub(crate) fn lower_unary(
        &mut self,
        op: UnaryOp,
        input: ValueId,
        ty: &TypeRef,
        span: Span,
    ) -> LoweredValue {
        match op {
            UnaryOp::Abs => self.emit(Abs { input }, span),
            UnaryOp::Neg => self.emit(Neg { input }, span),
            UnaryOp::BitNot => self.emit(Not { input }, span),
            UnaryOp::Not => {
                let input = self.emit_cast(input, DataType::Bool, span)?;
                let value = self.emit(Not { input }, span)?;
                self.cast_truth_value(value, ty, span)
            }
            // A cast to an unknown type changes nothing.
            UnaryOp::Cast => match ty.dtype() {
                Some(dtype) => self.emit_cast(input, dtype, span),
                None => Some(input),
            },
        }
    }
}
