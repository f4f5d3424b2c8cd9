//! Canonicalizations of the reductions.

use sapwood_ptir::ops::{
    Add, ArgMax, ArgMin, Compare, CompareOrder, Direction, Mul, Neg, Or, Pad, Reduce, ReduceMax,
    ReduceMin, Reshape, Reverse, Select, Transpose,
};
use sapwood_ptir::{Dim, Function, Op, TensorType, Use, Value, Values};
use smallvec::SmallVec;

use super::carried_values::{dependent_yields, narrowed_region};
use super::cast::can_represent_all;
use super::numeric_constants::{int_like, splat_float};
use super::reducer::{Reducer, neutral_of_reduction, single_op_reducer};
use super::tensor_views::{
    AxisList, BroadcastView, NamedReduction, UniformValue, axis_list, emit_broadcast, emit_reshape,
    find_axes_among_units, is_at_most_one, remaining_axes,
};
use crate::FloatMode;
use crate::pattern::{Binary, OpRef, Rewrite, RootView};

crate::patterns! { "reduce":
    reduce_over_nothing hops 1 when same,
    reduce_of_ones hops 1 when unit,
    reduce_without_ones hops 1 when unit,
    reduce_of_reduce hops 1 when 0 in [NamedReduction],
    reduce_of_transpose hops 1 when 0 in [Transpose],
    reduce_of_reshape hops 1 when 0 in [Reshape],
    reduce_of_broadcast hops 1 when 0 in [BroadcastView],
    sum_of_broadcast hops 1 when 0 in [BroadcastView] floats fast,
    reduce_of_reverse hops 1 when 0 in [Reverse],
    reduce_of_pad when 0 in [Pad],
    max_of_shifted on [ReduceMax, ReduceMin] when 0 in [Add, Mul, Neg],
    reshape_of_reduce benefit 0 hops 1 when 0 in [NamedReduction],
    reduce_by_name,
    reduce_unused benefit 0,
    reduce_beside_arg_reduction on [ReduceMin, ReduceMax] hops 1 floats nsz,
    arg_of_one on [ArgMax, ArgMin] when unit or empty,
}

// Returns the float mode in which a single element equals its reduction: a sum starts from zero, so that -0 becomes 0. There
// is none if the element is rounded to the accumulator type.
fn single_element_mode(op: &NamedReduction, rw: &Rewrite<'_>) -> Option<FloatMode> {
    let dtype = rw.dtype(op.input)?;
    if !can_represent_all(op.accumulate.unwrap_or(dtype), dtype) {
        return None;
    }
    let complex = dtype.is_complex();
    Some(match () {
        () if op.is_sum() => FloatMode::Nsz,
        () if op.is_product() && complex => FloatMode::Fast,
        () => FloatMode::Exact,
    })
}

/// `reduce(x, no axes) = x`.
///
/// Floats: exact for all but `reduce_sum`, which needs nsz, and `reduce_prod` of complex numbers, which needs fast.
fn reduce_over_nothing(op: NamedReduction, rw: &mut Rewrite<'_>) -> Option<Value> {
    let mode = single_element_mode(&op, rw)?;
    let same = op.axes.is_empty() && rw.ty(op.input) == rw.result_type();
    (same && rw.allows(mode, op.input)).then_some(op.input)
}

/// `reduce(x, axes) = reshape(x)` if all axes have extent one.
///
/// Floats: exact for all but `reduce_sum`, which needs nsz, and `reduce_prod` of complex numbers, which needs fast.
fn reduce_of_ones(op: NamedReduction, rw: &mut Rewrite<'_>) -> Option<Value> {
    let mode = single_element_mode(&op, rw)?;
    let dims = &rw.tensor(op.input)?.dims;
    let ones = op.axes.iter().all(|&a| dims[a] == Dim::Known(1));
    if op.axes.is_empty() || !ones || !rw.allows(mode, op.input) {
        return None;
    }
    emit_reshape(rw, op.input, rw.result_tensor()?)
}

