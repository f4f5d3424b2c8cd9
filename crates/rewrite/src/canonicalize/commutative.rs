//! Laws shared by several commutative ops.

use sapwood_ptir::ops::{Add, And, Max, Min, Mul, Or, Xor};
use sapwood_ptir::{Op, OpKey, Value};

use super::numeric_constants::{
    complex_allows, either_order, is_bool, is_constant, is_int_or_bool,
};
use super::tensor_views::{BroadcastView, emit_broadcast};
use crate::FloatMode;
use crate::pattern::{Binary, Rewrite};

crate::patterns! { "commutative":
    constant_to_the_right on [Add, Mul, Min, Max, And, Or, Xor] when 0 in constants,
    bool_arithmetic on [Add, Mul, Min, Max] of [Bool],
    idempotent on [And, Or, Min, Max] when equal,
    repeated_operand on [And, Or, Min, Max] when any in own,
    absorption on [And, Or, Min, Max] when any in [And, Or, Min, Max] floats fast,
    reassociate_constants on [Add, Mul, Min, Max, And, Or, Xor] when 1 in constants and 0 in own,
    reassociate_broadcasts on [Add, Mul] when any in [BroadcastView] and any in own floats fast,
}

/// `c ∘ x = x ∘ c` for `add`, `mul`, `min`, `max`, `and`, `or`, `xor` and a constant `c`.
///
/// Floats: exact.
fn constant_to_the_right(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.is_known(op.lhs) || rw.is_known(op.rhs) {
        return None;
    }
    rw.emit_parts(&op.with(op.rhs, op.lhs))
}

/// `a + b = max(a, b) = a | b` and `a * b = min(a, b) = a & b` for bools.
///
/// Floats: never.
fn bool_arithmetic(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_bool(rw, op.lhs) {
        return None;
    }
    if op.key == Add::key() || op.key == Max::key() {
        rw.emit(Or { lhs: op.lhs, rhs: op.rhs })
    } else {
        rw.emit(And { lhs: op.lhs, rhs: op.rhs })
    }
}

/// `x ∘ x = x` for `and`, `or`, `min`, `max`.
///
/// For complex numbers with one NaN part, `min` and `max` return two NaN parts, so they need the float mode fast.
///
/// Floats: exact.
fn idempotent(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    (op.lhs == op.rhs && complex_allows(rw, FloatMode::Fast, op.lhs)).then_some(op.lhs)
}

/// `x ∘ (x ∘ y) = x ∘ y` for `and`, `or`, `min`, `max`, in any order.
///
/// Floats: exact.
fn repeated_operand(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    either_order(rw, (op.lhs, op.rhs), |rw, inner, x| {
        let def = rw.def::<Binary>(inner)?;
        (def.key == op.key && (def.lhs == x || def.rhs == x)).then_some(inner)
    })
}

/// `x ∘ (x • y) = x` where `∘`, `•` are `and`, `or`, or `min`, `max`, in any order.
///
/// Floats: fast. `y` may be NaN.
fn absorption(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let other = dual_op(op.key)?;
    if !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    either_order(rw, (op.lhs, op.rhs), |rw, inner, x| {
        let def = rw.def::<Binary>(inner)?;
        (def.key == other && (def.lhs == x || def.rhs == x)).then_some(x)
    })
}

fn dual_op(key: OpKey) -> Option<OpKey> {
    let pairs = [(And::key(), Or::key()), (Min::key(), Max::key())];
    pairs.into_iter().find_map(|(a, b)| match key {
        k if k == a => Some(b),
        k if k == b => Some(a),
        _ => None,
    })
}

/// `(x ∘ c1) ∘ c2 = x ∘ (c1 ∘ c2)` for `add`, `mul`, `min`, `max`, `and`, `or`, `xor` and constants `c1`, `c2`.
///
/// Sums and products of floats need the float mode fast; `min` and `max` are exact.
///
/// Floats: fast.
fn reassociate_constants(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_constant(rw, op.rhs) {
        return None;
    }
    let inner = rw.def::<Binary>(op.lhs)?;
    let rounds = op.key == Add::key() || op.key == Mul::key();
    if inner.key != op.key || rounds && !rw.floats().fast() && !is_int_or_bool(rw, op.lhs) {
        return None;
    }
    if !is_constant(rw, inner.rhs) || is_constant(rw, inner.lhs) {
        return None;
    }
    let constant = rw.emit_parts(&op.with(inner.rhs, op.rhs))?;
    rw.emit_parts(&op.with(inner.lhs, constant))
}

/// `(x ∘ broadcast(a)) ∘ broadcast(b) = x ∘ broadcast(a ∘ b)` for `add` and `mul`, in any order, and broadcasts of one kind.
///
/// Only if nothing else uses the inner result, and one of the broadcasts.
///
/// Floats: fast.
fn reassociate_broadcasts(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    either_order(rw, (op.lhs, op.rhs), |rw, inner, b| {
        let inside = rw.def::<Binary>(inner).filter(|def| def.key == op.key)?;
        let outer = rw.def::<BroadcastView>(b)?;
        if !rw.one_use(inner) || !outer.is_certain() {
            return None;
        }
        either_order(rw, (inside.lhs, inside.rhs), |rw, x, a| {
            let small = rw.def::<BroadcastView>(a)?;
            let alike = small.dims == outer.dims && small.from == outer.from;
            if !alike || !(rw.one_use(a) || rw.one_use(b)) {
                return None;
            }
            let sum = rw.emit_parts(&op.with(small.input, outer.input))?;
            let spread = emit_broadcast(rw, sum, &outer.dims, &outer.ty)?;
            rw.emit_parts(&op.with(x, spread))
        })
    })
}
