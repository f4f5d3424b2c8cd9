//! Ops whose shape is an operand, and the op that returns extents as data.
//!
//! The result type of these ops is declared. Its dims are checked when the program runs: a run stops if the operands ask for another
//! shape.

use super::support::{DtypeClass, check_same_dtype, one_result};
use crate::attr::{Axes, DimExprs, Int, ResultType};
use crate::cost::op_flops as cost;
use crate::eval::kernels::dims as k;
use crate::op::{InferCx, InferResult, OpError, Value};
use crate::types::{Dim, ElementCount, TensorType};
use sapwood_types::{DataType, counted};

crate::ops! {
    family "dims", table dims_ops, values DimsValueOps, graph DimsGraphOps;

    /// Returns extents as integers: the values of expressions over the symbols of the function, in row-major order. Values that do not fit
    /// the element type wrap.
    op dims DimValues "dims" () {
        /// One expression per element.
        values: DimExprs,
        /// Type of the result, with known extents.
        ty: ResultType,
    } -> one [view] = infer_dims, eval = k::dims;

    /// Arranges the elements, in row-major order, under the dims that `shape` lists. The number of elements must stay the same.
    op dynamic_reshape DynamicReshape "dynamic_reshape" (input: Value, shape: Value) {
        /// Type of the result.
        ty: ResultType,
    } -> one [may_stop, view] = infer_dynamic_reshape, eval = k::dynamic_reshape;

    /// Repeats the operand as `broadcast_in_dim` does, to the dims that `shape` lists.
    op dynamic_broadcast_in_dim DynamicBroadcastInDim "dynamic_broadcast_in_dim" (input: Value, shape: Value) {
        /// For each axis of the operand, the corresponding axis of the result; all different, in any order.
        dims: Axes,
        /// Type of the result.
        ty: ResultType,
    } -> one [may_stop] = infer_dynamic_broadcast_in_dim, eval = k::dynamic_broadcast_in_dim;

    /// Counts along an axis as `iota` does, in a tensor with the dims that `shape` lists.
    op dynamic_iota DynamicIota "dynamic_iota" (shape: Value) {
        /// The axis along which elements count.
        axis: Int,
        /// Type of the result.
        ty: ResultType,
    } -> one [may_stop] = infer_dynamic_iota, eval = k::dynamic_iota;

    /// Surrounds the operand with `value` as `pad` does. The amounts are operands, with one entry per axis.
    op dynamic_pad DynamicPad "dynamic_pad" (input: Value, value: Value, low: Value, high: Value, interior: Value) {
        /// Type of the result.
        ty: ResultType,
    } -> one [may_stop] = infer_dynamic_pad, eval = k::dynamic_pad;

    /// Extracts elements as `slice` does. Starts, limits and strides are operands, with one entry per axis. They are not clamped: a run
    /// stops if the slice is not inside of the input.
    op real_dynamic_slice RealDynamicSlice "real_dynamic_slice" (input: Value, starts: Value, limits: Value, strides: Value) {
        /// Type of the result.
        ty: ResultType,
    } -> one [may_stop, reads_part] = infer_real_dynamic_slice, eval = k::real_dynamic_slice;

    /// Reads slices as `gather` does. The extents of a slice are an operand, with one entry per axis of the input.
    op dynamic_gather DynamicGather "dynamic_gather" (input: Value, indices: Value, slice_sizes: Value) {
        /// Axes of the result that run over a slice, in increasing order.
        offset_dims: Axes,
        /// Axes of extent one that the result omits from the slices, in increasing order.
        collapsed_dims: Axes = Axes::default(),
        /// Batch axes of the input, in increasing order.
        input_batch_dims: Axes = Axes::default(),
        /// Batch axes of the indices, paired with those of the input.
        index_batch_dims: Axes = Axes::default(),
        /// For each entry of an index vector, the axis of the input whose start it gives.
        start_index_map: Axes,
        /// The axis of `indices` that holds the index vectors.
        index_vector_dim: Int,
        /// Type of the result.
        ty: ResultType,
    } -> one [may_stop, reads_part] = infer_dynamic_gather, eval = k::dynamic_gather;

    /// Slides a kernel over the input as `convolution` does. The padding is an operand, with a row of two entries per spatial axis.
    op dynamic_conv DynamicConv "dynamic_conv" (input: Value, kernel: Value, pads: Value) {
        /// Axes of the input: batch, feature, then the spatial axes.
        input_dims: Axes,
        /// Axes of the kernel: input feature, output feature, then the spatial axes.
        kernel_dims: Axes,
        /// Axes of the result: batch, feature, then the spatial axes.
        output_dims: Axes,
        /// Step per spatial axis; 1 by default.
        strides: Option<Axes>,
        /// Distance between neighbouring input elements; 1 by default.
        input_dilation: Option<Axes>,
        /// Distance between neighbouring kernel elements; 1 by default.
        kernel_dilation: Option<Axes>,
        /// 1 for each spatial axis along which the kernel is flipped; none by default.
        reversal: Option<Axes>,
        /// Number of feature groups.
        feature_groups: Int = Int(1),
        /// Number of batch groups.
        batch_groups: Int = Int(1),
        /// Type in which products and sums are computed.
        accumulate: Option<DataType>,
        /// Type of the result.
        ty: ResultType,
    } -> one [
        may_stop,
        omitted_entries(1, &["strides", "input_dilation", "kernel_dilation"]),
        omitted_entries(0, &["reversal"]),
        flops(cost::dynamic_conv),
    ] = infer_dynamic_conv, eval = k::dynamic_conv;
}

