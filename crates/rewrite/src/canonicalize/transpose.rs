//! Canonicalizations of `transpose`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::Transpose;

use crate::pattern::Rewrite;

crate::patterns! { "transpose":
    transpose_of_nothing,
    transpose_of_transpose,
}

/// `transpose(x, identity) = x`.
///
/// Floats: exact.
fn transpose_of_nothing(op: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
    let identity = op.perm.iter().enumerate().all(|(i, &p)| i as i64 == p);
    (identity && rw.ty(op.input) == rw.result_type()).then_some(op.input)
}

/// `transpose(transpose(x, p), q) = transpose(x, p then q)`.
///
/// Floats: exact.
fn transpose_of_transpose(outer: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Transpose>(outer.input)?;
    let perm = outer.perm.iter().map(|&i| inner.perm[i as usize]).collect();
    rw.emit(Transpose { input: inner.input, perm })
}
