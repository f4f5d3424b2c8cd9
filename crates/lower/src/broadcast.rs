//! Scalars beside tensors: PTIR repeats nothing by itself.

use sapwood_ptir::ops::{And, BroadcastTo, Clamp, Direction, Not, Or, Select};
use sapwood_ptir::{Dim, ResultType, TensorType, ValueId};
use sapwood_types::Span;

use crate::function::Lowering;
use crate::scope::Val;

impl Lowering<'_> {
    /// Two operands of the same rank: a scalar takes the dims of the other one.
    pub(crate) fn same_rank(
        &mut self,
        left: ValueId,
        right: ValueId,
        span: Span,
    ) -> Option<(ValueId, ValueId)> {
        let a = self.tensor(left, "operand 0", span)?;
        let b = self.tensor(right, "operand 1", span)?;
        Some(match (a.rank(), b.rank()) {
            (0, 0) => (left, right),
            (0, _) => (self.repeat(left, right, &b, span)?, right),
            (_, 0) => (left, self.repeat(right, left, &a, span)?),
            _ => (left, right),
        })
    }

    /// Zero in the type of a value.
    pub(crate) fn zero_like(&mut self, value: ValueId, span: Span) -> Val {
        let ty = self.tensor(value, "operand 0", span)?;
        let zero = if ty.dtype.is_integer() {
            self.int(0, ty.dtype, span)?
        } else {
            match sapwood_ptir::TensorLiteral::filled(ty.dtype, &[], 0.0) {
                Ok(literal) => self.out.constant(&literal, span),
                Err(_) => return None,
            }
        };
        if ty.rank() == 0 { Some(zero) } else { self.repeat(zero, value, &ty, span) }
    }

    /// A scalar with the dims of `like`, which is of type `ty`.
    fn repeat(&mut self, scalar: ValueId, like: ValueId, ty: &TensorType, span: Span) -> Val {
        let dtype = self.tensor(scalar, "a scalar", span)?.dtype;
        if !ty.dims.contains(&Dim::Unknown) {
            let ty = ResultType(ty.with_dtype(dtype).into());
            return self.emit(BroadcastTo { input: scalar, ty }, span);
        }
        // A dim that has no name cannot be asked for; the dims must come from a value that has them.
        let some = self.compare(Direction::Ne, like, like, span)?;
        if dtype.is_bool() {
            let none = self.emit(Not { input: some }, span)?;
            let on_true = self.emit(Or { lhs: some, rhs: none }, span)?;
            let on_false = self.emit(And { lhs: some, rhs: none }, span)?;
            return self.emit(Select { pred: scalar, on_true, on_false }, span);
        }
        if dtype.is_complex() {
            let message = format!("a scalar of {dtype} cannot be repeated to {ty}");
            self.problem_with_help(span, message, "give the dims a number or a name");
            return None;
        }
        let input = self.cast(some, dtype, span)?;
        // min(max(x, s), s) = s
        self.emit(Clamp { low: scalar, input, high: scalar }, span)
    }
}
