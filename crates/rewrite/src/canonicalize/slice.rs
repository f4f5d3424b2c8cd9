//! Canonicalizations of `slice`.

use sapwood_ptir::ops::{
    Concat, DynamicUpdateSlice, Iota, Pad, Reshape, Reverse, Slice, Transpose,
};
use sapwood_ptir::{Axes, Dim, Int, TensorLiteral, TensorType, Value, Values};
use smallvec::SmallVec;

use super::dynamic::known_start;
use super::tensor_views::{
    BroadcastView, UniformValue, axes_without_units, emit_broadcast, emit_reshape,
};
use crate::pattern::{Binary, Rewrite, Unary};

crate::patterns! { "slice":
    slice_of_all when same,
    slice_of_slice when 0 in [Slice],
    slice_of_concat when 0 in [Concat],
    slice_of_broadcast when 0 in [BroadcastView],
    slice_of_pad when 0 in [Pad],
    slice_of_reverse when 0 in [Reverse],
    slice_of_transpose when 0 in [Transpose],
    slice_of_iota when 0 in [Iota],
    slice_of_update when 0 in [DynamicUpdateSlice],
    slice_of_reshape when 0 in [Reshape],
    slice_of_unary hops 1 when 0 in [Unary],
    slice_of_binary_with_uniform when 0 in [Binary],
    reshape_of_slice_of_reshape when 0 in [Slice],
}

/// The elements that a slice takes along one axis: `count` elements from `start` in steps of `step`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SliceRange {
    start: i64,
    step: i64,
    count: i64,
}

impl SliceRange {
    fn last(self) -> i64 {
        self.start + (self.count - 1) * self.step
    }

    /// Returns one past the last element.
    fn limit(self) -> i64 {
        if self.count == 0 { self.start } else { self.last() + 1 }
    }

    fn shifted(self, by: i64) -> Self {
        Self { start: self.start + by, ..self }
    }
}

type SliceRanges = SmallVec<[SliceRange; 4]>;

fn slice_ranges(op: &Slice) -> SliceRanges {
    let step = |axis: usize| op.strides.as_ref().map_or(1, |s| s[axis]);
    let range = |(axis, (&start, &limit)): (usize, (&i64, &i64))| {
        let (step, extent) = (step(axis), limit - start);
        SliceRange { start, step, count: extent / step + i64::from(extent % step != 0) }
    };
    op.starts.iter().zip(op.limits.iter()).enumerate().map(range).collect()
}

// Returns the ranges of a slice that is not empty; `nothing_left` handles the others.
fn nonempty_ranges(op: &Slice) -> Option<SliceRanges> {
    let ranges = slice_ranges(op);
    ranges.iter().all(|r| r.count > 0).then_some(ranges)
}

fn emit_slice(rw: &mut Rewrite<'_>, input: Value, ranges: &[SliceRange]) -> Option<Value> {
    let list = |part: fn(&SliceRange) -> i64| ranges.iter().map(part).collect::<Axes>();
    let plain = ranges.iter().all(|r| r.step == 1);
    let strides = (!plain).then(|| list(|r| r.step));
    rw.emit(Slice { input, starts: list(|r| r.start), limits: list(|r| r.limit()), strides })
}

/// `slice(x) = x` if it takes everything.
///
/// Floats: exact.
fn slice_of_all(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let all = slice_ranges(&op).iter().all(|r| r.start == 0 && (r.step == 1 || r.count <= 1));
    (all && rw.same_type(op.input, rw.result(0)?)).then_some(op.input)
}

/// `slice(slice(x)) = slice(x)`.
///
/// Floats: exact.
fn slice_of_slice(outer: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Slice>(outer.input)?;
    let (outside, inside) = (nonempty_ranges(&outer)?, slice_ranges(&inner));
    let joined = outside.iter().zip(&inside).map(|(o, i)| {
        let start = i.step.checked_mul(o.start)?.checked_add(i.start)?;
        // For one element the step does not matter.
        let step = if o.count == 1 { 1 } else { i.step.checked_mul(o.step)? };
        Some(SliceRange { start, step, count: o.count })
    });
    let joined: SliceRanges = joined.collect::<Option<_>>()?;
    emit_slice(rw, inner.input, &joined)
}

