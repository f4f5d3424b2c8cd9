//! Ops that move elements and compute none.

use super::support::{check_least, check_len, dim, one, same_dtype};
use crate::attr::{Axes, Int, ResultType};
use crate::eval::kernels::shape as k;
use crate::op::{InferCx, InferResult, OpError, Value, Values, check_axis, meet};
use crate::types::{Dim, Dims, ElementCount, TensorType};
use sapwood_types::DataType;

crate::ops! {
    family "shape", table shape_ops, values ShapeValueOps, graph ShapeGraphOps;

    /// The same elements in row-major order under other dims. The number of elements stays. At most one dim of the result
    /// is `?`: the number of elements says what it is, 0 if there are none.
    op reshape Reshape "reshape" (input: Value) {
        /// Type of the result.
        ty: ResultType,
    } -> one [] = reshape, eval = k::reshape;

    /// Permutes axes: axis `i` of the result is axis `perm[i]` of the operand.
    op transpose Transpose "transpose" (input: Value) {
        /// A permutation of the axes.
        perm: Axes,
    } -> one [] = transpose, eval = k::transpose;

    /// Repeats along new leading axes and along axes of extent one, axes aligned at the right. A result dim `?` has the
    /// extent of the operand's, which must not be known or missing.
    op broadcast_to BroadcastTo "broadcast_to" (input: Value) {
        /// Type of the result.
        ty: ResultType,
    } -> one [] = broadcast_to, eval = k::broadcast_to;

    /// Repeats along the axes of the result that `dims` does not name, and along operand axes of extent one. A result dim
    /// `?` has the extent of the operand's, which must not be known or missing.
    op broadcast_in_dim BroadcastInDim "broadcast_in_dim" (input: Value) {
        /// For each axis of the operand, the axis of the result it becomes; increasing or not, all different.
        dims: Axes,
        /// Type of the result.
        ty: ResultType,
    } -> one [] = broadcast_in_dim, eval = k::broadcast_in_dim;

    /// Every `strides[i]`-th element from `starts[i]` up to but not including `limits[i]`, for each axis.
    op slice Slice "slice" (input: Value) {
        /// First index per axis.
        starts: Axes,
        /// One past the last index per axis.
        limits: Axes,
        /// Step per axis, at least 1; all 1 if left out.
        strides: Option<Axes>,
    } -> one [] = slice, eval = k::slice;

    /// Joins tensors along an axis; the other dims agree.
    op concat Concat "concat" (inputs: Values) {
        /// The axis.
        axis: Int,
    } -> one [] = concat, eval = k::concat;

    /// Surrounds the operand with `value`. Negative `low` and `high` remove elements; `interior` elements go between each
    /// two neighbours. A dim that would be negative is refused.
    op pad Pad "pad" (input: Value, value: Value) {
        /// Elements added before, per axis.
        low: Axes,
        /// Elements added after, per axis.
        high: Axes,
        /// Elements added between, per axis, at least 0; none if left out.
        interior: Option<Axes>,
    } -> one [] = pad, eval = k::pad;

    /// Reverses the order along axes.
    op reverse Reverse "reverse" (input: Value) {
        /// The axes, all different.
        axes: Axes,
    } -> one [] = reverse, eval = k::reverse;

    /// The extent of an axis, as an i32 scalar. Extents above 2^31 - 1 wrap.
    op get_dimension_size GetDimensionSize "get_dimension_size" (input: Value) {
        /// The axis.
        axis: Int,
    } -> one [] = get_dimension_size, eval = k::get_dimension_size;
}

fn reshape(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.tensor(0)?, cx.stated_tensor()?);
    if input.dtype != ty.dtype {
        return Err(OpError::new(format!(
            "the operand has element type {}, the result {}",
            input.dtype, ty.dtype
        )));
    }
    // Two counts beyond 64 bits cannot be told apart, so neither is taken for the other.
    let fine = match (input.element_count(), ty.element_count()) {
        (ElementCount::TooMany, _) | (_, ElementCount::TooMany) => false,
        (ElementCount::Known(a), ElementCount::Known(b)) => a == b,
        (ElementCount::Unknown, _) | (_, ElementCount::Unknown) => true,
    };
    if !fine {
        let (a, b) = (input.element_count(), ty.element_count());
        return Err(OpError::new(format!(
            "the number of elements differs: {a} in {input}, {b} in {ty}"
        )));
    }
    let open = ty.dims.iter().filter(|&&d| d == Dim::Unknown).count();
    if open > 1 && ty.dims != input.dims {
        return Err(OpError::new(format!(
            "{open} dims of {ty} are ?, at most one can be found out"
        )));
    }
    one(ty.clone())
}

fn transpose(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    check_len("perm", cx.ints("perm")?.len(), input.rank())?;
    let perm = cx.axes("perm", input.rank())?;
    one(TensorType { dtype: input.dtype, dims: perm.iter().map(|&a| input.dims[a]).collect() })
}

// Whether an operand dim may be repeated to a result dim.
fn check_repeat(axis: usize, from: Dim, to: Dim) -> Result<(), OpError> {
    if from == Dim::Known(1) || from.compatible(to) {
        return Ok(());
    }
    Err(OpError::new(format!("axis {axis} of the operand is {from}, which cannot become {to}")))
}

// What no operand dim says must be stated.
fn check_stated(ty: &TensorType, from: impl Fn(usize) -> Option<Dim>) -> Result<(), OpError> {
    for (axis, &dim) in ty.dims.iter().enumerate() {
        if dim == Dim::Unknown && from(axis).is_none_or(|d| d.known().is_some()) {
            return Err(OpError::new(format!(
                "axis {axis} of the result is ?, and nothing says its extent"
            )));
        }
    }
    Ok(())
}

