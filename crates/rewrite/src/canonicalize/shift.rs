//! Canonicalizations of `shl`, `shr_arithmetic`, `shr_logical`.

use sapwood_ptir::ops::{And, Shl, ShrArithmetic, ShrLogical};
use sapwood_ptir::{Op, Value};

use super::numeric_constants::{int_like, is_all_ones, splat_unsigned};
use crate::pattern::{Binary, Rewrite};

crate::patterns! { "shift":
    shift_by_zero on [Shl, ShrArithmetic, ShrLogical] when 1 in constants,
    shift_of_zero on [Shl, ShrArithmetic, ShrLogical] when 0 in constants,
    shift_of_minus_one when 0 in constants,
    shift_out on [Shl, ShrLogical] when 1 in constants,
    shift_beyond_sign when 1 in constants,
    shift_of_shift on [Shl, ShrArithmetic, ShrLogical] when 1 in constants and 0 in own,
    shift_back on [Shl, ShrLogical] when 1 in constants and 0 in [Shl, ShrLogical],
}

/// `x << 0 = x`, likewise for the shifts to the right.
///
/// Floats: never.
fn shift_by_zero(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.is_zero(op.rhs).then_some(op.lhs)
}

/// `0 << x = 0`, likewise for the shifts to the right.
///
/// Floats: never.
fn shift_of_zero(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.is_zero(op.lhs).then_some(op.lhs)
}

/// `~0 >> x = ~0` for the shift that copies the sign bit.
///
/// Floats: never.
fn shift_of_minus_one(op: ShrArithmetic, rw: &mut Rewrite<'_>) -> Option<Value> {
    is_all_ones(rw, op.lhs).then_some(op.lhs)
}

/// `x << n = 0` and, with zeros, `x >> n = 0` for a constant `n` of the width or more.
///
/// Floats: never.
fn shift_out(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let width = rw.dtype(op.rhs)?.bit_width();
    splat_unsigned(rw, op.rhs).filter(|&n| n >= width.into())?;
    rw.filled_like_result(0.0)
}

/// `x >> n = x >> (width - 1)` for the shift that copies the sign bit and a constant `n` of the width or more.
///
/// Floats: never.
fn shift_beyond_sign(op: ShrArithmetic, rw: &mut Rewrite<'_>) -> Option<Value> {
    let width = rw.dtype(op.rhs)?.bit_width();
    splat_unsigned(rw, op.rhs).filter(|&n| n >= width.into())?;
    let rhs = int_like(rw, op.rhs, i128::from(width) - 1)?;
    rw.emit(ShrArithmetic { lhs: op.lhs, rhs })
}

/// `(x << a) << b = x << (a + b)` for constants `a`, `b` below the width, likewise for the shifts to the right.
///
/// If `a + b` is the width or more, the shift with the sign bit shifts by the width less one, and the others give 0.
///
/// Floats: never.
fn shift_of_shift(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let width = u64::from(rw.dtype(op.rhs)?.bit_width());
    let b = splat_unsigned(rw, op.rhs).filter(|&n| n < width)?;
    let inner = rw.def::<Binary>(op.lhs).filter(|inner| inner.key == op.key)?;
    let a = splat_unsigned(rw, inner.rhs).filter(|&n| n < width)?;
    let sum = a + b;
    if sum >= width && op.key != ShrArithmetic::key() {
        return rw.filled_like_result(0.0);
    }
    let rhs = int_like(rw, op.rhs, sum.min(width - 1).into())?;
    rw.emit_parts(&op.with(inner.lhs, rhs))
}

/// `(x << n) >> n = x & (~0 >> n)` and `(x >> n) << n = x & (~0 << n)` for the shifts that fill with zeros.
///
/// Floats: never.
fn shift_back(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let width = rw.dtype(op.rhs)?.bit_width();
    let n = splat_unsigned(rw, op.rhs).filter(|&n| n < width.into())?;
    let left = op.key == Shl::key();
    let opposite = if left { ShrLogical::key() } else { Shl::key() };
    let inner = rw.def::<Binary>(op.lhs).filter(|inner| inner.key == opposite)?;
    if splat_unsigned(rw, inner.rhs) != Some(n) {
        return None;
    }
    let ones = u64::MAX >> (64 - width);
    let mask = if left { ones << n } else { ones >> n };
    let rhs = int_like(rw, op.rhs, mask.into())?;
    rw.emit(And { lhs: inner.lhs, rhs })
}
