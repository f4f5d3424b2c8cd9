//! Canonicalizations of `concat`.

use sapwood_ptir::ops::{Concat, Slice};
use sapwood_ptir::{Dim, Value, Values};

use super::tensor_views::as_uniform;
use crate::pattern::Rewrite;

/// The maximum number of operands of a concat that another concat is merged into.
const MAX_CONCAT_OPERANDS: usize = 64;

crate::patterns! { "concat":
    concat_of_one when same,
    concat_of_empties,
    concat_of_concat when any in [Concat],
    concat_of_slices when any in [Slice],
    concat_of_uniform when 0 in constants,
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
