//! Conversion between element types.

use super::support::one;
use crate::attr::ResultType;
use crate::eval::kernels::cast as k;
use crate::op::{InferCx, InferResult, OpError, Value, meet};
use crate::types::{Dim, Dims, TensorType};

crate::ops! {
    family "cast", table cast_ops, values CastValueOps, graph CastGraphOps;

    /// Converts elements to the element type of the result. Floats to integers round towards zero and saturate, NaN gives
    /// zero; integers to narrower integers wrap; to floats rounds to nearest even, overflow gives infinity (NaN in
    /// f8e4m3fn), and integers are rounded once; to bool is "not zero" (NaN is true); bool gives 0 and 1; complex to any
    /// other type, bool too, drops the imaginary part, and any other to complex makes it 0. NaN stays NaN between floats.
    op cast Cast "cast" (input: Value) {
        /// Type of the result: the operand's dims.
        ty: ResultType,
    } -> one [elementwise] = cast, eval = k::eval;

    /// Reads the bits as another element type. If widths differ, the result has one more or one less innermost axis that
    /// holds the parts, least significant first. A bool is one bit. Complex numbers change width only into each other.
    op bitcast Bitcast "bitcast" (input: Value) {
        /// Type of the result.
        ty: ResultType,
    } -> one [] = bitcast, eval = k::bitcast;
}

fn cast(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.tensor(0)?, cx.stated_tensor()?);
    if input.rank() != ty.rank() {
        return Err(OpError::new(format!(
            "the operand has rank {}, the result {}",
            input.rank(),
            ty.rank()
        )));
    }
    let mut dims = Dims::new();
    for (axis, (&a, &b)) in input.dims.iter().zip(&ty.dims).enumerate() {
        dims.push(meet(format_args!("axis {axis}"), a, b)?);
    }
    one(TensorType { dtype: ty.dtype, dims })
}

fn bitcast(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.tensor(0)?, cx.stated_tensor()?);
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
    one(TensorType { dtype: ty.dtype, dims })
}
