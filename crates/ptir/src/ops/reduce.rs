//! Reductions with a named operation or with a region.

use super::support::{
    DtypeClass, check_accumulate_dtype, check_reducer, check_reduction_inputs, one_result,
};
use crate::attr::{Axes, Int};
use crate::cost::op_flops as cost;
use crate::eval::kernels::reduce as k;
use crate::op::{Body, InferCx, InferResult, OpError, Value, Values};
use crate::types::{Dim, Dims, TensorType, ValueType};
use sapwood_types::DataType;

crate::ops! {
    family "reduce", table reduce_ops, values ReduceValueOps, graph ReduceGraphOps;

    /// Sums elements over axes, in row-major order, starting from zero (so -0 alone gives 0). Integers wrap; for
    /// bools, the sum is the or. The sum of no elements is zero.
    op reduce_sum ReduceSum "reduce_sum" (input: Value) {
        /// The axes to reduce, all different.
        axes: Axes,
        /// True if reduced axes are kept with extent one.
        keepdims: bool = false,
        /// Type in which sums are computed; by default f32 for narrower floats.
        accumulate: Option<DataType>,
    } -> one [flops(cost::reduction)] = |cx| infer_named_reduction(cx, DtypeClass::COMPUTED), eval = k::reduce_sum;

    /// Multiplies elements over axes, in row-major order, starting from one. Integers wrap; for bools, the product is
    /// the and. The product of no elements is one.
    op reduce_prod ReduceProd "reduce_prod" (input: Value) {
        /// The axes to reduce, all different.
        axes: Axes,
        /// True if reduced axes are kept with extent one.
        keepdims: bool = false,
        /// Type in which products are computed; by default f32 for narrower floats.
        accumulate: Option<DataType>,
    } -> one [flops(cost::reduction)] = |cx| infer_named_reduction(cx, DtypeClass::COMPUTED), eval = k::reduce_prod;

    /// Finds the largest element over axes, as by `max`: NaN if any element is NaN. For no elements, the result is
    /// the smallest value: -infinity for floats (the lowest finite number in f8e4m3fn), the minimum for integers,
    /// false for bools.
    op reduce_max ReduceMax "reduce_max" (input: Value) {
        /// The axes to reduce, all different.
        axes: Axes,
        /// True if reduced axes are kept with extent one.
        keepdims: bool = false,
    } -> one [flops(cost::reduction)] = |cx| infer_named_reduction(cx, DtypeClass::REAL_BOOL), eval = k::reduce_max;

    /// Finds the smallest element over axes, as by `min`: NaN if any element is NaN. For no elements, the result is
    /// the largest value: infinity for floats (the largest finite number in f8e4m3fn), the maximum for integers, true
    /// for bools.
    op reduce_min ReduceMin "reduce_min" (input: Value) {
        /// The axes to reduce, all different.
        axes: Axes,
        /// True if reduced axes are kept with extent one.
        keepdims: bool = false,
    } -> one [flops(cost::reduction)] = |cx| infer_named_reduction(cx, DtypeClass::REAL_BOOL), eval = k::reduce_min;

    /// Computes the logical or bitwise and over axes. For no elements, the result is true, or all bits one.
    op reduce_and ReduceAnd "reduce_and" (input: Value) {
        /// The axes to reduce, all different.
        axes: Axes,
        /// True if reduced axes are kept with extent one.
        keepdims: bool = false,
    } -> one [flops(cost::reduction)] = |cx| infer_named_reduction(cx, DtypeClass::INT_BOOL), eval = k::reduce_and;

    /// Computes the logical or bitwise or over axes. For no elements, the result is false, or zero.
    op reduce_or ReduceOr "reduce_or" (input: Value) {
        /// The axes to reduce, all different.
        axes: Axes,
        /// True if reduced axes are kept with extent one.
        keepdims: bool = false,
    } -> one [flops(cost::reduction)] = |cx| infer_named_reduction(cx, DtypeClass::INT_BOOL), eval = k::reduce_or;

    /// Computes the logical or bitwise exclusive or over axes. For no elements, the result is false, or zero.
    op reduce_xor ReduceXor "reduce_xor" (input: Value) {
        /// The axes to reduce, all different.
        axes: Axes,
        /// True if reduced axes are kept with extent one.
        keepdims: bool = false,
    } -> one [flops(cost::reduction)] = |cx| infer_named_reduction(cx, DtypeClass::INT_BOOL), eval = k::reduce_xor;

    /// Reduces several tensors of the same dims together with a region. The region takes the accumulators, then one
    /// element of each input, all scalars, and yields the new accumulators. Elements are taken in row-major order,
    /// starting with `inits` as accumulators. For no elements, the results are `inits`.
    op reduce Reduce "reduce" (inputs: Values, inits: Values, body: Body) {
        /// The axes to reduce, all different.
        axes: Axes,
    } -> many [flops(cost::region_per_input_element)] = infer_reduce, eval = k::reduce;

    /// Finds the index of the largest element along an axis; of equal elements (-0 equals 0), the first. NaN counts
    /// as the largest. For no elements, the result is zero.
    op arg_max ArgMax "arg_max" (input: Value) {
        /// The axis to reduce.
        axis: Int,
        /// True if the axis is kept with extent one.
        keepdims: bool = false,
        /// Integer type of the result; an index that does not fit wraps.
        index: DataType = DataType::I32,
    } -> one [flops(cost::reduction)] = infer_arg_reduction, eval = k::arg_max;

    /// Finds the index of the smallest element along an axis; of equal elements (-0 equals 0), the first. NaN counts
    /// as the smallest. For no elements, the result is zero.
    op arg_min ArgMin "arg_min" (input: Value) {
        /// The axis to reduce.
        axis: Int,
        /// True if the axis is kept with extent one.
        keepdims: bool = false,
        /// Integer type of the result; an index that does not fit wraps.
        index: DataType = DataType::I32,
    } -> one [flops(cost::reduction)] = infer_arg_reduction, eval = k::arg_min;
}

