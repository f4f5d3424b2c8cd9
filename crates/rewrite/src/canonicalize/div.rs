//! Canonicalizations of `div`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::{Div, Exp, Mul, Neg, Rsqrt, ShrLogical, Sqrt, Sub};

use super::numeric_constants::{
    all_ones_like_result, complex_allows, int_like, is_any_zero, is_complex, is_constant, is_float,
    is_int, is_unsigned, splat_float, splat_int,
};
use crate::FloatMode;
use crate::pattern::Rewrite;

crate::patterns! { "div":
    div_one when 1 in constants,
    div_minus_one when 1 in constants,
    div_by_zero when 1 in constants of [Int],
    div_self when equal floats fast,
    zero_div when 0 in constants floats fast,
    div_of_negs when 0 in [Neg] and 1 in [Neg] of [Float],
    div_by_power_of_two when 1 in constants of [Float],
    div_unsigned_by_power_of_two when 1 in constants of [Int],
    div_of_div when 0 in [Div] and 1 in constants of [Int],
    div_by_constant when 1 in constants floats fast,
    constant_div_constant_multiple when 1 in [Mul] and 0 in constants floats fast,
    reciprocal_of_sqrt when 1 in [Sqrt] and 0 in constants floats fast,
    reciprocal_of_exp when 1 in [Exp] and 0 in constants floats fast,
    div_of_quotient when 0 in [Div] floats fast,
    div_by_sqrt when 1 in [Sqrt] floats fast,
    quotient_of_exps when 0 in [Exp] and 1 in [Exp] floats fast,
}

/// `x / 1 = x`.
///
/// Complex numbers need the float mode fast.
///
/// Floats: exact.
fn div_one(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.is_one(op.rhs) && complex_allows(rw, FloatMode::Fast, op.lhs)).then_some(op.lhs)
}

/// `x / -1 = -x`.
///
/// Not for unsigned integers; complex numbers need the float mode fast.
///
/// Floats: exact.
fn div_minus_one(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    let fits = rw.is_number(op.rhs, -1.0) && complex_allows(rw, FloatMode::Fast, op.lhs);
    if !fits || is_constant(rw, op.lhs) {
        return None;
    }
    rw.emit(Neg { input: op.lhs })
}

/// `x / 0 = -1`, all bits one, for integers.
///
/// Floats: never.
fn div_by_zero(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_int(rw, op.rhs) || !rw.is_zero(op.rhs) {
        return None;
    }
    all_ones_like_result(rw)
}

/// `x / x = 1`.
///
/// Not for integers: `0 / 0` is -1.
///
/// Floats: fast.
fn div_self(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.lhs != op.rhs || is_int(rw, op.lhs) || !rw.floats().fast() {
        return None;
    }
    rw.filled_like_result(1.0)
}

/// `0 / x = 0`.
///
/// Not for integers: `0 / 0` is -1.
///
/// Floats: fast.
fn zero_div(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    let fits = !is_int(rw, op.lhs) && rw.floats().fast() && is_any_zero(rw, op.lhs);
    fits.then_some(op.lhs)
}

/// `-x / -y = x / y` for floats.
///
/// Not for integers: the smallest has no opposite.
///
/// Floats: exact.
fn div_of_negs(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_float(rw, op.lhs) {
        return None;
    }
    let (x, y) = (rw.def::<Neg>(op.lhs)?, rw.def::<Neg>(op.rhs)?);
    rw.emit(Div { lhs: x.input, rhs: y.input })
}

/// `x / c = x * (1 / c)` for floats and a constant power of two `c`, if `1 / c` is a normal number.
///
/// Floats: exact.
fn div_by_power_of_two(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    let c = splat_float(rw, op.rhs)?;
    const FRACTION: u64 = (1 << 52) - 1;
    if !c.is_normal() || c.to_bits() & FRACTION != 0 || c.abs() == 1.0 {
        return None;
    }
    multiply_by_reciprocal(op, c, rw)
}

// Returns `x * (1 / c)` for `x / c`, unless `1 / c` is subnormal.
fn multiply_by_reciprocal(op: Div, c: f64, rw: &mut Rewrite<'_>) -> Option<Value> {
    let normal = smallest_normal(rw, op.rhs)?;
    if c.recip().abs() < normal {
        return None;
    }
    let ty = rw.tensor(op.rhs)?.clone();
    let rhs = rw.filled(&ty, c.recip())?;
    rw.emit(Mul { lhs: op.lhs, rhs })
}

fn smallest_normal(rw: &Rewrite<'_>, value: Value) -> Option<f64> {
    let exponent = super::numeric_constants::exponent_bits(rw.dtype(value)?)?;
    Some(2f64.powi(2 - (1 << (exponent - 1))))
}

