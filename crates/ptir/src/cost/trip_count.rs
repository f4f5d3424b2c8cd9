//! The number of iterations of loops.

use super::amount::Amount;
use crate::attr::Attr;
use crate::eval::{Int as _, Native as _};
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::op::Control;
use crate::ops::{Add, Compare, Direction};
use crate::types::Dim;
use crate::with_int;

/// Returns the number of iterations of a `scan`, or of a `while` that counts from one constant to another. It is [`Amount::Unknown`] for all others.
#[must_use]
pub fn trip_count(function: &Function, inst: InstId) -> Amount {
    match function.op_def(inst).and_then(|def| def.control) {
        Some(Control::Scan) => scan_length(function, inst),
        Some(Control::While) => {
            counted_iterations(function, inst).map_or(Amount::Unknown, Amount::Known)
        }
        _ => Amount::Unknown,
    }
}

fn scan_length(function: &Function, inst: InstId) -> Amount {
    let length = function.attr(inst, "length").and_then(Attr::as_int);
    if let Some(length) = length {
        return u128::try_from(length).map_or(Amount::Unknown, Amount::Known);
    }
    let carried = function.attr(inst, "carried").and_then(Attr::as_int);
    let scanned = usize::try_from(carried.unwrap_or(0)).unwrap_or(usize::MAX);
    let dims = function.operands(inst).iter().skip(scanned).filter_map(|&value| {
        let tensor = function.value_type(value).as_tensor()?;
        tensor.dims.first().copied()
    });
    // All scanned operands have the same leading extent; some types may leave it open.
    dims.fold(Dim::Unknown, |known, dim| known.unify(dim).unwrap_or(known)).into()
}

// Returns the iterations of a loop that carries `i`, runs while `i < limit` (or `<=`, `>`, `>=`, `!=`), and yields `i + step`, with constants for
// the start, the limit and the step.
fn counted_iterations(function: &Function, inst: InstId) -> Option<u128> {
    let &[cond, body] = function.regions(inst) else { return None };
    let &[test] = function.body_results(cond) else { return None };
    let compare: Compare = function.def(test)?;
    let (lhs, rhs) = (compare.lhs, compare.rhs);
    let (counter, limit, direction) = match position(function, cond, lhs) {
        Some(counter) => (counter, integer(function, rhs)?, compare.direction),
        None => {
            let counter = position(function, cond, rhs)?;
            (counter, integer(function, lhs)?, compare.direction.swapped())
        }
    };
    let start = integer(function, *function.operands(inst).get(counter)?)?;
    let next: Add = function.def(*function.body_results(body).get(counter)?)?;
    let param = *function.body_params(body).get(counter)?;
    let (a, b) = (next.lhs, next.rhs);
    let step = if a == param {
        integer(function, b)?
    } else if b == param {
        integer(function, a)?
    } else {
        return None;
    };
    // The counter must not wrap before it reaches the limit.
    let (low, high) = function.value_type(param).as_tensor()?.dtype.integer_range()?;
    let (distance, step) = match (direction, step) {
        (Direction::Lt, 1..) => (limit - start, step),
        (Direction::Le, 1..) if limit < high => (limit + 1 - start, step),
        (Direction::Gt, ..=-1) => (start - limit, -step),
        (Direction::Ge, ..=-1) if limit > low => (start - limit + 1, -step),
        (Direction::Ne, 1..) if limit >= start && (limit - start) % step == 0 => {
            (limit - start, step)
        }
        (Direction::Ne, ..=-1) if limit <= start && (start - limit) % step == 0 => {
            (start - limit, -step)
        }
        _ => return None,
    };
    if distance <= 0 {
        return Some(0);
    }
    let count = (distance + step - 1) / step;
    let last = if limit >= start { start + count * step } else { start - count * step };
    (low <= last && last <= high).then(|| u128::try_from(count).ok())?
}

// Returns the position of a value among the parameters of a body.
fn position(function: &Function, body: BodyId, value: ValueId) -> Option<usize> {
    match function.value_def(value) {
        ValueDef::Param(owner, index) if owner == body => Some(index),
        _ => None,
    }
}

fn integer(function: &Function, value: ValueId) -> Option<i128> {
    let literal = function.constant_of(value)?;
    let bytes = literal.as_splat()?;
    with_int!(literal.dtype(), T => Some(T::from_bytes(bytes).to_i128()), _ => None)
}
