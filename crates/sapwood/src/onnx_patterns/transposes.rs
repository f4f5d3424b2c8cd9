//! Transposes move behind the ops after them, where they meet others.

use std::ops::Range;

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Reshape, Transpose};
use sapwood_ptir::{Axes, Dim, Dims, Function, OpParts, ResultType, TensorType, Value};
use sapwood_rewrite::{Binary, OpRef, Rewrite};

use super::is_kept;

/// `Relu(transpose(x, p)) = transpose(Relu(x), p)`. Other elementwise nodes of one operand likewise.
///
/// Only if nothing else uses the transposed value.
///
/// Floats: exact.
pub(super) fn node_of_transpose(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let &[moved] = f.operands(op.root) else { return None };
    if !rw.one_use(moved) || is_kept(f, op.root) {
        return None;
    }
    let inner = rw.def::<Transpose>(moved)?;
    let mut parts = OpParts::new(f.op_key(op.root));
    parts.attrs = f.attrs(op.root).iter().cloned().collect();
    parts.operands.push(inner.input);
    let ty = TensorType { dtype: rw.dtype(moved)?, dims: dims(f, inner.input)? };
    parts.result_types.push(ty.into());
    let input = rw.emit_parts(&parts)?;
    rw.emit(Transpose { input, perm: inner.perm })
}

/// `f(transpose(x, p), w) = transpose(f(x, transpose(w, q)), p)` with `q` the inverse of `p`, for elementwise `f` of two operands, in any
/// order, and a constant `w` of different elements, or a broadcast of one.
///
/// Only if nothing else uses the transposed value, and a large constant has no other use.
///
/// Floats: exact.
pub(super) fn binary_of_transpose_and_weights(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let on_left = rw.def::<Transpose>(op.lhs).is_some();
    let (moved, weights) = if on_left { (op.lhs, op.rhs) } else { (op.rhs, op.lhs) };
    let inner = rw.def::<Transpose>(moved)?;
    let narrow = rw.result_tensor()?.dtype.byte_size() <= rw.dtype(moved)?.byte_size();
    if !narrow || !rw.one_use(moved) {
        return None;
    }
    let perm: Vec<usize> =
        inner.perm.iter().map(|&p| usize::try_from(p).ok()).collect::<Option<_>>()?;
    let weights = weights_before(rw, weights, inner.input, &perm)?;
    let (lhs, rhs) = if on_left { (inner.input, weights) } else { (weights, inner.input) };
    let input = rw.emit_parts(&op.with(lhs, rhs))?;
    rw.emit(Transpose { input, perm: inner.perm })
}

/// The most elements of a constant that is stored a second time, transposed.
const MAX_COPIED_ELEMENTS: u64 = 1 << 10;

// Returns the weights whose transpose by `perm` is `weights`; they have the extents of `like`.
fn weights_before(
    rw: &mut Rewrite<'_>,
    weights: Value,
    like: Value,
    perm: &[usize],
) -> Option<Value> {
    let f = rw.function();
    if let Some(literal) = f.constant_of(weights) {
        if literal.num_elements() > MAX_COPIED_ELEMENTS && !rw.one_use(weights) {
            return None;
        }
        let mut order = vec![0; perm.len()];
        for (to, &from) in perm.iter().enumerate() {
            *order.get_mut(from)? = to;
        }
        let literal = literal.transposed(&order)?;
        return Some(rw.constant(literal));
    }
    let (source, places): (Value, Vec<usize>) = match rw.def::<BroadcastTo>(weights) {
        Some(op) => (op.input, (perm.len().checked_sub(rw.rank(op.input)?)?..perm.len()).collect()),
        None => {
            let op = rw.def::<BroadcastInDim>(weights)?;
            let places = op.dims.iter().map(|&d| usize::try_from(d).ok());
            (op.input, places.collect::<Option<_>>()?)
        }
    };
    rw.constant_of(source)?;
    let moved: Axes =
        places.iter().map(|&d| perm.get(d).map(|&p| p as i64)).collect::<Option<_>>()?;
    let ty = TensorType { dtype: rw.dtype(weights)?, dims: dims(f, like)? };
    rw.emit(BroadcastInDim { input: source, ty: ResultType(ty.into()), dims: moved })
}

/// `transpose(reshape(transpose(x, p)), q) = reshape(transpose(x, r))` if the reshape only adds or removes axes of extent one. If `r` moves
/// nothing, only the reshape is left.
///
/// Only if nothing else uses the values in between.
///
/// Floats: exact.
pub(super) fn transpose_of_reshape_of_transpose(
    outer: Transpose,
    rw: &mut Rewrite<'_>,
) -> Option<Value> {
    let f = rw.function();
    let reshape = rw.def::<Reshape>(outer.input)?;
    let inner = rw.def::<Transpose>(reshape.input)?;
    if !rw.one_use(outer.input) || !rw.one_use(reshape.input) {
        return None;
    }
    let (before, after) = (dims(f, reshape.input)?, dims(f, outer.input)?);
    let is_one = |dim: &Dim| *dim == Dim::Known(1);
    let large = |dims: &[Dim]| -> Vec<usize> {
        (0..dims.len()).filter(|&axis| !is_one(&dims[axis])).collect()
    };
    let (from, to) = (large(&before), large(&after));
    let same = from.len() == to.len()
        && from.iter().zip(&to).all(|(&a, &b)| before[a].certainly_equal(after[b]));
    if !same {
        return None;
    }
    // The axes of `x` in the order of the result, without those of extent one; these go to the end.
    let mut order: Vec<i64> = Vec::with_capacity(inner.perm.len());
    for &axis in outer.perm.iter() {
        let axis = usize::try_from(axis).ok()?;
        if let Some(place) = to.iter().position(|&a| a == axis) {
            order.push(*inner.perm.get(*from.get(place)?)?);
        }
    }
    let is_sorted = order.is_sorted();
    let ty = ResultType(rw.result_type()?.clone());
    if is_sorted {
        return rw.emit(Reshape { input: inner.input, ty });
    }
    let rest = (0..inner.perm.len() as i64).filter(|axis| !order.contains(axis));
    let perm: Axes = order.iter().copied().chain(rest).collect();
    let input = rw.emit(Transpose { input: inner.input, perm })?;
    rw.emit(Reshape { input, ty })
}

