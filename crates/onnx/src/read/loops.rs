//! The types of the parameters of subgraphs. They follow from the operands; what a model declares is not believed.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::{Dim, TensorType, ValueType};

use super::graph::{attr_int, attr_ints};
use crate::{Graph, Node, Text};

/// The parameters of a subgraph that the next step of a loop gets from this one.
pub(super) struct CarriedValues {
    pub(super) first_param: usize,
    pub(super) first_yielded: usize,
    pub(super) count: usize,
}

/// Returns which parameters of a subgraph a loop carries.
pub(super) fn carried_values(node: &Node, params: usize) -> CarriedValues {
    match op_of(node) {
        "Loop" => {
            let count = params.saturating_sub(2);
            CarriedValues { first_param: 2, first_yielded: 1, count }
        }
        "Scan" => {
            let count = params.saturating_sub(scanned_inputs(node));
            CarriedValues { first_param: 0, first_yielded: 0, count }
        }
        _ => CarriedValues { first_param: 0, first_yielded: 0, count: 0 },
    }
}

/// Returns the types that the parameters of a subgraph have in the first step. `operands` are the types of the inputs that are given.
pub(super) fn param_types(node: &Node, graph: &Graph, operands: &[&ValueType]) -> Vec<ValueType> {
    let count = graph.input.len();
    // Inputs that are left out come first.
    let last = |left: usize| operands.len().checked_sub(left).map(|i| operands[i].clone());
    let found = |i: usize| -> Option<ValueType> {
        match op_of(node) {
            "Loop" => match i {
                0 => Some(TensorType::scalar(DataType::I64).into()),
                1 => Some(TensorType::scalar(DataType::Bool).into()),
                _ => last(count - i),
            },
            "Scan" => {
                let scanned = scanned_inputs(node).min(count);
                let has_batches = node.input.len() > count;
                let operand = last(count - i)?;
                let axis = match i.checked_sub(count - scanned) {
                    None if !has_batches => return Some(operand),
                    None => 0,
                    Some(k) => {
                        let axes = attr_ints(node, "scan_input_axes");
                        axes.and_then(|axes| axes.get(k).copied()).unwrap_or(0)
                    }
                };
                let slice = without_axis(&operand, axis)?;
                // In the form of opset 8, an axis of batches precedes the one that is scanned.
                match has_batches && i >= count - scanned {
                    true => without_axis(&slice, 0),
                    false => Some(slice),
                }
            }
            _ => None,
        }
    };
    (0..count).map(|i| found(i).unwrap_or(ValueType::Opaque)).collect()
}

/// Makes the types of carried values weaker where the body yields others. Returns whether there were any, so that the body must be read again.
pub(super) fn weaken<'t>(
    carried: impl Iterator<Item = &'t mut ValueType>,
    yielded: &[ValueType],
    round: u32,
) -> bool {
    // Weaker types of some values can make those of others wrong; this ends after a few rounds.
    const MAX_ROUNDS: u32 = 3;
    let mut is_changed = false;
    let mut carried: Vec<&mut ValueType> = carried.collect();
    let is_kept = |(i, ty): (usize, &&mut ValueType)| {
        **ty == ValueType::Opaque || yielded.get(i).is_some_and(|other| is_same(ty, other))
    };
    if carried.iter().enumerate().all(is_kept) {
        return false;
    }
    for (i, ty) in carried.iter_mut().enumerate() {
        let next = match yielded.get(i) {
            _ if round >= MAX_ROUNDS => ValueType::Opaque,
            Some(other) => joined(ty, other),
            None => ValueType::Opaque,
        };
        is_changed |= **ty != next;
        **ty = next;
    }
    is_changed
}

// Returns whether a value of the second type can be used where the first is expected, without a loss.
fn is_same(carried: &ValueType, yielded: &ValueType) -> bool {
    match (carried, yielded) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) => {
            let equal = |(&x, &y): (&Dim, &Dim)| x == Dim::Unknown || x.certainly_equal(y);
            a.dtype == b.dtype && a.rank() == b.rank() && a.dims.iter().zip(&b.dims).all(equal)
        }
        _ => carried == yielded,
    }
}

/// Returns the type of values that have one of two types.
pub(crate) fn joined(a: &ValueType, b: &ValueType) -> ValueType {
    match (a, b) {
        (ValueType::Tensor(x), ValueType::Tensor(y))
            if x.dtype == y.dtype && x.rank() == y.rank() =>
        {
            let dims = x.dims.iter().zip(&y.dims);
            let dims = dims.map(|(&p, &q)| if p.certainly_equal(q) { p } else { Dim::Unknown });
            TensorType { dtype: x.dtype, dims: dims.collect() }.into()
        }
        _ => ValueType::Opaque,
    }
}

fn op_of(node: &Node) -> &str {
    node.op_type.as_ref().and_then(Text::as_str).unwrap_or_default()
}

fn scanned_inputs(node: &Node) -> usize {
    attr_int(node, "num_scan_inputs").and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

fn without_axis(ty: &ValueType, axis: i64) -> Option<ValueType> {
    let ty = ty.as_tensor()?;
    let axis = if axis < 0 { axis + ty.rank() as i64 } else { axis };
    let axis = usize::try_from(axis).ok().filter(|&axis| axis < ty.rank())?;
    let mut dims = ty.dims.clone();
    dims.remove(axis);
    Some(TensorType { dtype: ty.dtype, dims }.into())
}