/// `slice(concat(x, y, …)) = slice(concat(…))` of the operands it touches.
///
/// With several operands only if nothing else uses the concat.
///
/// Floats: exact.
fn slice_of_concat(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (inner, joined) = rw.concat_offsets(op.input)?;
    let inputs = rw.function().operands(inner);
    let mut ranges = nonempty_ranges(&op)?;
    let range = &mut ranges[joined.axis];
    let (first, last) = (joined.operand_at(range.start)?, joined.operand_at(range.last())?);
    if inputs.len() == 1 || first != last && !rw.one_use(op.input) {
        return None;
    }
    *range = range.shifted(-joined.operand_start(first));
    if first == last {
        return emit_slice(rw, inputs[first], &ranges);
    }
    let touched = (first..=last).filter(|&n| !joined.operand_is_empty(n)).map(|n| inputs[n]);
    let touched: Values = touched.collect();
    if touched.len() == inputs.len() {
        return None;
    }
    let input = rw.emit(Concat { inputs: touched, axis: Int::from(joined.axis) })?;
    emit_slice(rw, input, &ranges)
}

/// `slice(broadcast(x)) = broadcast(slice(x))`, or `broadcast(x)` if it only cuts axes that repeat.
///
/// Floats: exact.
fn slice_of_broadcast(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<BroadcastView>(op.input)?;
    if !inner.is_certain() {
        return None;
    }
    let ranges = nonempty_ranges(&op)?;
    let mut small = SliceRanges::new();
    let mut cuts = false;
    for (&to, &dim) in inner.dims.iter().zip(&inner.from.dims) {
        if dim == Dim::Known(1) {
            small.push(SliceRange { start: 0, step: 1, count: 1 });
            continue;
        }
        let range = ranges[to];
        cuts |= dim != Dim::Known(range.count.unsigned_abs());
        small.push(range);
    }
    let input = if cuts { emit_slice(rw, inner.input, &small)? } else { inner.input };
    emit_broadcast(rw, input, &inner.dims, rw.result_tensor()?)
}

/// `slice(pad(x, v)) = slice(x)` if it takes no padding, `broadcast(v)` if it takes nothing else.
///
/// All dims of `x` must be known, and nothing may be padded between its elements.
///
/// Floats: exact.
fn slice_of_pad(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Pad>(op.input)?;
    let shape = rw.shape(inner.input)?;
    if inner.interior.as_ref().is_some_and(|i| i.iter().any(|&n| n != 0)) {
        return None;
    }
    let ranges = nonempty_ranges(&op)?;
    let mut inside = SliceRanges::new();
    let mut outside = false;
    for (axis, &range) in ranges.iter().enumerate() {
        let low = inner.low[axis];
        let end = i64::try_from(shape[axis]).ok()?.checked_add(low)?;
        outside |= range.last() < low || range.start >= end;
        if range.start >= low && range.last() < end {
            inside.push(range.shifted(-low));
        }
    }
    if outside {
        return UniformValue::Scalar(inner.value).emit(rw, rw.result_tensor()?);
    }
    if inside.len() < ranges.len() {
        return None;
    }
    emit_slice(rw, inner.input, &inside)
}

/// `slice(reverse(x)) = reverse(slice(x))` with step one along reversed axes.
///
/// Only if nothing else uses the reversed value.
///
/// Floats: exact.
fn slice_of_reverse(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reverse>(op.input)?;
    if !rw.one_use(op.input) {
        return None;
    }
    let mut ranges = nonempty_ranges(&op)?;
    for &axis in inner.axes.iter() {
        let axis = axis as usize;
        let extent = i64::try_from(rw.tensor(inner.input)?.dims[axis].known()?).ok()?;
        let range = &mut ranges[axis];
        if range.step != 1 && range.count > 1 {
            return None;
        }
        *range = SliceRange { start: extent - range.limit(), step: 1, count: range.count };
    }
    let input = emit_slice(rw, inner.input, &ranges)?;
    rw.emit(Reverse { input, axes: inner.axes })
}

/// `slice(transpose(x, p)) = transpose(slice(x), p)`.
///
/// Only if nothing else uses the transposed value.
///
/// Floats: exact.
fn slice_of_transpose(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Transpose>(op.input)?;
    if !rw.one_use(op.input) {
        return None;
    }
    let ranges = nonempty_ranges(&op)?;
    let mut moved = ranges.clone();
    for (to, &from) in inner.perm.iter().enumerate() {
        moved[from as usize] = ranges[to];
    }
    let input = emit_slice(rw, inner.input, &moved)?;
    rw.emit(Transpose { input, perm: inner.perm })
}

/// `slice(iota) = iota` if it takes the first elements along the axis that counts.
///
/// Floats: exact.
fn slice_of_iota(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Iota>(op.input)?;
    let ranges = nonempty_ranges(&op)?;
    let range = ranges[inner.axis.0 as usize];
    if range.start != 0 || (range.step != 1 && range.count > 1) {
        return None;
    }
    // The result may declare less of its extents, which nothing would tell the iota.
    let dims = ranges.iter().map(|r| u64::try_from(r.count).ok().map(Dim::Known));
    let ty = TensorType { dtype: rw.dtype(op.input)?, dims: dims.collect::<Option<_>>()? };
    rw.emit(Iota { axis: inner.axis, ty: ty.into() })
}

