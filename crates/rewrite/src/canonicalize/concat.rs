//! Canonicalizations of `concat`.

use sapwood_ptir::ops::{Concat, Pad, Reshape, Reverse, Slice, Transpose};
use sapwood_ptir::{Axes, Dim, Int, TensorType, Value, Values};

use super::tensor_views::{
    AxisList, UniformValue, as_uniform, axes_with_used_units, emit_broadcast, emit_reshape,
};
use crate::pattern::{Rewrite, Unary};

/// The maximum number of operands of a concat that another concat is merged into.
const MAX_CONCAT_OPERANDS: usize = 64;

crate::patterns! { "concat":
    concat_of_one when same,
    concat_of_empties,
    concat_of_concat when any in [Concat],
    concat_of_slices when any in [Slice],
    concat_of_descending_slices when 0 in [Slice] and 1 in [Slice],
    concat_of_uniform when 0 in constants,
    concat_of_transposes hops 1 when 0 in [Transpose] and 1 in [Transpose],
    concat_of_unaries hops 1 when 0 in [Unary] and 1 in [Unary],
    concat_of_repeats hops 1 when equal,
    concat_of_reshapes hops 1 when 0 in [Reshape] and 1 in [Reshape],
    concat_as_pad benefit 0 hops 1 when any in constants,
}

/// `concat(x) = x`.
///
/// Floats: exact.
fn concat_of_one(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let [one] = op.inputs[..] else { return None };
    (rw.ty(one) == rw.result_type()).then_some(one)
}

/// `concat(…, x, …) = concat(…, …)` if `x` has extent zero along the axis.
///
/// Floats: exact.
fn concat_of_empties(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let axis = op.axis.0 as usize;
    let full = |v: &Value| rw.tensor(*v).is_some_and(|t| t.dims[axis] != Dim::Known(0));
    let inputs: Values = op.inputs.iter().copied().filter(full).collect();
    if inputs.is_empty() || inputs.len() == op.inputs.len() {
        return None;
    }
    rw.emit(Concat { inputs, axis: op.axis })
}

/// `concat(…, concat(x, y), …) = concat(…, x, y, …)` along one axis.
///
/// Only if nothing else uses the inner one and the result has at most 64 operands.
///
/// Floats: exact.
fn concat_of_concat(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.inputs.len() >= MAX_CONCAT_OPERANDS {
        return None;
    }
    let (mut inputs, mut left) = (Values::new(), op.inputs.len());
    let mut merged = false;
    for &input in &op.inputs {
        left -= 1;
        let inner = if rw.one_use(input) { rw.def::<Concat>(input) } else { None };
        match inner {
            Some(inner)
                if inner.axis == op.axis
                    && inputs.len() + inner.inputs.len() + left <= MAX_CONCAT_OPERANDS =>
            {
                inputs.extend(inner.inputs);
                merged = true;
            }
            _ => inputs.push(input),
        }
    }
    if !merged {
        return None;
    }
    rw.emit(Concat { inputs, axis: op.axis })
}

/// `concat(slice(x, a..b), slice(x, b..c)) = slice(x, a..c)`.
///
/// Floats: exact.
fn concat_of_slices(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let axis = op.axis.0 as usize;
    // The operands, or the slices that replace several of them.
    let mut parts: Vec<(Value, Option<Slice>)> = Vec::new();
    for &input in &op.inputs {
        let part = rw.def::<Slice>(input).filter(|s| s.strides.is_none());
        if let (Some((_, Some(before))), Some(part)) = (parts.last_mut(), &part)
            && is_next_slice(before, part, axis)
        {
            let mut limits = before.limits.to_vec();
            limits[axis] = part.limits[axis];
            before.limits = limits.into();
            continue;
        }
        parts.push((input, part));
    }
    if parts.len() == op.inputs.len() {
        return None;
    }
    let mut inputs = Values::new();
    for (input, part) in parts {
        let whole = rw.def::<Slice>(input);
        inputs.push(match part {
            Some(part) if whole.as_ref() != Some(&part) => rw.emit(part)?,
            _ => input,
        });
    }
    match inputs[..] {
        [one] => Some(one),
        _ => rw.emit(Concat { inputs, axis: op.axis }),
    }
}

// Returns true if one slice begins where another ends, and they agree along the other axes.
fn is_next_slice(before: &Slice, part: &Slice, axis: usize) -> bool {
    before.input == part.input
        && (0..before.starts.len()).all(|a| match a == axis {
            true => before.limits[a] == part.starts[a],
            false => before.starts[a] == part.starts[a] && before.limits[a] == part.limits[a],
        })
}

/// `concat(slice(x, 2..3), slice(x, 1..2), slice(x, 0..1)) = reverse(slice(x, 0..3))`.
///
/// Only if nothing else uses the slices.
///
/// Floats: exact.
fn concat_of_descending_slices(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let axis = op.axis.0 as usize;
    let (&first, rest) = op.inputs.split_first()?;
    let read = |rw: &mut Rewrite<'_>, value: Value| {
        let part = rw.def::<Slice>(value).filter(|part| part.strides.is_none())?;
        (rw.one_use(value) && part.limits[axis] == part.starts[axis] + 1).then_some(part)
    };
    let first = read(rw, first).filter(|_| !rest.is_empty())?;
    let mut last = first.clone();
    for &operand in rest {
        let part = read(rw, operand)?;
        if !is_next_slice(&part, &last, axis) {
            return None;
        }
        last = part;
    }
    let input = rw.emit(Slice { starts: last.starts, ..first })?;
    rw.emit(Reverse { input, axes: Axes::from(vec![axis as i64]) })
}

