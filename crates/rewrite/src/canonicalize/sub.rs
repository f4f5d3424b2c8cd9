//! Canonicalizations of `sub`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::{Add, Mul, Neg, Sub};

use super::add::without_negation;
use super::numeric_constants::{is_any_zero, is_constant, is_float, negated_constant};
use crate::FloatMode;
use crate::pattern::Rewrite;

crate::patterns! { "sub":
    sub_zero when 1 in constants,
    sub_self when equal floats fast,
    zero_minus when 0 in constants,
    sub_of_neg when 1 in [Neg],
    sub_of_negated_product hops 4 when 1 in [Mul] of [Int, Float],
    sub_constant when 1 in constants floats fast,
    sub_of_sum when 1 in [Add] floats fast,
    sub_from_sum when 0 in [Add] floats fast,
    sub_of_difference when 1 in [Sub] floats fast,
    sub_from_difference when 0 in [Sub] floats fast,
    constant_minus_sum when 0 in constants and 1 in [Add] floats fast,
    constant_minus_difference when 0 in constants and 1 in [Sub] floats fast,
}

/// `x - 0 = x`.
///
/// For floats `x - 0 = x` is exact; `x - -0` turns -0 into 0.
///
/// Floats: exact.
fn sub_zero(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    let zero = rw.is_zero(op.rhs) || rw.floats().nsz() && is_any_zero(rw, op.rhs);
    zero.then_some(op.lhs)
}

/// `x - x = 0`.
///
/// Floats: fast. Infinities and NaN give NaN.
fn sub_self(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.lhs != op.rhs || !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    rw.filled_like_result(0.0)
}

/// `0 - x = -x`.
///
/// For floats `-0 - x = -x` is exact; `0 - 0` is 0, not -0.
///
/// Floats: nsz.
fn zero_minus(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_any_zero(rw, op.lhs) || is_constant(rw, op.rhs) {
        return None;
    }
    let exact = is_float(rw, op.lhs) && !rw.is_zero(op.lhs);
    if !exact && !rw.allows(FloatMode::Nsz, op.lhs) {
        return None;
    }
    rw.emit(Neg { input: op.rhs })
}

/// `x - -y = x + y`.
///
/// Floats: exact.
fn sub_of_neg(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    let neg = rw.def::<Neg>(op.rhs)?;
    rw.emit(Add { lhs: op.lhs, rhs: neg.input })
}

/// `w - (-x)*y = w + x*y`, if the product has no other use. Not for complex numbers.
///
/// Floats: exact.
fn sub_of_negated_product(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    let rhs = without_negation(rw, op.rhs)?;
    rw.emit(Add { lhs: op.lhs, rhs })
}

/// `x - c = x + -c` for a constant `c`.
///
/// It is exact for floats too, but only pays off where sums are reassociated.
///
/// Floats: fast.
fn sub_constant(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) || is_constant(rw, op.lhs) {
        return None;
    }
    let rhs = negated_constant(rw, op.rhs)?;
    rw.emit(Add { lhs: op.lhs, rhs })
}

/// `x - (x + y) = -y`, the sum in any order.
///
/// Floats: fast.
fn sub_of_sum(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let sum = rw.def::<Add>(op.rhs)?;
    let y = other_operand(op.lhs, sum.lhs, sum.rhs)?;
    rw.emit(Neg { input: y })
}

/// `(x + y) - x = y`, the sum in any order.
///
/// Floats: fast.
fn sub_from_sum(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let sum = rw.def::<Add>(op.lhs)?;
    other_operand(op.rhs, sum.lhs, sum.rhs)
}

// Returns the one of two values that is not `x`, if the other is.
fn other_operand(x: Value, a: Value, b: Value) -> Option<Value> {
    if a == x { Some(b) } else { (b == x).then_some(a) }
}

/// `x - (x - y) = y`.
///
/// Floats: fast.
fn sub_of_difference(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let difference = rw.def::<Sub>(op.rhs)?;
    (difference.lhs == op.lhs).then_some(difference.rhs)
}

/// `(x - y) - x = -y`.
///
/// Floats: fast.
fn sub_from_difference(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let difference = rw.def::<Sub>(op.lhs)?;
    if difference.lhs != op.rhs {
        return None;
    }
    rw.emit(Neg { input: difference.rhs })
}

/// `c2 - (x + c1) = (c2 - c1) - x` for constants `c1`, `c2`.
///
/// Floats: fast.
fn constant_minus_sum(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_constant(rw, op.lhs) || !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let sum = rw.def::<Add>(op.rhs)?;
    if !is_constant(rw, sum.rhs) || is_constant(rw, sum.lhs) {
        return None;
    }
    let constant = rw.emit(Sub { lhs: op.lhs, rhs: sum.rhs })?;
    rw.emit(Sub { lhs: constant, rhs: sum.lhs })
}

/// `c2 - (c1 - x) = x + (c2 - c1)` for constants `c1`, `c2`.
///
/// Floats: fast.
fn constant_minus_difference(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_constant(rw, op.lhs) || !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let difference = rw.def::<Sub>(op.rhs)?;
    if !is_constant(rw, difference.lhs) || is_constant(rw, difference.rhs) {
        return None;
    }
    let constant = rw.emit(Sub { lhs: op.lhs, rhs: difference.lhs })?;
    rw.emit(Add { lhs: difference.rhs, rhs: constant })
}