/// `reduce(x, axes, keepdims) = reduce(x, axes without those of extent one, keepdims)` if some are left.
///
/// Floats: exact.
fn reduce_without_ones(op: NamedReduction, rw: &mut Rewrite<'_>) -> Option<Value> {
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
fn reduce_of_reduce(outer: NamedReduction, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<NamedReduction>(outer.input)?;
    let rounds = outer.is_sum() || outer.is_product();
    let mode = if rounds { FloatMode::Fast } else { FloatMode::Exact };
    let same = inner.key == outer.key && inner.accumulate == outer.accumulate;
    if !same || !rw.one_use(outer.input) || !rw.allows(mode, outer.input) {
        return None;
    }
    let mut all = inner.axes.clone();
    match (inner.keepdims, outer.keepdims) {
        (false, false) => {
            let kept = remaining_axes(rw.rank(inner.input)?, &inner.axes);
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
fn reduce_of_transpose(op: NamedReduction, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Transpose>(op.input)?;
    let perm = axis_list(&inner.perm);
    let moved = |list: &[usize]| list.iter().map(|&a| perm[a]).collect::<AxisList>();
    let (mut reduced, kept) = (moved(&op.axes), moved(&remaining_axes(perm.len(), &op.axes)));
    let reordered = !reduced.is_sorted() && (op.is_sum() || op.is_product());
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
fn reduce_of_reshape(op: NamedReduction, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(op.input)?;
    let (from, to) = (rw.shape(inner.input)?, rw.shape(op.input)?);
    let places = find_axes_among_units(&from, &to)?;
    let gone = remaining_axes(to.len(), &places).iter().all(|a| op.axes.contains(a));
    if op.keepdims || !gone || from.len() == to.len() {
        return None;
    }
    let left: AxisList = (0..from.len()).filter(|&a| op.axes.contains(&places[a])).collect();
    rw.emit_parts(&op.with(inner.input, &left))
}

// Removes from a broadcast under a reduction the new axes that are reduced. Returns the smaller broadcast, the remaining axes
// of the reduction, and the number of equal elements that each remaining one stands for.
fn without_repeated_axes(
    op: &NamedReduction,
    rw: &mut Rewrite<'_>,
) -> Option<(Value, AxisList, u64)> {
    let inner = rw.def::<BroadcastView>(op.input)?;
    if !inner.is_certain() {
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
        return Some((emit_broadcast(rw, inner.input, &inner.dims, &ty)?, left, times));
    }
    let kept = remaining_axes(inner.ty.rank(), &gone);
    let dims = kept.iter().map(|&a| inner.ty.dims[a]).collect();
    let ty = TensorType { dtype: inner.ty.dtype, dims };
    let place = |list: &[usize]| -> Option<AxisList> {
        list.iter().map(|a| kept.iter().position(|k| k == a)).collect()
    };
    let (dims, left) = (place(&inner.dims)?, place(&left)?);
    Some((emit_broadcast(rw, inner.input, &dims, &ty)?, left, times))
}

/// `reduce(broadcast(x), axes) = reduce(broadcast(x), axes that do not repeat)` where equal elements reduce to themselves.
///
/// For `reduce_max`, `reduce_min`, `reduce_and`, `reduce_or`, and for `reduce_sum` and `reduce_prod` of bools.
///
/// Floats: exact.
fn reduce_of_broadcast(op: NamedReduction, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !op.is_idempotent(rw.dtype(op.input)?) {
        return None;
    }
    let (small, left, _) = without_repeated_axes(&op, rw)?;
    if left.is_empty() {
        return Some(small);
    }
    rw.emit_parts(&op.with(small, &left))
}

/// `reduce_sum(broadcast(x), axes) = n * reduce_sum(broadcast(x), axes that do not repeat)`.
///
/// All dims of the result must be known.
///
/// Floats: fast.
fn sum_of_broadcast(op: NamedReduction, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !op.is_sum() || rw.dtype(op.input)?.is_bool() || !rw.allows(FloatMode::Fast, op.input) {
        return None;
    }
    let (small, left, times) = without_repeated_axes(&op, rw)?;
    let sum = if left.is_empty() { small } else { rw.emit_parts(&op.with(small, &left))? };
    // Integers wrap, and the factor wraps like the sum.
    let times = match rw.dtype(op.input)?.is_integer() {
        true => int_like(rw, rw.result(0)?, times.into())?,
        false => rw.filled_like_result(times as f64)?,
    };
    rw.emit(Mul { lhs: sum, rhs: times })
}

/// `reduce(reverse(x, a), b) = reduce(x, b)` if all axes `a` are reduced.
///
/// Floats: exact for `reduce_max` and `reduce_min`; `reduce_sum` and `reduce_prod` need fast.
fn reduce_of_reverse(op: NamedReduction, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reverse>(op.input)?;
    let rounds = op.is_sum() || op.is_product();
    let mode = if rounds { FloatMode::Fast } else { FloatMode::Exact };
    let reduced = axis_list(&inner.axes).iter().all(|axis| op.axes.contains(axis));
    if !reduced || !rw.allows(mode, op.input) {
        return None;
    }
    rw.emit_parts(&op.with(inner.input, &op.axes))
}

/// `reduce(pad(x, v), axes) = reduce(x, axes)` if only reduced axes are padded, and `v` is the neutral element.
///
/// Only if no element is removed.
///
/// Floats: exact.
fn reduce_of_pad(op: NamedReduction, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Pad>(op.input)?;
    let padded = |axis: usize| {
        let between = inner.interior.as_ref().is_some_and(|list| list[axis] != 0);
        inner.low[axis] != 0 || inner.high[axis] != 0 || between
    };
    let removes = inner.low.iter().chain(inner.high.iter()).any(|&n| n < 0);
    let reduced = (0..inner.low.len()).all(|axis| !padded(axis) || op.axes.contains(&axis));
    let complex_product = op.is_product() && rw.dtype(op.input)?.is_complex();
    if removes || !reduced || complex_product {
        return None;
    }
    let neutral = neutral_of_reduction(op.key, rw.dtype(op.input)?)?;
    if rw.splat_of(inner.value)?.as_splat() != neutral.as_splat() {
        return None;
    }
    rw.emit_parts(&op.with(inner.input, &op.axes))
}

/// `reduce_max(x + c) = reduce_max(x) + c`, `reduce_max(x * c) = reduce_max(x) * c` and `reduce_max(-x) = -reduce_min(x)` for floats and a constant `c` of equal elements.
///
/// The factor must be positive, and `c` finite. Likewise for `reduce_min`. Only if nothing else uses the operand of the reduction, and all dims of
/// the result are known.
///
/// Floats: exact. Rounding keeps the order
fn max_of_shifted(op: NamedReduction, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dtype = rw.dtype(op.input)?;
    if !dtype.is_float() || dtype.bit_width() < 16 || !rw.one_use_here(op.input) {
        return None;
    }
    if let Some(neg) = rw.def::<Neg>(op.input) {
        let is_max = op.key == ReduceMax::key();
        let key = if is_max { ReduceMin::key() } else { ReduceMax::key() };
        let opposite = NamedReduction { key, ..op };
        let input = rw.emit_parts(&opposite.with(neg.input, &opposite.axes))?;
        return rw.emit(Neg { input });
    }
    let inner = rw.def::<Binary>(op.input)?;
    let c = splat_float(rw, inner.rhs)?;
    let scales = inner.key == Mul::key();
    if !scales && inner.key != Add::key() {
        return None;
    }
    if !c.is_finite() || c == 0.0 || scales && c < 0.0 {
        return None;
    }
    let literal = UniformValue::Literal(rw.splat_of(inner.rhs)?);
    let reduced = rw.emit_parts(&op.with(inner.lhs, &op.axes))?;
    let c = literal.emit(rw, rw.result_tensor()?)?;
    rw.emit_parts(&inner.with(reduced, c))
}

/// `reshape(reduce(x, axes)) = reduce(x, axes, keepdims)` if the reshape adds the reduced axes with extent one.
///
/// Only if nothing else uses the reduction, and all dims are known. It is tried when nothing else is left to do.
///
/// Floats: exact.
fn reshape_of_reduce(op: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<NamedReduction>(op.input)?;
    if inner.keepdims || !rw.one_use(op.input) {
        return None;
    }
    let mut kept = rw.shape(inner.input)?;
    inner.axes.iter().for_each(|&axis| kept[axis] = 1);
    if rw.result_tensor()?.known_shape()? != kept {
        return None;
    }
    rw.emit_parts(
        &NamedReduction { keepdims: true, ..inner.clone() }.with(inner.input, &inner.axes),
    )
}

/// `reduce(x, init, f) = f(reduce_f(x), init)` for an `f` that is one op with a reduction of its own.
///
/// Without `init` if that is the neutral element.
///
/// Cost: the initial value, if it is not the neutral element, is combined by an instruction of its own.
///
/// Floats: exact; sums and products need an `init` that is neutral.
fn reduce_by_name(op: Reduce, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (&[input], &[init]) = (&op.inputs[..], &op.inits[..]) else { return None };
    let Reducer { combine, named, neutral } = single_op_reducer(op.body, init, rw)?;
    let dtype = rw.dtype(input)?;
    let rounds = named.is_sum() || named.is_product();
    if !neutral && rounds && !(dtype.is_integer() || dtype.is_bool()) {
        return None;
    }
    let named =
        rw.emit_parts(&NamedReduction { input, ..named }.with(input, &axis_list(&op.axes)))?;
    if neutral {
        return Some(named);
    }
    let ty = rw.result_tensor()?;
    let init = match ty.rank() {
        0 => init,
        _ => UniformValue::Scalar(init).emit(rw, ty)?,
    };
    let mut parts = sapwood_ptir::OpParts::new(combine);
    parts.operands = SmallVec::from_iter([named, init]);
    rw.emit_parts(&parts)
}

/// The number of operands of a reduction whose dependence on each other is examined.
const MAX_REDUCED: usize = 64;

/// `reduce(x, y, f) = reduce(x, f)` if the result for `y` is not used, and the others do not depend on the elements of `y`.
///
/// Floats: exact.
fn reduce_unused(op: Reduce, rw: &mut Rewrite<'_>) -> Option<Values> {
    let count = op.inputs.len();
    let params = rw.params(op.body);
    let results: Values = (0..count).map(|n| rw.result(n)).collect::<Option<_>>()?;
    // An accumulator and an element have the type of the initial value, which takes their place.
    let fits = |n: usize| {
        let of_params = [params.get(n), params.get(count + n)];
        of_params.into_iter().all(|p| p.is_some_and(|&p| rw.ty(p) == rw.ty(op.inits[n])))
    };
    let mut leaves: Vec<bool> = (0..count).map(|n| rw.unused(results[n]) && fits(n)).collect();
    if !leaves.contains(&true) || count > MAX_REDUCED || rw.is_ordered(rw.root()) {
        return None;
    }
    let mut reached: Vec<Vec<usize>> = vec![Vec::new(); count];
    for n in (0..count).filter(|&n| rw.unused(results[n])) {
        for param in [params[n], params[count + n]] {
            match dependent_yields(rw, op.body, param) {
                Some(yields) => reached[n].extend(yields),
                None => leaves[n] = false,
            }
        }
    }
    // What a result that stays depends on stays, too.
    while let Some(n) = (0..count).find(|&n| leaves[n] && reached[n].iter().any(|&m| !leaves[m])) {
        leaves[n] = false;
    }
    if !leaves.contains(&true) || !leaves.contains(&false) {
        return None;
    }
    let gone: Vec<usize> = (0..count).filter(|&n| leaves[n]).collect();
    let replaced: Vec<(usize, Value)> =
        gone.iter().flat_map(|&n| [n, count + n].map(|at| (at, op.inits[n]))).collect();
    let region = narrowed_region(op.body, &replaced, &gone);
    let stay =
        |list: &Values| -> Values { (0..count).filter(|&n| !leaves[n]).map(|n| list[n]).collect() };
    let (inputs, inits) = (stay(&op.inputs), stay(&op.inits));
    let left = rw.emit_with_regions(Reduce { inputs, inits, ..op }, &[region])?;
    let mut left = left.into_iter();
    (0..count).map(|n| if leaves[n] { Some(results[n]) } else { left.next() }).collect()
}

/// `arg_max(x, axis) = 0`, `arg_min(x, axis) = 0` if the axis has extent one.
///
/// All dims must be known.
///
/// Floats: exact.
fn arg_of_one(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let axis = usize::try_from(f.attr(op.root, "axis")?.as_int()?).ok()?;
    let &input = f.operands(op.root).first()?;
    if !is_at_most_one(*rw.tensor(input)?.dims.get(axis)?) {
        return None;
    }
    rw.filled_like_result(0.0)
}

/// The maximum number of uses of an operand among which another reduction of it is looked for.
const MAX_REDUCED_USES: usize = 8;

/// `reduce_min(x) = y` if `y` is the first result of a `reduce` of `x` that finds the smallest element and its index; also for `reduce_max`.
///
/// The `reduce` keeps `a` of two elements if `a < b` or `a` is NaN. Both reduce the same axes, and the `reduce` comes first.
///
/// Floats: nsz. It may find -0 where `reduce_min` finds 0.
fn reduce_beside_arg_reduction(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let op = NamedReduction::read(f, op.root)?;
    let better = if op.key == ReduceMin::key() { Direction::Lt } else { Direction::Gt };
    if op.keepdims || !rw.allows(FloatMode::Nsz, op.input) {
        return None;
    }
    let neutral = neutral_of_reduction(op.key, rw.dtype(op.input)?)?;
    // The first of them, whatever the order of the uses, which tells how the program was made.
    let mut uses: SmallVec<[Use; MAX_REDUCED_USES]> =
        f.uses(op.input).take(MAX_REDUCED_USES + 1).collect();
    if uses.len() > MAX_REDUCED_USES {
        return None;
    }
    uses.sort_unstable_by_key(|one| f.order_key(one.user));
    uses.into_iter().find_map(|one| {
        let other = f.view::<Reduce>(one.user)?;
        let mut axes = axis_list(&other.axes);
        axes.sort_unstable();
        let from = f.constant_of(*other.inits.first()?)?.as_splat() == neutral.as_splat();
        let value = f.result(one.user, 0).filter(|&value| f.is_available_to(value, rw.root()))?;
        let same = one.index == 0 && axes == op.axes && from;
        (same && keeps_better(f, &other, better).is_some()).then_some(value)
    })
}

// Returns `Some` if the first result of a reduction is the better one of two elements `a` and `b`: `a` if it compares like this with `b` or is NaN.
fn keeps_better(f: &Function, op: &Reduce, better: Direction) -> Option<()> {
    let params = f.body_params(op.body);
    let (&a, &b) = (params.first()?, params.get(op.inputs.len())?);
    let &kept = f.body_results(op.body).first()?;
    let select = f.view::<Select>(f.inst_of(kept)?)?;
    let either = f.view::<Or>(f.inst_of(select.pred)?)?;
    let compare = |value: Value| f.view::<Compare>(f.inst_of(value)?);
    let is_better = |c: &Compare| {
        let direction = match (c.lhs, c.rhs) {
            both if both == (a, b) => c.direction,
            both if both == (b, a) => c.direction.swapped(),
            _ => return false,
        };
        direction == better && c.order == CompareOrder::Partial
    };
    let is_nan = |c: &Compare| {
        (c.lhs, c.rhs, c.direction, c.order) == (a, a, Direction::Ne, CompareOrder::Partial)
    };
    let (x, y) = (compare(either.lhs)?, compare(either.rhs)?);
    let holds = is_better(&x) && is_nan(&y) || is_better(&y) && is_nan(&x);
    (holds && (select.on_true, select.on_false) == (a, b)).then_some(())
}
