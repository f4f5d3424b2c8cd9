//! Parts and sums of products: the operands are reduced first.

use sapwood_ptir::ops::{DotGeneral, DynamicSlice, Gather, ReduceSum, Slice};
use sapwood_ptir::{Axes, Int, TensorLiteral, Value, Values};

use super::product_axes::{ProductAxis, Side, may_reorder, move_axis, product_axes, without};
use crate::pattern::Rewrite;

crate::patterns! { "reduced_product":
    slice_of_dot hops 1 when 0 in [DotGeneral],
    dynamic_slice_of_dot hops 1 when 0 in [DotGeneral],
    gather_of_dot hops 1 when 0 in [DotGeneral],
    sum_of_dot hops 1 when 0 in [DotGeneral] floats fast,
}

// The part of an axis that a slice keeps.
#[derive(Clone, Copy)]
struct AxisPart {
    start: i64,
    limit: i64,
    stride: i64,
}

/// `dot_general(x, y)[slice] = dot_general(x[slice], y[slice])`
///
/// Floats: exact.
fn slice_of_dot(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dot = rw.def::<DotGeneral>(op.input)?;
    let axes = product_axes(rw, &dot)?;
    let part = |axis: usize| AxisPart {
        start: op.starts[axis],
        limit: op.limits[axis],
        stride: op.strides.as_ref().map_or(1, |strides| strides[axis]),
    };
    let parts = |is_left: bool| -> Vec<(usize, AxisPart)> {
        let kept = axes.iter().enumerate().filter_map(|(axis, origin)| match *origin {
            ProductAxis::Batch(at) => {
                let list = if is_left { &dot.lhs_batch } else { &dot.rhs_batch };
                Some((list[at] as usize, part(axis)))
            }
            ProductAxis::Left(own) => is_left.then(|| (own, part(axis))),
            ProductAxis::Right(own) => (!is_left).then(|| (own, part(axis))),
        });
        kept.collect()
    };
    let (left, right) = (parts(true), parts(false));
    let lhs = slice_axes(rw, dot.lhs, &left)?;
    let rhs = slice_axes(rw, dot.rhs, &right)?;
    rw.emit(DotGeneral { lhs, rhs, ..dot })
}

// Slices some axes of a tensor with known extents. Returns the tensor itself if nothing is cut off.
fn slice_axes(rw: &mut Rewrite<'_>, input: Value, parts: &[(usize, AxisPart)]) -> Option<Value> {
    let shape = rw.shape(input)?;
    let mut starts = vec![0; shape.len()];
    let mut limits: Vec<i64> = shape.iter().map(|&extent| extent as i64).collect();
    let mut strides = vec![1; shape.len()];
    let mut is_whole = true;
    for &(axis, part) in parts {
        is_whole &= part.start == 0 && part.limit == limits[axis] && part.stride == 1;
        (starts[axis], limits[axis], strides[axis]) = (part.start, part.limit, part.stride);
    }
    if is_whole {
        return Some(input);
    }
    let strides = strides.iter().any(|&stride| stride != 1).then(|| strides.into());
    rw.emit(Slice { input, starts: starts.into(), limits: limits.into(), strides })
}

/// `dynamic_slice(dot_general(x, y), i) = dot_general(dynamic_slice(x, i), dynamic_slice(y, i))`
///
/// Floats: exact.
fn dynamic_slice_of_dot(op: DynamicSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dot = rw.def::<DotGeneral>(op.input)?;
    let axes = product_axes(rw, &dot)?;
    let part = |is_left: bool| -> Vec<(usize, usize)> {
        let kept = axes.iter().enumerate().filter_map(|(axis, origin)| match *origin {
            ProductAxis::Batch(at) => {
                let list = if is_left { &dot.lhs_batch } else { &dot.rhs_batch };
                Some((list[at] as usize, axis))
            }
            ProductAxis::Left(own) => is_left.then_some((own, axis)),
            ProductAxis::Right(own) => (!is_left).then_some((own, axis)),
        });
        kept.collect()
    };
    let (left, right) = (part(true), part(false));
    let lhs = dynamic_slice_axes(rw, dot.lhs, &op, &left)?;
    let rhs = dynamic_slice_axes(rw, dot.rhs, &op, &right)?;
    rw.emit(DotGeneral { lhs, rhs, ..dot })
}

// Applies to some axes of a tensor the starts and sizes that a slice has for axes of its own.
fn dynamic_slice_axes(
    rw: &mut Rewrite<'_>,
    input: Value,
    op: &DynamicSlice,
    axes: &[(usize, usize)],
) -> Option<Value> {
    let shape = rw.shape(input)?;
    let is_cut = |&(axis, of): &(usize, usize)| op.sizes[of] as u64 != shape[axis];
    if !axes.iter().any(is_cut) {
        return Some(input);
    }
    let dtype = rw.dtype(*op.starts.first()?)?;
    let zero = rw.constant(TensorLiteral::filled(dtype, &[], 0.0).ok()?);
    let mut starts: Values = shape.iter().map(|_| zero).collect();
    let mut sizes: Vec<i64> = shape.iter().map(|&extent| extent as i64).collect();
    for &(axis, of) in axes {
        starts[axis] = op.starts[of];
        sizes[axis] = op.sizes[of];
    }
    rw.emit(DynamicSlice { input, starts, sizes: sizes.into() })
}

