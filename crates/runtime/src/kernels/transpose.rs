//! Transposes by tiles, so that reads and writes stay within a few cache lines.

use sapwood_ptir::eval::{EvalCx, EvalResult, Fault, Native, Shape, Tensor, View, one};
use sapwood_ptir::with_native;
use smallvec::SmallVec;

use super::evaluate_in_fixed_order;
use super::parallel::for_each_chunk;

/// The rows and columns of a tile: 16 elements of four bytes are a cache line.
const TILE: usize = 16;
/// The number of elements of a chunk, at least.
const CHUNK_ELEMENTS: usize = 1 << 15;

/// The extent of an axis of the result, and its strides in the operand and in the result.
type Axis = (usize, usize, usize);

pub(super) fn transpose(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.tensor(0)?;
    let perm = cx.axes("perm", input.shape().len())?;
    if input.is_splat() || input.len() < CHUNK_ELEMENTS / 8 {
        return evaluate_in_fixed_order(cx);
    }
    let shape: Shape = perm.iter().map(|&a| input.shape()[a]).collect();
    let axes = collapsed_axes(input.shape(), &perm);
    match (axes.iter().position(|axis| axis.1 == 1), axes.last()) {
        // Rows stay rows, or there is nothing to move.
        (Some(contiguous), Some(_)) if contiguous + 1 < axes.len() => {
            let dtype = input.dtype();
            with_native!(dtype, T => {
                let out = transposed::<T>(cx, &axes, contiguous)?;
                one(Tensor::new(dtype, shape, out))
            })
        }
        _ => evaluate_in_fixed_order(cx),
    }
}

// Returns the axes of the result, with neighbours joined that are neighbours in the operand too.
fn collapsed_axes(from: &[usize], perm: &[usize]) -> SmallVec<[Axis; 4]> {
    let mut strides: SmallVec<[usize; 4]> = SmallVec::from_elem(1, from.len());
    for axis in (0..from.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * from[axis + 1];
    }
    let mut axes: SmallVec<[Axis; 4]> = SmallVec::new();
    for &axis in perm.iter().filter(|&&axis| from[axis] != 1) {
        let (extent, stride) = (from[axis], strides[axis]);
        match axes.last_mut() {
            Some(last) if last.1 == stride * extent => *last = (last.0 * extent, stride, 0),
            _ => axes.push((extent, stride, 0)),
        }
    }
    let mut stride = 1;
    for axis in axes.iter_mut().rev() {
        axis.2 = stride;
        stride *= axis.0;
    }
    axes
}

fn transposed<T: Native>(
    cx: &EvalCx<'_>,
    axes: &[Axis],
    contiguous: usize,
) -> Result<Vec<T>, Fault> {
    let Some(View::Dense(all)) = cx.tensor(0)?.view::<T>() else {
        return Err(Fault::op("the operand is kept in another type than its own"));
    };
    let mut out = cx.buffer::<T>(all.len())?;
    let (first, last) = (axes[0], axes[axes.len() - 1]);
    // A chunk is a range of indices of the first axis.
    let rows = (CHUNK_ELEMENTS / first.2).max(1).next_multiple_of(TILE);
    let others: SmallVec<[Axis; 4]> =
        (1..axes.len() - 1).filter(|&axis| axis != contiguous).map(|axis| axes[axis]).collect();
    for_each_chunk(cx.threads(), &mut out, rows * first.2, |start, chunk| {
        let base = start / first.2 * first.1;
        let rows = chunk.len() / first.2;
        // The axis that is contiguous in the operand, within the chunk.
        let (leading, tiled) = match contiguous {
            0 => (1, (rows, first.1, first.2)),
            axis => (rows, axes[axis]),
        };
        for row in 0..leading {
            let (from, to) = (base + row * first.1, row * first.2);
            for_each_offset(&others, &mut |read, write| {
                let (from, to) = (&all[from + read..], &mut chunk[to + write..]);
                copy_plane(from, to, tiled, last);
            });
        }
    });
    Ok(out)
}

// Calls `f` with the positions in operand and result of every index of the axes.
fn for_each_offset(axes: &[Axis], f: &mut dyn FnMut(usize, usize)) {
    let count: usize = axes.iter().map(|axis| axis.0).product();
    for number in 0..count {
        let (mut rest, mut read, mut write) = (number, 0, 0);
        for &(extent, from, to) in axes.iter().rev() {
            read += rest % extent * from;
            write += rest % extent * to;
            rest /= extent;
        }
        f(read, write);
    }
}

// Copies a matrix whose rows are contiguous in the operand along `a`, and in the result along `b`.
fn copy_plane<T: Copy>(from: &[T], to: &mut [T], a: Axis, b: Axis) {
    for i in (0..a.0).step_by(TILE) {
        let height = TILE.min(a.0 - i);
        for j in (0..b.0).step_by(TILE) {
            let width = TILE.min(b.0 - j);
            for x in i..i + height {
                let row = &mut to[x * a.2 + j..][..width];
                for (y, place) in row.iter_mut().enumerate() {
                    *place = from[x + (j + y) * b.1];
                }
            }
        }
    }
}
