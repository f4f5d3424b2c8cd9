//! Comparison and selection.

use super::support::{DtypeClass, check_same_dtype, infer_same_types, one_result, unify_dim_lists};
use crate::eval::kernels::compare as k;
use crate::op::{InferCx, InferResult, OpError, Value};
use crate::types::TensorType;
use sapwood_types::DataType;

crate::attr_enum! {
    /// The relation that a comparison tests.
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
    /// The order in which floats are compared.
    pub enum CompareOrder {
        /// The order of IEEE 754: NaN is unequal to everything, -0 equals 0.
        Partial = "partial",
        /// The total order by sign and magnitude of the bits: -NaN < -infinity < … < -0 < 0 < … < NaN.
        Total = "total",
    }
}

impl Direction {
    /// Returns the direction that holds for `b, a` where this one holds for `a, b`.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Eq | Self::Ne => self,
        }
    }
}

crate::ops! {
    family "compare", table compare_ops, values CompareValueOps, graph CompareGraphOps;

    /// Compares elements; the result is bool. A comparison with NaN is false, except `ne`, unless `order` is `total`.
    /// `false` is less than `true`. Complex numbers support only `eq` and `ne`.
    op compare Compare "compare" (lhs: Value, rhs: Value) {
        /// The relation to test.
        direction: Direction,
        /// The order of floats.
        order: CompareOrder = CompareOrder::Partial,
    } -> one [elementwise] = infer_compare, eval = k::compare;

    /// Selects elements: `on_true` where `pred` is true, `on_false` elsewhere, bits unchanged. `pred` is a bool
    /// tensor of the same dims, or a bool scalar.
    op select Select "select" (pred: Value, on_true: Value, on_false: Value) {} -> one [elementwise] = infer_select, eval = k::select;

    /// Limits elements to a range: `min(max(input, low), high)`. The result is NaN if any of the three is NaN, and
    /// `high` if `low` is greater than `high`. Bounds are scalars or have the dims of the input.
    op clamp Clamp "clamp" (low: Value, input: Value, high: Value) {} -> one [elementwise] = infer_clamp, eval = k::clamp;
}

fn infer_compare(cx: &InferCx<'_>) -> InferResult {
    let types = infer_same_types(cx, DtypeClass::COMPUTED)?;
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
    one_result(ty.with_dtype(DataType::Bool))
}

fn infer_select(cx: &InferCx<'_>) -> InferResult {
    let (pred, a, b) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    DtypeClass::BOOL.check("`pred`", pred.dtype)?;
    check_same_dtype(1, a, 2, b)?;
    let mut dims = unify_dim_lists(1, &a.dims, 2, &b.dims)?;
    if pred.rank() > 0 {
        dims = unify_dim_lists(0, &pred.dims, 1, &dims)?;
    }
    one_result(TensorType { dtype: a.dtype, dims })
}

fn infer_clamp(cx: &InferCx<'_>) -> InferResult {
    let (low, input, high) = (cx.tensor(0)?, cx.tensor(1)?, cx.tensor(2)?);
    DtypeClass::FLOAT_INT.check("the input", input.dtype)?;
    let mut dims = input.dims.clone();
    for (i, bound) in [(0, low), (2, high)] {
        check_same_dtype(1, input, i, bound)?;
        if bound.rank() > 0 {
            dims = unify_dim_lists(1, &dims, i, &bound.dims)?;
        }
    }
    one_result(TensorType { dtype: input.dtype, dims })
}
