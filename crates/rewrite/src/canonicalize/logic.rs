//! Canonicalizations of `and`, `or`, `xor`, `not`.

use sapwood_ptir::ops::{Add, And, Neg, Not, Or, Xor};
use sapwood_ptir::{Op, Value};

use super::numeric_constants::{
    all_ones_like_result, either_order, int_like, inverted_constant, is_all_ones, is_constant,
};
use super::tensor_views::shared_operand;
use crate::pattern::{Binary, Rewrite};

crate::patterns! { "logic":
    and_zero when 1 in constants,
    and_ones when 1 in constants,
    or_zero when 1 in constants,
    or_ones when 1 in constants,
    xor_zero when 1 in constants,
    xor_ones when 1 in constants,
    xor_self when equal,
    xor_of_xor when any in [Xor],
    xor_of_nots when 0 in [Not] and 1 in [Not],
    xor_of_not_and_constant when 0 in [Not] and 1 in constants,
    with_complement on [And, Or, Xor] when any in [Not],
    complement_absorption on [And, Or] when any in [And, Or],
    de_morgan on [And, Or] when 0 in [Not] and 1 in [Not],
    common_factor on [And, Or] when 0 in [And, Or] and 1 in [And, Or],
    not_of_not when 0 in [Not],
    not_of_neg when 0 in [Neg],
    not_of_xor_constant when 0 in [Xor],
}

/// `x & 0 = 0`.
///
/// Floats: never.
fn and_zero(op: And, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.is_zero(op.rhs).then_some(op.rhs)
}

/// `x & ~0 = x`: all bits one, or `true`.
///
/// Floats: never.
fn and_ones(op: And, rw: &mut Rewrite<'_>) -> Option<Value> {
    is_all_ones(rw, op.rhs).then_some(op.lhs)
}

/// `x | 0 = x`.
///
/// Floats: never.
fn or_zero(op: Or, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.is_zero(op.rhs).then_some(op.lhs)
}

/// `x | ~0 = ~0`: all bits one, or `true`.
///
/// Floats: never.
fn or_ones(op: Or, rw: &mut Rewrite<'_>) -> Option<Value> {
    is_all_ones(rw, op.rhs).then_some(op.rhs)
}

/// `x ^ 0 = x`.
///
/// Floats: never.
fn xor_zero(op: Xor, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.is_zero(op.rhs).then_some(op.lhs)
}

/// `x ^ ~0 = ~x`: all bits one, or `true`.
///
/// Floats: never.
fn xor_ones(op: Xor, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_all_ones(rw, op.rhs) || is_constant(rw, op.lhs) {
        return None;
    }
    rw.emit(Not { input: op.lhs })
}

/// `x ^ x = 0`.
///
/// Floats: never.
fn xor_self(op: Xor, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.lhs != op.rhs {
        return None;
    }
    rw.filled_like_result(0.0)
}

/// `(x ^ y) ^ y = x`, in any order.
///
/// Floats: never.
fn xor_of_xor(op: Xor, rw: &mut Rewrite<'_>) -> Option<Value> {
    either_order(rw, (op.lhs, op.rhs), |rw, inner, y| {
        let xor = rw.def::<Xor>(inner)?;
        if xor.rhs == y { Some(xor.lhs) } else { (xor.lhs == y).then_some(xor.rhs) }
    })
}

/// `~x ^ ~y = x ^ y`.
///
/// Floats: never.
fn xor_of_nots(op: Xor, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (x, y) = (rw.def::<Not>(op.lhs)?, rw.def::<Not>(op.rhs)?);
    rw.emit(Xor { lhs: x.input, rhs: y.input })
}

/// `~x ^ c = x ^ ~c` for a constant `c`.
///
/// Floats: never.
fn xor_of_not_and_constant(op: Xor, rw: &mut Rewrite<'_>) -> Option<Value> {
    let not = rw.def::<Not>(op.lhs)?;
    let rhs = inverted_constant(rw, op.rhs)?;
    rw.emit(Xor { lhs: not.input, rhs })
}

/// `x & ~x = 0`, `x | ~x = ~0`, `x ^ ~x = ~0`, in any order.
///
/// Floats: never.
fn with_complement(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    either_order(rw, (op.lhs, op.rhs), |rw, x, inverse| {
        let not = rw.def::<Not>(inverse)?;
        if not.input != x {
            return None;
        }
        if op.key == And::key() { rw.filled_like_result(0.0) } else { all_ones_like_result(rw) }
    })
}

/// `x & (~x | y) = x & y` and `x | (~x & y) = x | y`, in any order.
///
/// Floats: never.
fn complement_absorption(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dual = if op.key == And::key() { Or::key() } else { And::key() };
    either_order(rw, (op.lhs, op.rhs), |rw, x, inner| {
        let inner = rw.def::<Binary>(inner).filter(|inner| inner.key == dual)?;
        let y = either_order(rw, (inner.lhs, inner.rhs), |rw, inverse, y| {
            (rw.def::<Not>(inverse)?.input == x).then_some(y)
        })?;
        rw.emit_parts(&op.with(x, y))
    })
}

/// `~x & ~y = ~(x | y)` and `~x | ~y = ~(x & y)`, if the operands have no other use.
///
/// Floats: never.
fn de_morgan(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.one_use(op.lhs) || !rw.one_use(op.rhs) {
        return None;
    }
    let (x, y) = (rw.def::<Not>(op.lhs)?.input, rw.def::<Not>(op.rhs)?.input);
    let input = if op.key == And::key() {
        rw.emit(Or { lhs: x, rhs: y })?
    } else {
        rw.emit(And { lhs: x, rhs: y })?
    };
    rw.emit(Not { input })
}

/// `(x & y) | (x & z) = x & (y | z)` and `(x | y) & (x | z) = x | (y & z)`, if the operands have no other use.
///
/// Floats: never.
fn common_factor(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dual = if op.key == And::key() { Or::key() } else { And::key() };
    if !rw.one_use(op.lhs) || !rw.one_use(op.rhs) {
        return None;
    }
    let a = rw.def::<Binary>(op.lhs).filter(|a| a.key == dual)?;
    let b = rw.def::<Binary>(op.rhs).filter(|b| b.key == dual)?;
    let (x, y, z) = shared_operand((a.lhs, a.rhs), (b.lhs, b.rhs))?;
    let inner = rw.emit_parts(&op.with(y, z))?;
    rw.emit_parts(&a.with(x, inner))
}

/// `~~x = x`.
///
/// Floats: never.
fn not_of_not(op: Not, rw: &mut Rewrite<'_>) -> Option<Value> {
    Some(rw.def::<Not>(op.input)?.input)
}

/// `~(-x) = x - 1`, as a sum.
///
/// Floats: never.
fn not_of_neg(op: Not, rw: &mut Rewrite<'_>) -> Option<Value> {
    let neg = rw.def::<Neg>(op.input)?;
    let rhs = int_like(rw, op.input, -1)?;
    rw.emit(Add { lhs: neg.input, rhs })
}

/// `~(x ^ c) = x ^ ~c` for a constant `c`, if `xor` has no other use.
///
/// Floats: never.
fn not_of_xor_constant(op: Not, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.one_use(op.input) {
        return None;
    }
    let xor = rw.def::<Xor>(op.input)?;
    let rhs = inverted_constant(rw, xor.rhs)?;
    rw.emit(Xor { lhs: xor.lhs, rhs })
}
