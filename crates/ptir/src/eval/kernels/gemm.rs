//! The matrix product. Each element of the result is the sum of its products in order of the contracted index,
//! starting from zero, never fused. Tiles and threads only decide which elements are computed together.

use std::borrow::Cow;

use half::{bf16, f16};
use num_complex::Complex;
use sapwood_types::DataType;

use super::elementwise::view;
use crate::eval::context::EvalCx;
use crate::eval::error::Fault;
use crate::eval::native::{F8E4M3Fn, F8E5M2, Native, Num};
use crate::eval::tensor::{Tensor, View};

/// The rows and columns of a tile: the number of sums that fit the registers.
const ROWS: usize = 4;
const COLUMNS: usize = 8;
/// The number of products between two checks of the limits.
const PRODUCTS_PER_CHECK: usize = 1 << 22;

/// The most threads that are started.
const MAX_THREADS: usize = 256;

/// Arithmetic inside of a sum. NaN may have any bits there; the end of the sum makes it canonical.
pub(crate) trait Lane: Num {
    /// Returns `acc + a * b` with two roundings.
    fn step(acc: Self, a: Self, b: Self) -> Self;
    /// Replaces any NaN by the canonical one.
    fn canonical(self) -> Self;
}

macro_rules! lane_by_num {
    ($($ty:ty),*) => {$(
        impl Lane for $ty {
            #[inline(always)]
            fn step(acc: Self, a: Self, b: Self) -> Self { Num::add(acc, Num::mul(a, b)) }
            #[inline(always)]
            fn canonical(self) -> Self { self }
        }
    )*};
}
lane_by_num!(i32, i64, f16, bf16, F8E4M3Fn, F8E5M2);

macro_rules! lane_float {
    ($($ty:ident),*) => {$(
        impl Lane for $ty {
            #[inline(always)]
            fn step(acc: Self, a: Self, b: Self) -> Self { acc + a * b }
            #[inline(always)]
            fn canonical(self) -> Self { if self.is_nan() { $ty::NAN } else { self } }
        }
        impl Lane for Complex<$ty> {
            #[inline(always)]
            fn step(acc: Self, a: Self, b: Self) -> Self {
                let re = a.re * b.re - a.im * b.im;
                let im = a.re * b.im + a.im * b.re;
                Self::new(acc.re + re, acc.im + im)
            }
            #[inline(always)]
            fn canonical(self) -> Self { Self::new(self.re.canonical(), self.im.canonical()) }
        }
    )*};
}
lane_float!(f32, f64);

/// Returns the element type in which sums of products are computed, so that loops are compiled for few types. Integers wrap, so the low
/// bits of a wider sum are the narrow sum; a sum of bools is "or", which is true if the count is not zero.
pub(crate) fn summed_in(dtype: DataType) -> DataType {
    use DataType::{Bool, I4, I8, I16, I32, I64, U4, U8, U16, U32, U64};
    match dtype {
        I4 | I8 | I16 | U4 | U8 | U16 | U32 => I32,
        Bool | U64 => I64,
        other => other,
    }
}

/// Runs an expression with `T` as the native type of an element type that [`summed_in`] returns.
macro_rules! with_lane {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            sapwood_types::DataType::I32 => {
                type $T = i32;
                $body
            }
            sapwood_types::DataType::I64 | sapwood_types::DataType::Index => {
                type $T = i64;
                $body
            }
            dtype if dtype.is_float() => {
                $crate::with_float!(dtype, $T => $body, _ => unreachable!("{dtype} is a float"))
            }
            dtype => {
                $crate::with_complex!(dtype, $T => $body, _ => unreachable!("{dtype} is not summed"))
            }
        }
    };
}
pub(crate) use with_lane;

/// Returns all elements of a tensor: borrowed, or repeated for a splat if there is enough memory.
pub(crate) fn dense<'a, T: Native>(
    cx: &EvalCx<'_>,
    tensor: &'a Tensor,
) -> Result<Cow<'a, [T]>, Fault> {
    Ok(match view::<T>(tensor)? {
        View::Dense(all) => Cow::Borrowed(all),
        View::Splat(x) => {
            let mut all = cx.alloc(tensor.len())?;
            all.resize(tensor.len(), x);
            Cow::Owned(all)
        }
    })
}

