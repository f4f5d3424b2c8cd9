//! Canonicalizations of `reshape`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::Reshape;

use super::support::reshape;
use crate::pattern::Rewrite;

crate::patterns! { "reshape":
    reshape_to_same,
    reshape_of_reshape,
}

/// `reshape(x : t) : t = x`.
///
/// Floats: exact.
fn reshape_to_same(op: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.ty(op.input) == rw.result_type()).then_some(op.input)
}

/// `reshape(reshape(x)) = reshape(x)`.
///
/// At most one dim of the result may be unknown.
///
/// Floats: exact.
fn reshape_of_reshape(outer: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(outer.input)?;
    let ty = rw.result_tensor()?;
    reshape(rw, inner.input, ty)
}
