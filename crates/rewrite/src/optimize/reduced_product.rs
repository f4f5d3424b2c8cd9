//! Parts and sums of products: the operands are reduced first.

use sapwood_ptir::cost::Amount;
use sapwood_ptir::ops::{DotGeneral, DynamicSlice, ReduceSum, Slice};
use sapwood_ptir::{Axes, TensorLiteral, Value, Values};

use super::dot_cost::{ProductAxis, dot_flops, is_less, product_axes};
use crate::FloatMode;
use crate::pattern::Rewrite;

crate::patterns! { "reduced_product":
    slice_of_dot hops 1 when 0 in [DotGeneral],
    dynamic_slice_of_dot hops 1 when 0 in [DotGeneral],
    sum_of_dot hops 1 when 0 in [DotGeneral] floats fast,
}

// Returns true if a product of new operands takes fewer operations than one that nothing else uses. `extra` operations prepare the operands.
fn pays(rw: &Rewrite<'_>, old: &DotGeneral, new: &DotGeneral, extra: Amount) -> Option<bool> {
    let before = dot_flops(old, rw.tensor(old.lhs)?, rw.tensor(old.rhs)?);
    let after = dot_flops(new, rw.tensor(new.lhs)?, rw.tensor(new.rhs)?);
    Some(is_less(after.plus(extra), before))
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
/// Only if nothing else uses the product, and if it takes fewer operations.
///
/// Floats: exact.
fn slice_of_dot(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dot = rw.def::<DotGeneral>(op.input)?;
    if !rw.one_use(op.input) {
        return None;
    }
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
    let new = DotGeneral { lhs, rhs, ..dot.clone() };
    if !pays(rw, &dot, &new, Amount::ZERO)? {
        return None;
    }
    rw.emit(new)
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
/// Only if nothing else uses the product, and if it takes fewer operations.
///
/// Floats: exact.
fn dynamic_slice_of_dot(op: DynamicSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dot = rw.def::<DotGeneral>(op.input)?;
    if !rw.one_use(op.input) {
        return None;
    }
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
    let new = DotGeneral { lhs, rhs, ..dot.clone() };
    if !pays(rw, &dot, &new, Amount::ZERO)? {
        return None;
    }
    rw.emit(new)
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
/// Only if nothing else uses the product, and if it takes fewer operations.
///
/// Floats: fast.
fn sum_of_dot(op: ReduceSum, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dot = rw.def::<DotGeneral>(op.input)?;
    let is_plain = op.accumulate.is_none() && dot.out.is_none() && !op.keepdims;
    if !is_plain || !rw.one_use(op.input) || !rw.allows(FloatMode::Fast, op.input) {
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
    let (lhs, left_flops) = sum_axes(rw, dot.lhs, &left)?;
    let (rhs, right_flops) = sum_axes(rw, dot.rhs, &right)?;
    let renumbered = |list: &Axes, removed: &[usize]| -> Axes {
        list.iter()
            .map(|&a| a - removed.iter().filter(|&&r| (r as i64) < a).count() as i64)
            .collect()
    };
    let new = DotGeneral {
        lhs,
        rhs,
        lhs_batch: renumbered(&dot.lhs_batch, &left),
        lhs_contract: renumbered(&dot.lhs_contract, &left),
        rhs_batch: renumbered(&dot.rhs_batch, &right),
        rhs_contract: renumbered(&dot.rhs_contract, &right),
        ..dot.clone()
    };
    if !pays(rw, &dot, &new, left_flops.plus(right_flops))? {
        return None;
    }
    rw.emit(new)
}

// Sums a tensor over some axes. Returns the sum and its operations.
fn sum_axes(rw: &mut Rewrite<'_>, input: Value, axes: &[usize]) -> Option<(Value, Amount)> {
    if axes.is_empty() {
        return Some((input, Amount::ZERO));
    }
    let flops = Amount::elements(rw.tensor(input)?);
    let axes: Axes = axes.iter().map(|&axis| axis as i64).collect();
    let sum = rw.emit(ReduceSum { input, axes, keepdims: false, accumulate: None })?;
    Some((sum, flops))
}
