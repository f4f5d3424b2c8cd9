//! Reductions: by name, and by a region.

use super::support::{Class, check_accumulate, check_reducer, one, reduction_inputs};
use crate::attr::{Axes, Int};
use crate::eval::kernels::reduce as k;
use crate::op::{Body, InferCx, InferResult, OpError, Value, Values};
use crate::types::{Dim, Dims, TensorType, ValueType};
use sapwood_types::DataType;

crate::ops! {
    family "reduce", table reduce_ops, values ReduceValueOps, graph ReduceGraphOps;

    /// The sum over axes, in row-major order, starting from zero (so -0 alone gives 0). Integers wrap; of bools the or. An
    /// empty sum is zero.
    op reduce_sum ReduceSum "reduce_sum" (input: Value) {
        /// The axes, all different.
        axes: Axes,
        /// Whether reduced axes stay with extent one.
        keepdims: bool = false,
        /// Type of the sums; f32 for narrower floats if left out.
        accumulate: Option<DataType>,
    } -> one [] = |cx| named(cx, Class::ANY), eval = k::reduce_sum;

    /// The product over axes, in row-major order, starting from one. Integers wrap; of bools the and. An empty product is one.
    op reduce_prod ReduceProd "reduce_prod" (input: Value) {
        /// The axes, all different.
        axes: Axes,
        /// Whether reduced axes stay with extent one.
        keepdims: bool = false,
        /// Type of the products; f32 for narrower floats if left out.
        accumulate: Option<DataType>,
    } -> one [] = |cx| named(cx, Class::ANY), eval = k::reduce_prod;

    /// The largest element over axes, as `max`: NaN if one is NaN. Of nothing the smallest value: -infinity for floats (the
    /// lowest finite number in f8e4m3fn), the minimum for integers, false.
    op reduce_max ReduceMax "reduce_max" (input: Value) {
        /// The axes, all different.
        axes: Axes,
        /// Whether reduced axes stay with extent one.
        keepdims: bool = false,
    } -> one [] = |cx| named(cx, Class::REAL_BOOL), eval = k::reduce_max;

    /// The smallest element over axes, as `min`: NaN if one is NaN. Of nothing the largest value: infinity for floats (the
    /// largest finite number in f8e4m3fn), the maximum for integers, true.
    op reduce_min ReduceMin "reduce_min" (input: Value) {
        /// The axes, all different.
        axes: Axes,
        /// Whether reduced axes stay with extent one.
        keepdims: bool = false,
    } -> one [] = |cx| named(cx, Class::REAL_BOOL), eval = k::reduce_min;

    /// Logical or bitwise and over axes. Of nothing true, or all bits one.
    op reduce_and ReduceAnd "reduce_and" (input: Value) {
        /// The axes, all different.
        axes: Axes,
        /// Whether reduced axes stay with extent one.
        keepdims: bool = false,
    } -> one [] = |cx| named(cx, Class::INT_BOOL), eval = k::reduce_and;

    /// Logical or bitwise or over axes. Of nothing false, or zero.
    op reduce_or ReduceOr "reduce_or" (input: Value) {
        /// The axes, all different.
        axes: Axes,
        /// Whether reduced axes stay with extent one.
        keepdims: bool = false,
    } -> one [] = |cx| named(cx, Class::INT_BOOL), eval = k::reduce_or;

    /// Logical or bitwise exclusive or over axes. Of nothing false, or zero.
    op reduce_xor ReduceXor "reduce_xor" (input: Value) {
        /// The axes, all different.
        axes: Axes,
        /// Whether reduced axes stay with extent one.
        keepdims: bool = false,
    } -> one [] = |cx| named(cx, Class::INT_BOOL), eval = k::reduce_xor;

    /// Reduces several tensors of the same dims together by a region. The region takes the accumulators, then one element
    /// of each input, all scalars, and yields the new accumulators. Elements come in row-major order, the first meets
    /// `inits`. Of nothing the result is `inits`.
    op reduce Reduce "reduce" (inputs: Values, inits: Values, body: Body) {
        /// The axes, all different.
        axes: Axes,
    } -> many [] = reduce, eval = k::reduce;

    /// The index of the largest element along an axis, the first of equals (-0 equals 0); NaN counts as largest. Of nothing zero.
    op arg_max ArgMax "arg_max" (input: Value) {
        /// The axis.
        axis: Int,
        /// Whether the axis stays with extent one.
        keepdims: bool = false,
        /// Integer type of the result; an index that does not fit wraps.
        index: DataType = DataType::I32,
    } -> one [] = arg, eval = k::arg_max;

    /// The index of the smallest element along an axis, the first of equals (-0 equals 0); NaN counts as smallest. Of nothing zero.
    op arg_min ArgMin "arg_min" (input: Value) {
        /// The axis.
        axis: Int,
        /// Whether the axis stays with extent one.
        keepdims: bool = false,
        /// Integer type of the result; an index that does not fit wraps.
        index: DataType = DataType::I32,
    } -> one [] = arg, eval = k::arg_min;
}

fn reduced(dims: &[Dim], axes: &[usize], keepdims: bool) -> Dims {
    let kept = dims.iter().enumerate().filter_map(|(a, &d)| match (axes.contains(&a), keepdims) {
        (false, _) => Some(d),
        (true, true) => Some(Dim::Known(1)),
        (true, false) => None,
    });
    kept.collect()
}

fn named(cx: &InferCx<'_>, class: Class) -> InferResult {
    let input = cx.tensor(0)?;
    class.check("the operand", input.dtype)?;
    if cx.def.attrs.len() > 2 {
        check_accumulate(cx, input.dtype)?;
    }
    let axes = cx.axes("axes", input.rank())?;
    one(TensorType { dtype: input.dtype, dims: reduced(&input.dims, &axes, cx.bool("keepdims")?) })
}

fn reduce(cx: &InferCx<'_>) -> InferResult {
    let (inputs, dims) = reduction_inputs(cx, "inputs", "inits")?;
    let axes = cx.axes("axes", dims.len())?;
    let dtypes: Vec<DataType> = inputs.iter().map(|t| t.dtype).collect();
    check_reducer(cx, 0, &dtypes)?;
    let dims = reduced(&dims, &axes, false);
    Ok(dtypes
        .iter()
        .map(|&dtype| ValueType::Tensor(TensorType { dtype, dims: dims.clone() }))
        .collect())
}

fn arg(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    Class::REAL_BOOL.check("the operand", input.dtype)?;
    let axis = cx.axis("axis", input.rank())?;
    let index = cx.dtype("index")?.unwrap_or(DataType::I32);
    if !index.is_integer() {
        return Err(OpError::new(format!("`index` is {index}, expected an integer type")));
    }
    one(TensorType { dtype: index, dims: reduced(&input.dims, &[axis], cx.bool("keepdims")?) })
}
