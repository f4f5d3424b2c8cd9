//! Canonicalizations of `pad`.

use sapwood_ptir::ops::{Add, Concat, Pad, Reshape, Slice};
use sapwood_ptir::{Axes, Dim, Int, TensorLiteral, Value};

use super::tensor_views::{
    UniformValue, as_uniform, axes_with_used_units, emit_reshape, is_at_most_one,
    is_certainly_empty,
};
use crate::FloatMode;
use crate::pattern::{Binary, Rewrite, Unary};

crate::patterns! { "pad":
    pad_by_nothing when same,
    pad_as_slice,
    pad_of_pad when 0 in [Pad],
    pad_of_uniform,
    pad_of_empty when empty,
    pad_of_reshape hops 1 when 0 in [Reshape],
    unary_of_pad when 0 in [Pad],
    binary_of_pads when any in [Pad],
    add_of_pads when 0 in [Pad] and 1 in [Pad],
}

// Returns true if padding is inserted between elements.
fn has_interior_padding(op: &Pad, rw: &Rewrite<'_>) -> bool {
    let Some(interior) = &op.interior else { return false };
    let one = |axis: usize| rw.tensor(op.input).is_some_and(|t| is_at_most_one(t.dims[axis]));
    interior.iter().enumerate().any(|(axis, &n)| n != 0 && !one(axis))
}

/// `pad(x, v) = x` if nothing is added.
///
/// Floats: exact.
fn pad_by_nothing(op: Pad, rw: &mut Rewrite<'_>) -> Option<Value> {
    let none =
        op.low.iter().chain(op.high.iter()).all(|&n| n == 0) && !has_interior_padding(&op, rw);
    (none && rw.ty(op.input) == rw.result_type()).then_some(op.input)
}

/// `pad(x, v) = slice(x)` if it only removes elements.
///
/// All dims must be known.
///
/// Floats: exact.
fn pad_as_slice(op: Pad, rw: &mut Rewrite<'_>) -> Option<Value> {
    let shape = rw.shape(op.input)?;
    let removes = op.low.iter().chain(op.high.iter()).all(|&n| n <= 0);
    let some = op.low.iter().chain(op.high.iter()).any(|&n| n != 0);
    if !removes || !some || has_interior_padding(&op, rw) {
        return None;
    }
    let starts = op.low.iter().map(|n| n.checked_neg()).collect::<Option<Vec<i64>>>()?;
    let limit = |(&n, &high): (&u64, &i64)| i64::try_from(n).ok()?.checked_add(high);
    let limits = shape.iter().zip(op.high.iter()).map(limit).collect::<Option<Vec<i64>>>()?;
    rw.emit(Slice { input: op.input, starts: starts.into(), limits: limits.into(), strides: None })
}

/// `pad(pad(x, v, a), v, b) = pad(x, v, a + b)`.
///
/// Neither pads between elements, the inner one removes none, and the outer one removes none of `x`.
///
/// Floats: exact.
fn pad_of_pad(outer: Pad, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Pad>(outer.input)?;
    if has_interior_padding(&outer, rw) || has_interior_padding(&inner, rw) {
        return None;
    }
    let same = outer.value == inner.value
        || as_uniform(rw, outer.value)?.is_certainly_same(&as_uniform(rw, inner.value)?);
    let sum = |a: &Axes, b: &Axes| {
        let one = |(&a, &b): (&i64, &i64)| a.checked_add(b).filter(|&sum| a >= 0 && sum >= 0);
        a.iter().zip(b.iter()).map(one).collect::<Option<Vec<i64>>>()
    };
    let (low, high) = (sum(&inner.low, &outer.low)?, sum(&inner.high, &outer.high)?);
    if !same {
        return None;
    }
    let (input, value) = (inner.input, inner.value);
    rw.emit(Pad { input, value, low: low.into(), high: high.into(), interior: None })
}

/// `pad(broadcast(v), v) = broadcast(v)` for a scalar `v`.
///
/// All dims must be known.
///
/// Floats: exact.
fn pad_of_uniform(op: Pad, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (inside, around) = (as_uniform(rw, op.input)?, as_uniform(rw, op.value)?);
    if !inside.is_certainly_same(&around) {
        return None;
    }
    inside.emit(rw, rw.result_tensor()?)
}

/// `pad(x, v) = broadcast(v)` if `x` has no elements.
///
/// All dims of the result must be known.
///
/// Floats: exact.
fn pad_of_empty(op: Pad, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = rw.result_tensor()?;
    if !is_certainly_empty(rw.tensor(op.input)?) || ty.dims.contains(&Dim::Known(0)) {
        return None;
    }
    UniformValue::Scalar(op.value).emit(rw, ty)
}

// Returns true if padding is added or removed along an axis.
fn is_padded(op: &Pad, axis: usize) -> bool {
    let between = op.interior.as_ref().is_some_and(|list| list[axis] != 0);
    op.low[axis] != 0 || op.high[axis] != 0 || between
}

