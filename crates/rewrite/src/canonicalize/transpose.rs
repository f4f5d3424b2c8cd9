//! Canonicalizations of `transpose`.

use sapwood_ptir::ops::Transpose;
use sapwood_ptir::{Axes, Value};

use super::tensor_views::{AxisList, BroadcastView, axis_list, emit_broadcast, emit_reshape};
use crate::pattern::{Binary, Rewrite};

crate::patterns! { "transpose":
    transpose_of_nothing hops 1 when same,
    transpose_of_transpose hops 1 when 0 in [Transpose],
    transpose_as_reshape hops 1 when unit,
    transpose_of_broadcast hops 1 when 0 in [BroadcastView],
    binary_of_transposes when 0 in [Transpose] and 1 in [Transpose],
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

fn is_identity(perm: &[i64]) -> bool {
    perm.iter().enumerate().all(|(i, &p)| i as i64 == p)
}
