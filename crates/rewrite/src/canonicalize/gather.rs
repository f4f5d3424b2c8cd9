//! Canonicalizations of `gather` and `scatter`.

use sapwood_ptir::ops::{
    Concat, DynamicSlice, DynamicUpdateSlice, Gather, Iota, Reshape, Scatter, Slice,
};
use sapwood_ptir::{Axes, Dim, TensorLiteral, TensorType, Value, Values};

use super::tensor_views::{
    axis_list, emit_reshape, int_element_at, is_certainly_empty, remaining_axes, slice_rows,
};
use crate::pattern::Rewrite;

crate::patterns! { "gather":
    gather_of_one_slice when 1 in constants,
    gather_of_range when 1 in constants,
    gather_by_iota when 1 in [Iota],
    gather_as_dynamic_slice hops 2 when 1 in [Reshape, Concat],
    scatter_of_nothing,
    scatter_that_keeps,
    scatter_of_one_slice when 1 in constants,
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

/// `gather(x, iota) = reshape(slice(x))` if it takes whole slices along one axis, and the axes keep their order.
///
/// All dims must be known, and the indices must be inside `x`.
///
/// Floats: exact.
fn gather_by_iota(op: Gather, rw: &mut Rewrite<'_>) -> Option<Value> {
    let iota = rw.def::<Iota>(op.indices)?;
    let counting = iota.axis.0 as usize;
    let (shape, index_shape) = (rw.shape(op.input)?, rw.shape(op.indices)?);
    let ty = rw.result_tensor()?;
    let &[axis] = &op.start_index_map[..] else { return None };
    let (axis, vector, count) =
        (axis as usize, op.index_vector_dim.0 as usize, index_shape[counting]);
    let only = |(a, &n): (usize, &u64)| a == counting || n == 1;
    let fits = counting != vector
        && index_shape.iter().enumerate().all(only)
        && count <= shape[axis]
        && rw.dtype(op.indices)?.integer_max().is_some_and(|most| i128::from(count) <= most + 1);
    let whole = |(a, (&size, &n)): (usize, (&i64, &u64))| match a == axis {
        true => size == 1,
        false => size as u64 == n,
    };
    let plain = axis_list(&op.collapsed_dims)[..] == [axis]
        && op.input_batch_dims.is_empty()
        && op.slice_sizes.iter().zip(&shape).enumerate().all(whole);
    if !fits || !plain {
        return None;
    }
    // The axes of `x` in the order of the result: offset axes, and the one that counts in place of its index axis.
    let offsets = axis_list(&op.offset_dims);
    let mut rest = remaining_axes(shape.len(), &[axis]).into_iter();
    let index_axes = remaining_axes(index_shape.len(), &[vector]);
    let mut indices = index_axes.iter();
    let mut order = Vec::new();
    for n in 0..ty.rank() {
        match offsets.contains(&n) {
            true => order.push(rest.next()?),
            false if indices.next() == Some(&counting) => order.push(axis),
            false => {}
        }
    }
    if !order.is_sorted() {
        return None;
    }
    let input = slice_rows(rw, op.input, axis, 0..count)?;
    emit_reshape(rw, input, ty)
}

/// `gather(x, indices) = reshape(dynamic_slice(x, starts))` if there is one index vector, which is a reshaped scalar or a concat of them.
///
/// Only if nothing else uses the indices. All dims of `x` must be known.
///
/// Cost: there is one start for each axis, also where it is zero.
///
/// Floats: exact.
fn gather_as_dynamic_slice(op: Gather, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (shape, index_shape) = (rw.shape(op.input)?, rw.shape(op.indices)?);
    let vector = op.index_vector_dim.0 as usize;
    let one = index_shape.iter().enumerate().all(|(axis, &n)| axis == vector || n == 1);
    if !one || !op.input_batch_dims.is_empty() || !rw.one_use(op.indices) {
        return None;
    }
    let parts = match rw.def::<Concat>(op.indices) {
        Some(concat) if concat.axis.0 as usize == vector => concat.inputs,
        Some(_) => return None,
        None => [op.indices].into_iter().collect(),
    };
    if parts.len() != op.start_index_map.len() {
        return None;
    }
    let ty = TensorType { dtype: rw.dtype(op.indices)?, dims: [].into_iter().collect() };
    let zero = rw.filled(&ty, 0.0)?;
    let mut starts: Values = shape.iter().map(|_| zero).collect();
    for (&part, &axis) in parts.iter().zip(op.start_index_map.iter()) {
        let scalar = rw.def::<Reshape>(part)?.input;
        if rw.rank(scalar)? != 0 {
            return None;
        }
        starts[axis as usize] = scalar;
    }
    let slice = rw.emit(DynamicSlice { input: op.input, starts, sizes: op.slice_sizes })?;
    emit_reshape(rw, slice, rw.result_tensor()?)
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

/// `scatter(x, indices, updates, replace) = dynamic_update_slice(x, updates)` if there is one index vector and it is known.
///
/// The region yields the updates, the slice lies inside `x`, and all dims are known.
///
/// Cost: there is one start for each axis, also where it is zero.
///
/// Floats: exact.
fn scatter_of_one_slice(op: Scatter, rw: &mut Rewrite<'_>) -> Option<Values> {
    let (&[input], &[updates]) = (&op.inputs[..], &op.updates[..]) else { return None };
    let (params, yields) = (rw.params(op.body), rw.yields(op.body));
    let (shape, index_shape) = (rw.shape(input)?, rw.shape(op.indices)?);
    let window = rw.shape(updates)?;
    let vector = op.index_vector_dim.0 as usize;
    let one = index_shape.iter().enumerate().all(|(axis, &n)| axis == vector || n == 1);
    let replaces = yields.first() == params.get(1) && !rw.is_ordered(rw.root());
    if !one || !replaces || !op.input_batch_dims.is_empty() {
        return None;
    }
    let mut sizes = op.update_window_dims.iter().map(|&axis| window[axis as usize]);
    let inserted = axis_list(&op.inserted_window_dims);
    let size = |axis| if inserted.contains(&axis) { Some(1) } else { sizes.next() };
    let sizes: Vec<u64> = (0..shape.len()).map(size).collect::<Option<_>>()?;
    let literal = rw.constant_of(op.indices)?;
    let mut starts = vec![0_i64; shape.len()];
    for (n, &axis) in op.scatter_dims.iter().enumerate() {
        starts[axis as usize] = i64::try_from(int_element_at(&literal, n as u64)?).ok()?;
    }
    let inside = |axis: usize| {
        let end = i128::from(starts[axis]) + i128::from(sizes[axis]);
        starts[axis] >= 0 && end <= i128::from(shape[axis])
    };
    if !(0..shape.len()).all(inside) {
        return None;
    }
    let dims = sizes.iter().map(|&n| Dim::Known(n)).collect();
    let ty = TensorType { dtype: rw.dtype(updates)?, dims };
    let update = emit_reshape(rw, updates, &ty)?;
    let dtype = literal.dtype();
    let start = |n: &i64| {
        let bytes = &n.to_le_bytes()[..dtype.byte_size()];
        TensorLiteral::splat(dtype, &[], bytes).ok().map(|literal| rw.constant(literal))
    };
    let starts = starts.iter().map(start).collect::<Option<Values>>()?;
    Some([rw.emit(DynamicUpdateSlice { input, update, starts })?].into_iter().collect())
}