/// `pad(reshape(x), v) = reshape(pad(x, v))` if the reshape only adds or removes axes of extent one that are not padded.
///
/// Only if nothing else uses the reshaped value. All dims must be known.
///
/// Floats: exact.
fn pad_of_reshape(op: Pad, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(op.input)?;
    let (from, to) = (rw.shape(inner.input)?, rw.shape(op.input)?);
    if !rw.one_use(op.input) {
        return None;
    }
    let places = axes_with_used_units(&from, &to, |axis| is_padded(&op, axis))?;
    let moved = |list: &Axes| -> Axes {
        places.iter().map(|place| place.map_or(0, |axis| list[axis])).collect()
    };
    let (low, high) = (moved(&op.low), moved(&op.high));
    let interior = op.interior.as_ref().map(moved);
    let padded = rw.emit(Pad { input: inner.input, value: op.value, low, high, interior })?;
    emit_reshape(rw, padded, rw.result_tensor()?)
}

/// `f(pad(x, c)) = pad(f(x), f(c))` for elementwise `f` of one operand and a constant `c`.
///
/// Only if nothing else uses the padded value and no element is removed. The elements of the result must not be wider than those of `x`.
///
/// Floats: exact.
fn unary_of_pad(f: Unary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = movable_pad(rw, f.input)?;
    if rw.result_tensor()?.dtype.byte_size() > rw.dtype(f.input)?.byte_size() {
        return None;
    }
    let input = rw.emit_parts(&f.with(inner.input))?;
    let value = rw.emit_parts(&f.with(inner.value))?;
    rw.emit(Pad { input, value, ..inner })
}

/// `f(pad(x, c1), pad(y, c2)) = pad(f(x, y), f(c1, c2))` for elementwise `f` of two operands and constants `c1`, `c2`, if both are padded alike.
///
/// A constant of equal elements counts as padded. Only if nothing else uses the padded values and no element is removed. All dims must be known, and
/// the elements of the result must not be wider than those of `x`.
///
/// Floats: exact.
fn binary_of_pads(f: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (lhs, rhs) = (movable_pad(rw, f.lhs), movable_pad(rw, f.rhs));
    let pad = lhs.as_ref().or(rhs.as_ref())?.clone();
    let narrow = rw.result_tensor()?.dtype.byte_size() <= rw.dtype(f.lhs)?.byte_size();
    let shape = rw.shape(pad.input)?;
    if !narrow {
        return None;
    }
    let mut part = |own: Option<Pad>, value: Value| match own {
        Some(own) => {
            let alike = own.low == pad.low && own.high == pad.high && own.interior == pad.interior;
            (alike && rw.shape(own.input)? == shape).then_some((own.input, own.value))
        }
        None => {
            let literal = rw.splat_of(value)?;
            let splat = |shape: &[u64]| {
                TensorLiteral::splat(literal.dtype(), shape, literal.as_splat()?).ok()
            };
            let (inside, around) = (splat(&shape)?, splat(&[])?);
            Some((rw.constant(inside), rw.constant(around)))
        }
    };
    let ((x, around_x), (y, around_y)) = (part(lhs, f.lhs)?, part(rhs, f.rhs)?);
    let input = rw.emit_parts(&f.with(x, y))?;
    let value = rw.emit_parts(&f.with(around_x, around_y))?;
    rw.emit(Pad { input, value, ..pad })
}

// Returns a pad that an elementwise op may move past: nothing else uses it, it adds a constant and removes nothing.
fn movable_pad(rw: &mut Rewrite<'_>, value: Value) -> Option<Pad> {
    let pad = rw.def::<Pad>(value)?;
    let adds = pad.low.iter().chain(pad.high.iter()).all(|&n| n >= 0);
    (adds && rw.one_use_here(value) && rw.is_constant(pad.value)).then_some(pad)
}

/// `pad(x, 0) + pad(y, 0) = concat(x, y)` if each element of the result comes from one of them.
///
/// Only if one axis is padded. The extents of `x` and `y` must be known.
///
/// Floats: nsz. `-0 + 0` is 0.
fn add_of_pads(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (x, y) = (rw.def::<Pad>(op.lhs)?, rw.def::<Pad>(op.rhs)?);
    let (shape_x, shape_y) = (rw.shape(x.input)?, rw.shape(y.input)?);
    let mut padded = (0..shape_x.len()).filter(|&a| is_padded(&x, a) || is_padded(&y, a));
    let (axis, None) = (padded.next()?, padded.next()) else { return None };
    let between = has_interior_padding(&x, rw) || has_interior_padding(&y, rw);
    let zeros = rw.is_zero(x.value) && rw.is_zero(y.value);
    if between || !zeros || !rw.allows(FloatMode::Nsz, op.lhs) {
        return None;
    }
    let (n, m) = (i64::try_from(shape_x[axis]).ok()?, i64::try_from(shape_y[axis]).ok()?);
    let inputs = match (x.low[axis], x.high[axis], y.low[axis], y.high[axis]) {
        pads if pads == (0, m, n, 0) => [x.input, y.input],
        pads if pads == (m, 0, 0, n) => [y.input, x.input],
        _ => return None,
    };
    rw.emit(Concat { inputs: inputs.into_iter().collect(), axis: Int::from(axis) })
}
