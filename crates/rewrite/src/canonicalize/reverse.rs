//! Canonicalizations of `reverse`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::Reverse;

use super::support::{AxisList, Spread, at_most_one, axes};
use crate::pattern::Rewrite;

crate::patterns! { "reverse":
    reverse_of_one,
    reverse_of_reverse when 0 in [Reverse],
    reverse_of_broadcast when 0 in [Spread],
}

fn over(rw: &mut Rewrite<'_>, input: Value, mut axes: AxisList) -> Option<Value> {
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
    let kept: AxisList = axes(&op.axes).into_iter().filter(|&a| !at_most_one(dims[a])).collect();
    if kept.len() == op.axes.len() && !kept.is_empty() {
        return None;
    }
    over(rw, op.input, kept)
}

/// `reverse(reverse(x, a), b) = reverse(x, a xor b)`, axes in both left as they are.
///
/// Floats: exact.
fn reverse_of_reverse(outer: Reverse, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reverse>(outer.input)?;
    let (a, b) = (axes(&inner.axes), axes(&outer.axes));
    let only = |x: &AxisList, y: &AxisList| -> AxisList {
        x.iter().copied().filter(|axis| !y.contains(axis)).collect()
    };
    let mut once = only(&a, &b);
    once.extend(only(&b, &a));
    over(rw, inner.input, once)
}

/// `reverse(broadcast(x), axes) = reverse(broadcast(x), axes without those that repeat)`.
///
/// Floats: exact.
fn reverse_of_broadcast(op: Reverse, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Spread>(op.input)?;
    let kept: AxisList = axes(&op.axes).into_iter().filter(|&a| !inner.repeats(a)).collect();
    if kept.len() == op.axes.len() {
        return None;
    }
    over(rw, op.input, kept)
}
