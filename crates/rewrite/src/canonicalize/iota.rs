//! Canonicalizations of `iota`, and of ops that move or convert one.

use sapwood_ptir::ops::{Add, Cast, Iota, Mul, Reshape, Transpose};
use sapwood_ptir::{Dim, Int, TensorType, Value};
use sapwood_types::DataType;

use super::numeric_constants::{either_order, significand_bits};
use super::tensor_views::{BroadcastView, axes_without_units, emit_reshape, is_at_most_one};
use crate::pattern::Rewrite;

crate::patterns! { "iota":
    iota_of_one when unit or empty,
    cast_of_iota hops 1 when 0 in [Iota],
    reshape_of_iota hops 1 when 0 in [Iota],
    transpose_of_iota hops 1 when 0 in [Iota],
    broadcast_of_iota benefit 0 hops 1 when 0 in [Iota],
    sum_of_iotas when any in [Iota] and any in [Mul],
}

/// `iota(axis) = 0` if the axis has extent one.
///
/// All dims must be known.
///
/// Floats: exact.
fn iota_of_one(op: Iota, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dim = rw.result_tensor()?.dims[op.axis.0 as usize];
    if !is_at_most_one(dim) {
        return None;
    }
    rw.filled_like_result(0.0)
}

/// Returns true if a type represents all integers from 0 to `count` - 1.
pub(super) fn can_count_to(dtype: DataType, count: u64) -> bool {
    match dtype.integer_max() {
        Some(most) => i128::from(count) <= most + 1,
        None => significand_bits(dtype).is_some_and(|bits| count <= 1 << bits),
    }
}

/// `cast(iota : a) : b = iota : b` for integers and floats, if `a` and `b` represent all its elements.
///
/// The extent of the axis that counts must be known.
///
/// Floats: exact.
fn cast_of_iota(op: Cast, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Iota>(op.input)?;
    let (from, ty) = (rw.tensor(op.input)?, rw.result_tensor()?);
    let count = from.dims[inner.axis.0 as usize].known()?;
    if !can_count_to(from.dtype, count) || !can_count_to(ty.dtype, count) {
        return None;
    }
    // The result may declare less of its extents, which nothing would tell the iota.
    let ty = TensorType { dtype: ty.dtype, dims: from.dims.clone() };
    rw.emit(Iota { axis: inner.axis, ty: ty.into() })
}

/// `reshape(iota) = iota` if it only adds or removes axes of extent one.
///
/// All dims must be known.
///
/// Floats: exact.
fn reshape_of_iota(op: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Iota>(op.input)?;
    let (from, ty) = (rw.shape(op.input)?, rw.result_tensor()?);
    let places = axes_without_units(&from, &ty.known_shape()?)?;
    let axis = places[inner.axis.0 as usize]?;
    rw.emit(Iota { axis: Int::from(axis), ty: ty.clone().into() })
}

/// `transpose(iota, p) = iota` along the axis that `p` moves it to.
///
/// All dims must be known.
///
/// Floats: exact.
fn transpose_of_iota(op: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Iota>(op.input)?;
    let ty = rw.result_tensor()?;
    ty.known_shape()?;
    let axis = op.perm.iter().position(|&from| from == inner.axis.0)?;
    rw.emit(Iota { axis: Int::from(axis), ty: ty.clone().into() })
}

/// `broadcast(iota) = iota` along the axis that counts.
///
/// All dims must be known. It is tried when nothing else is left to do, so that ops on the smaller one come first.
///
/// Floats: exact.
fn broadcast_of_iota(op: BroadcastView, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Iota>(op.input)?;
    let (from, to) = (op.from.known_shape()?, op.ty.known_shape()?);
    let counting = inner.axis.0 as usize;
    let axis = op.dims[counting];
    if from[counting] != to[axis] {
        return None;
    }
    rw.emit(Iota { axis: Int::from(axis), ty: op.ty.clone().into() })
}

/// `iota(a) + iota(b) * n = reshape(iota)` if `n` is the extent of axis `a`, which follows axis `b`.
///
/// Only if nothing else uses the product, and the type represents all elements. All dims must be known.
///
/// Floats: exact.
fn sum_of_iotas(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = rw.result_tensor()?;
    let mut shape = ty.known_shape()?;
    either_order(rw, (op.lhs, op.rhs), |rw, inner, product| {
        let (inner, mul) = (rw.def::<Iota>(inner)?, rw.def::<Mul>(product)?);
        let outer = rw.def::<Iota>(mul.lhs)?;
        let (fast, slow) = (inner.axis.0 as usize, outer.axis.0 as usize);
        let count = shape[fast].checked_mul(shape[slow])?;
        let steps = rw.is_number(mul.rhs, shape[fast] as f64);
        if fast != slow + 1 || !steps || !can_count_to(ty.dtype, count) || !rw.one_use(product) {
            return None;
        }
        shape[slow] = count;
        shape.remove(fast);
        let dims = shape.iter().map(|&n| Dim::Known(n)).collect();
        let flat = TensorType { dtype: ty.dtype, dims };
        let flat = rw.emit(Iota { axis: Int::from(slow), ty: flat.into() })?;
        emit_reshape(rw, flat, ty)
    })
}
