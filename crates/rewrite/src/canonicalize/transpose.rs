//! Canonicalizations of `transpose`.

use sapwood_ptir::ops::{Reverse, Transpose};
use sapwood_ptir::{Axes, TensorLiteral, Value};

use super::tensor_views::{AxisList, BroadcastView, axis_list, emit_broadcast, emit_reshape};
use crate::pattern::{Binary, Rewrite, Unary};

crate::patterns! { "transpose":
    transpose_of_nothing hops 1 when same,
    transpose_of_transpose hops 1 when 0 in [Transpose],
    transpose_as_reshape hops 1 when unit,
    transpose_of_broadcast hops 1 when 0 in [BroadcastView],
    binary_of_transposes when 0 in [Transpose] and 1 in [Transpose],
    unary_of_transpose hops 1 when 0 in [Transpose],
    binary_of_transpose_and_constant when any in [Transpose] and any in constants,
    transpose_of_reverse hops 1 when 0 in [Reverse],
    broadcast_of_transpose hops 1 when 0 in [Transpose],
}

/// `transpose(x, identity) = x`.
///
/// Floats: exact.
fn transpose_of_nothing(op: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
    (is_identity(&op.perm) && rw.ty(op.input) == rw.result_type()).then_some(op.input)
}

/// `transpose(transpose(x, p), q) = transpose(x, p then q)`.
///
/// Floats: exact.
fn transpose_of_transpose(outer: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Transpose>(outer.input)?;
    let perm: Axes = outer.perm.iter().map(|&i| inner.perm[i as usize]).collect();
    if is_identity(&perm) && rw.ty(inner.input) == rw.result_type() {
        return Some(inner.input);
    }
    rw.emit(Transpose { input: inner.input, perm })
}

/// `transpose(x, p) = reshape(x)` if only axes of extent one change places.
///
/// All dims must be known.
///
/// Floats: exact.
fn transpose_as_reshape(op: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
    let shape = rw.shape(op.input)?;
    let moved: AxisList = axis_list(&op.perm).into_iter().filter(|&a| shape[a] != 1).collect();
    if is_identity(&op.perm) || !moved.is_sorted() {
        return None;
    }
    emit_reshape(rw, op.input, rw.result_tensor()?)
}

/// `transpose(broadcast(x), p) = broadcast(x)` with the axes permuted by `p`.
///
/// Floats: exact.
fn transpose_of_broadcast(op: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<BroadcastView>(op.input)?;
    if !inner.is_certain() {
        return None;
    }
    let place = |&d: &usize| op.perm.iter().position(|&p| p as usize == d);
    let dims: AxisList = inner.dims.iter().map(place).collect::<Option<_>>()?;
    emit_broadcast(rw, inner.input, &dims, rw.result_tensor()?)
}

/// `f(transpose(x, p), transpose(y, p)) = transpose(f(x, y), p)` for elementwise `f` of two operands.
///
/// Only if nothing else uses the transposed values.
///
/// Floats: exact.
fn binary_of_transposes(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (lhs, rhs) = (rw.def::<Transpose>(op.lhs)?, rw.def::<Transpose>(op.rhs)?);
    let alone = rw.one_user(op.lhs) && rw.one_user(op.rhs);
    if lhs.perm != rhs.perm || !alone || !rw.same_type(lhs.input, rhs.input) {
        return None;
    }
    let input = rw.emit_parts(&op.with(lhs.input, rhs.input))?;
    rw.emit(Transpose { input, perm: lhs.perm })
}

/// `f(transpose(x, p)) = transpose(f(x), p)` for elementwise `f` of one operand, if the transpose has no other use.
///
/// The elements of the result must not be wider than those of `x`.
///
/// Floats: exact.
fn unary_of_transpose(op: Unary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Transpose>(op.input)?;
    let narrow = rw.result_tensor()?.dtype.byte_size() <= rw.dtype(op.input)?.byte_size();
    if !narrow || !rw.one_use(op.input) {
        return None;
    }
    let input = rw.emit_parts(&op.with(inner.input))?;
    rw.emit(Transpose { input, perm: inner.perm })
}

/// `f(transpose(x, p), c) = transpose(f(x, c), p)` for elementwise `f` of two operands and a constant `c` of equal elements, in any order.
///
/// Only if nothing else uses the transposed value. All dims must be known.
///
/// Floats: exact.
fn binary_of_transpose_and_constant(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let on_left = rw.def::<Transpose>(op.lhs).is_some();
    let (moved, constant) = if on_left { (op.lhs, op.rhs) } else { (op.rhs, op.lhs) };
    let inner = rw.def::<Transpose>(moved)?;
    let narrow = rw.result_tensor()?.dtype.byte_size() <= rw.dtype(moved)?.byte_size();
    if !narrow || !rw.one_use(moved) {
        return None;
    }
    let literal = rw.splat_of(constant)?;
    let shape = rw.shape(inner.input)?;
    let literal = TensorLiteral::splat(literal.dtype(), &shape, literal.as_splat()?).ok()?;
    let constant = rw.constant(literal);
    let (lhs, rhs) = if on_left { (inner.input, constant) } else { (constant, inner.input) };
    let input = rw.emit_parts(&op.with(lhs, rhs))?;
    rw.emit(Transpose { input, perm: inner.perm })
}

/// `transpose(reverse(x, axes), p) = reverse(transpose(x, p), axes moved by p)`, if the reverse has no other use.
///
/// Floats: exact.
fn transpose_of_reverse(op: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reverse>(op.input)?;
    if !rw.one_use(op.input) {
        return None;
    }
    let place = |axis: &i64| op.perm.iter().position(|p| p == axis);
    let mut axes: AxisList = inner.axes.iter().map(place).collect::<Option<_>>()?;
    axes.sort_unstable();
    let input = rw.emit(Transpose { input: inner.input, perm: op.perm.clone() })?;
    rw.emit(Reverse { input, axes: axes.into_iter().collect() })
}

/// `broadcast(transpose(x, p)) = broadcast(x)` with the axes permuted by `p`.
///
/// Floats: exact.
fn broadcast_of_transpose(op: BroadcastView, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Transpose>(op.input)?;
    if !op.is_certain() {
        return None;
    }
    let mut dims = AxisList::from_elem(0, inner.perm.len());
    for (to, &from) in inner.perm.iter().enumerate() {
        dims[from as usize] = op.dims[to];
    }
    emit_broadcast(rw, inner.input, &dims, &op.ty)
}

fn is_identity(perm: &[i64]) -> bool {
    perm.iter().enumerate().all(|(i, &p)| i as i64 == p)
}
