//! Canonicalizations of `dot_general` and `convolution`.

use sapwood_ptir::ops::{Convolution, DotGeneral, Mul, Transpose};
use sapwood_ptir::{Axes, Value};
use sapwood_types::DataType;

use super::tensor_views::{AxisList, axis_list, remaining_axes};
use crate::FloatMode;
use crate::pattern::{OpRef, Rewrite};

crate::patterns! { "dot":
    dot_of_transpose hops 1 when any in [Transpose],
    transpose_of_dot hops 1 when 0 in [DotGeneral],
    product_with_zero on [DotGeneral, Convolution] hops 1 when any in constants floats fast,
    dot_as_mul hops 1 floats nsz,
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
    let lhs = without_transpose(rw, op.lhs, &op.lhs_batch, &op.lhs_contract);
    let rhs = without_transpose(rw, op.rhs, &op.rhs_batch, &op.rhs_contract);
    if lhs.is_none() && rhs.is_none() {
        return None;
    }
    if let Some(lhs) = lhs {
        (op.lhs, op.lhs_batch, op.lhs_contract) = lhs;
    }
    if let Some(rhs) = rhs {
        (op.rhs, op.rhs_batch, op.rhs_contract) = rhs;
    }
    rw.emit(op)
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
