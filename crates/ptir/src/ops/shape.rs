//! Ops that move elements without computing.

use super::support::{
    check_at_least, check_one_per_axis, check_same_dtype, checked_dim, ints_per_axis, one_result,
};
use crate::attr::{Axes, Int, ResultType};
use crate::dims::{DimExpr, Facts};
use crate::eval::kernels::shape as k;
use crate::op::{InferCx, InferResult, OpError, Value, Values, check_axis, unify_dims};
use crate::types::{Dim, Dims, ElementCount, TensorType};
use sapwood_types::DataType;
use smallvec::SmallVec;

crate::ops! {
    family "shape", table shape_ops, values ShapeValueOps, graph ShapeGraphOps;

    /// Arranges the elements, in row-major order, under other dims. The number of elements must stay the same. At
    /// most one dim of the result may be `?`; it follows from the number of elements, and is 0 if there are none.
    op reshape Reshape "reshape" (input: Value) {
        /// Type of the result.
        ty: ResultType,
    } -> one [view] = infer_reshape, eval = k::reshape;

    /// Permutes axes: axis `i` of the result is axis `perm[i]` of the operand.
    op transpose Transpose "transpose" (input: Value) {
        /// A permutation of the axes.
        perm: Axes,
    } -> one [] = infer_transpose, eval = k::transpose;

    /// Repeats the operand along new leading axes and along axes of extent one; axes are aligned at the right. A
    /// result dim `?` has the extent of the corresponding operand dim, which must exist and must not be known.
    op broadcast_to BroadcastTo "broadcast_to" (input: Value) {
        /// Type of the result.
        ty: ResultType,
    } -> one [] = infer_broadcast_to, eval = k::broadcast_to;

    /// Repeats the operand along the result axes that `dims` does not name, and along operand axes of extent one. A
    /// result dim `?` has the extent of the corresponding operand dim, which must exist and must not be known.
    op broadcast_in_dim BroadcastInDim "broadcast_in_dim" (input: Value) {
        /// For each axis of the operand, the corresponding axis of the result; all different, in any order.
        dims: Axes,
        /// Type of the result.
        ty: ResultType,
    } -> one [] = infer_broadcast_in_dim, eval = k::broadcast_in_dim;

    /// Extracts, for each axis, every `strides[i]`-th element from `starts[i]` up to but not including `limits[i]`.
    op slice Slice "slice" (input: Value) {
        /// First index per axis.
        starts: Axes,
        /// One past the last index per axis.
        limits: Axes,
        /// Step per axis, at least 1; 1 by default.
        strides: Option<Axes>,
    } -> one [omitted_entries(1, &["strides"]), symbolic(&["starts", "limits"]), reads_part] = infer_slice, eval = k::slice;

    /// Concatenates tensors along an axis; the other dims must be equal.
    op concat Concat "concat" (inputs: Values) {
        /// The axis to concatenate along.
        axis: Int,
    } -> one [] = infer_concat, eval = k::concat;

    /// Surrounds the operand with `value`. Negative `low` and `high` remove elements; `interior` elements are
    /// inserted between each two neighbours. A result dim must not be negative.
    op pad Pad "pad" (input: Value, value: Value) {
        /// Number of elements added before, per axis.
        low: Axes,
        /// Number of elements added after, per axis.
        high: Axes,
        /// Number of elements added between neighbours, per axis, at least 0; none by default.
        interior: Option<Axes>,
    } -> one [omitted_entries(0, &["interior"]), symbolic(&["low", "high"])] = infer_pad, eval = k::pad;

    /// Reverses the order of elements along axes.
    op reverse Reverse "reverse" (input: Value) {
        /// The axes to reverse, all different.
        axes: Axes,
    } -> one [] = infer_reverse, eval = k::reverse;

    /// Returns the extent of an axis as an i32 scalar. Extents above 2^31 - 1 wrap.
    op get_dimension_size GetDimensionSize "get_dimension_size" (input: Value) {
        /// The axis.
        axis: Int,
    } -> one [view] = infer_get_dimension_size, eval = k::get_dimension_size;
}

