//! Canonicalizations of `reshape`.

use sapwood_ptir::ops::Reshape;
use sapwood_ptir::{Dim, Value};

use super::tensor_views::emit_reshape;
use crate::pattern::Rewrite;

crate::patterns! { "reshape":
    reshape_to_same hops 1 when same,
    reshape_of_reshape hops 1 when 0 in [Reshape],
}

/// `reshape(x : t) : t = x`.
///
/// Floats: exact.
fn reshape_to_same(op: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.ty(op.input) == rw.result_type()).then_some(op.input)
}

/// `reshape(reshape(x)) = reshape(x)`.
///
/// At most one dim of the result may be unknown, and the inner one must not introduce a dim name.
///
/// Floats: exact.
fn reshape_of_reshape(outer: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(outer.input)?;
    let ty = rw.result_tensor()?;
    let (from, mid) = (rw.tensor(inner.input)?, rw.tensor(outer.input)?);
    let lost =
        |d: &Dim| matches!(d, Dim::Expr(_)) && !from.dims.contains(d) && !ty.dims.contains(d);
    if mid.dims.iter().any(lost) {
        return None;
    }
    emit_reshape(rw, inner.input, ty)
}
