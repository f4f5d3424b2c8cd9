//! Unrolled loops: the parts of a tensor, worked on one by one and concatenated.

use sapwood_ptir::ops::{Concat, Reshape, Slice};
use sapwood_ptir::{InstId, TensorType, Value, ValueType};

use super::batch::{Batch, Lane};
use super::product_axes::move_axis;
use crate::pattern::Rewrite;

crate::patterns! { "unrolled":
    concat_of_isomorphic hops 12,
}

/// The largest number of definitions between a concatenation and the slices. It is the number of hops of the pattern.
const MAX_DEPTH: u8 = 12;

/// The largest number of instructions of one of the computations.
const MAX_INSTS: usize = 64;

/// `concat(f(x[0]), f(x[1]), …) = f(x)`: isomorphic computations on adjacent slices of a tensor, done as one with an additional axis.
///
/// The other operands of `f` are the same values in all of them.
///
/// Floats: exact.
fn concat_of_isomorphic(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let first = *op.inputs.first()?;
    let part = rw.tensor(first)?.clone();
    part.known_shape()?;
    // A slice of a tensor has nothing that could be done as one; `concat_of_slices` combines them.
    if op.inputs.len() < 2 || f.def::<Slice>(first).is_some() || f.inst_of(first).is_none() {
        return None;
    }
    if op.inputs.iter().any(|&input| f.type_id(input) != f.type_id(first)) {
        return None;
    }
    let count = op.inputs.len() as u64;
    let mut batch = Batch::new(rw, count, std::iter::empty());
    let mut nodes = Vec::new();
    collect(rw, op.inputs.to_vec(), 0, &mut nodes)?;
    let tensors = nodes.iter().filter_map(|node| match node.kind {
        NodeKind::Slices { tensor, .. } => Some(tensor),
        _ => None,
    });
    let original = tensors.chain(rw.result(0));
    batch.max_bytes = Batch::new(rw, count, original.collect::<Vec<_>>().into_iter()).max_bytes;
    let mut lanes: Vec<Lane> = Vec::with_capacity(nodes.len());
    for node in &nodes {
        let lane = match &node.kind {
            NodeKind::Shared(value) => Lane::Shared(*value),
            &NodeKind::Slices { tensor, axis, .. } => {
                Lane::Batched(emit_slices(rw, &node.kind, tensor, axis, count)?)
            }
            NodeKind::Inst(inst) => {
                let operands: Vec<Lane> = node.operands.iter().map(|&at| lanes[at]).collect();
                batch.emit(rw, *inst, &operands)?
            }
        };
        lanes.push(lane);
    }
    let &Lane::Batched(result) = lanes.last()? else { return None };
    // The axis of the computations goes before the axis of the concatenation, and both become one.
    let result = move_axis(rw, result, 0, op.axis.0 as usize)?;
    let ty = ValueType::from(rw.result_tensor()?.clone());
    rw.emit(Reshape { input: result, ty: ty.into() })
}

/// A node of the first computation, which stands for the corresponding nodes of all of them.
struct Node {
    kind: NodeKind,
    // The nodes of the operands, by position.
    operands: Vec<usize>,
}

enum NodeKind {
    // One value for all computations.
    Shared(Value),
    // Adjacent slices of a tensor along an axis, from a start, of equal size.
    Slices { tensor: Value, axis: usize, slice: Box<Slice>, size: i64 },
    // Instructions of the same op with the same attributes.
    Inst(InstId),
}