/// The right matrix in strips of [`COLUMNS`] columns, row by row in each, padded with zeros.
pub(crate) struct Packed<T> {
    strips: Vec<T>,
    depth: usize,
    columns: usize,
}

impl<T: Lane> Packed<T> {
    /// Packs a matrix of `depth` rows, whose element is given by row and column.
    pub(crate) fn new(
        cx: &EvalCx<'_>,
        depth: usize,
        columns: usize,
        element: impl Fn(usize, usize) -> T,
    ) -> Result<Self, Fault> {
        let count = columns.div_ceil(COLUMNS) * COLUMNS;
        let mut strips = cx.alloc(depth.saturating_mul(count))?;
        for start in (0..columns).step_by(COLUMNS) {
            for row in 0..depth {
                for column in start..start + COLUMNS {
                    strips.push(if column < columns { element(row, column) } else { T::ZERO });
                }
            }
        }
        Ok(Self { strips, depth, columns })
    }
}

/// Writes the product of `left`, row-major with as many columns as `right` has rows, to `out`, row-major.
pub(crate) fn multiply<T: Lane>(
    cx: &EvalCx<'_>,
    left: &[T],
    right: &Packed<T>,
    out: &mut [T],
) -> Result<(), Fault> {
    let (depth, columns) = (right.depth, right.columns);
    if out.is_empty() {
        return Ok(());
    }
    let rows = out.len() / columns;
    // The number of rows that are computed between two checks, a multiple of the tile's rows.
    let per_row = depth.saturating_mul(columns).max(1);
    let threads = cx.threads().max(1);
    let threads = threads.min(MAX_THREADS);
    let piece = (PRODUCTS_PER_CHECK / per_row * threads).next_multiple_of(ROWS).max(ROWS * threads);
    for start in (0..rows).step_by(piece) {
        let end = (start + piece).min(rows);
        cx.work(((end - start) as u64).saturating_mul(per_row as u64))?;
        let (left, out) =
            (&left[start * depth..end * depth], &mut out[start * columns..end * columns]);
        let share = (end - start).div_ceil(threads).next_multiple_of(ROWS);
        if threads == 1
            || (end - start).saturating_mul(per_row) < PRODUCTS_PER_CHECK / 16
            || share >= end - start
        {
            rows_times(left, right, out);
            continue;
        }
        let mut rest = left;
        let tasks = out.chunks_mut(share * columns).map(|out| {
            let (mine, others) = rest.split_at((out.len() / columns) * depth);
            rest = others;
            Box::new(move || rows_times(mine, right, out)) as Task<'_>
        });
        run_on_threads(tasks.collect());
    }
    Ok(())
}

type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs each task on a thread of its own, and returns when all are done.
fn run_on_threads(tasks: Vec<Task<'_>>) {
    std::thread::scope(|scope| {
        for task in tasks {
            scope.spawn(task);
        }
    });
}

fn rows_times<T: Lane>(left: &[T], right: &Packed<T>, out: &mut [T]) {
    let (depth, columns) = (right.depth, right.columns);
    let mut block = vec![[T::ZERO; ROWS]; depth];
    for (left, out) in left.chunks(ROWS * depth).zip(out.chunks_mut(ROWS * columns)) {
        // The rows side by side; missing rows keep old values, and their sums are ignored.
        for (r, row) in left.chunks_exact(depth).enumerate() {
            for (to, &x) in block.iter_mut().zip(row) {
                to[r] = x;
            }
        }
        for (panel, start) in
            right.strips.chunks(depth * COLUMNS).zip((0..columns).step_by(COLUMNS))
        {
            let width = (columns - start).min(COLUMNS);
            let sums = tile(&block, panel.as_chunks().0);
            for (sums, out) in sums.iter().zip(out.chunks_exact_mut(columns)) {
                put(&mut out[start..start + width], sums);
            }
        }
    }
}

fn put<T: Lane>(out: &mut [T], sums: &[T]) {
    for (to, sum) in out.iter_mut().zip(sums) {
        *to = sum.canonical();
    }
}

#[inline]
fn tile<T: Lane>(left: &[[T; ROWS]], right: &[[T; COLUMNS]]) -> [[T; COLUMNS]; ROWS] {
    let mut sums = [[T::ZERO; COLUMNS]; ROWS];
    for (a, b) in left.iter().zip(right) {
        for (sums, &a) in sums.iter_mut().zip(a) {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum = T::step(*sum, a, b);
            }
        }
    }
    sums
}
