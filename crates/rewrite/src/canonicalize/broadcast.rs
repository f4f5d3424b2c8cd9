//! Canonicalizations of `broadcast_to` and `broadcast_in_dim`, and of elementwise ops of them.
//!
//! The normal form is `broadcast_to` wherever axes are aligned at the right.

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Reshape};
use sapwood_ptir::{OpParts, TensorLiteral, TensorType, Value, Values};
use smallvec::SmallVec;

use super::tensor_views::{
    AxisList, BroadcastView, ElementwiseView, emit_broadcast, emit_reshape, find_axes_among_units,
};
use crate::pattern::{Rewrite, Unary};

crate::patterns! { "broadcast":
    broadcast_to_same hops 1 when same,
    broadcast_as_reshape hops 1 when unit,
    broadcast_in_dim_as_broadcast_to hops 1,
    broadcast_of_broadcast hops 1 when 0 in [BroadcastView],
    broadcast_of_reshape hops 1 when 0 in [Reshape],
    broadcast_of_dropped_axes benefit 0 hops 1 when 0 in [Reshape],
    unary_of_broadcast benefit 3 hops 1 when 0 in [BroadcastView],
    elementwise_of_broadcasts benefit 3 hops 1 when any in [BroadcastView],
}

/// `broadcast(x : t) : t = x` if no axis moves.
///
/// Floats: exact.
fn broadcast_to_same(op: BroadcastView, _: &mut Rewrite<'_>) -> Option<Value> {
    let stays = op.dims.iter().enumerate().all(|(i, &d)| i == d);
    (stays && op.from == op.ty).then_some(op.input)
}

/// `broadcast(x) = reshape(x)` if it only adds axes of extent one.
///
/// All dims must be known.
///
/// Floats: exact.
fn broadcast_as_reshape(op: BroadcastView, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (from, to) = (op.from.known_shape()?, op.ty.known_shape()?);
    let stays = op.dims.iter().zip(&from).all(|(&d, &n)| to[d] == n);
    let added = (0..to.len()).filter(|a| !op.dims.contains(a)).all(|a| to[a] == 1);
    if !stays || !added || !op.dims.is_sorted() || op.from == op.ty {
        return None;
    }
    emit_reshape(rw, op.input, &op.ty)
}

/// `broadcast_in_dim(x, dims) = broadcast_to(x)` if `dims` are the last axes in order.
///
/// Floats: exact.
fn broadcast_in_dim_as_broadcast_to(op: BroadcastInDim, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = rw.result_tensor()?;
    let extra = ty.rank().checked_sub(op.dims.len())?;
    let aligned = op.dims.iter().enumerate().all(|(i, &d)| d as usize == i + extra);
    if !aligned {
        return None;
    }
    let dims: AxisList = (extra..ty.rank()).collect();
    emit_broadcast(rw, op.input, &dims, ty)
}

/// `broadcast(broadcast(x)) = broadcast(x)`.
///
/// Floats: exact.
fn broadcast_of_broadcast(outer: BroadcastView, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<BroadcastView>(outer.input)?;
    if !inner.is_certain() || !outer.is_certain() {
        return None;
    }
    let dims: AxisList = inner.dims.iter().map(|&d| outer.dims[d]).collect();
    emit_broadcast(rw, inner.input, &dims, &outer.ty)
}

/// `broadcast(reshape(x)) = broadcast(x)` if the reshape only adds axes of extent one.
///
/// Floats: exact.
fn broadcast_of_reshape(outer: BroadcastView, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(outer.input)?;
    let (from, to) = (rw.shape(inner.input)?, outer.from.known_shape()?);
    let places = find_axes_among_units(&from, &to)?;
    let dims: AxisList = places.iter().map(|&d| outer.dims[d]).collect();
    emit_broadcast(rw, inner.input, &dims, &outer.ty)
}

/// `broadcast(reshape(x)) = broadcast(x)` if the reshape only removes axes of extent one, and the broadcast adds as many.
///
/// All dims must be known. It is tried when nothing else is left to do, so that ops on broadcasts of scalars come first.
///
/// Floats: exact.
fn broadcast_of_dropped_axes(outer: BroadcastView, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(outer.input)?;
    let (from, to) = (rw.shape(inner.input)?, outer.from.known_shape()?);
    let kept = find_axes_among_units(&to, &from)?;
    outer.ty.known_shape()?;
    let mut new = (0..outer.ty.rank()).filter(|axis| !outer.dims.contains(axis));
    let mut dims = AxisList::new();
    for axis in 0..from.len() {
        dims.push(match kept.iter().position(|&k| k == axis) {
            Some(at) => outer.dims[at],
            None => new.next()?,
        });
    }
    emit_broadcast(rw, inner.input, &dims, &outer.ty)
}

/// `f(broadcast(x)) = broadcast(f(x))` for elementwise `f` of one operand.
///
/// Floats: exact.
fn unary_of_broadcast(op: Unary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<BroadcastView>(op.input)?;
    if !inner.is_certain() {
        return None;
    }
    let small = rw.emit_parts(&op.with(inner.input))?;
    emit_broadcast(rw, small, &inner.dims, rw.result_tensor()?)
}

/// `f(broadcast(x), broadcast(y), …) = broadcast(f(x, y, …))` for elementwise `f` and broadcasts of one kind.
///
/// Operands whose elements are all equal count as broadcasts.
///
/// Floats: exact.
fn elementwise_of_broadcasts(op: ElementwiseView, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let ty = rw.result_tensor()?;
    let repeats = |i| f.is::<BroadcastTo>(i) || f.is::<BroadcastInDim>(i);
    if !f.operands(op.root).iter().any(|&v| rw.def_inst(v).is_some_and(repeats)) {
        return None;
    }
    let mut kind: Option<BroadcastView> = None;
    let mut parts: SmallVec<[(Value, Option<TensorLiteral>); 3]> = SmallVec::new();
    for &operand in f.operands(op.root) {
        // The scalar operands of `select` and `clamp`.
        if rw.rank(operand)? == 0 {
            parts.push((operand, None));
        } else if let Some(literal) = rw.splat_of(operand) {
            parts.push((operand, Some(literal)));
        } else {
            let one = rw.def::<BroadcastView>(operand)?;
            let fits =
                kind.as_ref().is_none_or(|k| k.dims == one.dims && k.from.dims == one.from.dims);
            if !fits || !one.is_certain() {
                return None;
            }
            parts.push((one.input, None));
            kind = Some(one);
        }
    }
    let kind = kind?;
    let mut operands = Values::new();
    for (value, literal) in parts {
        operands.push(match literal {
            None => value,
            Some(literal) => {
                let shape = kind.from.known_shape()?;
                let small = TensorLiteral::splat(literal.dtype(), &shape, literal.as_splat()?);
                rw.constant(small.ok()?)
            }
        });
    }
    let mut small = OpParts::new(f.op_key(op.root));
    small.attrs = f.attrs(op.root).iter().cloned().collect();
    small.operands = operands;
    small.result_types.push(TensorType { dtype: ty.dtype, dims: kind.from.dims.clone() }.into());
    let small = rw.emit_parts(&small)?;
    emit_broadcast(rw, small, &kind.dims, ty)
}