fn infer_reshape(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.tensor(0)?, cx.declared_tensor_type()?);
    if input.dtype != ty.dtype {
        return Err(OpError::new(format!(
            "the operand has element type {}, the result {}",
            input.dtype, ty.dtype
        )));
    }
    // Two counts beyond 64 bits cannot be compared, so they are not considered equal.
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
            "{open} dims of {ty} are ?, at most one can be inferred"
        )));
    }
    let mut ty = ty.clone();
    if let (1, Some(axis)) = (open, ty.dims.iter().position(|&d| d == Dim::Unknown)) {
        ty.dims[axis] = remaining_extent(input, &ty);
    }
    one_result(ty)
}

// Returns the extent of the only `?` of a reshape: the number of elements divided by the other extents. If these are not known, their
// product may be 0; then the extent is 0 and not the quotient.
fn remaining_extent(input: &TensorType, ty: &TensorType) -> Dim {
    let rest = ty.dims.iter().filter(|&&d| d != Dim::Unknown);
    let rest = rest.map(|d| d.known()).try_fold(1u64, |n, d| n.checked_mul(d?));
    match rest.and_then(|n| i64::try_from(n).ok()) {
        None => Dim::Unknown,
        Some(0) => Dim::Known(0),
        Some(rest) => {
            let count = input.dims.iter().fold(Dim::Known(1), |count, &d| count.times(d));
            match count.known() {
                // A number of elements that is not divisible is an error of the run, as before.
                Some(n) if n % rest as u64 != 0 => Dim::Unknown,
                _ => count.map_expr(|count| count.floordiv(rest)),
            }
        }
    }
}

fn infer_transpose(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    check_one_per_axis("perm", cx.ints("perm")?.len(), input.rank())?;
    let perm = cx.axes("perm", input.rank())?;
    one_result(TensorType {
        dtype: input.dtype,
        dims: perm.iter().map(|&a| input.dims[a]).collect(),
    })
}

// Checks that an operand dim may be repeated to a result dim.
fn check_repeat(axis: usize, from: Dim, to: Dim) -> Result<(), OpError> {
    let may_be_one = from.known().is_none() && from.compatible(Dim::Known(1));
    if from == Dim::Known(1) || from.compatible(to) || may_be_one {
        return Ok(());
    }
    Err(OpError::new(format!("axis {axis} of the operand is {from}, which cannot become {to}")))
}

// Returns the type with the operand's dims where the result dims are `?`.
fn fill_unknown_dims(
    ty: &TensorType,
    from: impl Fn(usize) -> Option<Dim>,
) -> Result<TensorType, OpError> {
    let mut filled = ty.clone();
    for (axis, dim) in filled.dims.iter_mut().enumerate().filter(|(_, d)| **d == Dim::Unknown) {
        *dim = from(axis).filter(|d| d.known().is_none()).ok_or_else(|| {
            OpError::new(format!(
                "axis {axis} of the result is ?, but nothing determines its extent"
            ))
        })?;
    }
    Ok(filled)
}

fn check_result_dtype(input: &TensorType, ty: &TensorType) -> Result<(), OpError> {
    if input.dtype == ty.dtype {
        return Ok(());
    }
    Err(OpError::new(format!(
        "the operand has element type {}, the result {}",
        input.dtype, ty.dtype
    )))
}

fn infer_broadcast_to(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.tensor(0)?, cx.declared_tensor_type()?);
    check_result_dtype(input, ty)?;
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
    one_result(fill_unknown_dims(ty, |axis| Some(input.dims[axis.checked_sub(extra)?]))?)
}

/// Checks the axes of a broadcast, and that each dim of the operand may become its dim of the result.
pub(super) fn check_broadcast_axes(
    cx: &InferCx<'_>,
    input: &TensorType,
    ty: &TensorType,
) -> Result<SmallVec<[usize; 4]>, OpError> {
    check_one_per_axis("dims", cx.ints("dims")?.len(), input.rank())?;
    let axes = cx.axes("dims", ty.rank())?;
    for (axis, &to) in axes.iter().enumerate() {
        check_repeat(axis, input.dims[axis], ty.dims[to])?;
    }
    Ok(axes)
}

