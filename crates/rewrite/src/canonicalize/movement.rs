//! Laws of all ops that only move elements.

use sapwood_ptir::ops::{
    BroadcastInDim, BroadcastTo, Concat, DynamicSlice, Gather, Iota, Pad, Reshape, Reverse, Slice,
    Transpose,
};
use sapwood_ptir::{TensorLiteral, Value};

use super::tensor_views::{as_uniform, is_certainly_empty};
use crate::pattern::{OpRef, Rewrite};

crate::patterns! { "movement":
    nothing_left on [
        Reshape, Transpose, BroadcastTo, BroadcastInDim, Slice, Concat, Pad, Reverse, DynamicSlice, Gather, Iota
    ] hops 1 when empty,
    movement_of_uniform on [Reshape, Transpose, Slice, Reverse, DynamicSlice, Gather] benefit 2 hops 1 when 0 in constants,
}

/// `f(x) = constant` if the result has no elements, for `f` that move elements.
///
/// Floats: exact.
fn nothing_left(_: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = rw.result_tensor()?;
    if !is_certainly_empty(ty) {
        return None;
    }
    let literal = TensorLiteral::new(ty.dtype, &ty.known_shape()?, &[]).ok()?;
    Some(rw.constant(literal))
}

/// `f(broadcast(s)) = broadcast(s)` for a scalar `s` and `f` that move elements.
///
/// All dims of the result must be known.
///
/// Floats: exact.
fn movement_of_uniform(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let &input = rw.function().operands(op.root).first()?;
    let ty = rw.result_tensor()?;
    if rw.rank(input)? == 0 {
        return None;
    }
    let uniform = as_uniform(rw, input)?;
    if rw.tensor(input)? == ty {
        return Some(input);
    }
    uniform.emit(rw, ty)
}
