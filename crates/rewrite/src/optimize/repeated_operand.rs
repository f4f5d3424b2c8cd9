//! Products with operands that repeat their elements.

use sapwood_ptir::ops::{DotGeneral, ReduceSum};
use sapwood_ptir::{Axes, TensorType, Value};

use super::product_axes::{ProductAxis, Side, free_axes, may_reorder, product_axes, without};
use crate::canonicalize::tensor_views::{BroadcastView, emit_broadcast};
use crate::pattern::Rewrite;

crate::patterns! { "repeated_operand":
    dot_of_repeated_rows hops 1 when any in [BroadcastView],
    dot_of_repeated_contraction hops 1 when any in [BroadcastView] floats fast,
}

// Emits a broadcast without some axes that it adds.
fn narrower_broadcast(
    rw: &mut Rewrite<'_>,
    view: &BroadcastView,
    removed: &[usize],
) -> Option<Value> {
    let kept = |axis: &usize| !removed.contains(axis);
    let dims: Vec<usize> =
        view.dims.iter().map(|&d| d - removed.iter().filter(|&&r| r < d).count()).collect();
    let extents = view.ty.dims.iter().enumerate().filter(|(axis, _)| kept(axis)).map(|(_, &d)| d);
    let ty = TensorType { dtype: view.ty.dtype, dims: extents.collect() };
    emit_broadcast(rw, view.input, &dims, &ty)
}

// Returns the axes among some that a broadcast adds.
fn added_axes(view: &BroadcastView, axes: impl Iterator<Item = usize>) -> Vec<usize> {
    axes.filter(|axis| !view.dims.contains(axis)).collect()
}

/// `dot_general(x, broadcast(y)) = broadcast(dot_general(x, y))` for free axes that the broadcast adds; for either operand.
///
/// Floats: exact.
fn dot_of_repeated_rows(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    Side::BOTH.into_iter().find_map(|side| {
        let operand = side.value(&op);
        let view = rw.def::<BroadcastView>(operand).filter(BroadcastView::is_certain)?;
        let (batch, contract) = side.lists(&op);
        let removed = added_axes(&view, free_axes(view.ty.rank(), batch, contract).into_iter());
        if removed.is_empty() {
            return None;
        }
        // The axes of the result that stay.
        let kept: Vec<usize> = product_axes(rw, &op)?
            .iter()
            .enumerate()
            .filter(|(_, origin)| match (side, origin) {
                (Side::Left, ProductAxis::Left(own)) | (Side::Right, ProductAxis::Right(own)) => {
                    !removed.contains(own)
                }
                _ => true,
            })
            .map(|(axis, _)| axis)
            .collect();
        let (batch, contract) = (without(batch, &removed), without(contract, &removed));
        let narrow = narrower_broadcast(rw, &view, &removed)?;
        let new = side.replaced(&op, narrow, batch, contract);
        let result = rw.result_tensor()?.clone();
        let product = rw.emit(new)?;
        emit_broadcast(rw, product, &kept, &result)
    })
}

/// `dot_general(x, broadcast(y)) = dot_general(reduce_sum(x), y)` for contracted axes that the broadcast adds; for either operand.
///
/// Floats: fast.
fn dot_of_repeated_contraction(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !may_reorder(rw, op.lhs) || op.accumulate.is_some() || op.out.is_some() {
        return None;
    }
    Side::BOTH.into_iter().find_map(|side| {
        let other = side.other();
        let view = rw.def::<BroadcastView>(side.value(&op)).filter(BroadcastView::is_certain)?;
        let (batch, contract) = side.lists(&op);
        let (other_batch, other_contract) = other.lists(&op);
        let removed = added_axes(&view, contract.iter().map(|&axis| axis as usize));
        if removed.is_empty() {
            return None;
        }
        let pairs = contract.iter().zip(other_contract.iter());
        let summed: Vec<usize> = pairs
            .filter(|(axis, _)| removed.contains(&(**axis as usize)))
            .map(|(_, &axis)| axis as usize)
            .collect();
        let input = other.value(&op);
        let axes: Axes = summed.iter().map(|&axis| axis as i64).collect();
        let (batch, contract) = (without(batch, &removed), without(contract, &removed));
        let (other_batch, other_contract) =
            (without(other_batch, &summed), without(other_contract, &summed));
        let sum = rw.emit(ReduceSum { input, axes, keepdims: false, accumulate: None })?;
        let narrow = narrower_broadcast(rw, &view, &removed)?;
        let new = side.replaced(&op, narrow, batch, contract);
        let new = other.replaced(&new, sum, other_batch, other_contract);
        rw.emit(new)
    })
}
