//! Canonicalizations of the reductions.

use sapwood_ptir::ops::{ArgMax, ArgMin, Mul, Reduce, Reshape, Transpose};
use sapwood_ptir::{Dim, TensorType, Value};
use smallvec::SmallVec;

use super::cast::holds_all;
use super::numbers::int_like;
use super::reducer::{Reducer, reducer};
use super::support::{
    AxisList, Named, Spread, Uniform, among_units, at_most_one, axes, others, reshape, spread,
};
use crate::FloatMode;
use crate::pattern::{OpRef, Rewrite};

crate::patterns! { "reduce":
    reduce_over_nothing hops 1 when same,
    reduce_of_ones hops 1 when unit,
    reduce_without_ones hops 1 when unit,
    reduce_of_reduce hops 1 when 0 in [Named],
    reduce_of_transpose hops 1 when 0 in [Transpose],
    reduce_of_reshape hops 1 when 0 in [Reshape],
    reduce_of_broadcast hops 1 when 0 in [Spread],
    sum_of_broadcast hops 1 when 0 in [Spread] floats fast,
    reduce_by_name,
    arg_of_one on [ArgMax, ArgMin] when unit or empty,
}

// Which mode permits to take a single element for its reduction: a sum starts from zero, so that -0 becomes 0. None does
// if the element is rounded to the type that sums are taken in.
fn mode_of_one(op: &Named, rw: &Rewrite<'_>) -> Option<FloatMode> {
    let dtype = rw.dtype(op.input)?;
    if !holds_all(op.accumulate.unwrap_or(dtype), dtype) {
        return None;
    }
    let complex = dtype.is_complex();
    Some(match () {
        () if op.adds() => FloatMode::Nsz,
        () if op.multiplies() && complex => FloatMode::Fast,
        () => FloatMode::Exact,
    })
}

/// `reduce(x, no axes) = x`.
///
/// Floats: exact for all but `reduce_sum`, which needs nsz, and `reduce_prod` of complex numbers, which needs fast.
fn reduce_over_nothing(op: Named, rw: &mut Rewrite<'_>) -> Option<Value> {
    let mode = mode_of_one(&op, rw)?;
    let same = op.axes.is_empty() && rw.ty(op.input) == rw.result_type();
    (same && rw.allows(mode, op.input)).then_some(op.input)
}

/// `reduce(x, axes) = reshape(x)` if all axes have extent one.
///
/// Floats: exact for all but `reduce_sum`, which needs nsz, and `reduce_prod` of complex numbers, which needs fast.
fn reduce_of_ones(op: Named, rw: &mut Rewrite<'_>) -> Option<Value> {
    let mode = mode_of_one(&op, rw)?;
    let dims = &rw.tensor(op.input)?.dims;
    let ones = op.axes.iter().all(|&a| dims[a] == Dim::Known(1));
    if op.axes.is_empty() || !ones || !rw.allows(mode, op.input) {
        return None;
    }
    reshape(rw, op.input, rw.result_tensor()?)
}

/// `reduce(x, axes, keepdims) = reduce(x, axes without those of extent one, keepdims)` if some are left.
///
/// Floats: exact.
fn reduce_without_ones(op: Named, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dims = &rw.tensor(op.input)?.dims;
    let left: AxisList = op.axes.iter().copied().filter(|&a| dims[a] != Dim::Known(1)).collect();
    if !op.keepdims || left.is_empty() || left.len() == op.axes.len() {
        return None;
    }
    rw.emit_parts(&op.with(op.input, &left))
}

/// `reduce(reduce(x, a), b) = reduce(x, a and b)`.
///
/// Only if nothing else uses the inner one.
///
/// Floats: exact for `reduce_max` and `reduce_min`; `reduce_sum` and `reduce_prod` need fast.
fn reduce_of_reduce(outer: Named, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Named>(outer.input)?;
    let rounds = outer.adds() || outer.multiplies();
    let mode = if rounds { FloatMode::Fast } else { FloatMode::Exact };
    let same = inner.key == outer.key && inner.accumulate == outer.accumulate;
    if !same || !rw.one_use(outer.input) || !rw.allows(mode, outer.input) {
        return None;
    }
    let mut all = inner.axes.clone();
    match (inner.keepdims, outer.keepdims) {
        (false, false) => {
            let kept = others(rw.rank(inner.input)?, &inner.axes);
            all.extend(outer.axes.iter().map(|&a| kept[a]));
        }
        (true, true) => all.extend(outer.axes.iter().copied().filter(|a| !inner.axes.contains(a))),
        (true, false) if inner.axes.iter().all(|a| outer.axes.contains(a)) => {
            all.clone_from(&outer.axes);
        }
        _ => return None,
    }
    all.sort_unstable();
    rw.emit_parts(&outer.with(inner.input, &all))
}

/// `reduce(transpose(x, p), axes) = reduce(x, p[axes])` if the axes that stay keep their order.
///
/// Floats: exact for `reduce_max` and `reduce_min`, and if the reduced axes keep their order too; otherwise fast.
fn reduce_of_transpose(op: Named, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Transpose>(op.input)?;
    let perm = axes(&inner.perm);
    let moved = |list: &[usize]| list.iter().map(|&a| perm[a]).collect::<AxisList>();
    let (mut reduced, kept) = (moved(&op.axes), moved(&others(perm.len(), &op.axes)));
    let reordered = !reduced.is_sorted() && (op.adds() || op.multiplies());
    let mode = if reordered { FloatMode::Fast } else { FloatMode::Exact };
    if op.keepdims || !kept.is_sorted() || !rw.allows(mode, op.input) {
        return None;
    }
    reduced.sort_unstable();
    rw.emit_parts(&op.with(inner.input, &reduced))
}

