//! Elementwise kernels.
#![allow(
    clippy::needless_range_loop,
    reason = "the steps of joined iterators are not always inlined"
)]

use sapwood_ptir::eval::{EvalCx, EvalResult, Fault, Native, Tensor, View, one};

use super::evaluate_in_fixed_order;
use super::math;
use super::parallel::{CHUNK_ELEMENTS, for_each_chunk};
use super::vectors::vectorized;

pub(super) fn exp(cx: &mut EvalCx<'_>) -> EvalResult {
    unary(cx, math::exp)
}

pub(super) fn log(cx: &mut EvalCx<'_>) -> EvalResult {
    unary(cx, math::log)
}

pub(super) fn logistic(cx: &mut EvalCx<'_>) -> EvalResult {
    unary(cx, math::logistic)
}

pub(super) fn tanh(cx: &mut EvalCx<'_>) -> EvalResult {
    unary(cx, math::tanh)
}

pub(super) fn sqrt(cx: &mut EvalCx<'_>) -> EvalResult {
    unary(cx, f32::sqrt)
}

pub(super) fn rsqrt(cx: &mut EvalCx<'_>) -> EvalResult {
    unary(cx, |x| 1.0 / x.sqrt())
}

pub(super) fn add(cx: &mut EvalCx<'_>) -> EvalResult {
    binary(cx, |x, y| x + y, |x, y| x + y)
}

pub(super) fn sub(cx: &mut EvalCx<'_>) -> EvalResult {
    binary(cx, |x, y| x - y, |x, y| x - y)
}

pub(super) fn mul(cx: &mut EvalCx<'_>) -> EvalResult {
    binary(cx, |x, y| x * y, |x, y| x * y)
}

pub(super) fn div(cx: &mut EvalCx<'_>) -> EvalResult {
    binary(cx, |x, y| x / y, |x, y| x / y)
}

fn unary(cx: &mut EvalCx<'_>, f: impl Fn(f32) -> f32 + Sync) -> EvalResult {
    if !matches!(cx.tensor(0)?.view::<f32>(), Some(View::Dense(_))) {
        return evaluate_in_fixed_order(cx);
    }
    let mut input = cx.take_tensor(0)?;
    if let Some(all) = input.unique_mut::<f32>() {
        cx.work(all.len() as u64)?;
        for_each_chunk(cx.threads(), all, CHUNK_ELEMENTS, |_, chunk| {
            vectorized(
                #[inline(always)]
                || {
                    for x in &mut *chunk {
                        *x = f(*x);
                    }
                },
            );
        });
        return one(input);
    }
    let Some(View::Dense(all)) = input.view::<f32>() else { return Err(wrong_storage_type()) };
    let mut out = cx.buffer::<f32>(all.len())?;
    for_each_chunk(cx.threads(), &mut out, CHUNK_ELEMENTS, |at, chunk| {
        let from = &all[at..at + chunk.len()];
        vectorized(
            #[inline(always)]
            || {
                let chunk = &mut chunk[..from.len()];
                for i in 0..from.len() {
                    chunk[i] = f(from[i]);
                }
            },
        );
    });
    one(Tensor::new(input.dtype(), input.shape(), out))
}

fn binary(
    cx: &mut EvalCx<'_>,
    single: impl Fn(f32, f32) -> f32 + Sync,
    double: impl Fn(f64, f64) -> f64 + Sync,
) -> EvalResult {
    let dense = |index| Ok::<_, Fault>(!cx.tensor(index)?.is_splat());
    if !dense(0)? && !dense(1)? {
        return evaluate_in_fixed_order(cx);
    }
    if cx.tensor(0)?.view::<f32>().is_some() {
        return zip(cx, single);
    }
    if cx.tensor(0)?.view::<f64>().is_some() {
        return zip(cx, double);
    }
    evaluate_in_fixed_order(cx)
}

fn zip<T: Native>(cx: &mut EvalCx<'_>, f: impl Fn(T, T) -> T + Sync) -> EvalResult {
    let (mut a, mut b) = (cx.take_tensor(0)?, cx.take_tensor(1)?);
    let threads = cx.threads();
    cx.work(a.len() as u64)?;
    if let (Some(left), Some(right)) = (a.unique_mut::<T>(), b.view::<T>()) {
        in_place(threads, left, right, &f);
        return one(a);
    }
    if let (Some(right), Some(left)) = (b.unique_mut::<T>(), a.view::<T>()) {
        in_place(threads, right, left, |y, x| f(x, y));
        return one(b);
    }
    let mut out = cx.buffer::<T>(a.len())?;
    let (Some(left), Some(right)) = (a.view::<T>(), b.view::<T>()) else {
        return Err(wrong_storage_type());
    };
    for_each_chunk(threads, &mut out, CHUNK_ELEMENTS, |at, chunk| {
        let n = chunk.len();
        vectorized(
            #[inline(always)]
            || match (left, right) {
                (View::Dense(xs), View::Dense(ys)) => {
                    let (xs, ys, out) = (&xs[at..at + n], &ys[at..at + n], &mut chunk[..n]);
                    for i in 0..n {
                        out[i] = f(xs[i], ys[i]);
                    }
                }
                (View::Dense(xs), View::Splat(y)) => {
                    let (xs, out) = (&xs[at..at + n], &mut chunk[..n]);
                    for i in 0..n {
                        out[i] = f(xs[i], y);
                    }
                }
                (View::Splat(x), View::Dense(ys)) => {
                    let (ys, out) = (&ys[at..at + n], &mut chunk[..n]);
                    for i in 0..n {
                        out[i] = f(x, ys[i]);
                    }
                }
                (View::Splat(x), View::Splat(y)) => chunk.fill(f(x, y)),
            },
        );
    });
    one(Tensor::new(a.dtype(), a.shape(), out))
}

fn in_place<T: Native>(
    threads: usize,
    left: &mut [T],
    right: View<'_, T>,
    f: impl Fn(T, T) -> T + Sync,
) {
    for_each_chunk(threads, left, CHUNK_ELEMENTS, |at, chunk| {
        vectorized(
            #[inline(always)]
            || match right {
                View::Splat(y) => {
                    for x in &mut *chunk {
                        *x = f(*x, y);
                    }
                }
                View::Dense(ys) => {
                    let ys = &ys[at..at + chunk.len()];
                    let chunk = &mut chunk[..ys.len()];
                    for i in 0..ys.len() {
                        chunk[i] = f(chunk[i], ys[i]);
                    }
                }
            },
        );
    });
}

fn wrong_storage_type() -> Fault {
    Fault::op("an operand is kept in another type than its own")
}