fn dims(f: &Function, value: Value) -> Option<Dims> {
    Some(f.value_type(value).as_tensor()?.dims.clone())
}

/// `reshape(transpose(x, p)) = reshape(x)` if `p` moves only axes of extent one.
///
/// At most one extent of the result may be open, so that the shape is a constant.
///
/// Floats: exact.
pub(super) fn reshape_of_unit_transpose(op: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Transpose>(op.input)?;
    keeps_order(rw, &inner)?;
    rw.emit(Reshape { input: inner.input, ty: ResultType(rw.result_type()?.clone()) })
}

/// `transpose(reshape(x), p) = reshape(x)` if `p` moves only axes of extent one.
///
/// At most one extent of the result may be open, so that the shape is a constant.
///
/// Floats: exact.
pub(super) fn unit_transpose_of_reshape(op: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(op.input)?;
    keeps_order(rw, &op)?;
    rw.emit(Reshape { input: inner.input, ty: ResultType(rw.result_type()?.clone()) })
}

// Returns whether a transpose keeps the order of the elements, and a reshape to the type of the root has a constant shape.
fn keeps_order(rw: &Rewrite<'_>, moved: &Transpose) -> Option<()> {
    let from = dims(rw.function(), moved.input)?;
    let extent = |axis: i64| usize::try_from(axis).ok().and_then(|axis| from.get(axis).copied());
    let large = moved.perm.iter().copied().filter(|&axis| extent(axis) != Some(Dim::Known(1)));
    let open = rw.result_tensor()?.dims.iter().filter(|dim| dim.known().is_none()).count();
    (large.is_sorted() && open <= 1).then_some(())
}

/// `reshape(transpose(reshape(x), p)) = transpose(reshape(x), q)` if the outer reshape only splits axes: the new one splits them before the
/// transpose. It disappears if `x` has these extents. The reshapes may be nodes whose shape is computed.
///
/// Only if nothing else uses the transposed value; at most one extent of the new reshape may be open, so that its shape is a constant.
///
/// Floats: exact.
pub(super) fn reshape_of_transpose_of_reshape(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let moved = *f.operands(op.root).first()?;
    let transpose = rw.def::<Transpose>(moved)?;
    let inner = rw.def_inst(transpose.input)?;
    let is_reshape =
        |inst| matches!(f.op_name(inst), "reshape" | "onnx.Reshape") && !is_kept(f, inst);
    if !is_reshape(op.root) || !is_reshape(inner) || !rw.one_use(moved) {
        return None;
    }
    let x = *f.operands(inner).first()?;
    let (own, result) = (dims(f, x)?, rw.result_tensor()?.clone());
    let parts = split_axes(&dims(f, moved)?, &result.dims)?;
    // The axes of the inner reshape in their order, each as the axes that it is split into.
    let mut starts = vec![0; parts.len()];
    let mut split = Dims::new();
    for (axis, start) in starts.iter_mut().enumerate() {
        let place = transpose.perm.iter().position(|&p| usize::try_from(p) == Ok(axis))?;
        *start = split.len();
        split.extend(result.dims.get(parts.get(place)?.clone())?.iter().copied());
    }
    let mut perm: Vec<i64> = Vec::with_capacity(split.len());
    for (part, &axis) in parts.iter().zip(transpose.perm.iter()) {
        let start = *starts.get(usize::try_from(axis).ok()?)?;
        perm.extend((start..start + part.len()).map(|axis| axis as i64));
    }
    let perm: Axes = perm.into_iter().collect();
    let is_own =
        |(axis, dim): (usize, &Dim)| own.get(axis).is_some_and(|d| d.certainly_equal(*dim));
    if own.len() == split.len() && split.iter().enumerate().all(is_own) {
        return rw.emit(Transpose { input: x, perm });
    }
    let open = split
        .iter()
        .enumerate()
        .filter(|&(axis, dim)| dim.known().is_none() && !is_own((axis, dim)));
    if open.count() > 1 || !rw.one_use(transpose.input) {
        return None;
    }
    let ty = ResultType(TensorType { dims: split, ..result }.into());
    let input = rw.emit(Reshape { input: x, ty })?;
    rw.emit(Transpose { input, perm })
}

// Returns the axes of `to` that each axis of `from` is split into, if that is all the difference.
fn split_axes(from: &[Dim], to: &[Dim]) -> Option<Vec<Range<usize>>> {
    if from.iter().chain(to).any(|dim| matches!(dim, Dim::Unknown | Dim::Known(0))) {
        return None;
    }
    let mut next = 0;
    let mut parts = Vec::with_capacity(from.len());
    for &dim in from {
        let start = next;
        let mut product = Dim::Known(1);
        while !product.certainly_equal(dim) {
            product = product.times(*to.get(next)?);
            next += 1;
        }
        parts.push(start..next);
    }
    // Ones at the end belong to the last axis.
    let rest = to.get(next..)?;
    if rest.iter().any(|&dim| dim != Dim::Known(1)) {
        return None;
    }
    parts.last_mut()?.end = to.len();
    Some(parts)
}
