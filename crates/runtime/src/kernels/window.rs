//! Cumulative sums, which programs write as `reduce_window` over all elements up to each position.

use sapwood_ptir::eval::{DataType, EvalCx, EvalResult, Fault, Float, Num, Tensor, View, one};
use sapwood_ptir::{Op as _, ops};

use super::evaluate_in_fixed_order;
use super::parallel::{CHUNK_ELEMENTS, for_each_chunk};

/// The number of lines that are added up side by side, because each sum waits for the one before it.
const LINES: usize = 8;

pub(super) fn reduce_window(cx: &mut EvalCx<'_>) -> EvalResult {
    let is_sum = cx.group("inputs").len() == 1
        && cx.simple_region(0).is_some_and(|region| {
            region.op == ops::Add::key() && matches!(region.operands, [0, 1] | [1, 0])
        });
    let axis = if is_sum { cumulative_axis(cx)? } else { None };
    match (axis, cx.tensor(0)?.dtype()) {
        (Some(axis), DataType::F32) => cumulative_sum::<f32>(cx, axis, |x, y| x + y),
        (Some(axis), DataType::F64) => cumulative_sum::<f64>(cx, axis, |x, y| x + y),
        _ => evaluate_in_fixed_order(cx),
    }
}

// Returns the axis along which each window covers all elements up to its own position, if there is one and the windows have no other extent.
fn cumulative_axis(cx: &EvalCx<'_>) -> Result<Option<usize>, Fault> {
    let shape = cx.tensor(0)?.shape();
    let rank = shape.len();
    let (window, pads) = (cx.ints("window")?, cx.pairs_or_zero("pads", rank)?);
    for name in ["strides", "base_dilation", "window_dilation"] {
        if cx.ints_or(name, 1, rank)?.iter().any(|&n| n != 1) {
            return Ok(None);
        }
    }
    let mut wide = (0..rank).filter(|&axis| window[axis] != 1);
    let (Some(axis), None) = (wide.next(), wide.next()) else { return Ok(None) };
    let whole = window[axis] >= shape[axis] as i64 && cx.result_shape(0)?[..] == *shape;
    let leads = (0..rank).all(|a| pads[a] == if a == axis { [window[a] - 1, 0] } else { [0, 0] });
    Ok((whole && leads).then_some(axis))
}

fn cumulative_sum<T: Num + Float>(
    cx: &mut EvalCx<'_>,
    axis: usize,
    add: impl Fn(T, T) -> T + Sync,
) -> EvalResult {
    let input = cx.tensor(0)?;
    let shape = input.shape();
    let (Some(View::Dense(all)), start) = (input.view::<T>(), cx.scalar::<T>(1)?) else {
        return evaluate_in_fixed_order(cx);
    };
    let inner: usize = shape[axis + 1..].iter().product();
    let line = shape[axis] * inner;
    // Padding adds zeros.
    if all.is_empty() || start.pack() != T::ZERO.pack() {
        return evaluate_in_fixed_order(cx);
    }
    cx.work(all.len() as u64)?;
    let mut out = cx.buffer::<T>(all.len())?;
    let chunk = (CHUNK_ELEMENTS / line).max(1).next_multiple_of(LINES) * line;
    for_each_chunk(cx.threads(), &mut out, chunk, |at, chunk| {
        let lines = chunk.chunks_mut(LINES * line).zip(all[at..].chunks(LINES * line));
        for (out, from) in lines {
            if inner == 1 {
                let mut sums = [T::ZERO; LINES];
                let count = out.len() / line;
                for i in 0..line {
                    for (number, sum) in sums.iter_mut().enumerate().take(count) {
                        *sum = add(*sum, from[number * line + i]);
                        out[number * line + i] = *sum;
                    }
                }
                continue;
            }
            for (out, from) in out.chunks_exact_mut(line).zip(from.chunks_exact(line)) {
                for (y, &x) in out.iter_mut().zip(&from[..inner]) {
                    *y = add(T::ZERO, x);
                }
                for i in 1..line / inner {
                    let (before, here) = out.split_at_mut(i * inner);
                    let terms = from[i * inner..].iter().zip(&before[(i - 1) * inner..]);
                    for (y, (&x, &sum)) in here[..inner].iter_mut().zip(terms) {
                        *y = add(sum, x);
                    }
                }
            }
        }
    });
    one(Tensor::new(input.dtype(), shape, out))
}