fn infer_dims(cx: &InferCx<'_>) -> InferResult {
    let ty = cx.declared_tensor_type()?;
    DtypeClass::INT.check("the result", ty.dtype)?;
    let count = cx.attr("values")?.as_dim_exprs().map_or(0, |values| values.len());
    match ty.element_count() {
        ElementCount::Known(n) if n == count as u64 => one_result(ty.clone()),
        found => {
            let count = counted(count, "value");
            Err(OpError::new(format!("`values` has {count}, but {ty} has {found} elements")))
        }
    }
}

// Checks an operand that lists one integer per axis.
fn check_list(cx: &InferCx<'_>, index: usize, name: &str, rank: usize) -> Result<(), OpError> {
    let ty = cx.tensor(index)?;
    DtypeClass::INT.check(&format!("`{name}`"), ty.dtype)?;
    if ty.rank() == 1 && ty.dims[0].compatible(Dim::Known(rank as u64)) {
        return Ok(());
    }
    Err(OpError::new(format!("`{name}` is {ty}, expected one axis with {rank} entries")))
}

// Returns the declared type, whose element type must be that of the input.
fn declared_like<'a>(
    cx: &InferCx<'a>,
    input: &TensorType,
    rank: usize,
) -> Result<&'a TensorType, OpError> {
    let ty = cx.declared_tensor_type()?;
    if ty.dtype != input.dtype {
        let (from, to) = (input.dtype, ty.dtype);
        return Err(OpError::new(format!("the operand has element type {from}, the result {to}")));
    }
    if ty.rank() != rank {
        return Err(OpError::new(format!("the result has rank {}, expected {rank}", ty.rank())));
    }
    Ok(ty)
}

fn infer_dynamic_reshape(cx: &InferCx<'_>) -> InferResult {
    let (input, rank) = (cx.tensor(0)?, cx.declared_tensor_type()?.rank());
    let ty = declared_like(cx, input, rank)?;
    check_list(cx, 1, "shape", rank)?;
    if let (ElementCount::Known(a), ElementCount::Known(b)) =
        (input.element_count(), ty.element_count())
        && a != b
    {
        return Err(OpError::new(format!(
            "the number of elements differs: {a} in {input}, {b} in {ty}"
        )));
    }
    one_result(ty.clone())
}

fn infer_dynamic_broadcast_in_dim(cx: &InferCx<'_>) -> InferResult {
    let (input, rank) = (cx.tensor(0)?, cx.declared_tensor_type()?.rank());
    let ty = declared_like(cx, input, rank)?;
    check_list(cx, 1, "shape", rank)?;
    super::shape::check_broadcast_axes(cx, input, ty)?;
    one_result(ty.clone())
}

fn infer_dynamic_iota(cx: &InferCx<'_>) -> InferResult {
    let ty = cx.declared_tensor_type()?;
    DtypeClass::NUMBER.check("the result", ty.dtype)?;
    cx.axis("axis", ty.rank())?;
    check_list(cx, 0, "shape", ty.rank())?;
    one_result(ty.clone())
}

fn infer_dynamic_pad(cx: &InferCx<'_>) -> InferResult {
    let (input, value) = (cx.tensor(0)?, cx.tensor(1)?);
    check_same_dtype(0, input, 1, value)?;
    if value.rank() != 0 {
        return Err(OpError::new(format!("`value` has rank {}, expected a scalar", value.rank())));
    }
    for (index, name) in [(2, "low"), (3, "high"), (4, "interior")] {
        check_list(cx, index, name, input.rank())?;
    }
    one_result(declared_like(cx, input, input.rank())?.clone())
}

fn infer_real_dynamic_slice(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    for (index, name) in [(1, "starts"), (2, "limits"), (3, "strides")] {
        check_list(cx, index, name, input.rank())?;
    }
    one_result(declared_like(cx, input, input.rank())?.clone())
}

fn infer_dynamic_gather(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    check_list(cx, 2, "slice_sizes", input.rank())?;
    let found = super::gather::gather_layout(cx)?;
    let ty = declared_like(cx, input, found.rank)?;
    let dims = found.result_dims(|_| Dim::Unknown);
    if let Some(axis) = (0..found.rank).find(|&axis| !dims[axis].compatible(ty.dims[axis])) {
        let (expected, found) = (dims[axis], ty.dims[axis]);
        return Err(OpError::new(format!(
            "axis {axis} of the result is {found}, expected {expected}"
        )));
    }
    one_result(ty.clone())
}

fn infer_dynamic_conv(cx: &InferCx<'_>) -> InferResult {
    let (input, pads) = (cx.tensor(0)?, cx.tensor(2)?);
    let spatial = input.rank().saturating_sub(2) as u64;
    DtypeClass::INT.check("`pads`", pads.dtype)?;
    let fits = pads.rank() == 2
        && pads.dims[0].compatible(Dim::Known(spatial))
        && pads.dims[1].compatible(Dim::Known(2));
    if !fits {
        return Err(OpError::new(format!("`pads` is {pads}, expected the dims [{spatial}, 2]")));
    }
    let dims = super::convolution::convolution_dims(cx, None)?;
    let ty = declared_like(cx, input, dims.len())?;
    if let Some(axis) = (0..dims.len()).find(|&axis| !dims[axis].compatible(ty.dims[axis])) {
        let (expected, found) = (dims[axis], ty.dims[axis]);
        return Err(OpError::new(format!(
            "axis {axis} of the result is {found}, expected {expected}"
        )));
    }
    one_result(ty.clone())
}
