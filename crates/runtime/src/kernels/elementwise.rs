//! Elementwise kernels.

use sapwood_ptir::eval::{EvalCx, EvalResult, Fault, Native, Tensor, View, one};

use super::evaluate_in_fixed_order;
use super::math;
use super::parallel::{CHUNK_ELEMENTS, for_each_chunk};

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
    let arch = pulp::Arch::new();
    let mut input = cx.take_tensor(0)?;
    if let Some(all) = input.unique_mut::<f32>() {
        cx.work(all.len() as u64)?;
        for_each_chunk(cx.threads(), all, CHUNK_ELEMENTS, |_, chunk| {
            arch.dispatch(
                #[inline(always)]
                || {
                    for x in chunk {
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
        arch.dispatch(
            #[inline(always)]
            || {
                for (y, &x) in chunk.iter_mut().zip(from) {
                    *y = f(x);
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
    let arch = pulp::Arch::new();
    let mut out = cx.buffer::<T>(a.len())?;
    let (Some(left), Some(right)) = (a.view::<T>(), b.view::<T>()) else {
        return Err(wrong_storage_type());
    };
    for_each_chunk(threads, &mut out, CHUNK_ELEMENTS, |at, chunk| {
        let range = at..at + chunk.len();
        arch.dispatch(
            #[inline(always)]
            || match (left, right) {
                (View::Dense(xs), View::Dense(ys)) => {
                    let pairs = xs[range.clone()].iter().zip(&ys[range]);
                    for (z, (&x, &y)) in chunk.iter_mut().zip(pairs) {
                        *z = f(x, y);
                    }
                }
                (View::Dense(xs), View::Splat(y)) => {
                    for (z, &x) in chunk.iter_mut().zip(&xs[range]) {
                        *z = f(x, y);
                    }
                }
                (View::Splat(x), View::Dense(ys)) => {
                    for (z, &y) in chunk.iter_mut().zip(&ys[range]) {
                        *z = f(x, y);
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
    let arch = pulp::Arch::new();
    for_each_chunk(threads, left, CHUNK_ELEMENTS, |at, chunk| {
        arch.dispatch(
            #[inline(always)]
            || match right {
                View::Splat(y) => {
                    for x in chunk {
                        *x = f(*x, y);
                    }
                }
                View::Dense(ys) => {
                    let ys = &ys[at..at + chunk.len()];
                    for (x, &y) in chunk.iter_mut().zip(ys) {
                        *x = f(*x, y);
                    }
                }
            },
        );
    });
}

fn wrong_storage_type() -> Fault {
    Fault::op("an operand is kept in another type than its own")
}
