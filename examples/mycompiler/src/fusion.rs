//! A fusion: the ops of a softmax become one.

use sapwood::ptir::ops::{BroadcastInDim, BroadcastTo, Div, ReduceMax, ReduceSum};
use sapwood::ptir::prelude::*;
use sapwood::rewrite::Rewrite;
use sapwood::rewrite::matchers::{self as m, Matcher as _};

use crate::ops::Softmax;

/// `e / sum(e)` where `e = exp(x - max(x))`, all along one axis.
pub fn softmax(_: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (x, e, [mut largest, mut total]) = (m::slot(), m::slot(), [None; 2]);
    let exponentials = m::exp(m::sub(m::any(&x), m::any(&mut largest)).one_use()).bind(&e);
    rw.matches_root(m::div(exponentials, m::any(&mut total)))?;
    let [largest, total] = [along_rows(largest?, rw)?, along_rows(total?, rw)?];
    let (largest, total) = (rw.def::<ReduceMax>(largest)?, rw.def::<ReduceSum>(total)?);
    let [axis] = largest.axes[..] else { return None };
    let same = Some(largest.input) == x.get() && Some(total.input) == e.get();
    if !same || total.axes != largest.axes || rw.dtype(largest.input) != Some(DataType::F32) {
        return None;
    }
    rw.emit(Softmax { input: largest.input, axis: Int(axis) })
}

// Returns the operand of a broadcast that repeats a reduced tensor along the axis that is gone.
fn along_rows(value: Value, rw: &mut Rewrite<'_>) -> Option<Value> {
    if let Some(broadcast) = rw.def::<BroadcastTo>(value) {
        return Some(broadcast.input);
    }
    let broadcast = rw.def::<BroadcastInDim>(value)?;
    let reduced = match rw.def::<ReduceMax>(broadcast.input) {
        Some(reduce) => reduce.axes,
        None => rw.def::<ReduceSum>(broadcast.input)?.axes,
    };
    let kept = (0..rw.rank(value)? as i64).filter(|axis| !reduced.contains(axis));
    kept.eq(broadcast.dims.iter().copied()).then_some(broadcast.input)
}