fn infer_broadcast_in_dim(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.tensor(0)?, cx.declared_tensor_type()?);
    check_result_dtype(input, ty)?;
    let axes = check_broadcast_axes(cx, input, ty)?;
    let from = |axis| Some(input.dims[axes.iter().position(|&to| to == axis)?]);
    one_result(fill_unknown_dims(ty, from)?)
}

fn infer_slice(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    let rank = input.rank();
    if cx.is_symbolic("starts")? || cx.is_symbolic("limits")? {
        return infer_symbolic_slice(cx, input);
    }
    // Each list is checked alone before the other one is needed.
    for (name, what) in [("starts", "the start"), ("limits", "the limit")] {
        let Ok(list) = cx.ints(name) else { continue };
        check_one_per_axis(name, list.len(), rank)?;
        for (axis, (&at, &d)) in list.iter().zip(&input.dims).enumerate() {
            if let Dim::Known(n) = d
                && at > 0
                && at as u64 > n
            {
                return Err(OpError::new(format!(
                    "{what} of axis {axis} is {at}, but its extent is {n}"
                )));
            }
        }
    }
    let (starts, limits) = (cx.ints("starts")?, cx.ints("limits")?);
    let strides = cx.ints_or("strides", 1, rank)?;
    check_at_least("strides", &strides, 1)?;
    check_at_least("starts", starts, 0)?;
    let mut dims = Dims::new();
    for axis in 0..rank {
        let (start, limit) = (starts[axis], limits[axis]);
        if start > limit {
            return Err(OpError::new(format!(
                "axis {axis} starts at {start}, behind its limit {limit}"
            )));
        }
        let size = (i128::from(limit) - i128::from(start) + i128::from(strides[axis]) - 1)
            / i128::from(strides[axis]);
        dims.push(checked_dim("a dim of the result", size)?);
    }
    one_result(TensorType { dtype: input.dtype, dims })
}

// Infers a slice with a start or limit that is not a number: ceil((limit - start) / stride) elements.
fn infer_symbolic_slice(cx: &InferCx<'_>, input: &TensorType) -> InferResult {
    let (starts, limits) = (cx.dim_exprs("starts")?, cx.dim_exprs("limits")?);
    check_one_per_axis("starts", starts.len(), input.rank())?;
    check_one_per_axis("limits", limits.len(), input.rank())?;
    let strides = cx.ints_or("strides", 1, input.rank())?;
    check_at_least("strides", &strides, 1)?;
    let mut dims = Dims::new();
    for (axis, (&start, &limit)) in starts.iter().zip(&limits).enumerate() {
        let size = || {
            let last = DimExpr::constant(strides[axis] - 1)?;
            limit.checked_sub(start)?.checked_add(last)?.floordiv(strides[axis])
        };
        let size = size();
        check_not_negative("the start of", axis, Some(start))?;
        check_not_negative("the number of elements of", axis, size)?;
        let room = input.dims[axis].to_expr().and_then(|n| n.checked_sub(limit));
        if room.is_some_and(|room| Facts::new().bounds(room).is_at_most(-1)) {
            let n = input.dims[axis];
            return Err(OpError::new(format!(
                "the limit of axis {axis} is {limit}, but its extent is {n}"
            )));
        }
        dims.push(size.map_or(Dim::Unknown, Dim::from_expr));
    }
    one_result(TensorType { dtype: input.dtype, dims })
}

// Refuses an expression that is negative whatever its symbols are.
fn check_not_negative(what: &str, axis: usize, expr: Option<DimExpr>) -> Result<(), OpError> {
    match expr {
        Some(expr) if Facts::new().bounds(expr).is_at_most(-1) => {
            Err(OpError::new(format!("{what} axis {axis} is {expr}, which is negative")))
        }
        _ => Ok(()),
    }
}

