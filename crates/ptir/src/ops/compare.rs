//! Comparison and choice.

use super::support::{Class, meet_dims, one, same_dtype, same_types};
use crate::eval::kernels::compare as k;
use crate::op::{InferCx, InferResult, OpError, Value};
use crate::types::TensorType;
use sapwood_types::DataType;

crate::attr_enum! {
    /// What a comparison asks.
    pub enum Direction {
        /// `lhs == rhs`
        Eq = "eq",
        /// `lhs != rhs`
        Ne = "ne",
        /// `lhs < rhs`
        Lt = "lt",
        /// `lhs <= rhs`
        Le = "le",
        /// `lhs > rhs`
        Gt = "gt",
        /// `lhs >= rhs`
        Ge = "ge",
    }
}

crate::attr_enum! {
    /// How floats are compared.
    pub enum CompareOrder {
        /// As IEEE 754 compares: NaN differs from everything, -0 equals 0.
        Partial = "partial",
        /// By sign and magnitude of the bits: -NaN < -infinity < … < -0 < 0 < … < NaN.
        Total = "total",
    }
}

crate::ops! {
    family "compare", table compare_ops, values CompareValueOps, graph CompareGraphOps;

    /// Compares elements; the result is bool. With NaN everything is false but `ne`, unless `order` is `total`. `false` is
    /// below `true`. Complex numbers have only `eq` and `ne`.
    op compare Compare "compare" (lhs: Value, rhs: Value) {
        /// What is asked.
        direction: Direction,
        /// How floats are compared.
        order: CompareOrder = CompareOrder::Partial,
    } -> one [elementwise] = compare, eval = k::compare;

    /// `on_true` where `pred`, `on_false` elsewhere, bits unchanged. `pred` is a bool tensor of the same dims or a bool scalar.
    op select Select "select" (pred: Value, on_true: Value, on_false: Value) {} -> one [elementwise] = select, eval = k::select;

    /// `min(max(input, low), high)`: NaN if one is NaN, `high` if `low` is above it. Bounds are scalars or have the dims of
    /// the input.
    op clamp Clamp "clamp" (low: Value, input: Value, high: Value) {} -> one [elementwise] = clamp, eval = k::clamp;
}

fn compare(cx: &InferCx<'_>) -> InferResult {
    let types = same_types(cx, Class::ANY)?;
    let Some(ty) = types[0].as_tensor() else { return Ok(types) };
    let direction = cx.word("direction")?;
    if ty.dtype.is_complex() && !matches!(direction, "eq" | "ne") {
        return Err(OpError::new(format!(
            "{} has no order, so `direction` cannot be {direction}",
            ty.dtype
        ))
        .with_help("use eq or ne"));
    }
    if cx.word("order")? == "total" && !ty.dtype.is_float() {
        return Err(OpError::new(format!(
            "`order` is total, which is for floats, not {}",
            ty.dtype
        )));
    }
    one(ty.with_dtype(DataType::Bool))
}

fn select(cx: &InferCx<'_>) -> InferResult {
    let (pred, a, b) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    Class::BOOL.check("`pred`", pred.dtype)?;
    same_dtype(1, a, 2, b)?;
    let mut dims = meet_dims(1, &a.dims, 2, &b.dims)?;
    if pred.rank() > 0 {
        dims = meet_dims(0, &pred.dims, 1, &dims)?;
    }
    one(TensorType { dtype: a.dtype, dims })
}

fn clamp(cx: &InferCx<'_>) -> InferResult {
    let (low, input, high) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    Class::FLOAT_INT.check("the input", input.dtype)?;
    let mut dims = input.dims.clone();
    for (i, bound) in [(0, low), (2, high)] {
        same_dtype(1, input, i, bound)?;
        if bound.rank() > 0 {
            dims = meet_dims(1, &dims, i, &bound.dims)?;
        }
    }
    one(TensorType { dtype: input.dtype, dims })
}
