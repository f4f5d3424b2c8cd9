//! Binary operators.

use sapwood_ir::{BinaryOp, TypeRef};
use sapwood_ptir::ValueId;
use sapwood_ptir::ops::{
    Add, And, Direction, Div, Max, Min, Mul, Or, Pow, Shl, ShrArithmetic, ShrLogical, Sub, Xor,
};
use sapwood_types::{DataType, Span};

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;

impl FunctionLowering<'_> {
    /// Lowers `left op right`. A scalar next to a tensor is broadcast; a truth value is cast to type `ty`.
    pub(crate) fn lower_binary(
        &mut self,
        op: BinaryOp,
        left: ValueId,
        right: ValueId,
        ty: &TypeRef,
        span: Span,
    ) -> LoweredValue {
        let (left, right) = if op.is_logical() {
            (
                self.emit_cast(left, DataType::Bool, span)?,
                self.emit_cast(right, DataType::Bool, span)?,
            )
        } else {
            (left, right)
        };
        let (lhs, rhs) = self.broadcast_scalars(left, right, span)?;
        let value = self.elementwise(op, lhs, rhs, span)?;
        if op.is_predicate() { self.cast_truth_value(value, ty, span) } else { Some(value) }
    }

    fn elementwise(
        &mut self,
        op: BinaryOp,
        lhs: ValueId,
        rhs: ValueId,
        span: Span,
    ) -> LoweredValue {
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
            BinaryOp::Eq => self.emit_compare(Direction::Eq, lhs, rhs, span),
            BinaryOp::Ne => self.emit_compare(Direction::Ne, lhs, rhs, span),
            BinaryOp::Lt => self.emit_compare(Direction::Lt, lhs, rhs, span),
            BinaryOp::Le => self.emit_compare(Direction::Le, lhs, rhs, span),
            BinaryOp::Gt => self.emit_compare(Direction::Gt, lhs, rhs, span),
            BinaryOp::Ge => self.emit_compare(Direction::Ge, lhs, rhs, span),
            BinaryOp::And | BinaryOp::BitAnd => self.emit(And { lhs, rhs }, span),
            BinaryOp::Or | BinaryOp::BitOr => self.emit(Or { lhs, rhs }, span),
            BinaryOp::Xor | BinaryOp::BitXor => self.emit(Xor { lhs, rhs }, span),
            BinaryOp::BitShiftLeft => self.emit(Shl { lhs, rhs }, span),
            // `shr_arithmetic` copies the top bit of unsigned types too.
            BinaryOp::BitShiftRight => {
                if self.expect_tensor(lhs, "operand 0", span)?.dtype.is_unsigned_integer() {
                    self.emit(ShrLogical { lhs, rhs }, span)
                } else {
                    self.emit(ShrArithmetic { lhs, rhs }, span)
                }
            }
        }
    }

    /// Casts a truth value to the element type of the expression.
    pub(crate) fn cast_truth_value(
        &mut self,
        value: ValueId,
        ty: &TypeRef,
        span: Span,
    ) -> LoweredValue {
        self.emit_cast(value, ty.dtype().unwrap_or(DataType::Bool), span)
    }
}