/// `x / 2^n = x >> n` for unsigned integers.
///
/// Floats: never.
fn div_unsigned_by_power_of_two(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    let c = splat_int(rw, op.rhs).filter(|&c| c > 1 && c & (c - 1) == 0)?;
    if !is_unsigned(rw, op.lhs) {
        return None;
    }
    let rhs = int_like(rw, op.rhs, c.trailing_zeros().into())?;
    rw.emit(ShrLogical { lhs: op.lhs, rhs })
}

/// `(x / c1) / c2 = x / (c1 * c2)` for positive constant integers whose product fits.
///
/// Floats: never.
fn div_of_div(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    let c2 = splat_int(rw, op.rhs).filter(|&c| c > 0)?;
    let inner = rw.def::<Div>(op.lhs)?;
    let c1 = splat_int(rw, inner.rhs).filter(|&c| c > 0)?;
    let product = c1.checked_mul(c2)?;
    if product > rw.dtype(op.rhs)?.integer_max()? {
        return None;
    }
    let rhs = int_like(rw, op.rhs, product)?;
    rw.emit(Div { lhs: inner.lhs, rhs })
}

/// `x / c = x * (1 / c)` for floats and a constant `c` that is not zero and not infinite.
///
/// Floats: fast.
fn div_by_constant(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || is_constant(rw, op.lhs) {
        return None;
    }
    let c = splat_float(rw, op.rhs).filter(|c| c.is_normal())?;
    multiply_by_reciprocal(op, c, rw)
}

/// `c1 / (x * c2) = (c1 / c2) / x` for constants `c1`, `c2` of floats.
///
/// Floats: fast.
fn constant_div_constant_multiple(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !is_float(rw, op.lhs) || !is_constant(rw, op.lhs) {
        return None;
    }
    let product = rw.def::<Mul>(op.rhs)?;
    let divides = splat_float(rw, product.rhs).is_some_and(f64::is_normal);
    if !divides || is_constant(rw, product.lhs) {
        return None;
    }
    let constant = rw.emit(Div { lhs: op.lhs, rhs: product.rhs })?;
    rw.emit(Div { lhs: constant, rhs: product.lhs })
}

/// `1 / sqrt(x) = rsqrt(x)`.
///
/// Floats: fast. `rsqrt` rounds once.
fn reciprocal_of_sqrt(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !rw.is_one(op.lhs) {
        return None;
    }
    let sqrt = rw.def::<Sqrt>(op.rhs)?;
    rw.emit(Rsqrt { input: sqrt.input })
}

/// `1 / exp(x) = exp(-x)`, if the exponential has no other use.
///
/// Floats: fast.
fn reciprocal_of_exp(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !rw.is_one(op.lhs) || !rw.one_use(op.rhs) || is_complex(rw, op.rhs) {
        return None;
    }
    let exp = rw.def::<Exp>(op.rhs)?;
    let input = rw.emit(Neg { input: exp.input })?;
    rw.emit(Exp { input })
}

/// `(x / y) / z = x / (y * z)` for floats, if the inner quotient has no other use.
///
/// Floats: fast.
fn div_of_quotient(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !is_float(rw, op.lhs) || !rw.one_use(op.lhs) {
        return None;
    }
    let inner = rw.def::<Div>(op.lhs)?;
    if is_constant(rw, inner.lhs) && is_constant(rw, inner.rhs) {
        return None;
    }
    let rhs = rw.emit(Mul { lhs: inner.rhs, rhs: op.rhs })?;
    rw.emit(Div { lhs: inner.lhs, rhs })
}

/// `x / sqrt(y) = x * rsqrt(y)` for floats, if the square root has no other use.
///
/// Floats: fast.
fn div_by_sqrt(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !is_float(rw, op.lhs) || !rw.one_use(op.rhs) || rw.is_one(op.lhs) {
        return None;
    }
    let sqrt = rw.def::<Sqrt>(op.rhs)?;
    let rhs = rw.emit(Rsqrt { input: sqrt.input })?;
    rw.emit(Mul { lhs: op.lhs, rhs })
}

/// `exp(x) / exp(y) = exp(x - y)`, if the exponentials have no other use.
///
/// Floats: fast.
fn quotient_of_exps(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !rw.one_use(op.lhs) || !rw.one_use(op.rhs) {
        return None;
    }
    let (x, y) = (rw.def::<Exp>(op.lhs)?, rw.def::<Exp>(op.rhs)?);
    let input = rw.emit(Sub { lhs: x.input, rhs: y.input })?;
    rw.emit(Exp { input })
}
