//! Canonicalizations of `min`, `max`, `clamp`.

use sapwood_ptir::ops::{Clamp, Max, Min, Neg};
use sapwood_ptir::{Op, Value};

use super::numeric_constants::{
    is_bool, is_complex, is_constant, is_float, is_highest, is_lowest, splat_float, splat_int,
};
use crate::FloatMode;
use crate::pattern::{Binary, Rewrite};

crate::patterns! { "min_max":
    min_max_with_far_limit on [Min, Max] when 1 in constants,
    min_max_with_near_limit on [Min, Max] when 1 in constants,
    min_max_of_negs on [Min, Max] when 0 in [Neg] and 1 in [Neg] of [Float],
    min_of_max_is_clamp when 0 in [Max] and 1 in constants,
    max_of_min_is_clamp when 0 in [Min] and 1 in constants,
    clamp_without_low when 0 in constants,
    clamp_without_high when 2 in constants,
    clamp_between_equals when equal floats fast,
    clamp_by_itself when equal,
    clamp_of_clamp when 1 in [Clamp],
}

/// `max(x, lowest) = x` and `min(x, highest) = x`: the limits of integers, or infinities.
///
/// Floats: exact.
fn min_max_with_far_limit(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let far = if op.key == Max::key() { is_lowest(rw, op.rhs) } else { is_highest(rw, op.rhs) };
    far.then_some(op.lhs)
}

/// `max(x, highest) = highest` and `min(x, lowest) = lowest`: the limits of integers, or infinities.
///
/// Floats: fast. `x` may be NaN.
fn min_max_with_near_limit(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let near = if op.key == Max::key() { is_highest(rw, op.rhs) } else { is_lowest(rw, op.rhs) };
    (near && rw.allows(FloatMode::Fast, op.lhs)).then_some(op.rhs)
}

/// `max(-x, -y) = -min(x, y)` and `min(-x, -y) = -max(x, y)` for floats, if the operands have no other use.
///
/// Not for integers: the smallest has no opposite.
///
/// Floats: exact.
fn min_max_of_negs(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_float(rw, op.lhs) || !rw.one_use(op.lhs) || !rw.one_use(op.rhs) {
        return None;
    }
    let (x, y) = (rw.def::<Neg>(op.lhs)?.input, rw.def::<Neg>(op.rhs)?.input);
    let input = if op.key == Max::key() {
        rw.emit(Min { lhs: x, rhs: y })?
    } else {
        rw.emit(Max { lhs: x, rhs: y })?
    };
    rw.emit(Neg { input })
}

/// `min(max(x, low), high) = clamp(low, x, high)` for constant bounds, if `max` has no other use.
///
/// Floats: exact.
fn min_of_max_is_clamp(op: Min, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_constant(rw, op.rhs) || !may_become_clamp(rw, op.lhs) {
        return None;
    }
    let max = rw.def::<Max>(op.lhs)?;
    if !is_constant(rw, max.rhs) || is_constant(rw, max.lhs) {
        return None;
    }
    rw.emit(Clamp { low: max.rhs, input: max.lhs, high: op.rhs })
}

// Returns true if a value may become part of a clamp: it has one use, and `clamp` supports its elements.
fn may_become_clamp(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.one_use(value) && !is_bool(rw, value) && !is_complex(rw, value)
}

/// `max(min(x, high), low) = clamp(low, x, high)` for constant bounds with `low <= high`, if `min` has no other use.
///
/// Floats: exact.
fn max_of_min_is_clamp(op: Max, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_constant(rw, op.rhs) || !may_become_clamp(rw, op.lhs) {
        return None;
    }
    let min = rw.def::<Min>(op.lhs)?;
    if is_constant(rw, min.lhs) || !are_ordered_bounds(rw, op.rhs, min.rhs) {
        return None;
    }
    rw.emit(Clamp { low: op.rhs, input: min.lhs, high: min.rhs })
}

// Returns true if two values are constants with all elements equal and `low <= high`, with -0 below 0.
fn are_ordered_bounds(rw: &mut Rewrite<'_>, low: Value, high: Value) -> bool {
    if let (Some(low), Some(high)) = (splat_int(rw, low), splat_int(rw, high)) {
        return low <= high;
    }
    match (splat_float(rw, low), splat_float(rw, high)) {
        (Some(low), Some(high)) if !low.is_nan() && !high.is_nan() => low.total_cmp(&high).is_le(),
        _ => false,
    }
}

/// `clamp(lowest, x, high) = min(x, high)`: the limit of integers, or -infinity.
///
/// Floats: exact.
fn clamp_without_low(op: Clamp, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_lowest(rw, op.low) {
        return None;
    }
    if is_highest(rw, op.high) {
        return Some(op.input);
    }
    rw.emit(Min { lhs: op.input, rhs: op.high })
}

/// `clamp(low, x, highest) = max(x, low)`: the limit of integers, or infinity.
///
/// Floats: exact.
fn clamp_without_high(op: Clamp, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_highest(rw, op.high) {
        return None;
    }
    rw.emit(Max { lhs: op.input, rhs: op.low })
}

/// `clamp(y, x, y) = y`.
///
/// Floats: fast. `x` may be NaN.
fn clamp_between_equals(op: Clamp, rw: &mut Rewrite<'_>) -> Option<Value> {
    let fits = op.low == op.high && rw.rank(op.high) == rw.rank(op.input);
    (fits && rw.allows(FloatMode::Fast, op.input)).then_some(op.high)
}

/// `clamp(y, x, x) = x` and `clamp(x, x, y) = min(x, y)`.
///
/// Floats: fast where `x` is a bound and `y` may be NaN; `min` is exact.
fn clamp_by_itself(op: Clamp, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.input == op.high && rw.allows(FloatMode::Fast, op.input) {
        return Some(op.input);
    }
    if op.input != op.low {
        return None;
    }
    rw.emit(Min { lhs: op.input, rhs: op.high })
}

/// `clamp(low, clamp(low, x, high), high) = clamp(low, x, high)`.
///
/// Floats: exact.
fn clamp_of_clamp(op: Clamp, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Clamp>(op.input)?;
    (inner.low == op.low && inner.high == op.high).then_some(op.input)
}