/// `reduce(reshape(x), axes) = reduce(x, axes)` if the reshape only adds axes of extent one and all are reduced.
///
/// Floats: exact.
fn reduce_of_reshape(op: Named, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(op.input)?;
    let (from, to) = (rw.shape(inner.input)?, rw.shape(op.input)?);
    let places = among_units(&from, &to)?;
    let gone = others(to.len(), &places).iter().all(|a| op.axes.contains(a));
    if op.keepdims || !gone || from.len() == to.len() {
        return None;
    }
    let left: AxisList = (0..from.len()).filter(|&a| op.axes.contains(&places[a])).collect();
    rw.emit_parts(&op.with(inner.input, &left))
}

// A broadcast under a reduction without the new axes that are reduced: the smaller broadcast, the axes that are left to
// be reduced, and how many equal elements were taken for one.
fn shrink(op: &Named, rw: &mut Rewrite<'_>) -> Option<(Value, AxisList, u64)> {
    let inner = rw.def::<Spread>(op.input)?;
    if !inner.certain() {
        return None;
    }
    let extent = |a: usize| inner.ty.dims[a].known().filter(|&n| n > 0);
    let new = |a: &usize| !inner.dims.contains(a) && extent(*a).is_some();
    let gone: AxisList = op.axes.iter().copied().filter(new).collect();
    let times = gone.iter().try_fold(1_u64, |n, &a| n.checked_mul(extent(a)?))?;
    if gone.is_empty() || (op.keepdims && times == 1) {
        return None;
    }
    let left: AxisList = op.axes.iter().copied().filter(|a| !gone.contains(a)).collect();
    if op.keepdims {
        let mut ty = inner.ty.clone();
        gone.iter().for_each(|&a| ty.dims[a] = Dim::Known(1));
        return Some((spread(rw, inner.input, &inner.dims, &ty)?, left, times));
    }
    let kept = others(inner.ty.rank(), &gone);
    let dims = kept.iter().map(|&a| inner.ty.dims[a]).collect();
    let ty = TensorType { dtype: inner.ty.dtype, dims };
    let place = |list: &[usize]| -> Option<AxisList> {
        list.iter().map(|a| kept.iter().position(|k| k == a)).collect()
    };
    let (dims, left) = (place(&inner.dims)?, place(&left)?);
    Some((spread(rw, inner.input, &dims, &ty)?, left, times))
}

/// `reduce(broadcast(x), axes) = reduce(broadcast(x), axes that do not repeat)` where equal elements reduce to themselves.
///
/// So for `reduce_max`, `reduce_min`, `reduce_and`, `reduce_or`, and of bools `reduce_sum` and `reduce_prod`.
///
/// Floats: exact.
fn reduce_of_broadcast(op: Named, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !op.is_idempotent(rw.dtype(op.input)?) {
        return None;
    }
    let (small, left, _) = shrink(&op, rw)?;
    if left.is_empty() {
        return Some(small);
    }
    rw.emit_parts(&op.with(small, &left))
}

/// `reduce_sum(broadcast(x), axes) = n * reduce_sum(broadcast(x), axes that do not repeat)`.
///
/// All dims of the result have to be known.
///
/// Floats: fast.
fn sum_of_broadcast(op: Named, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !op.adds() || rw.dtype(op.input)?.is_bool() || !rw.allows(FloatMode::Fast, op.input) {
        return None;
    }
    let (small, left, times) = shrink(&op, rw)?;
    let sum = if left.is_empty() { small } else { rw.emit_parts(&op.with(small, &left))? };
    // Integers wrap, the factor as the sum.
    let times = match rw.dtype(op.input)?.is_integer() {
        true => int_like(rw, rw.result(0)?, times.into())?,
        false => rw.filled_like_result(times as f64)?,
    };
    rw.emit(Mul { lhs: sum, rhs: times })
}

/// `reduce(x, init, f) = f(reduce_f(x), init)` for `f` that is one op, with its own name.
///
/// Without the `init` if that is the neutral element.
///
/// Floats: exact; sums and products need an `init` that is neutral.
fn reduce_by_name(op: Reduce, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (&[input], &[init]) = (&op.inputs[..], &op.inits[..]) else { return None };
    let Reducer { combine, named, neutral } = reducer(op.body, init, rw)?;
    let dtype = rw.dtype(input)?;
    let rounds = named.adds() || named.multiplies();
    if !neutral && rounds && !(dtype.is_integer() || dtype.is_bool()) {
        return None;
    }
    let named = rw.emit_parts(&Named { input, ..named }.with(input, &axes(&op.axes)))?;
    if neutral {
        return Some(named);
    }
    let ty = rw.result_tensor()?;
    let init = match ty.rank() {
        0 => init,
        _ => Uniform::Scalar(init).emit(rw, ty)?,
    };
    let mut parts = sapwood_ptir::OpParts::new(combine);
    parts.operands = SmallVec::from_iter([named, init]);
    rw.emit_parts(&parts)
}

/// `arg_max(x, axis) = 0`, `arg_min(x, axis) = 0` if the axis has extent one.
///
/// All dims have to be known.
///
/// Floats: exact.
fn arg_of_one(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let axis = usize::try_from(f.attr(op.root, "axis")?.as_int()?).ok()?;
    let &input = f.operands(op.root).first()?;
    if !at_most_one(*rw.tensor(input)?.dims.get(axis)?) {
        return None;
    }
    rw.filled_like_result(0.0)
}
