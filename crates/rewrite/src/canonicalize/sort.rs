//! Canonicalizations of `sort` and `top_k`.

use sapwood_ptir::ops::{Sort, TopK};
use sapwood_ptir::{Dim, TensorType, Value, Values};
use sapwood_types::DataType;

use super::carried_values::narrowed_region;
use super::tensor_views::is_at_most_one;
use crate::pattern::Rewrite;

crate::patterns! { "sort":
    sort_of_one,
    sort_unused benefit 0,
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

/// `sort(x, y, less) = sort(x, less)` if the result for `y` is not used, and `less` does not depend on the elements of `y`.
///
/// Floats: exact.
fn sort_unused(op: Sort, rw: &mut Rewrite<'_>) -> Option<Values> {
    let params = rw.params(op.comparator);
    let results: Values = (0..op.inputs.len()).map(|n| rw.result(n)).collect::<Option<_>>()?;
    let is_removable = |n: usize| {
        rw.unused(results[n])
            && params.get(2 * n..2 * n + 2).is_some_and(|both| both.iter().all(|&p| rw.unused(p)))
    };
    let leaves: Vec<bool> = (0..results.len()).map(is_removable).collect();
    if !leaves.contains(&true) || !leaves.contains(&false) || rw.is_ordered(rw.root()) {
        return None;
    }
    let gone: Vec<(usize, Value)> =
        (0..params.len()).filter(|&at| leaves[at / 2]).map(|at| (at, params[at])).collect();
    let region = narrowed_region(op.comparator, &gone, &[]);
    let inputs = (0..leaves.len()).filter(|&n| !leaves[n]).map(|n| op.inputs[n]).collect();
    let left = rw.emit_with_regions(Sort { inputs, ..op }, &[region])?;
    let mut left = left.into_iter();
    (0..leaves.len()).map(|n| if leaves[n] { Some(results[n]) } else { left.next() }).collect()
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
