//! Canonicalizations of `neg`, `abs`, `sign`.

use sapwood_ptir::ops::{Abs, Add, Cos, Cosh, Div, Erfc, Exp, Logistic, Mul, Neg, Not, Sign, Sub};
use sapwood_ptir::{Op, Value};

use super::numeric_constants::{
    complex_allows, int_like, is_complex, is_constant, is_float, is_int, is_unsigned,
    negated_constant,
};
use super::tensor_views::NamedReduction;
use crate::FloatMode;
use crate::pattern::{Rewrite, Unary};

crate::patterns! { "sign":
    neg_of_neg when 0 in [Neg],
    neg_of_sub when 0 in [Sub] floats nsz,
    neg_of_add_constant when 0 in [Add] floats nsz,
    neg_of_mul_constant when 0 in [Mul],
    neg_of_div_constant when 0 in [Div] of [Float],
    neg_of_not when 0 in [Not],
    abs_of_unsigned of [Int],
    abs_of_nonnegative when 0 in [Abs, Exp, Cosh, Erfc, Logistic, Mul, NamedReduction],
    even_of_sign_change on [Abs, Cos, Cosh] when 0 in [Neg, Abs],
    sign_of_sign when 0 in [Sign],
}

/// `-(-x) = x`.
///
/// Floats: exact.
fn neg_of_neg(op: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    Some(rw.def::<Neg>(op.input)?.input)
}

/// `-(x - y) = y - x`, if the difference has no other use.
///
/// Floats: nsz. `-(x - x)` is -0.
fn neg_of_sub(op: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Nsz, op.input) || !rw.one_use(op.input) {
        return None;
    }
    let sub = rw.def::<Sub>(op.input)?;
    rw.emit(Sub { lhs: sub.rhs, rhs: sub.lhs })
}

/// `-(x + c) = -c - x` for a constant `c`, if the sum has no other use.
///
/// Floats: nsz. `-(x + -x)` is -0.
fn neg_of_add_constant(op: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Nsz, op.input) || !rw.one_use(op.input) {
        return None;
    }
    let sum = rw.def::<Add>(op.input)?;
    if is_constant(rw, sum.lhs) {
        return None;
    }
    let lhs = negated_constant(rw, sum.rhs)?;
    rw.emit(Sub { lhs, rhs: sum.lhs })
}

/// `-(x * c) = x * -c` for a constant `c`, if the product has no other use.
///
/// Complex numbers need the float mode nsz.
///
/// Floats: exact.
fn neg_of_mul_constant(op: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.one_use(op.input) || !complex_allows(rw, FloatMode::Nsz, op.input) {
        return None;
    }
    let product = rw.def::<Mul>(op.input)?;
    let rhs = negated_constant(rw, product.rhs)?;
    rw.emit(Mul { lhs: product.lhs, rhs })
}

/// `-(x / c) = x / -c` for a constant float `c`, if the quotient has no other use.
///
/// Floats: exact. Not for integers: the smallest and zero have no opposite.
fn neg_of_div_constant(op: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.one_use(op.input) || !is_float(rw, op.input) {
        return None;
    }
    let quotient = rw.def::<Div>(op.input)?;
    let rhs = negated_constant(rw, quotient.rhs)?;
    rw.emit(Div { lhs: quotient.lhs, rhs })
}

/// `-(~x) = x + 1`.
///
/// Floats: never.
fn neg_of_not(op: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    let not = rw.def::<Not>(op.input)?;
    let one = int_like(rw, op.input, 1)?;
    rw.emit(Add { lhs: not.input, rhs: one })
}

/// `|x| = x` for unsigned integers.
///
/// Floats: never.
fn abs_of_unsigned(op: Abs, rw: &mut Rewrite<'_>) -> Option<Value> {
    is_unsigned(rw, op.input).then_some(op.input)
}

/// `|x| = x` where `x` is an `abs`, or a float that is an `exp`, `cosh`, `erfc`, `logistic` or `y * y`, or a sum or product of such floats.
///
/// Floats: exact.
fn abs_of_nonnegative(op: Abs, rw: &mut Rewrite<'_>) -> Option<Value> {
    if is_complex(rw, op.input) {
        return None;
    }
    if let Some(unary) = rw.def::<Unary>(op.input)
        && unary.key == Abs::key()
    {
        return Some(op.input);
    }
    is_nonnegative_float(rw, op.input).then_some(op.input)
}

/// Returns true if no element of a value is less than zero, as the op that computes it tells; elements may be NaN.
pub(super) fn is_nonnegative_float(rw: &mut Rewrite<'_>, value: Value) -> bool {
    if !is_float(rw, value) {
        return false;
    }
    let reduced = rw.def::<NamedReduction>(value).filter(|r| r.is_sum() || r.is_product());
    let value = reduced.map_or(value, |reduction| reduction.input);
    if let Some(unary) = rw.def::<Unary>(value) {
        return [Abs::key(), Exp::key(), Cosh::key(), Erfc::key(), Logistic::key()]
            .contains(&unary.key);
    }
    rw.def::<Mul>(value).is_some_and(|product| product.lhs == product.rhs)
}

/// `f(-x) = f(|x|) = f(x)` for `abs`, `cos`, `cosh`.
///
/// Not for `abs` of unsigned integers, where `-x` wraps; for complex numbers only `abs`.
///
/// Floats: exact.
fn even_of_sign_change(op: Unary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Unary>(op.input)?;
    let of_abs = inner.key == Abs::key() && op.key != Abs::key();
    if is_unsigned(rw, op.input) || !(inner.key == Neg::key() || of_abs) {
        return None;
    }
    if is_complex(rw, inner.input) && op.key != Abs::key() {
        return None;
    }
    rw.emit_parts(&op.with(inner.input))
}

/// `sign(sign(x)) = sign(x)`.
///
/// Not for complex numbers, which are divided by their modulus.
///
/// Floats: exact.
fn sign_of_sign(op: Sign, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.def::<Sign>(op.input)?;
    (is_int(rw, op.input) || is_float(rw, op.input)).then_some(op.input)
}
