//! Slices of values whose extents are not all known, which stay nodes of ONNX.

use sapwood_ptir::{Attr, InstId, OpParts, TensorLiteral, Value};
use sapwood_rewrite::{OpRef, Rewrite};

use super::{integers, is_kept};

/// The part of one axis that a slice takes.
#[derive(Clone, Copy)]
struct Cut {
    axis: i64,
    start: i64,
    end: i64,
    step: i64,
}

/// A node `Slice` whose lists are constants.
struct SliceNode {
    inst: InstId,
    input: Value,
    cuts: Vec<Cut>,
}

/// An end that is beyond every extent.
const BEYOND_ALL: i64 = 1 << 62;

impl SliceNode {
    // Reads a slice in the form of opset 10 and later, without the cuts that take all of their axis.
    fn of(rw: &mut Rewrite<'_>, inst: InstId) -> Option<Self> {
        let f = rw.function();
        let operands = f.operands(inst);
        let is_whole = f.op_name(inst) == "onnx.Slice"
            && !is_kept(f, inst)
            && (3..=5).contains(&operands.len())
            && f.attr(inst, "absent").is_none_or(|a| *a == Attr::Unit);
        let input = *operands.first().filter(|_| is_whole)?;
        let dims = rw.tensor(input)?.dims.clone();
        let rank = dims.len() as i64;
        let mut lists = Vec::new();
        for &operand in &operands[1..] {
            lists.push(integers(&rw.constant_of(operand)?)?);
        }
        let count = lists[0].len();
        if lists.iter().any(|list| list.len() != count) {
            return None;
        }
        let mut cuts: Vec<Cut> = Vec::new();
        for i in 0..count {
            let item = |list: usize, default| lists.get(list).map_or(default, |list| list[i]);
            let axis = item(2, i as i64);
            let axis = if axis < 0 { axis + rank } else { axis };
            let cut = Cut { axis, start: lists[0][i], end: lists[1][i], step: item(3, 1) };
            let extent = dims.get(usize::try_from(axis).ok()?)?.known();
            if cuts.iter().any(|other| other.axis == axis) {
                return None;
            }
            let is_all = cut.step == 1
                && cut.start == 0
                && (cut.end >= BEYOND_ALL
                    || extent.is_some_and(|n| cut.end >= 0 && n <= cut.end as u64));
            if !is_all {
                cuts.push(cut);
            }
        }
        Some(Self { inst, input, cuts })
    }
}

/// `Slice(x, everything) = x`.
///
/// Floats: exact.
pub(super) fn slice_node_of_all(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let slice = SliceNode::of(rw, op.root)?;
    (slice.cuts.is_empty() && rw.ty(slice.input) == rw.result_type()).then_some(slice.input)
}

/// `Slice(Slice(x, a), b) = Slice(x, a and b)` if they cut different axes at constant places.
///
/// Only if nothing else uses the inner slice.
///
/// Floats: exact.
pub(super) fn slice_node_of_slice_node(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let outer = SliceNode::of(rw, op.root)?;
    if !rw.one_use(outer.input) {
        return None;
    }
    let inner = rw.def_inst(outer.input)?;
    let inner = SliceNode::of(rw, inner)?;
    if outer.cuts.iter().any(|a| inner.cuts.iter().any(|b| a.axis == b.axis)) {
        return None;
    }
    let cuts: Vec<Cut> = inner.cuts.into_iter().chain(outer.cuts).collect();
    let f = rw.function();
    let mut parts = OpParts::new(f.op_key(outer.inst));
    parts.attrs = f.attrs(outer.inst).iter().cloned().collect();
    parts.operands.push(inner.input);
    let fields: [fn(&Cut) -> i64; 4] = [|c| c.start, |c| c.end, |c| c.axis, |c| c.step];
    for field in fields {
        let list: Vec<i64> = cuts.iter().map(field).collect();
        parts
            .operands
            .push(rw.constant(TensorLiteral::from_slice(&[list.len() as u64], &list).ok()?));
    }
    parts.result_types.push(rw.result_type()?.clone());
    rw.emit_parts(&parts)
}