fn reduced_dims(dims: &[Dim], axes: &[usize], keepdims: bool) -> Dims {
    let kept = dims.iter().enumerate().filter_map(|(a, &d)| match (axes.contains(&a), keepdims) {
        (false, _) => Some(d),
        (true, true) => Some(Dim::Known(1)),
        (true, false) => None,
    });
    kept.collect()
}

fn infer_named_reduction(cx: &InferCx<'_>, class: DtypeClass) -> InferResult {
    let input = cx.tensor(0)?;
    class.check("the operand", input.dtype)?;
    if cx.def.attrs.len() > 2 {
        check_accumulate_dtype(cx, input.dtype)?;
    }
    let axes = cx.axes("axes", input.rank())?;
    one_result(TensorType {
        dtype: input.dtype,
        dims: reduced_dims(&input.dims, &axes, cx.bool("keepdims")?),
    })
}

fn infer_reduce(cx: &InferCx<'_>) -> InferResult {
    let (inputs, dims) = check_reduction_inputs(cx, "inputs", "inits")?;
    let axes = cx.axes("axes", dims.len())?;
    let dtypes: Vec<DataType> = inputs.iter().map(|t| t.dtype).collect();
    check_reducer(cx, 0, &dtypes)?;
    let dims = reduced_dims(&dims, &axes, false);
    Ok(dtypes
        .iter()
        .map(|&dtype| ValueType::Tensor(TensorType { dtype, dims: dims.clone() }))
        .collect())
}

fn infer_arg_reduction(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    DtypeClass::REAL_BOOL.check("the operand", input.dtype)?;
    let axis = cx.axis("axis", input.rank())?;
    let index = cx.dtype("index")?.unwrap_or(DataType::I32);
    if !index.is_integer() {
        return Err(OpError::new(format!("`index` is {index}, expected an integer type")));
    }
    one_result(TensorType {
        dtype: index,
        dims: reduced_dims(&input.dims, &[axis], cx.bool("keepdims")?),
    })
}
