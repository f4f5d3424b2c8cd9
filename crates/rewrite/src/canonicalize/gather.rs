//! Canonicalizations of `gather` and `scatter`.

use sapwood_ptir::ops::{Gather, Scatter, Slice};
use sapwood_ptir::{Axes, Value, Values};

use super::tensor_views::{
    axis_list, emit_reshape, int_element_at, is_certainly_empty, remaining_axes,
};
use crate::pattern::Rewrite;

crate::patterns! { "gather":
    gather_of_one_slice when 1 in constants,
    gather_of_range when 1 in constants,
    scatter_of_nothing,
    scatter_that_keeps,
}

/// `gather(x, indices) = reshape(slice(x))` if there is one index vector and it is known.
///
/// All dims of `x` must be known; starts are clamped.
///
/// Floats: exact.
fn gather_of_one_slice(op: Gather, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (shape, index_shape) = (rw.shape(op.input)?, rw.shape(op.indices)?);
    let vector = op.index_vector_dim.0 as usize;
    if index_shape.iter().enumerate().any(|(axis, &n)| axis != vector && n != 1) {
        return None;
    }
    let literal = rw.constant_of(op.indices)?;
    let mut starts = vec![0_i64; shape.len()];
    for (n, &axis) in op.start_index_map.iter().enumerate() {
        let axis = axis as usize;
        let most = i128::from(shape[axis]) - i128::from(op.slice_sizes[axis]);
        let start = int_element_at(&literal, n as u64)?;
        starts[axis] = i64::try_from(start.clamp(0, most.max(0))).ok()?;
    }
    let limits: Axes = starts.iter().zip(op.slice_sizes.iter()).map(|(a, b)| a + b).collect();
    let slice = rw.emit(Slice { input: op.input, starts: starts.into(), limits, strides: None })?;
    emit_reshape(rw, slice, rw.result_tensor()?)
}

/// `gather(x, [a, a + s, a + 2s, …]) = slice(x)` along one axis, if the indices are known and inside `x`.
///
/// All dims of `x` must be known.
///
/// Floats: exact.
fn gather_of_range(op: Gather, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (shape, index_shape) = (rw.shape(op.input)?, rw.shape(op.indices)?);
    let &[axis] = &op.start_index_map[..] else { return None };
    let (&[count] | &[count, 1], 1) = (&index_shape[..], op.index_vector_dim.0) else {
        return None;
    };
    let axis = axis as usize;
    let whole = |(a, (&size, &n)): (usize, (&i64, &u64))| match a == axis {
        true => size == 1,
        false => size as u64 == n,
    };
    let rest = remaining_axes(shape.len(), &[axis]);
    let plain = axis_list(&op.collapsed_dims)[..] == [axis]
        && op.input_batch_dims.is_empty()
        && axis_list(&op.offset_dims) == rest
        && op.slice_sizes.iter().zip(&shape).enumerate().all(whole);
    if !plain || count < 2 {
        return None;
    }
    let literal = rw.constant_of(op.indices)?;
    let first = int_element_at(&literal, 0)?;
    let step = int_element_at(&literal, 1)?.checked_sub(first)?;
    let at = |n: u64| first + step * i128::from(n);
    if first < 0 || step < 1 || at(count - 1) >= i128::from(shape[axis]) {
        return None;
    }
    if (2..count).any(|n| int_element_at(&literal, n) != Some(at(n))) {
        return None;
    }
    let full = |value: i128| -> Option<i64> { i64::try_from(value).ok() };
    let mut starts = vec![0; shape.len()];
    let mut limits = shape.iter().map(|&n| i64::try_from(n).ok()).collect::<Option<Vec<i64>>>()?;
    let mut strides = vec![1; shape.len()];
    (starts[axis], limits[axis], strides[axis]) =
        (full(first)?, full(at(count - 1) + 1)?, full(step)?);
    let strides = (step != 1).then(|| strides.into());
    rw.emit(Slice { input: op.input, starts: starts.into(), limits: limits.into(), strides })
}

/// `scatter(x, indices, updates) = x` if the updates have no elements.
///
/// Floats: exact.
fn scatter_of_nothing(op: Scatter, rw: &mut Rewrite<'_>) -> Option<Values> {
    is_certainly_empty(rw.tensor(*op.updates.first()?)?).then_some(op.inputs)
}

/// `scatter(x, indices, updates, keep) = x` if the region yields the old elements.
///
/// Floats: exact.
fn scatter_that_keeps(op: Scatter, rw: &mut Rewrite<'_>) -> Option<Values> {
    let (params, yields) = (rw.params(op.body), rw.yields(op.body));
    let keeps = params.get(..yields.len()) == Some(yields);
    (keeps && !rw.is_ordered(rw.root())).then_some(op.inputs)
}
