//! Operators with two operands.

use sapwood_ir::{BinaryOp, TypeRef};
use sapwood_ptir::ValueId;
use sapwood_ptir::ops::{
    Add, And, Direction, Div, Max, Min, Mul, Or, Pow, Shl, ShrArithmetic, ShrLogical, Sub, Xor,
};
use sapwood_types::{DataType, Span};

use crate::function::Lowering;
use crate::scope::Val;

impl Lowering<'_> {
    /// `left op right`. A scalar beside a tensor is repeated; a truth value is of the type that was asked for.
    pub(crate) fn binary(
        &mut self,
        op: BinaryOp,
        left: ValueId,
        right: ValueId,
        ty: &TypeRef,
        span: Span,
    ) -> Val {
        let (left, right) = if op.is_logical() {
            (self.cast(left, DataType::Bool, span)?, self.cast(right, DataType::Bool, span)?)
        } else {
            (left, right)
        };
        let (lhs, rhs) = self.same_rank(left, right, span)?;
        let value = self.elementwise(op, lhs, rhs, span)?;
        if op.is_truth() { self.truth_as(value, ty, span) } else { Some(value) }
    }

    fn elementwise(&mut self, op: BinaryOp, lhs: ValueId, rhs: ValueId, span: Span) -> Val {
        match op {
            BinaryOp::Add => self.emit(Add { lhs, rhs }, span),
            BinaryOp::Sub => self.emit(Sub { lhs, rhs }, span),
            BinaryOp::Mul => self.emit(Mul { lhs, rhs }, span),
            BinaryOp::FloorDiv => self.floor_div(lhs, rhs, span),
            BinaryOp::FloorMod => self.floor_mod(lhs, rhs, span),
            BinaryOp::FloatDiv => self.emit(Div { lhs, rhs }, span),
            BinaryOp::Min => self.emit(Min { lhs, rhs }, span),
            BinaryOp::Max => self.emit(Max { lhs, rhs }, span),
            BinaryOp::Pow => self.emit(Pow { lhs, rhs }, span),
            BinaryOp::Eq => self.compare(Direction::Eq, lhs, rhs, span),
            BinaryOp::Ne => self.compare(Direction::Ne, lhs, rhs, span),
            BinaryOp::Lt => self.compare(Direction::Lt, lhs, rhs, span),
            BinaryOp::Le => self.compare(Direction::Le, lhs, rhs, span),
            BinaryOp::Gt => self.compare(Direction::Gt, lhs, rhs, span),
            BinaryOp::Ge => self.compare(Direction::Ge, lhs, rhs, span),
            BinaryOp::And | BinaryOp::BitAnd => self.emit(And { lhs, rhs }, span),
            BinaryOp::Or | BinaryOp::BitOr => self.emit(Or { lhs, rhs }, span),
            BinaryOp::Xor | BinaryOp::BitXor => self.emit(Xor { lhs, rhs }, span),
            BinaryOp::BitShiftLeft => self.emit(Shl { lhs, rhs }, span),
            // The op that copies the sign bit does so for unsigned types too.
            BinaryOp::BitShiftRight => {
                if self.tensor(lhs, "operand 0", span)?.dtype.is_unsigned_integer() {
                    self.emit(ShrLogical { lhs, rhs }, span)
                } else {
                    self.emit(ShrArithmetic { lhs, rhs }, span)
                }
            }
        }
    }

    /// A truth value in the type that an expression has.
    pub(crate) fn truth_as(&mut self, value: ValueId, ty: &TypeRef, span: Span) -> Val {
        self.cast(value, ty.dtype().unwrap_or(DataType::Bool), span)
    }
}
