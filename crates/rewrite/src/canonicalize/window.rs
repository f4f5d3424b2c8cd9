//! Canonicalizations of `reduce_window`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::ReduceWindow;

use super::reducer::single_op_reducer;
use crate::FloatMode;
use crate::pattern::Rewrite;

crate::patterns! { "window":
    window_of_ones,
}

/// `reduce_window(x, init, f) = x` if windows have one element and `init` is neutral for `f`.
///
/// Floats: exact for all but sums, which need nsz, and products of complex numbers, which need fast.
fn window_of_ones(op: ReduceWindow, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (&[input], &[init]) = (&op.inputs[..], &op.inits[..]) else { return None };
    let ones = |list: &[i64]| list.iter().all(|&n| n == 1);
    let plain = ones(&op.window)
        && op.strides.as_ref().is_none_or(|s| ones(s))
        && op.base_dilation.as_ref().is_none_or(|d| ones(d))
        && op.pads.as_ref().is_none_or(|p| p.iter().all(|p| *p == [0, 0]));
    if !plain || rw.ty(input) != rw.result_type() {
        return None;
    }
    let reducer = single_op_reducer(op.body, init, rw)?;
    let mode = match () {
        () if reducer.named.is_sum() => FloatMode::Nsz,
        () if reducer.named.is_product() && rw.dtype(input)?.is_complex() => FloatMode::Fast,
        () => FloatMode::Exact,
    };
    (reducer.neutral && rw.allows(mode, input)).then_some(input)
}
