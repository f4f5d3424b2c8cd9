//! Repeating along axes, in rows.

use sapwood_ptir::eval::{EvalCx, EvalResult, Shape, Tensor, View, count, one};
use smallvec::SmallVec;

use super::elementwise::zeros;
use super::exact;
use super::parallel::{pieces, whole_rows};

pub(super) fn broadcast_to(cx: &mut EvalCx<'_>) -> EvalResult {
    let to = cx.result_shape(0)?;
    let from = cx.tensor(0)?.shape();
    let Some(extra) = to.len().checked_sub(from.len()) else { return exact(cx) };
    let dims: SmallVec<[usize; 4]> = (extra..to.len()).collect();
    broadcast(cx, &dims, &to)
}

pub(super) fn broadcast_in_dim(cx: &mut EvalCx<'_>) -> EvalResult {
    let to = cx.result_shape(0)?;
    let dims = cx.axes("dims", to.len())?;
    broadcast(cx, &dims, &to)
}

// Only f32: other types go the way of the fixed order, which computes the same bytes.
fn broadcast(cx: &mut EvalCx<'_>, dims: &[usize], to: &Shape) -> EvalResult {
    let input = cx.tensor(0)?;
    let Some(View::Dense(all)) = input.view::<f32>() else { return exact(cx) };
    let (Some(&row), Some(rows)) = (to.last(), count(to)) else { return exact(cx) };
    if rows == 0 {
        return exact(cx);
    }
    let strides = strides(input.shape(), dims, to.len());
    let inner = strides[to.len() - 1];
    if inner > 1 {
        return exact(cx);
    }
    let mut out = zeros::<f32>(cx, rows)?;
    pieces(cx.threads(), &mut out, whole_rows(row), |at, piece| {
        for (number, row_out) in piece.chunks_mut(row).enumerate() {
            let start = offset(at / row + number, to, &strides);
            match inner {
                0 => row_out.fill(all[start]),
                _ => row_out.copy_from_slice(&all[start..start + row]),
            }
        }
    });
    one(Tensor::new(input.dtype(), to, out))
}

// By how much the position in the operand grows along each axis of the result; zero where it is repeated.
fn strides(from: &[usize], dims: &[usize], rank: usize) -> SmallVec<[usize; 4]> {
    let mut strides = SmallVec::from_elem(0, rank);
    let mut stride = 1;
    for (&axis, &extent) in dims.iter().zip(from).rev() {
        strides[axis] = if extent == 1 { 0 } else { stride };
        stride *= extent;
    }
    strides
}

// The position in the operand where the n-th row of the result starts.
fn offset(mut row: usize, to: &[usize], strides: &[usize]) -> usize {
    let mut at = 0;
    for axis in (0..to.len() - 1).rev() {
        at += row % to[axis] * strides[axis];
        row /= to[axis];
    }
    at
}
