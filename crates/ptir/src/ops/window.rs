//! Reductions over sliding windows.

use super::support::{
    Class, Window, check_least, check_len, check_reducer, meet_dims, one, reduction_inputs,
    same_dtype, scalar,
};
use crate::attr::{Axes, Pairs};
use crate::eval::kernels;
use crate::op::{Body, InferCx, InferResult, OpError, Value, Values};
use crate::types::{TensorType, ValueType};
use sapwood_types::DataType;

crate::ops! {
    family "window", table window_ops, values WindowValueOps, graph WindowGraphOps;

    /// Reduces each window by a region, as `reduce` does, in row-major order of the window. Padding, and what lies between
    /// elements that `base_dilation` draws apart, count as `inits`; a window larger than the padded input gives an empty result.
    op reduce_window ReduceWindow "reduce_window" (inputs: Values, inits: Values, body: Body) {
        /// Extent of the window per axis, at least 1.
        window: Axes,
        /// Step per axis; all 1 if left out.
        strides: Option<Axes>,
        /// Padding per axis; none if left out.
        pads: Option<Pairs>,
        /// Distance of neighbouring input elements; all 1 if left out.
        base_dilation: Option<Axes>,
        /// Distance of neighbouring window elements; all 1 if left out.
        window_dilation: Option<Axes>,
    } -> many [] = reduce_window, eval = kernels::window::reduce_window;

    /// For each window of the input, picks an element by `select` (the accumulator stays if it is true, the first element
    /// starts) and combines the window's element of `source` into the result there by `scatter`; the result starts as
    /// `init`. Windows combine in row-major order. Padding is never picked; a window of nothing else picks nothing.
    op select_and_scatter SelectAndScatter "select_and_scatter" (
        input: Value, source: Value, init: Value, select: Body, scatter: Body
    ) {
        /// Extent of the window per axis, at least 1.
        window: Axes,
        /// Step per axis; all 1 if left out.
        strides: Option<Axes>,
        /// Padding per axis; none if left out.
        pads: Option<Pairs>,
    } -> one [] = select_and_scatter, eval = kernels::window::select_and_scatter;
}

fn reduce_window(cx: &InferCx<'_>) -> InferResult {
    let (inputs, dims) = reduction_inputs(cx, "inputs", "inits")?;
    let rank = dims.len();
    let size = cx.ints("window")?;
    check_len("window", size.len(), rank)?;
    check_least("window", size, 1)?;
    let window = Window {
        size,
        strides: &cx.ints_or("strides", 1, rank)?,
        pads: &cx.pairs_or_zero("pads", rank)?,
        base_dilation: &cx.ints_or("base_dilation", 1, rank)?,
        window_dilation: &cx.ints_or("window_dilation", 1, rank)?,
    };
    let dims = window.dims(&dims)?;
    let dtypes: Vec<DataType> = inputs.iter().map(|t| t.dtype).collect();
    check_reducer(cx, 0, &dtypes)?;
    Ok(dtypes
        .iter()
        .map(|&dtype| ValueType::Tensor(TensorType { dtype, dims: dims.clone() }))
        .collect())
}

fn select_and_scatter(cx: &InferCx<'_>) -> InferResult {
    let (input, source) = (cx.tensor(0)?, cx.tensor(1)?);
    same_dtype(0, input, 1, source)?;
    let init = scalar(cx, 2, "`init`", Class::ANY)?;
    if init != input.dtype {
        return Err(OpError::new(format!(
            "`init` has element type {init}, the input has {}",
            input.dtype
        )));
    }
    let rank = input.rank();
    let size = cx.ints("window")?;
    check_len("window", size.len(), rank)?;
    check_least("window", size, 1)?;
    let ones = vec![1; rank];
    let window = Window {
        size,
        strides: &cx.ints_or("strides", 1, rank)?,
        pads: &cx.pairs_or_zero("pads", rank)?,
        base_dilation: &ones,
        window_dilation: &ones,
    };
    let expected = window.dims(&input.dims)?;
    meet_dims(1, &source.dims, 0, &expected).map_err(|_| {
        let windows = TensorType { dtype: input.dtype, dims: expected.clone() };
        OpError::new(format!("the source is {source}, but the windows make {windows}"))
    })?;
    let element: ValueType = TensorType::scalar(input.dtype).into();
    let picks = cx.check_region(0, &[element.clone(), element.clone()])?;
    cx.check_yield(0, picks, &[TensorType::scalar(DataType::Bool).into()])?;
    check_reducer(cx, 1, &[input.dtype])?;
    one(input.clone())
}
