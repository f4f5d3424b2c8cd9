//! Canonicalizations of `iota`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::Iota;

use super::tensor_views::is_at_most_one;
use crate::pattern::Rewrite;

crate::patterns! { "iota":
    iota_of_one when unit or empty,
}

/// `iota(axis) = 0` if the axis has extent one.
///
/// All dims must be known.
///
/// Floats: exact.
fn iota_of_one(op: Iota, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dim = rw.result_tensor()?.dims[op.axis.0 as usize];
    if !is_at_most_one(dim) {
        return None;
    }
    rw.filled_like_result(0.0)
}
