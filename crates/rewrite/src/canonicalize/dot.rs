//! Canonicalizations of `dot_general` and `convolution`.

use sapwood_ptir::ops::{Convolution, DotGeneral, Mul, Pad, Reshape, Transpose};
use sapwood_ptir::{Axes, Pairs, Value};
use sapwood_types::DataType;

use super::numeric_constants::either_order;
use super::tensor_views::{
    AxisList, axes_with_used_units, axes_without_units, axis_list, emit_reshape, remaining_axes,
};
use crate::FloatMode;
use crate::pattern::{OpRef, Rewrite};

crate::patterns! { "dot":
    dot_of_transpose hops 1 when any in [Transpose],
    transpose_of_dot hops 1 when 0 in [DotGeneral],
    product_with_zero on [DotGeneral, Convolution] hops 1 when any in constants floats fast,
    dot_as_mul hops 1 floats nsz,
    dot_of_reshape hops 1 when any in [Reshape],
    dot_with_one hops 1 when any in constants floats nsz,
    convolution_of_transpose hops 1 when any in [Transpose, Reshape],
    convolution_of_pad when 0 in [Pad],
    convolution_as_dot hops 1 when 0 in [Reshape],
}

// Returns the axes of an operand that are neither batch axes nor contracted, in order.
fn free_axes(rank: usize, batch: &[i64], contract: &[i64]) -> AxisList {
    let mut taken = axis_list(batch);
    taken.extend(axis_list(contract));
    remaining_axes(rank, &taken)
}

// Returns an operand without its transpose, with its batch and contracted axes, if its free axes keep their order.
fn without_transpose(
    rw: &mut Rewrite<'_>,
    operand: Value,
    batch: &Axes,
    contract: &Axes,
) -> Option<(Value, Axes, Axes)> {
    let inner = rw.def::<Transpose>(operand)?;
    let free = free_axes(inner.perm.len(), batch, contract);
    let moved = |list: &[i64]| list.iter().map(|&a| inner.perm[a as usize]).collect::<Axes>();
    let kept: AxisList = free.iter().map(|&a| inner.perm[a] as usize).collect();
    kept.is_sorted().then(|| (inner.input, moved(batch), moved(contract)))
}

/// `dot_general(transpose(x), y) = dot_general(x, y)` with the axes of `x`; for either operand.
///
/// Only if the free axes keep their order.
///
/// Floats: exact.
fn dot_of_transpose(mut op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    replace_operands(&mut op, |operand, batch, contract| {
        without_transpose(rw, operand, batch, contract)
    })?;
    rw.emit(op)
}

// Replaces an operand with its axes where the function gives another; returns None if it gives none for both.
fn replace_operands(
    op: &mut DotGeneral,
    mut replacement: impl FnMut(Value, &Axes, &Axes) -> Option<(Value, Axes, Axes)>,
) -> Option<()> {
    let lhs = replacement(op.lhs, &op.lhs_batch, &op.lhs_contract);
    let rhs = replacement(op.rhs, &op.rhs_batch, &op.rhs_contract);
    let changes = lhs.is_some() || rhs.is_some();
    if let Some(lhs) = lhs {
        (op.lhs, op.lhs_batch, op.lhs_contract) = lhs;
    }
    if let Some(rhs) = rhs {
        (op.rhs, op.rhs_batch, op.rhs_contract) = rhs;
    }
    changes.then_some(())
}

/// `transpose(dot_general(x, y), p) = dot_general(y, x)` if `p` swaps their free axes.
///
/// Only if nothing else uses the product.
///
/// Floats: exact.
fn transpose_of_dot(op: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dot = rw.def::<DotGeneral>(op.input)?;
    let batch = dot.lhs_batch.len();
    let left = free_axes(rw.rank(dot.lhs)?, &dot.lhs_batch, &dot.lhs_contract).len();
    let right = free_axes(rw.rank(dot.rhs)?, &dot.rhs_batch, &dot.rhs_contract).len();
    let swapped = (0..batch).chain(batch + left..batch + left + right).chain(batch..batch + left);
    let swaps = axis_list(&op.perm).into_iter().eq(swapped);
    if !swaps || left == 0 || right == 0 || !rw.one_use(op.input) {
        return None;
    }
    rw.emit(DotGeneral {
        lhs: dot.rhs,
        rhs: dot.lhs,
        lhs_batch: dot.rhs_batch,
        rhs_batch: dot.lhs_batch,
        lhs_contract: dot.rhs_contract,
        rhs_contract: dot.lhs_contract,
        ..dot
    })
}

