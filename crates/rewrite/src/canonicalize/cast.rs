//! Canonicalizations of `cast`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::Cast;

use crate::pattern::Rewrite;

crate::patterns! { "cast":
    cast_to_same,
}

/// `cast(x : t) : t = x`.
///
/// Floats: exact.
fn cast_to_same(op: Cast, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.ty(op.input) == rw.result_type()).then_some(op.input)
}
