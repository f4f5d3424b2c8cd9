//! Canonicalizations of `mul`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::{Abs, Div, Mul, Neg, Sqrt};

use super::numeric_constants::{
    complex_allows, either_order, is_all_ones, is_any_zero, is_complex, is_constant, is_float,
    is_int, negated_constant,
};
use crate::FloatMode;
use crate::pattern::Rewrite;

crate::patterns! { "mul":
    mul_one when 1 in constants,
    mul_zero when 1 in constants floats fast,
    mul_minus_one when 1 in constants,
    mul_of_negs when 0 in [Neg] and 1 in [Neg],
    mul_of_neg_by_constant when 0 in [Neg] and 1 in constants,
    square_of_abs when 0 in [Abs] and equal,
    square_of_sqrt when 0 in [Sqrt] and equal floats fast,
    mul_of_quotient when 0 in [Div] and 1 in constants floats fast,
    mul_by_own_divisor when any in [Div] floats fast,
}

/// `x * 1 = x`.
///
/// Complex numbers need the float mode fast: an infinite part turns the other into NaN.
///
/// Floats: exact.
fn mul_one(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.is_one(op.rhs) && complex_allows(rw, FloatMode::Fast, op.lhs)).then_some(op.lhs)
}

/// `x * 0 = 0`.
///
/// Floats: fast. Infinities and NaN give NaN, negative numbers -0.
fn mul_zero(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    (is_any_zero(rw, op.rhs) && rw.allows(FloatMode::Fast, op.lhs)).then_some(op.rhs)
}

/// `x * -1 = -x`.
///
/// Complex numbers need the float mode fast.
///
/// Floats: exact.
fn mul_minus_one(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    let minus_one = rw.is_number(op.rhs, -1.0) || is_int(rw, op.rhs) && is_all_ones(rw, op.rhs);
    if !minus_one || is_constant(rw, op.lhs) || !complex_allows(rw, FloatMode::Fast, op.lhs) {
        return None;
    }
    rw.emit(Neg { input: op.lhs })
}

/// `-x * -y = x * y`.
///
/// Floats: exact.
fn mul_of_negs(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (x, y) = (rw.def::<Neg>(op.lhs)?, rw.def::<Neg>(op.rhs)?);
    rw.emit(Mul { lhs: x.input, rhs: y.input })
}

/// `-x * c = x * -c` for a constant `c`.
///
/// Floats: exact.
fn mul_of_neg_by_constant(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    let neg = rw.def::<Neg>(op.lhs)?;
    if is_constant(rw, neg.input) {
        return None;
    }
    let rhs = negated_constant(rw, op.rhs)?;
    rw.emit(Mul { lhs: neg.input, rhs })
}

/// `|x| * |x| = x * x`.
///
/// Floats: exact.
fn square_of_abs(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.lhs != op.rhs {
        return None;
    }
    let abs = rw.def::<Abs>(op.lhs)?;
    if is_complex(rw, abs.input) {
        return None;
    }
    rw.emit(Mul { lhs: abs.input, rhs: abs.input })
}

/// `sqrt(x) * sqrt(x) = x`.
///
/// Floats: fast. The left side rounds, and is NaN below zero.
fn square_of_sqrt(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.lhs != op.rhs || !rw.floats().fast() {
        return None;
    }
    Some(rw.def::<Sqrt>(op.lhs)?.input)
}

/// `(c1 / x) * c2 = (c1 * c2) / x` for constants `c1`, `c2` of floats.
///
/// Floats: fast.
fn mul_of_quotient(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !is_float(rw, op.lhs) || !is_constant(rw, op.rhs) {
        return None;
    }
    let quotient = rw.def::<Div>(op.lhs)?;
    if !is_constant(rw, quotient.lhs) || is_constant(rw, quotient.rhs) {
        return None;
    }
    let constant = rw.emit(Mul { lhs: quotient.lhs, rhs: op.rhs })?;
    rw.emit(Div { lhs: constant, rhs: quotient.rhs })
}

/// `(x / y) * y = x` for floats, in any order.
///
/// Floats: fast.
fn mul_by_own_divisor(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !is_float(rw, op.lhs) {
        return None;
    }
    either_order(rw, (op.lhs, op.rhs), |rw, quotient, y| {
        let inner = rw.def::<Div>(quotient)?;
        (inner.rhs == y).then_some(inner.lhs)
    })
}