/// `dot_general(x, 0) = 0`, `convolution(x, 0) = 0`; with zero as either operand.
///
/// All dims of the result must be known.
///
/// Floats: fast.
fn product_with_zero(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let &[lhs, rhs] = rw.function().operands(op.root) else { return None };
    if !rw.allows(FloatMode::Fast, lhs) || !(rw.is_zero(lhs) || rw.is_zero(rhs)) {
        return None;
    }
    rw.filled_like_result(0.0)
}

/// `dot_general(x, y) = x * y` if all axes are batch axes, in order.
///
/// Floats: nsz, for complex numbers fast.
fn dot_as_mul(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (rank, dtype) = (rw.rank(op.lhs)?, rw.dtype(op.lhs)?);
    let all = |list: &[i64]| axis_list(list).into_iter().eq(0..rank);
    let same = |d: Option<DataType>| d.is_none_or(|d| d == dtype);
    let plain = same(op.accumulate) && same(op.out) && rw.rank(op.rhs)? == rank;
    let mode = if dtype.is_complex() { FloatMode::Fast } else { FloatMode::Nsz };
    if !all(&op.lhs_batch) || !all(&op.rhs_batch) || !plain || !rw.allows(mode, op.lhs) {
        return None;
    }
    rw.emit(Mul { lhs: op.lhs, rhs: op.rhs })
}

// Returns an operand before a reshape that only adds free axes of extent one and has no other use, with the batch and contracted axes.
fn without_free_units(
    rw: &mut Rewrite<'_>,
    operand: Value,
    batch: &Axes,
    contract: &Axes,
) -> Option<(Value, Axes, Axes)> {
    let inner = rw.def::<Reshape>(operand)?;
    let (from, to) = (rw.shape(inner.input)?, rw.shape(operand)?);
    if from.len() >= to.len() || !rw.one_use(operand) {
        return None;
    }
    let is_free =
        |axis: usize| !batch.contains(&(axis as i64)) && !contract.contains(&(axis as i64));
    let places = axes_with_used_units(&from, &to, |axis| !is_free(axis))?;
    let moved = |list: &Axes| -> Option<Axes> {
        list.iter().map(|&a| places.iter().position(|&place| place == Some(a as usize))).collect()
    };
    Some((inner.input, moved(batch)?, moved(contract)?))
}

/// `dot_general(reshape(x), y) = reshape(dot_general(x, y))` if the reshape only adds free axes of extent one; for either operand.
///
/// Only if nothing else uses the reshaped value. All dims must be known.
///
/// Floats: exact.
fn dot_of_reshape(mut op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = rw.result_tensor()?;
    ty.known_shape()?;
    replace_operands(&mut op, |operand, batch, contract| {
        without_free_units(rw, operand, batch, contract)
    })?;
    let product = rw.emit(op)?;
    emit_reshape(rw, product, ty)
}

/// `dot_general(1, x) = reshape(x)` for a constant with one element, which is one; for either operand.
///
/// All dims must be known.
///
/// Floats: nsz, for complex numbers fast.
fn dot_with_one(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dtype = rw.dtype(op.lhs)?;
    let same = |d: Option<DataType>| d.is_none_or(|d| d == dtype);
    let mode = if dtype.is_complex() { FloatMode::Fast } else { FloatMode::Nsz };
    let plain = same(op.accumulate) && same(op.out) && rw.dtype(op.rhs)? == dtype;
    if !plain || !rw.allows(mode, op.lhs) {
        return None;
    }
    either_order(rw, (op.lhs, op.rhs), |rw, one, x| {
        let single = rw.shape(one)?.iter().all(|&n| n == 1) && rw.is_one(one);
        rw.shape(x).filter(|_| single)?;
        emit_reshape(rw, x, rw.result_tensor()?)
    })
}

// Returns a value and the axis of it that each axis of a given value is, if a transpose defines that, or a reshape that moves only
// axes of extent one.
fn without_permutation(rw: &mut Rewrite<'_>, value: Value) -> Option<(Value, AxisList)> {
    if let Some(inner) = rw.def::<Transpose>(value) {
        return Some((inner.input, axis_list(&inner.perm)));
    }
    let inner = rw.def::<Reshape>(value)?;
    let (from, to) = (rw.shape(inner.input)?, rw.shape(value)?);
    let places = axes_without_units(&to, &from)?;
    let mut ones = (0..from.len()).filter(|&axis| from[axis] == 1);
    let axis = |place: &Option<usize>| place.or_else(|| ones.next());
    let axes: AxisList = places.iter().map(axis).collect::<Option<_>>()?;
    (from.len() == to.len()).then_some((inner.input, axes))
}

