//! Conversions between element types.

use super::support::one_result;
use crate::attr::ResultType;
use crate::eval::kernels::cast as k;
use crate::op::{InferCx, InferResult, OpError, Value, unify_dims};
use crate::types::{Dim, Dims, TensorType};

crate::ops! {
    family "cast", table cast_ops, values CastValueOps, graph CastGraphOps;

    /// Converts elements to the element type of the result. Float to integer rounds towards zero and saturates; NaN
    /// gives zero. Integer to narrower integer wraps. Conversion to a float rounds to nearest even, an integer only
    /// once; overflow gives infinity (NaN in f8e4m3fn). Conversion to bool is true for every nonzero value, NaN
    /// included; bool gives 0 and 1. Complex to any other type, bool included, drops the imaginary part; any other
    /// type to complex sets it to 0. NaN stays NaN between float types.
    op cast Cast "cast" (input: Value) {
        /// Type of the result; its dims are those of the operand.
        ty: ResultType,
    } -> one [elementwise] = infer_cast, eval = k::eval;

    /// Reinterprets the bits of elements as another element type. If the widths differ, the result has one more or
    /// one fewer innermost axis, which holds the parts, least significant first. A bool has one bit. Complex numbers
    /// change width only to other complex numbers.
    op bitcast Bitcast "bitcast" (input: Value) {
        /// Type of the result.
        ty: ResultType,
    } -> one [view] = infer_bitcast, eval = k::bitcast;
}

fn infer_cast(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.tensor(0)?, cx.declared_tensor_type()?);
    if input.rank() != ty.rank() {
        return Err(OpError::new(format!(
            "the operand has rank {}, the result {}",
            input.rank(),
            ty.rank()
        )));
    }
    let mut dims = Dims::new();
    for (axis, (&a, &b)) in input.dims.iter().zip(&ty.dims).enumerate() {
        dims.push(unify_dims(format_args!("axis {axis}"), a, b)?);
    }
    one_result(TensorType { dtype: ty.dtype, dims })
}

fn infer_bitcast(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.tensor(0)?, cx.declared_tensor_type()?);
    let (from, to) = (input.dtype.bit_width(), ty.dtype.bit_width());
    if from != to && input.dtype.is_complex() != ty.dtype.is_complex() {
        return Err(OpError::new(format!(
            "{} cannot be read as {}: {from} and {to} bits",
            input.dtype, ty.dtype
        )));
    }
    let mut dims: Dims = input.dims.clone();
    if from > to {
        dims.push(Dim::Known(u64::from(from / to)));
    } else if from < to {
        let parts = Dim::Known(u64::from(to / from));
        match dims.pop() {
            Some(last) if last.compatible(parts) => {}
            Some(last) => {
                return Err(OpError::new(format!(
                    "the last axis is {last}, expected {parts} parts of {}",
                    ty.dtype
                )));
            }
            None => {
                return Err(OpError::new(format!(
                    "a scalar {} has too few bits for {}",
                    input.dtype, ty.dtype
                )));
            }
        }
    }
    one_result(TensorType { dtype: ty.dtype, dims })
}
