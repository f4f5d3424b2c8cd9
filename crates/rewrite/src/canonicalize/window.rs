//! Canonicalizations of `reduce_window`.

use sapwood_ptir::ops::{Pad, ReduceWindow};
use sapwood_ptir::{Pairs, Value};

use super::reducer::{Reducer, single_op_reducer};
use super::tensor_views::{AxisList, NamedReduction, as_uniform};
use crate::FloatMode;
use crate::pattern::Rewrite;

crate::patterns! { "window":
    window_of_ones,
    window_as_reduce,
    window_of_pad when 0 in [Pad],
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

/// `reduce_window(x, init, f) = reduce_f(x, keepdims)` if each window takes whole axes, and one element along the others.
///
/// For an `f` that is one op with a reduction of its own, and a neutral `init`. All dims must be known, and nothing is padded or dilated.
///
/// Floats: exact.
fn window_as_reduce(op: ReduceWindow, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (&[input], &[init]) = (&op.inputs[..], &op.inits[..]) else { return None };
    let (shape, result) = (rw.shape(input)?, rw.result_tensor()?.known_shape()?);
    let padded = op.pads.as_ref().is_some_and(|pads| pads.iter().any(|p| *p != [0, 0]));
    let dilations = [&op.base_dilation, &op.window_dilation];
    let dilated = dilations.into_iter().flatten().any(|list| list.iter().any(|&n| n != 1));
    if padded || dilated {
        return None;
    }
    let mut axes = AxisList::new();
    for (axis, &extent) in shape.iter().enumerate() {
        match op.window[axis] {
            1 if result[axis] == extent => {}
            n if u64::try_from(n) == Ok(extent) => axes.push(axis),
            _ => return None,
        }
    }
    let Reducer { named, neutral, .. } = single_op_reducer(op.body, init, rw)?;
    if axes.is_empty() || !neutral {
        return None;
    }
    rw.emit_parts(&NamedReduction { keepdims: true, ..named }.with(input, &axes))
}

/// `reduce_window(pad(x, v), v, f) = reduce_window(x, v, f)` with the padding of both, if `v` is neutral for `f`.
///
/// Only if no element is removed, nothing is padded between elements, and the window does not dilate its input.
///
/// Floats: exact.
fn window_of_pad(op: ReduceWindow, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (&[input], &[init]) = (&op.inputs[..], &op.inits[..]) else { return None };
    let inner = rw.def::<Pad>(input)?;
    let dilated = op.base_dilation.as_ref().is_some_and(|list| list.iter().any(|&n| n != 1));
    let between = inner.interior.as_ref().is_some_and(|list| list.iter().any(|&n| n != 0));
    let removes = inner.low.iter().chain(inner.high.iter()).any(|&n| n < 0);
    let same = inner.value == init
        || as_uniform(rw, inner.value)?.is_certainly_same(&as_uniform(rw, init)?);
    if dilated || between || removes || !same || !single_op_reducer(op.body, init, rw)?.neutral {
        return None;
    }
    let mut pads = Vec::new();
    for (axis, (&before, &after)) in inner.low.iter().zip(inner.high.iter()).enumerate() {
        let [low, high] = op.pads.as_ref().map_or([0, 0], |pads| pads[axis]);
        pads.push([low.checked_add(before)?, high.checked_add(after)?]);
    }
    let op = ReduceWindow {
        inputs: [inner.input].into_iter().collect(),
        pads: Some(Pairs::from(pads)),
        ..op
    };
    rw.emit_many(op)?.first().copied()
}
