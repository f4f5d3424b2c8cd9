//! Ops without operands: `constant`, `iota`.

use super::support::{DtypeClass, one_result};
use crate::attr::{Attr, Int, ResultType};
use crate::eval::kernels::constant as k;
use crate::literal::TensorLiteral;
use crate::op::{Control, InferCx, InferResult, OpError};
use crate::types::Dim;

crate::ops! {
    family "constant", table constant_ops, values ConstantValueOps, graph ConstantGraphOps;

    /// Returns a literal. The declared type gives its shape: `constant 1.0 : f32[64]` is a splat.
    op constant Constant "constant" () {
        /// The elements.
        value: TensorLiteral,
    } -> one [leading_attr("value"), control(Control::Constant)] = infer_constant;

    /// Counts along an axis: the element at index `i` of that axis is `i`, converted as by `cast`. Integers wrap. The
    /// extents must be known or named; an unknown extent `?` could not be determined.
    op iota Iota "iota" () {
        /// The axis along which elements count.
        axis: Int,
        /// Type of the result.
        ty: ResultType,
    } -> one [] = infer_iota, eval = k::iota;
}

fn infer_constant(cx: &InferCx<'_>) -> InferResult {
    match cx.attr("value")? {
        Attr::Literal(literal) => one_result(literal.ty()),
        _ => Err(OpError::new("`value` must be a literal")),
    }
}

fn infer_iota(cx: &InferCx<'_>) -> InferResult {
    let ty = cx.declared_tensor_type()?;
    DtypeClass::NUMBER.check("the result", ty.dtype)?;
    cx.axis("axis", ty.rank())?;
    if let Some(axis) = ty.dims.iter().position(|&d| d == Dim::Unknown) {
        return Err(OpError::new(format!(
            "axis {axis} of the result is ?, but nothing determines its extent"
        )));
    }
    one_result(ty.clone())
}
