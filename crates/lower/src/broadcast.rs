//! Broadcasts of scalar operands, which PTIR requires to be explicit.

use sapwood_ptir::ops::{And, BroadcastTo, Clamp, Direction, Not, Or, Select};
use sapwood_ptir::{Dim, ResultType, TensorType, ValueId};
use sapwood_types::Span;

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;

impl FunctionLowering<'_> {
    /// Returns the operands with equal ranks: a scalar is broadcast to the dims of the other operand.
    pub(crate) fn broadcast_scalars(
        &mut self,
        left: ValueId,
        right: ValueId,
        span: Span,
    ) -> Option<(ValueId, ValueId)> {
        let a = self.expect_tensor(left, "operand 0", span)?;
        let b = self.expect_tensor(right, "operand 1", span)?;
        Some(match (a.rank(), b.rank()) {
            (0, 0) => (left, right),
            (0, _) => (self.broadcast_like(left, right, &b, span)?, right),
            (_, 0) => (left, self.broadcast_like(right, left, &a, span)?),
            _ => (left, right),
        })
    }

    /// Emits a zero of the type of `value`.
    pub(crate) fn zero_like(&mut self, value: ValueId, span: Span) -> LoweredValue {
        let ty = self.expect_tensor(value, "operand 0", span)?;
        let zero = if ty.dtype.is_integer() {
            self.int_constant(0, ty.dtype, span)?
        } else {
            match sapwood_ptir::TensorLiteral::filled(ty.dtype, &[], 0.0) {
                Ok(literal) => self.writer.constant(&literal, span),
                Err(_) => return None,
            }
        };
        if ty.rank() == 0 { Some(zero) } else { self.broadcast_like(zero, value, &ty, span) }
    }

    /// Broadcasts a scalar to the dims of `like`, which has type `ty`.
    fn broadcast_like(
        &mut self,
        scalar: ValueId,
        like: ValueId,
        ty: &TensorType,
        span: Span,
    ) -> LoweredValue {
        let dtype = self.expect_tensor(scalar, "a scalar", span)?.dtype;
        if !ty.dims.contains(&Dim::Unknown) {
            let ty = ResultType(ty.with_dtype(dtype).into());
            return self.emit(BroadcastTo { input: scalar, ty }, span);
        }
        // `broadcast_to` cannot name an unknown dim, so the dims must come from a value that has them.
        let some = self.emit_compare(Direction::Ne, like, like, span)?;
        if dtype.is_bool() {
            let none = self.emit(Not { input: some }, span)?;
            let on_true = self.emit(Or { lhs: some, rhs: none }, span)?;
            let on_false = self.emit(And { lhs: some, rhs: none }, span)?;
            return self.emit(Select { pred: scalar, on_true, on_false }, span);
        }
        if dtype.is_complex() {
            let message = format!("a scalar of {dtype} cannot be broadcast to {ty}");
            self.report_with_help(span, message, "give the dims a number or a name");
            return None;
        }
        let input = self.emit_cast(some, dtype, span)?;
        // min(max(x, s), s) = s
        self.emit(Clamp { low: scalar, input, high: scalar }, span)
    }
}
