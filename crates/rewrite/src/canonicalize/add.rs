//! Canonicalizations of `add`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::{Add, Div, Mul, Neg, Not, Sub};

use super::numeric_constants::{
    either_order, is_any_zero, is_complex, is_constant, is_float, is_int, negated_constant,
    splat_float,
};
use super::tensor_views::{BroadcastView, emit_broadcast, shared_operand};
use crate::FloatMode;
use crate::pattern::{Binary, Rewrite};

crate::patterns! { "add":
    add_zero when 1 in constants,
    add_of_neg when any in [Neg],
    add_of_negated_product hops 4 when any in [Mul] of [Int, Float],
    add_of_difference when any in [Sub] floats fast,
    add_to_constant_minus when 0 in [Sub] and 1 in constants floats fast,
    add_one_to_not when 0 in [Not] and 1 in constants of [Int],
    sum_of_multiples when 0 in [Mul] and 1 in [Mul] floats fast,
    sum_of_products when 0 in [Mul] and 1 in [Mul] floats fast,
}

/// `x + 0 = x`.
///
/// For floats `x + -0 = x` is exact; `x + 0` turns -0 into 0.
///
/// Floats: nsz.
fn add_zero(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_any_zero(rw, op.rhs) {
        return None;
    }
    let exact = is_float(rw, op.rhs) && !rw.is_zero(op.rhs);
    (exact || rw.allows(FloatMode::Nsz, op.lhs)).then_some(op.lhs)
}

/// `x + -y = x - y`, in any order.
///
/// Floats: exact.
fn add_of_neg(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    either_order(rw, (op.lhs, op.rhs), |rw, x, negated| {
        let neg = rw.def::<Neg>(negated)?;
        rw.emit(Sub { lhs: x, rhs: neg.input })
    })
}

/// `w + (-x)*y = w - x*y`, in any order, if the product has no other use. Not for complex numbers.
///
/// `-x` may be broadcast, and may be `x * c` or `x / c` with a negative constant `c` of floats, if these have no other use.
///
/// Floats: exact.
fn add_of_negated_product(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    either_order(rw, (op.lhs, op.rhs), |rw, w, product| {
        let rhs = without_negation(rw, product)?;
        rw.emit(Sub { lhs: w, rhs })
    })
}

/// Returns `x*y` for a product `(-x)*y` or `y*(-x)` that has no other use.
pub(super) fn without_negation(rw: &mut Rewrite<'_>, product: Value) -> Option<Value> {
    let mul = rw.def::<Mul>(product)?;
    if is_complex(rw, product) || !rw.one_use(product) {
        return None;
    }
    let (x, y) = either_order(rw, (mul.lhs, mul.rhs), |rw, negated, y| {
        if let Some(neg) = rw.def::<Neg>(negated) {
            return Some((neg.input, y));
        }
        let Some(spread) = rw.def::<BroadcastView>(negated) else {
            return Some((without_negative_constant(rw, negated)?, y));
        };
        if !rw.one_use(negated) {
            return None;
        }
        let small = match rw.def::<Neg>(spread.input) {
            Some(neg) => neg.input,
            None => without_negative_constant(rw, spread.input)?,
        };
        Some((emit_broadcast(rw, small, &spread.dims, &spread.ty)?, y))
    })?;
    rw.emit(Mul { lhs: x, rhs: y })
}

// Returns `x * -c` or `x / -c` for a product or quotient of floats with a negative constant `c` that has no other use.
fn without_negative_constant(rw: &mut Rewrite<'_>, value: Value) -> Option<Value> {
    let inst = rw.def_inst(value)?;
    let f = rw.function();
    if !f.is::<Mul>(inst) && !f.is::<Div>(inst) || !rw.one_use(value) {
        return None;
    }
    let op = rw.def::<Binary>(value)?;
    if !splat_float(rw, op.rhs).is_some_and(|c| c < 0.0) || is_constant(rw, op.lhs) {
        return None;
    }
    let positive = negated_constant(rw, op.rhs)?;
    rw.emit_parts(&op.with(op.lhs, positive))
}

/// `(x - y) + y = x`, in any order.
///
/// Floats: fast.
fn add_of_difference(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    either_order(rw, (op.lhs, op.rhs), |rw, difference, y| {
        let sub = rw.def::<Sub>(difference)?;
        (sub.rhs == y).then_some(sub.lhs)
    })
}

/// `(c1 - x) + c2 = (c1 + c2) - x` for constants `c1`, `c2`.
///
/// Floats: fast.
fn add_to_constant_minus(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_constant(rw, op.rhs) || !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let sub = rw.def::<Sub>(op.lhs)?;
    if !is_constant(rw, sub.lhs) || is_constant(rw, sub.rhs) {
        return None;
    }
    let constant = rw.emit(Add { lhs: sub.lhs, rhs: op.rhs })?;
    rw.emit(Sub { lhs: constant, rhs: sub.rhs })
}

/// `~x + 1 = -x`.
///
/// Floats: never.
fn add_one_to_not(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_int(rw, op.lhs) || !rw.is_one(op.rhs) {
        return None;
    }
    let not = rw.def::<Not>(op.lhs)?;
    rw.emit(Neg { input: not.input })
}

/// `x * c1 + x * c2 = x * (c1 + c2)` for constants `c1`, `c2`.
///
/// One of the products must have no other use.
///
/// Floats: fast.
fn sum_of_multiples(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let (a, b) = (rw.def::<Mul>(op.lhs)?, rw.def::<Mul>(op.rhs)?);
    let constants = is_constant(rw, a.rhs) && is_constant(rw, b.rhs);
    let saves = rw.one_user(op.lhs) || rw.one_user(op.rhs);
    if a.lhs != b.lhs || !constants || !saves || is_constant(rw, a.lhs) {
        return None;
    }
    let factor = rw.emit(Add { lhs: a.rhs, rhs: b.rhs })?;
    rw.emit(Mul { lhs: a.lhs, rhs: factor })
}

/// `x * y + x * z = x * (y + z)`, the products in any order, if they have no other use.
///
/// Floats: fast.
fn sum_of_products(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    let alone = op.lhs != op.rhs && rw.one_use(op.lhs) && rw.one_use(op.rhs);
    if !alone || !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let (a, b) = (rw.def::<Mul>(op.lhs)?, rw.def::<Mul>(op.rhs)?);
    let (x, y, z) = shared_operand((a.lhs, a.rhs), (b.lhs, b.rhs))?;
    let factor = rw.emit(Add { lhs: y, rhs: z })?;
    rw.emit(Mul { lhs: x, rhs: factor })
}
