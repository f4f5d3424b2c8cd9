//! Reductions over neighbouring axes of `f32`, several sums at a time.

use sapwood_ptir::eval::{DataType, EvalCx, EvalResult, Tensor, View, one};

use super::elementwise::zeros;
use super::exact;
use super::parallel::{PIECE, pieces_of_work, whole_rows};

/// How many partial results a row is reduced into first: two vectors of the widest kind.
const LANES: usize = 32;
/// Results that lie side by side and are computed together are at least so many, if there are.
const COLUMNS: usize = 1 << 10;

pub(super) fn sum(cx: &mut EvalCx<'_>) -> EvalResult {
    if !matches!(cx.dtype("accumulate")?, None | Some(DataType::F32)) {
        return exact(cx);
    }
    reduce(cx, 0.0, |x, y| x + y)
}

pub(super) fn max(cx: &mut EvalCx<'_>) -> EvalResult {
    reduce(cx, f32::NEG_INFINITY, |x, y| if y > x || y.is_nan() { y } else { x })
}

pub(super) fn min(cx: &mut EvalCx<'_>) -> EvalResult {
    reduce(cx, f32::INFINITY, |x, y| if y < x || y.is_nan() { y } else { x })
}

// Zeros of both signs are told apart by the fixed order only; `+0` and `-0` as largest or smallest are both within tolerance.
fn reduce(cx: &mut EvalCx<'_>, start: f32, f: impl Fn(f32, f32) -> f32 + Sync) -> EvalResult {
    let input = cx.tensor(0)?;
    let (Some(View::Dense(all)), shape) = (input.view::<f32>(), input.shape()) else {
        return exact(cx);
    };
    let mut axes = cx.axes("axes", shape.len())?;
    axes.sort_unstable();
    let neighbours = axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let (Some(&first), Some(&last), true) = (axes.first(), axes.last(), neighbours) else {
        return exact(cx);
    };
    if all.is_empty() {
        return exact(cx);
    }
    let inner: usize = shape[last + 1..].iter().product();
    let depth: usize = shape[first..=last].iter().product();
    let result = cx.result_shape(0)?;
    if depth == 1 {
        return exact(cx);
    }
    let len = all.len() / depth;
    let mut out = zeros::<f32>(cx, len)?;
    cx.work(all.len() as u64)?;
    let arch = pulp::Arch::new();
    if inner == 1 {
        // Pieces of the result whose operands are about as many as those of other kernels.
        let rows = (whole_rows(depth) / depth).max(1);
        pieces_of_work(cx.threads(), all.len(), &mut out, rows, |at, piece| {
            arch.dispatch(
                #[inline(always)]
                || {
                    let rows = all[at * depth..].chunks_exact(depth);
                    piece.iter_mut().zip(rows).for_each(|(y, row)| *y = reduce_row(row, start, &f));
                },
            );
        });
    } else {
        let columns = (PIECE / depth).max(COLUMNS);
        pieces_of_work(cx.threads(), all.len(), &mut out, columns, |at, piece| {
            arch.dispatch(
                #[inline(always)]
                || reduce_columns(all, [depth, inner], at, piece, start, &f),
            );
        });
    }
    one(Tensor::new(input.dtype(), result, out))
}

// Results from position `at` on, whose operands lie `inner` apart: rows of one block, as far as it goes, then of the next.
#[inline(always)]
fn reduce_columns(
    all: &[f32],
    [depth, inner]: [usize; 2],
    mut at: usize,
    mut piece: &mut [f32],
    start: f32,
    f: &impl Fn(f32, f32) -> f32,
) {
    while !piece.is_empty() {
        let (block, column) = (at / inner, at % inner);
        let (here, rest) = piece.split_at_mut(piece.len().min(inner - column));
        here.fill(start);
        for row in all[block * depth * inner..][..depth * inner].chunks_exact(inner) {
            let row = &row[column..column + here.len()];
            here.iter_mut().zip(row).for_each(|(y, &x)| *y = f(*y, x));
        }
        at += here.len();
        piece = rest;
    }
}

#[inline(always)]
fn reduce_row(row: &[f32], start: f32, f: &impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [start; LANES];
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = f(*lane, x);
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = f(lanes[i], lanes[i + width]);
        }
        width /= 2;
    }
    rest.iter().fold(lanes[0], |y, &x| f(y, x))
}