// Appends the node of some values, one of each computation, after the nodes of their operands. Returns its position. The depth bounds the recursion.
fn collect(
    rw: &mut Rewrite<'_>,
    values: Vec<Value>,
    depth: u8,
    nodes: &mut Vec<Node>,
) -> Option<usize> {
    let first = values[0];
    let mut push = |kind: NodeKind, operands: Vec<usize>| {
        nodes.push(Node { kind, operands });
        (nodes.len() <= MAX_INSTS).then(|| nodes.len() - 1)
    };
    if values.iter().all(|&value| value == first) {
        return push(NodeKind::Shared(first), Vec::new());
    }
    if depth == MAX_DEPTH {
        return None;
    }
    if let Some(kind) = adjacent_slices(rw, &values) {
        return push(kind, Vec::new());
    }
    let f = rw.function();
    let insts: Vec<InstId> =
        values.iter().map(|&value| rw.def_inst(value)).collect::<Option<_>>()?;
    let body = f.body_of(rw.root());
    let one = insts[0];
    let is_alike = |&inst: &InstId| {
        f.op_key(inst) == f.op_key(one)
            && f.attrs(inst) == f.attrs(one)
            && f.operands(inst).len() == f.operands(one).len()
            && f.inst_results(inst).len() == 1
            && f.body_of(inst) == body
            && f.value_of(inst)
                .zip(f.value_of(one))
                .is_some_and(|(a, b)| f.type_id(a) == f.type_id(b))
    };
    let is_constant = f.constant_of(first).is_some();
    if is_constant || !insts.iter().all(is_alike) || f.operands(one).is_empty() {
        return None;
    }
    let mut operands = Vec::new();
    for n in 0..f.operands(one).len() {
        let values = insts.iter().map(|&inst| f.operands(inst)[n]).collect();
        operands.push(collect(rw, values, depth + 1, nodes)?);
    }
    nodes.push(Node { kind: NodeKind::Inst(one), operands });
    (nodes.len() <= MAX_INSTS).then(|| nodes.len() - 1)
}

// Reads values as slices of one tensor that follow each other along one axis.
fn adjacent_slices(rw: &mut Rewrite<'_>, values: &[Value]) -> Option<NodeKind> {
    let slices: Vec<Slice> =
        values.iter().map(|&value| rw.def::<Slice>(value)).collect::<Option<_>>()?;
    let (first, second) = (&slices[0], slices.get(1)?);
    let axis = (0..first.starts.len()).find(|&axis| first.starts[axis] != second.starts[axis])?;
    let size = first.limits[axis].checked_sub(first.starts[axis])?;
    let is_dense = |slice: &Slice| slice.strides.as_ref().is_none_or(|strides| strides[axis] == 1);
    for (n, slice) in slices.iter().enumerate() {
        let n = i64::try_from(n).ok()?;
        let at = |other: usize| {
            let moved = if other == axis { n.checked_mul(size)? } else { 0 };
            Some((first.starts[other].checked_add(moved)?, first.limits[other].checked_add(moved)?))
        };
        let fits = slice.input == first.input
            && slice.strides == first.strides
            && is_dense(slice)
            && (0..first.starts.len())
                .all(|other| at(other) == Some((slice.starts[other], slice.limits[other])));
        if !fits {
            return None;
        }
    }
    let (tensor, slice) = (first.input, Box::new(first.clone()));
    Some(NodeKind::Slices { tensor, axis, slice, size })
}

// Emits the slices as one tensor with a leading axis.
fn emit_slices(
    rw: &mut Rewrite<'_>,
    kind: &NodeKind,
    tensor: Value,
    axis: usize,
    count: u64,
) -> Option<Value> {
    let NodeKind::Slices { slice, size, .. } = kind else { return None };
    let shape = rw.shape(tensor)?;
    let mut limits: Vec<i64> = slice.limits.to_vec();
    limits[axis] = slice.starts[axis].checked_add(size.checked_mul(i64::try_from(count).ok()?)?)?;
    let is_whole = slice.starts.iter().all(|&start| start == 0)
        && limits.iter().zip(&shape).all(|(&limit, &extent)| limit as u64 == extent)
        && slice.strides.as_ref().is_none_or(|strides| strides.iter().all(|&n| n == 1));
    let part = match is_whole {
        true => tensor,
        false => rw.emit(Slice { input: tensor, limits: limits.into(), ..(**slice).clone() })?,
    };
    let mut ty: TensorType = rw.tensor(part)?.clone();
    ty.dims[axis] = sapwood_ptir::Dim::Known(u64::try_from(*size).ok()?);
    ty.dims.insert(axis, sapwood_ptir::Dim::Known(count));
    let parts = rw.emit(Reshape { input: part, ty: ValueType::from(ty).into() })?;
    move_axis(rw, parts, axis, 0)
}