/// `concat(broadcast(s), broadcast(s)) = broadcast(s)` for a scalar `s`.
///
/// All dims of the result must be known.
///
/// Floats: exact.
fn concat_of_uniform(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (&first, rest) = op.inputs.split_first()?;
    let first = as_uniform(rw, first)?;
    for &other in rest {
        if !as_uniform(rw, other)?.is_certainly_same(&first) {
            return None;
        }
    }
    first.emit(rw, rw.result_tensor()?)
}

/// `concat(transpose(x, p), transpose(y, p), …) = transpose(concat(x, y, …), p)`, if nothing else uses the operands.
///
/// Floats: exact.
fn concat_of_transposes(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (&first, rest) = op.inputs.split_first()?;
    let perm = rw.def::<Transpose>(first)?.perm;
    if rest.is_empty() {
        return None;
    }
    let mut inputs = Values::new();
    for &operand in &op.inputs {
        let inner = rw.def::<Transpose>(operand).filter(|inner| inner.perm == perm)?;
        if !rw.one_use(operand) {
            return None;
        }
        inputs.push(inner.input);
    }
    let axis = Int(perm[op.axis.0 as usize]);
    let input = rw.emit(Concat { inputs, axis })?;
    rw.emit(Transpose { input, perm })
}

/// `concat(f(x), f(y), …) = f(concat(x, y, …))` for elementwise `f` of one operand, if nothing else uses the operands.
///
/// The elements of `x` must not be wider than those of `f(x)`.
///
/// Floats: exact.
fn concat_of_unaries(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (&first, rest) = op.inputs.split_first()?;
    let f = rw.def::<Unary>(first)?;
    let narrow = rw.dtype(f.input)?.byte_size() <= rw.dtype(first)?.byte_size();
    if rest.is_empty() || !narrow {
        return None;
    }
    let mut inputs = Values::new();
    for &operand in &op.inputs {
        let g = rw.def::<Unary>(operand)?;
        let same = g.key == f.key && g.attrs == f.attrs && rw.dtype(g.input) == rw.dtype(f.input);
        if !same || !rw.one_use(operand) {
            return None;
        }
        inputs.push(g.input);
    }
    let input = rw.emit(Concat { inputs, axis: op.axis })?;
    rw.emit_parts(&f.with(input))
}

/// `concat(x, x, …) = broadcast(x)` along an axis of extent one.
///
/// All dims must be known.
///
/// Floats: exact.
fn concat_of_repeats(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (&first, rest) = op.inputs.split_first()?;
    let shape = rw.shape(first)?;
    if shape[op.axis.0 as usize] != 1 || rest.is_empty() || rest.iter().any(|&v| v != first) {
        return None;
    }
    let dims: AxisList = (0..shape.len()).collect();
    emit_broadcast(rw, first, &dims, rw.result_tensor()?)
}

/// `concat(reshape(x), reshape(y), …) = reshape(concat(x, y, …))` if the reshapes only add or remove the same axes of extent one.
///
/// Only if nothing else uses the operands. All dims must be known.
///
/// Floats: exact.
fn concat_of_reshapes(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let joined = op.axis.0 as usize;
    let mut inputs = Values::new();
    let mut form = None;
    for &operand in &op.inputs {
        let inner = rw.def::<Reshape>(operand)?;
        let (mut from, to) = (rw.shape(inner.input)?, rw.shape(operand)?);
        let places = axes_with_used_units(&from, &to, |axis| axis == joined)?;
        let axis = places.iter().position(|&place| place == Some(joined))?;
        // The shapes may differ along the axis.
        from[axis] = 0;
        let same = *form.get_or_insert_with(|| (axis, from.clone())) == (axis, from);
        if !same || !rw.one_use(operand) {
            return None;
        }
        inputs.push(inner.input);
    }
    let (axis, _) = form.filter(|_| inputs.len() > 1)?;
    let whole = rw.emit(Concat { inputs, axis: Int::from(axis) })?;
    emit_reshape(rw, whole, rw.result_tensor()?)
}

/// `concat(…, c, x, c, …) = pad(x, c)` for operands `c` whose elements all equal one constant.
///
/// All dims must be known. It is tried when nothing else is left to do, so that ops that take parts of the operands come first.
///
/// Floats: exact.
fn concat_as_pad(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let axis = op.axis.0 as usize;
    let mut value: Option<UniformValue> = None;
    let (mut inside, mut low, mut high) = (None, 0, 0);
    for &operand in &op.inputs {
        let extent = i64::try_from(rw.shape(operand)?[axis]).ok()?;
        let Some(literal) = rw.splat_of(operand) else {
            if inside.replace(operand).is_some() {
                return None;
            }
            continue;
        };
        let literal = UniformValue::Literal(literal);
        if value.as_ref().is_some_and(|value| !value.is_certainly_same(&literal)) {
            return None;
        }
        value = Some(literal);
        *(if inside.is_none() { &mut low } else { &mut high }) += extent;
    }
    let (input, value) = (inside?, value?);
    let scalar = TensorType { dtype: rw.dtype(input)?, dims: [].into_iter().collect() };
    let value = value.emit(rw, &scalar)?;
    let rank = rw.rank(input)?;
    let along = |n: i64| (0..rank).map(|a| if a == axis { n } else { 0 }).collect();
    let (low, high) = (along(low), along(high));
    rw.emit(Pad { input, value, low, high, interior: None })
}
