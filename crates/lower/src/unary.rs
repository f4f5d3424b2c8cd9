//! Operators with one operand, casts among them.

use sapwood_ir::{TypeRef, UnaryOp};
use sapwood_ptir::ValueId;
use sapwood_ptir::ops::{Abs, Neg, Not};
use sapwood_types::{DataType, Span};

use crate::function::Lowering;
use crate::scope::Val;

impl Lowering<'_> {
    /// `op operand`
    pub(crate) fn unary(&mut self, op: UnaryOp, input: ValueId, ty: &TypeRef, span: Span) -> Val {
        match op {
            UnaryOp::Abs => self.emit(Abs { input }, span),
            UnaryOp::Neg => self.emit(Neg { input }, span),
            UnaryOp::BitNot => self.emit(Not { input }, span),
            UnaryOp::Not => {
                let input = self.cast(input, DataType::Bool, span)?;
                let value = self.emit(Not { input }, span)?;
                self.truth_as(value, ty, span)
            }
            // A cast to what is not known changes nothing.
            UnaryOp::Cast => match ty.dtype() {
                Some(dtype) => self.cast(input, dtype, span),
                None => Some(input),
            },
        }
    }
}