/// `convolution(transpose(x), y) = convolution(x, y)` with the axes of `x`; for either operand.
///
/// A reshape that moves only axes of extent one is a transpose.
///
/// Floats: exact.
fn convolution_of_transpose(mut op: Convolution, rw: &mut Rewrite<'_>) -> Option<Value> {
    let input = without_permutation(rw, op.input);
    let kernel = without_permutation(rw, op.kernel);
    if input.is_none() && kernel.is_none() {
        return None;
    }
    let moved = |dims: &[i64], axes: &[usize]| dims.iter().map(|&a| axes[a as usize]).collect();
    if let Some((input, axes)) = input {
        (op.input, op.input_dims) = (input, moved(&op.input_dims, &axes));
    }
    if let Some((kernel, axes)) = kernel {
        (op.kernel, op.kernel_dims) = (kernel, moved(&op.kernel_dims, &axes));
    }
    rw.emit(op)
}

/// `convolution(pad(x, 0), y) = convolution(x, y)` with the padding of both, if only spatial axes are padded and no element is removed.
///
/// Only if nothing is padded between elements, and the convolution does not dilate its input.
///
/// Floats: exact.
fn convolution_of_pad(op: Convolution, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Pad>(op.input)?;
    let dilated = op.input_dilation.as_ref().is_some_and(|list| list.iter().any(|&n| n != 1));
    let between = inner.interior.as_ref().is_some_and(|list| list.iter().any(|&n| n != 0));
    let removes = inner.low.iter().chain(inner.high.iter()).any(|&n| n < 0);
    let outer = |axis: usize| {
        let axis = op.input_dims[axis] as usize;
        inner.low[axis] != 0 || inner.high[axis] != 0
    };
    if dilated || between || removes || outer(0) || outer(1) || !rw.is_zero(inner.value) {
        return None;
    }
    let mut pads = Vec::new();
    for (n, &axis) in op.input_dims.iter().skip(2).enumerate() {
        let [low, high] = op.pads.as_ref().map_or([0, 0], |pads| pads[n]);
        let axis = axis as usize;
        pads.push([low.checked_add(inner.low[axis])?, high.checked_add(inner.high[axis])?]);
    }
    rw.emit(Convolution { input: inner.input, pads: Some(Pairs::from(pads)), ..op })
}

/// `convolution(reshape(x), y) = dot_general(x, y)` if the reshape adds all spatial axes, with extent one, and so are those of `y`.
///
/// The first axis of `x` is the batch. All dims must be known, and nothing is padded.
///
/// Floats: exact.
fn convolution_as_dot(op: Convolution, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(op.input)?;
    let (shape, kernel) = (rw.shape(op.input)?, rw.shape(op.kernel)?);
    let ty = rw.result_tensor()?;
    let extents = |shape: &[u64], dims: &[i64]| -> Vec<u64> {
        dims.iter().map(|&axis| shape[axis as usize]).collect()
    };
    let (input_extents, result) = (extents(&shape, &op.input_dims), ty.known_shape()?);
    let ones = |list: &[u64]| list.iter().all(|&n| n == 1);
    let plain = ones(&input_extents[2..])
        && ones(&extents(&kernel, &op.kernel_dims)[2..])
        && ones(&extents(&result, &op.output_dims)[2..])
        && op.feature_groups.0 == 1
        && op.batch_groups.0 == 1
        && op.pads.as_ref().is_none_or(|pads| pads.iter().all(|pad| *pad == [0, 0]));
    let in_order = op.input_dims[0] < op.input_dims[1] && op.output_dims[0] < op.output_dims[1];
    if !plain || !in_order || rw.shape(inner.input)?[..] != input_extents[..2] {
        return None;
    }
    let dot = DotGeneral {
        lhs: inner.input,
        rhs: op.kernel,
        lhs_batch: Axes::default(),
        rhs_batch: Axes::default(),
        lhs_contract: Axes::from(vec![1]),
        rhs_contract: Axes::from(vec![op.kernel_dims[0]]),
        accumulate: op.accumulate,
        out: None,
    };
    let product = rw.emit(dot)?;
    emit_reshape(rw, product, ty)
}