/// `reduce_sum(dot_general(x, y), free axes) = dot_general(reduce_sum(x), reduce_sum(y))`
///
/// Floats: fast.
fn sum_of_dot(op: ReduceSum, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dot = rw.def::<DotGeneral>(op.input)?;
    let is_wider = op.accumulate.or(dot.accumulate).or(dot.out).is_some();
    if is_wider || op.keepdims || !may_reorder(rw, op.input) {
        return None;
    }
    let axes = product_axes(rw, &dot)?;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for &axis in op.axes.iter() {
        match axes[usize::try_from(axis).ok()?] {
            ProductAxis::Batch(_) => return None,
            ProductAxis::Left(own) => left.push(own),
            ProductAxis::Right(own) => right.push(own),
        }
    }
    let lhs = sum_axes(rw, dot.lhs, &left)?;
    let rhs = sum_axes(rw, dot.rhs, &right)?;
    let new = DotGeneral {
        lhs,
        rhs,
        lhs_batch: without(&dot.lhs_batch, &left),
        lhs_contract: without(&dot.lhs_contract, &left),
        rhs_batch: without(&dot.rhs_batch, &right),
        rhs_contract: without(&dot.rhs_contract, &right),
        ..dot
    };
    rw.emit(new)
}

// Sums a tensor over some axes.
fn sum_axes(rw: &mut Rewrite<'_>, input: Value, axes: &[usize]) -> Option<Value> {
    if axes.is_empty() {
        return Some(input);
    }
    let axes: Axes = axes.iter().map(|&axis| axis as i64).collect();
    rw.emit(ReduceSum { input, axes, keepdims: false, accumulate: None })
}

/// `gather(dot_general(x, y), i) = dot_general(gather(x, i), y)` for a gather along one axis; a batch axis is gathered in both operands.
///
/// Floats: exact.
fn gather_of_dot(op: Gather, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dot = rw.def::<DotGeneral>(op.input)?;
    let along = AxisGather::read(rw, &op)?;
    let axis = product_axes(rw, &dot)?[along.axis];
    let mut operands = [dot.lhs, dot.rhs];
    for (side, operand) in Side::BOTH.into_iter().zip(&mut operands) {
        if let Some(own) = side.axis_of(&dot, axis) {
            *operand = along.emit(rw, *operand, own)?;
        }
    }
    let product = rw.emit(DotGeneral { lhs: operands[0], rhs: operands[1], ..dot })?;
    move_axis(rw, product, along.axis, along.result_axis)
}

/// A gather that picks indices along one axis, and keeps the others.
pub(super) struct AxisGather {
    /// The axis of the input.
    pub(super) axis: usize,
    /// The axis of the result that runs over the indices.
    pub(super) result_axis: usize,
    indices: Value,
    index_vector_dim: Int,
}

impl AxisGather {
    /// Reads a gather with one list of indices.
    pub(super) fn read(rw: &Rewrite<'_>, op: &Gather) -> Option<Self> {
        let (&[axis], &[collapsed]) = (&op.start_index_map[..], &op.collapsed_dims[..]) else {
            return None;
        };
        let (shape, rank) = (rw.shape(op.input)?, rw.rank(op.indices)?);
        let vector = op.index_vector_dim.0 as usize;
        // One axis of the indices lists them; the other, if there is one, has extent one.
        let is_list =
            rank == 1 && vector == 1 || rank == 2 && rw.shape(op.indices)?.get(vector) == Some(&1);
        let is_whole = |(at, (&size, &extent)): (usize, (&i64, &u64))| {
            size == if at == axis as usize { 1 } else { extent as i64 }
        };
        let is_plain = op.input_batch_dims.is_empty()
            && axis == collapsed
            && op.slice_sizes.iter().zip(&shape).enumerate().all(is_whole);
        if !is_list || !is_plain {
            return None;
        }
        let result_axis = (0..shape.len()).find(|&at| !op.offset_dims.contains(&(at as i64)))?;
        let (indices, index_vector_dim) = (op.indices, op.index_vector_dim);
        Some(Self { axis: axis as usize, result_axis, indices, index_vector_dim })
    }

    /// Emits the gather of another tensor along one of its axes. The indices become that axis of the result.
    pub(super) fn emit(&self, rw: &mut Rewrite<'_>, input: Value, axis: usize) -> Option<Value> {
        let shape = rw.shape(input)?;
        let sizes = shape.iter().enumerate();
        let sizes = sizes.map(|(at, &extent)| if at == axis { 1 } else { extent as i64 });
        rw.emit(Gather {
            input,
            indices: self.indices,
            offset_dims: (0..shape.len()).filter(|&at| at != axis).collect(),
            collapsed_dims: Axes::from([axis as i64]),
            input_batch_dims: Axes::default(),
            index_batch_dims: Axes::default(),
            start_index_map: Axes::from([axis as i64]),
            index_vector_dim: self.index_vector_dim,
            slice_sizes: sizes.collect(),
        })
    }
}
