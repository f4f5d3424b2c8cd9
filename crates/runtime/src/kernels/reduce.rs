//! Reductions over adjacent axes of `f32` tensors, with several partial results at a time.
#![allow(
    clippy::needless_range_loop,
    reason = "the steps of joined iterators are not always inlined"
)]

use sapwood_ptir::eval::{DataType, EvalCx, EvalResult, Tensor, View, one};
use sapwood_ptir::{Op as _, ops};

use super::evaluate_in_fixed_order;
use super::parallel::{CHUNK_ELEMENTS, for_each_chunk_of_work, whole_row_chunk};
use super::vectors::vectorized;

/// The number of partial results of a row: two vectors of the widest kind.
const LANES: usize = 32;
/// The least number of adjacent results that are computed together, if there are that many.
const MIN_COLUMNS: usize = 1 << 10;

pub(super) fn sum(cx: &mut EvalCx<'_>) -> EvalResult {
    let is_named = cx.args().len() == 1;
    if is_named && !matches!(cx.dtype("accumulate")?, None | Some(DataType::F32)) {
        return evaluate_in_fixed_order(cx);
    }
    reduce(cx, 0.0, |x, y| x + y)
}

pub(super) fn max(cx: &mut EvalCx<'_>) -> EvalResult {
    reduce(cx, f32::NEG_INFINITY, |x, y| if y > x || y.is_nan() { y } else { x })
}

pub(super) fn min(cx: &mut EvalCx<'_>) -> EvalResult {
    reduce(cx, f32::INFINITY, |x, y| if y < x || y.is_nan() { y } else { x })
}

/// Reduces with a region of one op, starting from the number that changes nothing.
pub(super) fn by_region(cx: &mut EvalCx<'_>) -> EvalResult {
    let region = cx.simple_region(0).filter(|r| matches!(r.operands, [0, 1] | [1, 0]));
    let op = region.map(|region| region.op);
    let start = match cx.args() {
        [_, start] => start.as_tensor().and_then(Tensor::as_splat::<f32>),
        _ => None,
    };
    match start {
        Some(0.0) if op == Some(ops::Add::key()) => sum(cx),
        Some(f32::NEG_INFINITY) if op == Some(ops::Max::key()) => max(cx),
        Some(f32::INFINITY) if op == Some(ops::Min::key()) => min(cx),
        _ => evaluate_in_fixed_order(cx),
    }
}

// Reduces adjacent axes. Only the fixed order distinguishes the signs of zeros; either zero as the maximum or minimum is within tolerance.
fn reduce(cx: &mut EvalCx<'_>, start: f32, f: impl Fn(f32, f32) -> f32 + Sync) -> EvalResult {
    let input = cx.tensor(0)?;
    let (Some(View::Dense(all)), shape) = (input.view::<f32>(), input.shape()) else {
        return evaluate_in_fixed_order(cx);
    };
    let mut axes = cx.axes("axes", shape.len())?;
    axes.sort_unstable();
    let neighbours = axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let (Some(&first), Some(&last), true) = (axes.first(), axes.last(), neighbours) else {
        return evaluate_in_fixed_order(cx);
    };
    if all.is_empty() {
        return evaluate_in_fixed_order(cx);
    }
    let inner: usize = shape[last + 1..].iter().product();
    let depth: usize = shape[first..=last].iter().product();
    let result = cx.result_shape(0)?;
    if depth == 1 {
        return evaluate_in_fixed_order(cx);
    }
    let len = all.len() / depth;
    let mut out = cx.buffer::<f32>(len)?;
    cx.work(all.len() as u64)?;
    if inner == 1 {
        // Chunks of the result with about as many operands as the chunks of other kernels.
        let rows = (whole_row_chunk(depth) / depth).max(1);
        for_each_chunk_of_work(cx.threads(), all.len(), &mut out, rows, |at, chunk| {
            vectorized(
                #[inline(always)]
                || {
                    for (number, y) in chunk.iter_mut().enumerate() {
                        let row = &all[(at + number) * depth..][..depth];
                        *y = reduce_row(row, start, &f);
                    }
                },
            );
        });
    } else {
        let columns = (CHUNK_ELEMENTS / depth).max(MIN_COLUMNS);
        for_each_chunk_of_work(cx.threads(), all.len(), &mut out, columns, |at, chunk| {
            vectorized(
                #[inline(always)]
                || reduce_columns(all, [depth, inner], at, chunk, start, &f),
            );
        });
    }
    one(Tensor::new(input.dtype(), result, out))
}

// Computes results from index `at` on, whose operands are `inner` apart, block by block.
#[inline(always)]
fn reduce_columns(
    all: &[f32],
    [depth, inner]: [usize; 2],
    mut at: usize,
    mut chunk: &mut [f32],
    start: f32,
    f: &impl Fn(f32, f32) -> f32,
) {
    while !chunk.is_empty() {
        let (block, column) = (at / inner, at % inner);
        let (here, rest) = chunk.split_at_mut(chunk.len().min(inner - column));
        here.fill(start);
        for row in all[block * depth * inner..][..depth * inner].chunks_exact(inner) {
            let row = &row[column..column + here.len()];
            let here = &mut here[..row.len()];
            for i in 0..row.len() {
                here[i] = f(here[i], row[i]);
            }
        }
        at += here.len();
        chunk = rest;
    }
}

/// Reduces a row, whose start is neutral, with as many partial results as two vectors of the widest kind hold.
#[inline(always)]
pub(crate) fn reduce_row<T: Copy>(row: &[T], start: T, f: impl Fn(T, T) -> T) -> T {
    if row.len() < LANES {
        let mut y = start;
        for &x in row {
            y = f(y, x);
        }
        return y;
    }
    let mut lanes = [start; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] = f(lanes[i], chunk[i]);
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = f(lanes[i], lanes[i + width]);
        }
        width /= 2;
    }
    let mut y = lanes[0];
    for &x in rest {
        y = f(y, x);
    }
    y
}
