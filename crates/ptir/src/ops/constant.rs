//! Values out of nothing: `constant`, `iota`.

use super::support::{Class, one};
use crate::attr::{Attr, Int, ResultType};
use crate::eval::kernels::constant as k;
use crate::literal::TensorLiteral;
use crate::op::{Control, InferCx, InferResult, OpError};
use crate::types::Dim;

crate::ops! {
    family "constant", table constant_ops, values ConstantValueOps, graph ConstantGraphOps;

    /// A literal. The type says its shape: `constant 1.0 : f32[64]` is a splat.
    op constant Constant "constant" () {
        /// The elements.
        value: TensorLiteral,
    } -> one [inline("value"), control(Control::Constant)] = constant;

    /// Counts along an axis: the element at index `i` of that axis is `i`, converted as `cast` converts. Integers wrap.
    /// Its extents are known or named: nothing else would say what `?` is.
    op iota Iota "iota" () {
        /// The axis that counts.
        axis: Int,
        /// Type of the result.
        ty: ResultType,
    } -> one [] = iota, eval = k::iota;
}

fn constant(cx: &InferCx<'_>) -> InferResult {
    match cx.attr("value")? {
        Attr::Literal(literal) => one(literal.ty()),
        _ => Err(OpError::new("`value` must be a literal")),
    }
}

fn iota(cx: &InferCx<'_>) -> InferResult {
    let ty = cx.stated_tensor()?;
    Class::NUMBER.check("the result", ty.dtype)?;
    cx.axis("axis", ty.rank())?;
    if let Some(axis) = ty.dims.iter().position(|&d| d == Dim::Unknown) {
        return Err(OpError::new(format!(
            "axis {axis} of the result is ?, and nothing says its extent"
        )));
    }
    one(ty.clone())
}