/// `slice(dynamic_update_slice(x, u, starts)) = slice(u)` if it takes only elements of `u`, `slice(x)` if it takes none of them.
///
/// The starts along the axes that decide are constants.
///
/// Floats: exact.
fn slice_of_update(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<DynamicUpdateSlice>(op.input)?;
    let (shape, sizes) = (rw.shape(inner.input)?, rw.shape(inner.update)?);
    let ranges = nonempty_ranges(&op)?;
    let mut inside = SliceRanges::new();
    for (axis, &range) in ranges.iter().enumerate() {
        let size = i64::try_from(sizes[axis]).ok()?;
        let Some(start) = known_start(rw, inner.starts[axis], shape[axis], sizes[axis]) else {
            continue;
        };
        if range.last() < start || range.start >= start + size {
            return emit_slice(rw, inner.input, &ranges);
        }
        if range.start >= start && range.last() < start + size {
            inside.push(range.shifted(-start));
        }
    }
    if inside.len() < ranges.len() {
        return None;
    }
    emit_slice(rw, inner.update, &inside)
}

// Returns the slice of `x` for a slice of `reshape(x)` that only adds or removes axes of extent one.
fn slice_before_reshape(op: &Slice, inner: &Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    let places = axes_without_units(&rw.shape(inner.input)?, &rw.shape(op.input)?)?;
    let ranges = nonempty_ranges(op)?;
    let only = SliceRange { start: 0, step: 1, count: 1 };
    let moved = places.iter().map(|place| place.map_or(only, |axis| ranges[axis]));
    emit_slice(rw, inner.input, &moved.collect::<SliceRanges>())
}

/// `slice(reshape(x)) = reshape(slice(x))` if the reshape only adds or removes axes of extent one.
///
/// Only if nothing else uses the reshaped value. All dims must be known.
///
/// Floats: exact.
fn slice_of_reshape(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(op.input)?;
    if !rw.one_use(op.input) {
        return None;
    }
    let slice = slice_before_reshape(&op, &inner, rw)?;
    emit_reshape(rw, slice, rw.result_tensor()?)
}

/// `reshape(slice(reshape(x))) = reshape(slice(x))` if the inner reshape only adds or removes axes of extent one.
///
/// Only if nothing else uses the slice. All dims must be known.
///
/// Floats: exact.
fn reshape_of_slice_of_reshape(op: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    let slice = rw.def::<Slice>(op.input)?;
    let inner = rw.def::<Reshape>(slice.input)?;
    if !rw.one_use(op.input) {
        return None;
    }
    let slice = slice_before_reshape(&slice, &inner, rw)?;
    emit_reshape(rw, slice, rw.result_tensor()?)
}

/// `slice(f(x)) = f(slice(x))` for elementwise `f` of one operand.
///
/// Only if nothing else uses the result of `f`, and the elements of `x` are not wider than those of `f(x)`.
///
/// Floats: exact.
fn slice_of_unary(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.def::<Unary>(op.input)?;
    let ranges = nonempty_ranges(&op)?;
    let narrow = rw.dtype(f.input)?.byte_size() <= rw.dtype(op.input)?.byte_size();
    if !rw.one_use_here(op.input) || !narrow {
        return None;
    }
    let part = emit_slice(rw, f.input, &ranges)?;
    rw.emit_parts(&f.with(part))
}

/// `slice(x ∘ c) = slice(x) ∘ c` for an elementwise op and a constant `c` of equal elements, in any order.
///
/// Only if nothing else uses the result of the op. All dims must be known.
///
/// Floats: exact.
fn slice_of_binary_with_uniform(op: Slice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.def::<Binary>(op.input)?;
    let ranges = nonempty_ranges(&op)?;
    let shape = rw.result_tensor()?.known_shape()?;
    if !rw.one_use_here(op.input) {
        return None;
    }
    let (lhs, rhs) = (rw.splat_of(f.lhs), rw.splat_of(f.rhs));
    if lhs.is_some() == rhs.is_some() {
        return None;
    }
    let part = |rw: &mut Rewrite<'_>, value: Value, literal: Option<TensorLiteral>| match literal {
        Some(literal) => {
            let small = TensorLiteral::splat(literal.dtype(), &shape, literal.as_splat()?).ok()?;
            Some(rw.constant(small))
        }
        None => emit_slice(rw, value, &ranges),
    };
    let (lhs, rhs) = (part(rw, f.lhs, lhs)?, part(rw, f.rhs, rhs)?);
    rw.emit_parts(&f.with(lhs, rhs))
}
