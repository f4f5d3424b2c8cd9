//! Slices that start at computed indices.

use sapwood_types::counted;

use super::support::{
    DtypeClass, check_at_least, check_one_per_axis, check_same_dtype, check_scalar, one_result,
};
use crate::attr::Axes;
use crate::eval::kernels::dynamic as k;
use crate::op::{InferCx, InferResult, OpError, Value, Values};
use crate::types::{Dim, TensorType};

crate::ops! {
    family "dynamic", table dynamic_ops, values DynamicValueOps, graph DynamicGraphOps;

    /// Extracts the slice of the given extents that starts at `starts`, one integer scalar per axis. Starts are
    /// clamped so that the slice is inside the input.
    op dynamic_slice DynamicSlice "dynamic_slice" (input: Value, starts: Values) {
        /// Extents of the slice.
        sizes: Axes,
    } -> one [symbolic(&["sizes"]), reads_part] = infer_dynamic_slice, eval = k::dynamic_slice;

    /// Writes `update` into the input at `starts`, one integer scalar per axis. Starts are clamped so that the update
    /// is inside the input.
    op dynamic_update_slice DynamicUpdateSlice "dynamic_update_slice" (input: Value, update: Value, starts: Values) {} -> one [] = infer_dynamic_update_slice, eval = k::dynamic_update_slice;
}

fn check_starts(cx: &InferCx<'_>, from: usize, rank: usize) -> Result<(), OpError> {
    let count = cx.operands.len() - from;
    if count != rank {
        return Err(OpError::new(format!(
            "found {}, expected {rank}, one per axis of the input",
            counted(count, "start")
        )));
    }
    for i in from..cx.operands.len() {
        let dtype = check_scalar(cx, i, &format!("start {}", i - from), DtypeClass::INT)?;
        let first = cx.tensor(from)?.dtype;
        if dtype != first {
            return Err(OpError::new(format!(
                "start {} has element type {dtype}, start 0 has {first}",
                i - from
            )));
        }
    }
    Ok(())
}

fn check_slice_fits(axis: usize, size: Dim, extent: Dim) -> Result<(), OpError> {
    match (size, extent) {
        (Dim::Known(size), Dim::Known(n)) if size > n => {
            Err(OpError::new(format!("the slice of axis {axis} is {size}, but its extent is {n}")))
        }
        _ => Ok(()),
    }
}

fn infer_dynamic_slice(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    if cx.is_symbolic("sizes")? {
        let sizes = cx.dim_exprs("sizes")?;
        check_one_per_axis("sizes", sizes.len(), input.rank())?;
        check_starts(cx, 1, input.rank())?;
        let dims = sizes.into_iter().map(Dim::from_expr).collect();
        return one_result(TensorType { dtype: input.dtype, dims });
    }
    let sizes = cx.ints("sizes")?;
    check_one_per_axis("sizes", sizes.len(), input.rank())?;
    check_at_least("sizes", sizes, 0)?;
    check_starts(cx, 1, input.rank())?;
    for (axis, (&size, &d)) in sizes.iter().zip(&input.dims).enumerate() {
        check_slice_fits(axis, Dim::Known(size as u64), d)?;
    }
    one_result(TensorType::new(input.dtype, sizes.iter().map(|&n| n as u64)))
}

fn infer_dynamic_update_slice(cx: &InferCx<'_>) -> InferResult {
    let (input, update) = (cx.tensor(0)?, cx.tensor(1)?);
    check_same_dtype(0, input, 1, update)?;
    if input.rank() != update.rank() {
        return Err(OpError::new(format!(
            "the input has rank {}, the update {}",
            input.rank(),
            update.rank()
        )));
    }
    check_starts(cx, 2, input.rank())?;
    for (axis, (&size, &d)) in update.dims.iter().zip(&input.dims).enumerate() {
        check_slice_fits(axis, size, d)?;
    }
    one_result(input.clone())
}
