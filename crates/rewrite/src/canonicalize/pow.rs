//! Canonicalizations of `pow`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::{Div, Mul, Pow, Rsqrt, Sqrt};

use super::numeric_constants::{complex_allows, is_any_zero, is_constant};
use crate::FloatMode;
use crate::pattern::Rewrite;

crate::patterns! { "pow":
    pow_zero when 1 in constants,
    pow_one when 1 in constants,
    pow_two when 1 in constants,
    pow_minus_one when 1 in constants,
    pow_half when 1 in constants floats fast,
    pow_minus_half when 1 in constants floats fast,
    one_pow when 0 in constants,
}

/// `x^0 = 1`, also for NaN.
///
/// Complex numbers need the float mode fast.
///
/// Floats: exact.
fn pow_zero(op: Pow, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_any_zero(rw, op.rhs) || !complex_allows(rw, FloatMode::Fast, op.lhs) {
        return None;
    }
    rw.filled_like_result(1.0)
}

/// `x^1 = x`.
///
/// Complex numbers need the float mode fast.
///
/// Floats: exact.
fn pow_one(op: Pow, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.is_one(op.rhs) && complex_allows(rw, FloatMode::Fast, op.lhs)).then_some(op.lhs)
}

/// `x^2 = x * x`.
///
/// Complex numbers need the float mode fast.
///
/// Floats: exact.
fn pow_two(op: Pow, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.is_number(op.rhs, 2.0) || !complex_allows(rw, FloatMode::Fast, op.lhs) {
        return None;
    }
    rw.emit(Mul { lhs: op.lhs, rhs: op.lhs })
}

/// `x^-1 = 1 / x`.
///
/// Complex numbers need the float mode fast.
///
/// Floats: exact.
fn pow_minus_one(op: Pow, rw: &mut Rewrite<'_>) -> Option<Value> {
    let fits = rw.is_number(op.rhs, -1.0) && complex_allows(rw, FloatMode::Fast, op.lhs);
    if !fits || is_constant(rw, op.lhs) {
        return None;
    }
    let ty = rw.tensor(op.rhs)?.clone();
    let one = rw.filled(&ty, 1.0)?;
    rw.emit(Div { lhs: one, rhs: op.lhs })
}

/// `x^0.5 = sqrt(x)`.
///
/// Floats: fast. They differ at -0 and -infinity.
fn pow_half(op: Pow, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !rw.is_number(op.rhs, 0.5) {
        return None;
    }
    rw.emit(Sqrt { input: op.lhs })
}

/// `x^-0.5 = rsqrt(x)`.
///
/// Floats: fast.
fn pow_minus_half(op: Pow, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !rw.is_number(op.rhs, -0.5) {
        return None;
    }
    rw.emit(Rsqrt { input: op.lhs })
}

/// `1^x = 1`, also for NaN.
///
/// Complex numbers need the float mode fast.
///
/// Floats: exact.
fn one_pow(op: Pow, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.is_one(op.lhs) && complex_allows(rw, FloatMode::Fast, op.lhs)).then_some(op.lhs)
}
