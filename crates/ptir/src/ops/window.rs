//! Reductions over sliding windows.

use super::support::{
    DtypeClass, WindowShape, check_at_least, check_one_per_axis, check_reducer,
    check_reduction_inputs, check_same_dtype, check_scalar, one_result, unify_dim_lists,
};
use crate::attr::{Axes, Pairs};
use crate::cost::op_flops as cost;
use crate::eval::kernels;
use crate::op::{Body, InferCx, InferResult, OpError, Value, Values};
use crate::types::{TensorType, ValueType};
use sapwood_types::DataType;

crate::ops! {
    family "window", table window_ops, values WindowValueOps, graph WindowGraphOps;

    /// Reduces each window with a region, as `reduce` does, in row-major order of the window. Padding, and the gaps
    /// between elements that `base_dilation` inserts, have the values `inits`. A window larger than the padded input
    /// gives an empty result.
    op reduce_window ReduceWindow "reduce_window" (inputs: Values, inits: Values, body: Body) {
        /// Extent of the window per axis, at least 1.
        window: Axes,
        /// Step per axis; 1 by default.
        strides: Option<Axes>,
        /// Padding before and after each axis; none by default.
        pads: Option<Pairs>,
        /// Distance between neighbouring input elements; 1 by default.
        base_dilation: Option<Axes>,
        /// Distance between neighbouring window elements; 1 by default.
        window_dilation: Option<Axes>,
    } -> many [
        omitted_entries(1, &["strides", "base_dilation", "window_dilation"]),
        omitted_entries(0, &["pads"]),
        flops(cost::reduce_window),
    ] = infer_reduce_window, eval = kernels::window::reduce_window;

    /// Selects one element of each window of the input and combines the element of `source` for that window into the
    /// result at the selected position. `select` takes the current selection, at first the first element, and the
    /// next element; the selection is kept if it yields true. `scatter` combines elements into the result, which
    /// starts as `init`. Windows are processed in row-major order. Padding is never selected; a window of only
    /// padding selects nothing.
    op select_and_scatter SelectAndScatter "select_and_scatter" (
        input: Value, source: Value, init: Value, select: Body, scatter: Body
    ) {
        /// Extent of the window per axis, at least 1.
        window: Axes,
        /// Step per axis; 1 by default.
        strides: Option<Axes>,
        /// Padding before and after each axis; none by default.
        pads: Option<Pairs>,
    } -> one [omitted_entries(1, &["strides"]), omitted_entries(0, &["pads"]), flops(cost::select_and_scatter)]
        = infer_select_and_scatter, eval = kernels::window::select_and_scatter;
}

fn infer_reduce_window(cx: &InferCx<'_>) -> InferResult {
    let (inputs, dims) = check_reduction_inputs(cx, "inputs", "inits")?;
    let rank = dims.len();
    let size = cx.ints("window")?;
    check_one_per_axis("window", size.len(), rank)?;
    check_at_least("window", size, 1)?;
    let window = WindowShape {
        size,
        strides: &cx.ints_or("strides", 1, rank)?,
        pads: &cx.pairs_or_zero("pads", rank)?,
        base_dilation: &cx.ints_or("base_dilation", 1, rank)?,
        window_dilation: &cx.ints_or("window_dilation", 1, rank)?,
    };
    let dims = window.output_dims(&dims)?;
    let dtypes: Vec<DataType> = inputs.iter().map(|t| t.dtype).collect();
    check_reducer(cx, 0, &dtypes)?;
    Ok(dtypes
        .iter()
        .map(|&dtype| ValueType::Tensor(TensorType { dtype, dims: dims.clone() }))
        .collect())
}

fn infer_select_and_scatter(cx: &InferCx<'_>) -> InferResult {
    let (input, source) = (cx.tensor(0)?, cx.tensor(1)?);
    check_same_dtype(0, input, 1, source)?;
    let init = check_scalar(cx, 2, "`init`", DtypeClass::COMPUTED)?;
    if init != input.dtype {
        return Err(OpError::new(format!(
            "`init` has element type {init}, the input has {}",
            input.dtype
        )));
    }
    let rank = input.rank();
    let size = cx.ints("window")?;
    check_one_per_axis("window", size.len(), rank)?;
    check_at_least("window", size, 1)?;
    let ones = vec![1; rank];
    let window = WindowShape {
        size,
        strides: &cx.ints_or("strides", 1, rank)?,
        pads: &cx.pairs_or_zero("pads", rank)?,
        base_dilation: &ones,
        window_dilation: &ones,
    };
    let expected = window.output_dims(&input.dims)?;
    unify_dim_lists(1, &source.dims, 0, &expected).map_err(|_| {
        let windows = TensorType { dtype: input.dtype, dims: expected.clone() };
        OpError::new(format!("the source is {source}, expected {windows}, one element per window"))
    })?;
    let element: ValueType = TensorType::scalar(input.dtype).into();
    let picks = cx.check_region(0, &[element.clone(), element.clone()])?;
    cx.check_yield(0, picks, &[TensorType::scalar(DataType::Bool).into()])?;
    check_reducer(cx, 1, &[input.dtype])?;
    one_result(input.clone())
}
