//! Products with operands that repeat their elements.

use sapwood_ptir::ops::{DotGeneral, ReduceSum, Transpose};
use sapwood_ptir::{Axes, TensorType, Value};

use super::product_axes::{ProductAxis, Side, free_axes, may_reorder, product_axes, without};
use crate::canonicalize::tensor_views::{BroadcastView, emit_broadcast};
use crate::pattern::Rewrite;

crate::patterns! { "repeated_operand":
    dot_of_repeated_rows hops 1 when any in [BroadcastView],
    dot_of_repeated_batch hops 1 when any in [BroadcastView],
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

/// `dot_general(broadcast(x), broadcast(y)) = broadcast(dot_general(x, y))` for a batch axis that both broadcasts add; if only one adds it, it becomes a
/// free axis of the other operand.
///
/// Floats: exact.
fn dot_of_repeated_batch(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    let mut views = Side::BOTH
        .map(|side| rw.def::<BroadcastView>(side.value(&op)).filter(BroadcastView::is_certain));
    let repeats = |view: &Option<BroadcastView>, axes: &[i64], at: usize| {
        view.as_ref().is_some_and(|view| !view.dims.contains(&(axes[at] as usize)))
    };
    let at_batch =
        |at: usize| [repeats(&views[0], &op.lhs_batch, at), repeats(&views[1], &op.rhs_batch, at)];
    let count = op.lhs_batch.len();
    let both = (0..count).find(|&at| at_batch(at) == [true, true]);
    let at = both.or_else(|| (0..count).find(|&at| at_batch(at) != [false, false]))?;
    let sides = at_batch(at);
    let origins = product_axes(rw, &op)?;
    let axes = Side::BOTH.map(|side| side.lists(&op).0[at] as usize);
    // The operands without the axis, or with it as a free axis.
    let mut new = op.clone();
    for (n, side) in Side::BOTH.into_iter().enumerate() {
        let (batch, contract) = side.lists(&op);
        let (batch, contract) = (batch.clone(), contract.clone());
        let removed = [axes[n]];
        new = match views[n].take().filter(|_| sides[n]) {
            Some(view) => {
                let narrow = narrower_broadcast(rw, &view, &removed)?;
                side.replaced(&new, narrow, without(&batch, &removed), without(&contract, &removed))
            }
            None => {
                let left = batch.iter().copied().filter(|&axis| axis as usize != axes[n]).collect();
                side.replaced(&new, side.value(&op), left, contract)
            }
        };
    }
    let result = rw.result_tensor()?.clone();
    let product = rw.emit(new.clone())?;
    if sides == [true, true] {
        let kept: Vec<usize> = (0..origins.len()).filter(|&axis| axis != at).collect();
        return emit_broadcast(rw, product, &kept, &result);
    }
    // The axes of the product, by the numbers of the old operands.
    let found: Vec<ProductAxis> = product_axes(rw, &new)?
        .into_iter()
        .map(|axis| {
            let old = |n: usize, own: usize| own + usize::from(sides[n] && own >= axes[n]);
            match axis {
                ProductAxis::Batch(n) => ProductAxis::Batch(n + usize::from(n >= at)),
                ProductAxis::Left(own) => ProductAxis::Left(old(0, own)),
                ProductAxis::Right(own) => ProductAxis::Right(old(1, own)),
            }
        })
        .collect();
    let freed = if sides[0] { ProductAxis::Right(axes[1]) } else { ProductAxis::Left(axes[0]) };
    let perm: Vec<i64> = origins
        .iter()
        .map(|&origin| if origin == ProductAxis::Batch(at) { freed } else { origin })
        .map(|wanted| found.iter().position(|&axis| axis == wanted).map(|n| n as i64))
        .collect::<Option<_>>()?;
    if perm.is_sorted() {
        return Some(product);
    }
    rw.emit(Transpose { input: product, perm: perm.into() })
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
