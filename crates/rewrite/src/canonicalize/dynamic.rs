//! Canonicalizations of `dynamic_slice` and `dynamic_update_slice`.

use sapwood_ptir::ops::{DynamicSlice, DynamicUpdateSlice, Pad, Reshape, Slice, Transpose};
use sapwood_ptir::{Axes, Dim, TensorType, Value, Values};

use super::tensor_views::{
    as_uniform, axes_without_units, emit_reshape, int_element_at, is_certainly_empty,
};
use crate::pattern::Rewrite;

crate::patterns! { "dynamic":
    dynamic_slice_at_known when any in constants or same,
    dynamic_slice_of_all when same,
    dynamic_slice_of_whole_axis,
    dynamic_slice_of_update when 0 in [DynamicUpdateSlice],
    dynamic_slice_of_transpose when 0 in [Transpose],
    dynamic_slice_of_reshape when 0 in [Reshape],
    dynamic_update_slice_of_all,
    dynamic_update_slice_by_own when 1 in [DynamicSlice],
    dynamic_update_slice_by_nothing,
    dynamic_update_slice_twice when 0 in [DynamicUpdateSlice],
    dynamic_update_slice_over when 0 in [DynamicUpdateSlice],
    dynamic_update_slice_as_pad benefit 0 when 0 in constants,
}

/// `dynamic_slice(x, starts) = slice(x)` if the starts are known; they are clamped into `x`.
///
/// All dims of `x` must be known.
///
/// Floats: exact.
fn dynamic_slice_at_known(op: DynamicSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let shape = rw.shape(op.input)?;
    let mut starts: Vec<i64> = Vec::new();
    for (axis, &start) in op.starts.iter().enumerate() {
        let most = i128::from(shape[axis]) - i128::from(op.sizes[axis]);
        let start = int_element_at(&rw.constant_of(start)?, 0)?;
        starts.push(i64::try_from(start.clamp(0, most.max(0))).ok()?);
    }
    let limits: Axes = starts.iter().zip(op.sizes.iter()).map(|(a, b)| a + b).collect();
    rw.emit(Slice { input: op.input, starts: starts.into(), limits, strides: None })
}

/// `dynamic_slice(x, starts) = dynamic_slice(x, 0)` along axes that it takes whole: starts are clamped into `x`.
///
/// Floats: exact.
fn dynamic_slice_of_whole_axis(mut op: DynamicSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let mut changed = false;
    for axis in 0..op.starts.len() {
        let extent = rw.tensor(op.input)?.dims[axis].known();
        let whole = extent.is_some_and(|n| i64::try_from(n) == Ok(op.sizes[axis]));
        if whole && !rw.is_zero(op.starts[axis]) {
            let ty = rw.tensor(op.starts[axis])?.clone();
            op.starts[axis] = rw.filled(&ty, 0.0)?;
            changed = true;
        }
    }
    if changed { rw.emit(op) } else { None }
}

/// `dynamic_slice(x, starts) = x` if it takes everything.
///
/// Floats: exact.
fn dynamic_slice_of_all(op: DynamicSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.same_type(op.input, rw.result(0)?).then_some(op.input)
}

/// `dynamic_slice(dynamic_update_slice(x, u, starts), starts) = u` if the slice is as large as `u`.
///
/// Floats: exact.
fn dynamic_slice_of_update(op: DynamicSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<DynamicUpdateSlice>(op.input)?;
    let same = inner.starts == op.starts && rw.same_type(inner.update, rw.result(0)?);
    same.then_some(inner.update)
}

/// `dynamic_slice(transpose(x, p), starts) = transpose(dynamic_slice(x), p)`.
///
/// Only if nothing else uses the transposed value, and not into a loop.
///
/// Floats: exact.
fn dynamic_slice_of_transpose(op: DynamicSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Transpose>(op.input)?;
    if !rw.one_use_here(op.input) {
        return None;
    }
    let (mut starts, mut sizes) = (op.starts.clone(), op.sizes.to_vec());
    for (to, &from) in inner.perm.iter().enumerate() {
        starts[from as usize] = op.starts[to];
        sizes[from as usize] = op.sizes[to];
    }
    let input = rw.emit(DynamicSlice { input: inner.input, starts, sizes: sizes.into() })?;
    rw.emit(Transpose { input, perm: inner.perm })
}

/// `dynamic_slice(reshape(x), starts) = reshape(dynamic_slice(x))` if the reshape only adds or removes axes of extent one.
///
/// Only if nothing else uses the reshaped value, and not into a loop. All dims must be known.
///
/// Floats: exact.
fn dynamic_slice_of_reshape(op: DynamicSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(op.input)?;
    let places = axes_without_units(&rw.shape(inner.input)?, &rw.shape(op.input)?)?;
    if !rw.one_use_here(op.input) {
        return None;
    }
    let ty = rw.tensor(*op.starts.first()?)?.clone();
    let mut starts = Values::new();
    let mut sizes = Vec::new();
    for place in places {
        starts.push(match place {
            Some(axis) => op.starts[axis],
            None => rw.filled(&ty, 0.0)?,
        });
        sizes.push(place.map_or(1, |axis| op.sizes[axis]));
    }
    let slice = rw.emit(DynamicSlice { input: inner.input, starts, sizes: sizes.into() })?;
    emit_reshape(rw, slice, rw.result_tensor()?)
}

