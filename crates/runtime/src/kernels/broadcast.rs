//! Broadcasts, computed row by row.

use sapwood_ptir::eval::{EvalCx, EvalResult, Shape, Tensor, View, count, one};
use smallvec::SmallVec;

use super::evaluate_in_fixed_order;
use super::parallel::{for_each_chunk, whole_row_chunk};

pub(super) fn broadcast_to(cx: &mut EvalCx<'_>) -> EvalResult {
    let to = cx.result_shape(0)?;
    let from = cx.tensor(0)?.shape();
    let Some(extra) = to.len().checked_sub(from.len()) else { return evaluate_in_fixed_order(cx) };
    let dims: SmallVec<[usize; 4]> = (extra..to.len()).collect();
    broadcast(cx, &dims, &to)
}

pub(super) fn broadcast_in_dim(cx: &mut EvalCx<'_>) -> EvalResult {
    let to = cx.result_shape(0)?;
    let dims = cx.axes("dims", to.len())?;
    broadcast(cx, &dims, &to)
}

// Broadcasts f32 tensors. Other types use the fixed-order kernel, which computes the same bytes.
fn broadcast(cx: &mut EvalCx<'_>, dims: &[usize], to: &Shape) -> EvalResult {
    let input = cx.tensor(0)?;
    let Some(View::Dense(all)) = input.view::<f32>() else { return evaluate_in_fixed_order(cx) };
    let (Some(&row), Some(rows)) = (to.last(), count(to)) else {
        return evaluate_in_fixed_order(cx);
    };
    if rows == 0 {
        return evaluate_in_fixed_order(cx);
    }
    let strides = strides(input.shape(), dims, to.len());
    let inner = strides[to.len() - 1];
    if inner > 1 {
        return evaluate_in_fixed_order(cx);
    }
    let mut out = cx.buffer::<f32>(rows)?;
    for_each_chunk(cx.threads(), &mut out, whole_row_chunk(row), |at, chunk| {
        for (number, row_out) in chunk.chunks_mut(row).enumerate() {
            let start = offset(at / row + number, to, &strides);
            match inner {
                0 => row_out.fill(all[start]),
                _ => row_out.copy_from_slice(&all[start..start + row]),
            }
        }
    });
    one(Tensor::new(input.dtype(), to, out))
}

// Returns the strides of the operand along each axis of the result, zero where it is repeated.
fn strides(from: &[usize], dims: &[usize], rank: usize) -> SmallVec<[usize; 4]> {
    let mut strides = SmallVec::from_elem(0, rank);
    let mut stride = 1;
    for (&axis, &extent) in dims.iter().zip(from).rev() {
        strides[axis] = if extent == 1 { 0 } else { stride };
        stride *= extent;
    }
    strides
}

// Returns the operand index at which the n-th row of the result starts.
fn offset(mut row: usize, to: &[usize], strides: &[usize]) -> usize {
    let mut at = 0;
    for axis in (0..to.len() - 1).rev() {
        at += row % to[axis] * strides[axis];
        row /= to[axis];
    }
    at
}
