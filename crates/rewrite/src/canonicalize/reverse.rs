//! Canonicalizations of `reverse`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::Reverse;

use super::tensor_views::{AxisList, BroadcastView, axis_list, is_at_most_one};
use crate::pattern::Rewrite;

crate::patterns! { "reverse":
    reverse_of_one,
    reverse_of_reverse when 0 in [Reverse],
    reverse_of_broadcast when 0 in [BroadcastView],
}

fn emit_reverse(rw: &mut Rewrite<'_>, input: Value, mut axes: AxisList) -> Option<Value> {
    if axes.is_empty() {
        return Some(input);
    }
    axes.sort_unstable();
    rw.emit(Reverse { input, axes: axes.iter().copied().collect() })
}

/// `reverse(x, axes) = reverse(x, axes without those of extent one)`, or `x` if none are left.
///
/// Floats: exact.
fn reverse_of_one(op: Reverse, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dims = &rw.tensor(op.input)?.dims;
    let kept: AxisList =
        axis_list(&op.axes).into_iter().filter(|&a| !is_at_most_one(dims[a])).collect();
    if kept.len() == op.axes.len() && !kept.is_empty() {
        return None;
    }
    emit_reverse(rw, op.input, kept)
}

/// `reverse(reverse(x, a), b) = reverse(x, a xor b)`: axes in both lists are not reversed.
///
/// Floats: exact.
fn reverse_of_reverse(outer: Reverse, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reverse>(outer.input)?;
    let (a, b) = (axis_list(&inner.axes), axis_list(&outer.axes));
    let only = |x: &AxisList, y: &AxisList| -> AxisList {
        x.iter().copied().filter(|axis| !y.contains(axis)).collect()
    };
    let mut once = only(&a, &b);
    once.extend(only(&b, &a));
    emit_reverse(rw, inner.input, once)
}

/// `reverse(broadcast(x), axes) = reverse(broadcast(x), axes without those that repeat)`.
///
/// Floats: exact.
fn reverse_of_broadcast(op: Reverse, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<BroadcastView>(op.input)?;
    let kept: AxisList =
        axis_list(&op.axes).into_iter().filter(|&a| !inner.repeats_along(a)).collect();
    if kept.len() == op.axes.len() {
        return None;
    }
    emit_reverse(rw, op.input, kept)
}