fn check_same_dtype(input: &TensorType, ty: &TensorType) -> Result<(), OpError> {
    if input.dtype == ty.dtype {
        return Ok(());
    }
    Err(OpError::new(format!(
        "the operand has element type {}, the result {}",
        input.dtype, ty.dtype
    )))
}

fn broadcast_to(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.tensor(0)?, cx.stated_tensor()?);
    check_same_dtype(input, ty)?;
    let Some(extra) = ty.rank().checked_sub(input.rank()) else {
        return Err(OpError::new(format!(
            "rank {} cannot be broadcast to rank {}",
            input.rank(),
            ty.rank()
        )));
    };
    for (axis, &d) in input.dims.iter().enumerate() {
        check_repeat(axis, d, ty.dims[axis + extra])?;
    }
    check_stated(ty, |axis| Some(input.dims[axis.checked_sub(extra)?]))?;
    one(ty.clone())
}

fn broadcast_in_dim(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.tensor(0)?, cx.stated_tensor()?);
    check_same_dtype(input, ty)?;
    check_len("dims", cx.ints("dims")?.len(), input.rank())?;
    let axes = cx.axes("dims", ty.rank())?;
    for (axis, &to) in axes.iter().enumerate() {
        check_repeat(axis, input.dims[axis], ty.dims[to])?;
    }
    check_stated(ty, |axis| Some(input.dims[axes.iter().position(|&to| to == axis)?]))?;
    one(ty.clone())
}

fn slice(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    let rank = input.rank();
    let (starts, limits) = (cx.ints("starts")?, cx.ints("limits")?);
    check_len("starts", starts.len(), rank)?;
    check_len("limits", limits.len(), rank)?;
    let strides = cx.ints_or("strides", 1, rank)?;
    check_least("strides", &strides, 1)?;
    check_least("starts", starts, 0)?;
    let mut dims = Dims::new();
    for axis in 0..rank {
        let (start, limit) = (starts[axis], limits[axis]);
        if start > limit {
            return Err(OpError::new(format!(
                "axis {axis} starts at {start}, behind its limit {limit}"
            )));
        }
        if let Dim::Known(n) = input.dims[axis]
            && limit as u64 > n
        {
            return Err(OpError::new(format!(
                "the limit of axis {axis} is {limit}, but its extent is {n}"
            )));
        }
        let size = (i128::from(limit) - i128::from(start) + i128::from(strides[axis]) - 1)
            / i128::from(strides[axis]);
        dims.push(dim("a dim of the result", size)?);
    }
    one(TensorType { dtype: input.dtype, dims })
}

fn concat(cx: &InferCx<'_>) -> InferResult {
    let inputs = cx.tensors()?;
    let Some((first, rest)) = inputs.split_first() else {
        return Err(OpError::new("at least one operand is needed"));
    };
    let axis = cx.axis("axis", first.rank())?;
    let mut dims = first.dims.clone();
    for (i, other) in rest.iter().enumerate() {
        let i = i + 1;
        same_dtype(0, first, i, other)?;
        if other.rank() != first.rank() {
            return Err(OpError::new(format!(
                "operand 0 has rank {}, operand {i} has rank {}",
                first.rank(),
                other.rank()
            )));
        }
        for (a, d) in dims.iter_mut().enumerate() {
            *d = if a == axis {
                match (*d, other.dims[a]) {
                    (Dim::Known(x), Dim::Known(y)) => {
                        dim("the joined axis", i128::from(x) + i128::from(y))?
                    }
                    _ => Dim::Unknown,
                }
            } else {
                meet(format_args!("axis {a} of operands 0 and {i}"), *d, other.dims[a])?
            };
        }
    }
    one(TensorType { dtype: first.dtype, dims })
}

fn pad(cx: &InferCx<'_>) -> InferResult {
    let (input, value) = (cx.tensor(0)?, cx.tensor(1)?);
    same_dtype(0, input, 1, value)?;
    if value.rank() != 0 {
        return Err(OpError::new(format!("`value` has rank {}, expected a scalar", value.rank())));
    }
    let rank = input.rank();
    let (low, high) = (cx.ints("low")?, cx.ints("high")?);
    check_len("low", low.len(), rank)?;
    check_len("high", high.len(), rank)?;
    let interior = cx.ints_or("interior", 0, rank)?;
    check_least("interior", &interior, 0)?;
    let mut dims = Dims::new();
    for axis in 0..rank {
        let Dim::Known(n) = input.dims[axis] else {
            let same = low[axis] == 0 && high[axis] == 0 && interior[axis] == 0;
            dims.push(if same { input.dims[axis] } else { Dim::Unknown });
            continue;
        };
        let n = i128::from(n);
        let size = n
            + i128::from(low[axis])
            + i128::from(high[axis])
            + (n - 1).max(0) * i128::from(interior[axis]);
        dims.push(dim(&format!("axis {axis} of the result"), size)?);
    }
    one(TensorType { dtype: input.dtype, dims })
}

fn reverse(cx: &InferCx<'_>) -> InferResult {
    cx.axes("axes", cx.tensor(0)?.rank())?;
    cx.same_as(0)
}

fn get_dimension_size(cx: &InferCx<'_>) -> InferResult {
    check_axis("axis", cx.int("axis")?, cx.tensor(0)?.rank())?;
    one(TensorType::scalar(DataType::I32))
}
