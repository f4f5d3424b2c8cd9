//! Canonicalizations of `sort` and `top_k`.

use sapwood_ptir::ops::{Sort, TopK};
use sapwood_ptir::{Dim, TensorType, Values};
use sapwood_types::DataType;

use super::tensor_views::is_at_most_one;
use crate::pattern::Rewrite;

crate::patterns! { "sort":
    sort_of_one,
    top_k_of_one,
}

/// `sort(x, axis) = x` if the axis has extent one.
///
/// Floats: exact.
fn sort_of_one(op: Sort, rw: &mut Rewrite<'_>) -> Option<Values> {
    let &first = op.inputs.first()?;
    let dim = *rw.tensor(first)?.dims.get(op.axis.0 as usize)?;
    (is_at_most_one(dim) && !rw.is_ordered(rw.root())).then_some(op.inputs)
}

/// `top_k(x) = x, 0` if the last axis has extent one and `k` is one.
///
/// All dims must be known.
///
/// Floats: exact.
fn top_k_of_one(op: TopK, rw: &mut Rewrite<'_>) -> Option<Values> {
    let ty = rw.tensor(op.input)?.clone();
    if ty.dims.last() != Some(&Dim::Known(1)) || op.k.0 != 1 {
        return None;
    }
    let index = rw.filled(&TensorType { dtype: DataType::I32, ..ty }, 0.0)?;
    Some(Values::from_iter([op.input, index]))
}
