//! Canonicalizations of `rem`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::{And, Rem};

use super::numeric_constants::{int_like, is_any_zero, is_int, is_unsigned, splat_int};
use crate::FloatMode;
use crate::pattern::Rewrite;

crate::patterns! { "rem":
    rem_one when 1 in constants,
    rem_zero when 1 in constants,
    rem_self when equal floats fast,
    zero_rem when 0 in constants floats fast,
    rem_of_rem when 0 in [Rem],
    rem_unsigned_by_power_of_two when 1 in constants of [Int],
}

/// `x % 1 = 0` and `x % -1 = 0` for integers.
///
/// Floats: never.
fn rem_one(op: Rem, rw: &mut Rewrite<'_>) -> Option<Value> {
    splat_int(rw, op.rhs).filter(|&c| c == 1 || c == -1)?;
    rw.filled_like_result(0.0)
}

/// `x % 0 = x` for integers.
///
/// Floats: never.
fn rem_zero(op: Rem, rw: &mut Rewrite<'_>) -> Option<Value> {
    (is_int(rw, op.rhs) && rw.is_zero(op.rhs)).then_some(op.lhs)
}

/// `x % x = 0`.
///
/// Floats: fast. For zero, infinities and NaN the remainder is NaN.
fn rem_self(op: Rem, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.lhs != op.rhs || !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    rw.filled_like_result(0.0)
}

/// `0 % x = 0`.
///
/// Floats: fast. For zero and NaN the remainder is NaN.
fn zero_rem(op: Rem, rw: &mut Rewrite<'_>) -> Option<Value> {
    (is_any_zero(rw, op.lhs) && rw.allows(FloatMode::Fast, op.lhs)).then_some(op.lhs)
}

/// `(x % y) % y = x % y`.
///
/// Floats: exact.
fn rem_of_rem(op: Rem, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Rem>(op.lhs)?;
    (inner.rhs == op.rhs).then_some(op.lhs)
}

/// `x % 2^n = x & (2^n - 1)` for unsigned integers.
///
/// Floats: never.
fn rem_unsigned_by_power_of_two(op: Rem, rw: &mut Rewrite<'_>) -> Option<Value> {
    let c = splat_int(rw, op.rhs).filter(|&c| c > 1 && c & (c - 1) == 0)?;
    if !is_unsigned(rw, op.lhs) {
        return None;
    }
    let rhs = int_like(rw, op.rhs, c - 1)?;
    rw.emit(And { lhs: op.lhs, rhs })
}
