//! Sorting and top-k selection.

use super::compare::CompareOrder;
use super::support::{DtypeClass, checked_dim, unify_dim_lists};
use crate::attr::Int;
use crate::cost::op_flops as cost;
use crate::eval::kernels;
use crate::op::{Body, InferCx, InferResult, OpError, Value, Values};
use crate::types::{Dim, TensorType, ValueType};
use sapwood_types::DataType;

crate::ops! {
    family "sort", table sort_ops, values SortValueOps, graph SortGraphOps;

    /// Finds the `k` largest elements along the last axis, largest first, and their indices as i32. Equal elements
    /// (-0 equals 0) are ordered by index, and NaN counts as the largest. If `order` is `total`, elements are ordered
    /// as by `compare`: -0 is smaller than 0, and NaN is the largest or the smallest by its sign.
    op top_k TopK "top_k" (input: Value) {
        /// Number of elements, at most the extent of the last axis.
        k: Int,
        /// The order of floats.
        order: CompareOrder = CompareOrder::Partial,
    } -> many [flops(cost::top_k)] = infer_top_k, eval = kernels::sort::top_k;

    /// Sorts several tensors of the same dims together along an axis. The region takes two scalars of each input,
    /// with those of the left element at the even positions, and yields whether the left element comes first. If the
    /// comparator is not a strict weak order, the result is some permutation, the same on every machine.
    op sort Sort "sort" (inputs: Values, comparator: Body) {
        /// The axis to sort along.
        axis: Int,
        /// True if equal elements keep their order.
        stable: bool = true,
    } -> many [flops(cost::sort)] = infer_sort, eval = kernels::sort::sort;
}

fn infer_top_k(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    DtypeClass::REAL_BOOL.check("the operand", input.dtype)?;
    let Some(&last) = input.dims.last() else {
        return Err(OpError::new("the operand has rank 0, expected at least 1"));
    };
    let k = cx.int("k")?;
    let size = checked_dim("`k`", i128::from(k))?;
    if let Dim::Known(n) = last
        && k as u64 > n
    {
        return Err(OpError::new(format!("`k` is {k}, but the last axis is {n}")));
    }
    let mut values = input.clone();
    if let Some(last) = values.dims.last_mut() {
        *last = size;
    }
    let indices = values.with_dtype(DataType::I32);
    Ok([values, indices].into_iter().map(ValueType::Tensor).collect())
}

fn infer_sort(cx: &InferCx<'_>) -> InferResult {
    let inputs = cx.tensors()?;
    let Some(first) = inputs.first() else {
        return Err(OpError::new("at least one operand is needed"));
    };
    cx.axis("axis", first.rank())?;
    let mut dims = first.dims.clone();
    let mut params: Vec<ValueType> = Vec::new();
    for (i, input) in inputs.iter().enumerate() {
        dims = unify_dim_lists(0, &dims, i, &input.dims)?;
        let element: ValueType = TensorType::scalar(input.dtype).into();
        params.extend([element.clone(), element]);
    }
    let results = cx.check_region(0, &params)?;
    cx.check_yield(0, results, &[TensorType::scalar(DataType::Bool).into()])?;
    Ok(inputs
        .iter()
        .map(|t| ValueType::Tensor(TensorType { dtype: t.dtype, dims: dims.clone() }))
        .collect())
}