fn infer_concat(cx: &InferCx<'_>) -> InferResult {
    let inputs = cx.tensors()?;
    let Some((first, rest)) = inputs.split_first() else {
        return Err(OpError::new("at least one operand is needed"));
    };
    let axis = cx.axis("axis", first.rank())?;
    let mut dims = first.dims.clone();
    for (i, other) in rest.iter().enumerate() {
        let i = i + 1;
        check_same_dtype(0, first, i, other)?;
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
                        checked_dim("the joined axis", i128::from(x) + i128::from(y))?
                    }
                    (sum, dim) => sum.plus(dim),
                }
            } else {
                unify_dims(format_args!("axis {a} of operands 0 and {i}"), *d, other.dims[a])?
            };
        }
    }
    one_result(TensorType { dtype: first.dtype, dims })
}

fn infer_pad(cx: &InferCx<'_>) -> InferResult {
    let (input, value) = (cx.tensor(0)?, cx.tensor(1)?);
    check_same_dtype(0, input, 1, value)?;
    if value.rank() != 0 {
        return Err(OpError::new(format!("`value` has rank {}, expected a scalar", value.rank())));
    }
    let rank = input.rank();
    if cx.is_symbolic("low")? || cx.is_symbolic("high")? {
        return infer_symbolic_pad(cx, input);
    }
    let [low, high] = ints_per_axis(cx, ["low", "high"], rank)?;
    let interior = cx.ints_or("interior", 0, rank)?;
    check_at_least("interior", &interior, 0)?;
    let mut dims = Dims::new();
    for axis in 0..rank {
        let Dim::Known(n) = input.dims[axis] else {
            let edges = low[axis].checked_add(high[axis]);
            dims.push(match edges {
                Some(0) if interior[axis] == 0 => input.dims[axis],
                edges => input.dims[axis]
                    .map_expr(|n| padded_extent(n, DimExpr::constant(edges?)?, interior[axis])),
            });
            continue;
        };
        let n = i128::from(n);
        let size = n
            + i128::from(low[axis])
            + i128::from(high[axis])
            + (n - 1).max(0) * i128::from(interior[axis]);
        dims.push(checked_dim(&format!("axis {axis} of the result"), size)?);
    }
    one_result(TensorType { dtype: input.dtype, dims })
}

// Infers padding with an amount that is not a number.
fn infer_symbolic_pad(cx: &InferCx<'_>, input: &TensorType) -> InferResult {
    let (low, high) = (cx.dim_exprs("low")?, cx.dim_exprs("high")?);
    check_one_per_axis("low", low.len(), input.rank())?;
    check_one_per_axis("high", high.len(), input.rank())?;
    let interior = cx.ints_or("interior", 0, input.rank())?;
    check_at_least("interior", &interior, 0)?;
    let mut dims = Dims::new();
    for (axis, &n) in input.dims.iter().enumerate() {
        let padded = |n| padded_extent(n, low[axis].checked_add(high[axis])?, interior[axis]);
        let size = n.to_expr().and_then(padded);
        check_not_negative("the extent of", axis, size)?;
        dims.push(size.map_or(Dim::Unknown, Dim::from_expr));
    }
    one_result(TensorType { dtype: input.dtype, dims })
}

// n + edges + interior*max(n - 1, 0)
fn padded_extent(extent: DimExpr, edges: DimExpr, interior: i64) -> Option<DimExpr> {
    let constant = DimExpr::constant;
    let outer = extent.checked_add(edges)?;
    if interior == 0 {
        return Some(outer);
    }
    let gaps = extent.checked_sub(constant(1)?)?.max(constant(0)?)?;
    outer.checked_add(gaps.checked_mul(constant(interior)?)?)
}

fn infer_reverse(cx: &InferCx<'_>) -> InferResult {
    cx.axes("axes", cx.tensor(0)?.rank())?;
    cx.same_as(0)
}

fn infer_get_dimension_size(cx: &InferCx<'_>) -> InferResult {
    check_axis("axis", cx.int("axis")?, cx.tensor(0)?.rank())?;
    one_result(TensorType::scalar(DataType::I32))
}