/// Returns the first element of a part of known size along an axis of known extent, if it follows from the start: starts are clamped into the axis.
pub(super) fn known_start(
    rw: &mut Rewrite<'_>,
    start: Value,
    extent: u64,
    size: u64,
) -> Option<i64> {
    let most = i128::from(extent.checked_sub(size)?);
    let start = match most {
        0 => 0,
        _ => int_element_at(&rw.constant_of(start)?, 0)?,
    };
    i64::try_from(start.clamp(0, most)).ok()
}

fn has_no_unknown_dims(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.tensor(value).is_some_and(|t| !t.dims.contains(&Dim::Unknown))
}

/// `dynamic_update_slice(x, u, starts) = u` if `u` is as large as `x`.
///
/// Floats: exact.
fn dynamic_update_slice_of_all(op: DynamicUpdateSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let same = rw.ty(op.update) == rw.result_type() && has_no_unknown_dims(rw, op.update);
    same.then_some(op.update)
}

/// `dynamic_update_slice(x, dynamic_slice(x, starts), starts) = x`.
///
/// Floats: exact.
fn dynamic_update_slice_by_own(op: DynamicUpdateSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let update = rw.def::<DynamicSlice>(op.update)?;
    let own = update.input == op.input && update.starts == op.starts;
    (own && rw.ty(op.input) == rw.result_type()).then_some(op.input)
}

/// `dynamic_update_slice(x, u, starts) = x` if `u` has no elements.
///
/// Floats: exact.
fn dynamic_update_slice_by_nothing(op: DynamicUpdateSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let none = is_certainly_empty(rw.tensor(op.update)?);
    (none && rw.ty(op.input) == rw.result_type()).then_some(op.input)
}

/// `dynamic_update_slice(dynamic_update_slice(x, u, starts), v, starts) = dynamic_update_slice(x, v, starts)`.
///
/// Both updates must have the same size.
///
/// Floats: exact.
fn dynamic_update_slice_twice(op: DynamicUpdateSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<DynamicUpdateSlice>(op.input)?;
    let same = inner.starts == op.starts && rw.ty(inner.update) == rw.ty(op.update);
    if !same || !has_no_unknown_dims(rw, op.update) {
        return None;
    }
    rw.emit(DynamicUpdateSlice { input: inner.input, update: op.update, starts: op.starts })
}

/// `dynamic_update_slice(dynamic_update_slice(x, u, a), v, b) = dynamic_update_slice(x, v, b)` if `v` covers `u`.
///
/// The starts are constants along the axes that `v` does not take whole, and all dims are known.
///
/// Floats: exact.
fn dynamic_update_slice_over(op: DynamicUpdateSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<DynamicUpdateSlice>(op.input)?;
    let shape = rw.shape(op.input)?;
    let (below, above) = (rw.shape(inner.update)?, rw.shape(op.update)?);
    for (axis, &extent) in shape.iter().enumerate() {
        let (small, large) = (below[axis], above[axis]);
        if large == extent {
            continue;
        }
        let first = known_start(rw, op.starts[axis], extent, large)?;
        let covered = known_start(rw, inner.starts[axis], extent, small)?;
        let end = |start: i64, size: u64| i128::from(start) + i128::from(size);
        if covered < first || end(covered, small) > end(first, large) {
            return None;
        }
    }
    rw.emit(DynamicUpdateSlice { input: inner.input, ..op })
}

/// `dynamic_update_slice(broadcast(v), u, starts) = pad(u, v)` for a scalar `v`, if the starts are known.
///
/// All dims must be known. It is tried when nothing else is left to do, so that parts and further updates come first.
///
/// Floats: exact.
fn dynamic_update_slice_as_pad(op: DynamicUpdateSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (shape, sizes) = (rw.shape(op.input)?, rw.shape(op.update)?);
    if shape.is_empty() {
        return None;
    }
    let around = as_uniform(rw, op.input)?;
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for (axis, &start) in op.starts.iter().enumerate() {
        let start = known_start(rw, start, shape[axis], sizes[axis])?;
        low.push(start);
        high.push(i64::try_from(shape[axis] - sizes[axis]).ok()? - start);
    }
    let scalar = TensorType { dtype: rw.dtype(op.update)?, dims: [].into_iter().collect() };
    let value = around.emit(rw, &scalar)?;
    rw.emit(Pad { input: op.update, value, low: low.into(), high: high.into(), interior: None })
}
