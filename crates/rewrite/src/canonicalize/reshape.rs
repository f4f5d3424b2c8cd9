//! Canonicalizations of `reshape`, and of elementwise ops of reshaped values.

use sapwood_ptir::ops::Reshape;
use sapwood_ptir::{Dim, InstId, OpParts, TensorLiteral, TensorType, Value};
use sapwood_types::DataType;
use smallvec::SmallVec;

use super::tensor_views::{
    AxisList, AxisPlaces, BroadcastView, ElementwiseView, axes_without_units, emit_broadcast,
    emit_reshape,
};
use crate::pattern::{Binary, Rewrite, RootView, Unary, is_elementwise};

crate::patterns! { "reshape":
    reshape_to_same hops 1 when same,
    reshape_of_reshape hops 1 when 0 in [Reshape],
    unary_of_reshape hops 1 when 0 in [Reshape],
    elementwise_of_reshapes hops 2 when any in [Reshape],
    reshape_of_broadcast benefit 0 hops 1 when 0 in [BroadcastView],
    broadcast_beside_reshapes benefit 0 hops 1 when unit,
}

/// `reshape(x : t) : t = x`.
///
/// Floats: exact.
fn reshape_to_same(op: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.ty(op.input) == rw.result_type()).then_some(op.input)
}

/// `reshape(reshape(x)) = reshape(x)`.
///
/// At most one dim of the result may be unknown, and the inner one must not introduce a dim name.
///
/// Floats: exact.
fn reshape_of_reshape(outer: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(outer.input)?;
    let ty = rw.result_tensor()?;
    let (from, mid) = (rw.tensor(inner.input)?, rw.tensor(outer.input)?);
    let lost =
        |d: &Dim| matches!(d, Dim::Expr(_)) && !from.dims.contains(d) && !ty.dims.contains(d);
    if mid.dims.iter().any(lost) {
        return None;
    }
    emit_reshape(rw, inner.input, ty)
}

/// `reshape(broadcast(x)) = broadcast(x)` if the reshape only joins or splits axes that the broadcast adds.
///
/// All dims must be known. It is tried when nothing else is left to do, so that reshapes move past elementwise ops first. Reshapes that only add
/// or remove axes of extent one stay.
///
/// Floats: exact.
fn reshape_of_broadcast(op: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<BroadcastView>(op.input).filter(BroadcastView::is_certain)?;
    let (from, to) = (inner.ty.known_shape()?, rw.result_tensor()?.known_shape()?);
    if axes_without_units(&from, &to).is_some() {
        return None;
    }
    // The axis of the result for each axis of the broadcast that has one of its own.
    let mut places: Vec<Option<usize>> = vec![None; from.len()];
    let (mut a, mut b) = (0, 0);
    while a < from.len() || b < to.len() {
        let (first, second) = (a, b);
        let (mut left, mut right) = (1_u64, 1_u64);
        // The fewest axes of both sides with the same number of elements.
        while a == first || b == second || left != right {
            if a < from.len() && (a == first || left < right || b == to.len()) {
                left = left.checked_mul(from[a]).filter(|&n| n > 0)?;
                a += 1;
            } else if b < to.len() {
                right = right.checked_mul(to[b]).filter(|&n| n > 0)?;
                b += 1;
            } else {
                break;
            }
        }
        if a - first == 1 && b - second == 1 {
            places[first] = Some(second);
        }
    }
    let dims: AxisList = inner.dims.iter().map(|&axis| places[axis]).collect::<Option<_>>()?;
    emit_broadcast(rw, inner.input, &dims, rw.result_tensor()?)
}

/// `f(reshape(x)) = reshape(f(x))` for elementwise `f` of one operand, if the reshape has no other use.
///
/// All dims must be known, and the elements of the result must not be wider than those of `x`.
///
/// Floats: exact.
fn unary_of_reshape(op: Unary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Reshape>(op.input)?;
    let ty = rw.result_tensor()?;
    let narrow = ty.dtype.byte_size() <= rw.dtype(op.input)?.byte_size();
    if !narrow || !rw.one_use(op.input) || rw.shape(inner.input).is_none() {
        return None;
    }
    let small = rw.emit_parts(&op.with(inner.input))?;
    emit_reshape(rw, small, ty)
}

/// `f(reshape(x), reshape(y), …) = reshape(f(x, y, …))` for elementwise `f` and operands of one shape.
///
/// Operands whose elements are all known to be equal may have any shape. All dims must be known. The reshapes without another use must
/// move as many bytes as that of the result. If the reshapes only add or remove axes of extent one, operands may also be broadcasts that nothing else
/// uses, and results without another use of elementwise ops on such operands.
///
/// Floats: exact.
fn elementwise_of_reshapes(op: ElementwiseView, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let ty = rw.result_tensor()?;
    let inputs = f.operands(op.root);
    let first = inputs.iter().find_map(|&operand| rw.def::<Reshape>(operand))?;
    let shape = rw.shape(first.input)?;
    let places = axes_without_units(&shape, &ty.known_shape()?);
    let reshaped = ReshapedOperands { shape: &shape, places, ty };
    let mut saved = 0;
    for (n, &operand) in inputs.iter().enumerate() {
        let is_reshape = rw.def::<Reshape>(operand).is_some();
        if is_reshape && !inputs[..n].contains(&operand) && rw.one_user(operand) {
            saved += rw.dtype(operand)?.byte_size();
        }
    }
    if saved < ty.dtype.byte_size() {
        return None;
    }
    let operands: Option<Vec<Operand>> =
        inputs.iter().map(|&operand| reshaped.find(rw, operand, true)).collect();
    let small = reshaped.emit_op(rw, op.root, operands?)?;
    emit_reshape(rw, small, ty)
}

/// An operand of an elementwise op before its reshape.
enum Operand {
    /// A value that exists.
    Value(Value),
    /// A constant whose elements are all equal.
    Splat(TensorLiteral),
    /// A value that is broadcast along these axes.
    Broadcast(Value, AxisList),
    /// The result of an elementwise op.
    Op(InstId, Vec<Operand>),
}

/// The shape before a reshape, and the operands of elementwise ops on the result in this shape.
struct ReshapedOperands<'a> {
    shape: &'a [u64],
    /// The axis of the result for each axis of the shape, if only axes of extent one are added or removed.
    places: Option<AxisPlaces>,
    ty: &'a TensorType,
}

impl ReshapedOperands<'_> {
    // Returns an operand of the root, or with `nested` false of an operand of the root, in the shape before the reshape.
    fn find(&self, rw: &mut Rewrite<'_>, operand: Value, nested: bool) -> Option<Operand> {
        // The scalar operands of `select` and `clamp` stay.
        if rw.rank(operand)? == 0 && self.ty.rank() != 0 {
            return Some(Operand::Value(operand));
        }
        if rw.tensor(operand)?.dims != self.ty.dims {
            return None;
        }
        if let Some(inner) = rw.def::<Reshape>(operand) {
            let same = rw.shape(inner.input)?[..] == *self.shape;
            return same.then_some(Operand::Value(inner.input));
        }
        if let Some(literal) = rw.splat_of(operand) {
            return Some(Operand::Splat(literal));
        }
        let places = self.places.as_ref()?;
        if let Some(spread) = rw.def::<BroadcastView>(operand) {
            let dims = moved_dims(&spread, places).filter(|_| rw.one_user(operand))?;
            return Some(Operand::Broadcast(spread.input, dims));
        }
        let f = rw.function();
        let inst = rw.def_inst(operand).filter(|&inst| nested && is_elementwise(f, inst))?;
        if !rw.one_use_here(operand) {
            return None;
        }
        let operands: Option<_> =
            f.operands(inst).iter().map(|&operand| self.find(rw, operand, false)).collect();
        Some(Operand::Op(inst, operands?))
    }

    fn emit(&self, rw: &mut Rewrite<'_>, operand: Operand, dtype: DataType) -> Option<Value> {
        match operand {
            Operand::Value(value) => Some(value),
            Operand::Splat(literal) => {
                let splat = literal.as_splat()?;
                let literal = TensorLiteral::splat(literal.dtype(), self.shape, splat).ok()?;
                Some(rw.constant(literal))
            }
            Operand::Broadcast(value, dims) => {
                emit_broadcast(rw, value, &dims, &self.before(dtype))
            }
            Operand::Op(inst, operands) => self.emit_op(rw, inst, operands),
        }
    }

    fn emit_op(&self, rw: &mut Rewrite<'_>, inst: InstId, operands: Vec<Operand>) -> Option<Value> {
        let f = rw.function();
        let mut small = OpParts::new(f.op_key(inst));
        small.attrs = f.attrs(inst).iter().cloned().collect();
        for (&old, operand) in f.operands(inst).iter().zip(operands) {
            let dtype = rw.dtype(old)?;
            small.operands.push(self.emit(rw, operand, dtype)?);
        }
        let dtype = f.value_type(f.value_of(inst)?).as_tensor()?.dtype;
        small.result_types.push(self.before(dtype).into());
        rw.emit_parts(&small)
    }

    // Returns the type before the reshape.
    fn before(&self, dtype: DataType) -> TensorType {
        TensorType { dtype, dims: self.shape.iter().map(|&n| Dim::Known(n)).collect() }
    }
}

// Returns the axes of a broadcast in the shape before a reshape, whose axes have these places.
fn moved_dims(spread: &BroadcastView, places: &AxisPlaces) -> Option<AxisList> {
    let place = |&axis: &usize| places.iter().position(|&place| place == Some(axis));
    spread.dims.iter().map(place).collect::<Option<AxisList>>().filter(|_| spread.is_certain())
}

/// The maximum number of uses of a broadcast that are examined.
const MAX_BROADCAST_USES: usize = 4;

/// `broadcast(x) = reshape(broadcast(x))` without new axes of extent one, if all users have such a reshape as their other operand.
///
/// The users are elementwise ops of two operands, and those reshapes have no other use, so that all reshapes move past the users. All dims must be
/// known. It is tried when nothing else is left to do.
///
/// Floats: exact.
fn broadcast_beside_reshapes(op: BroadcastView, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let result = rw.result(0)?;
    let to = op.ty.known_shape()?;
    let users: SmallVec<[InstId; 4]> =
        f.uses(result).take(MAX_BROADCAST_USES + 1).map(|one| one.user).collect();
    let mut shape = None;
    for &user in users.iter().take(MAX_BROADCAST_USES + 1) {
        let binary = Binary::read(f, user).filter(|_| users.len() <= MAX_BROADCAST_USES)?;
        let other = if binary.lhs == result { binary.rhs } else { binary.lhs };
        let inner = f.view::<Reshape>(f.inst_of(other)?).filter(|_| f.one_use(other))?;
        let from = rw.shape(inner.input)?;
        if f.value_type(other).as_tensor()?.dims != op.ty.dims
            || *shape.get_or_insert_with(|| from.clone()) != from
        {
            return None;
        }
    }
    let shape = shape.filter(|shape| shape.len() < to.len())?;
    let dims = moved_dims(&op, &axes_without_units(&shape, &to)?)?;
    let small =
        TensorType { dtype: op.ty.dtype, dims: shape.iter().map(|&n| Dim::Known(n)).collect() };
    let small = emit_broadcast(rw, op.input, &dims, &small)?;
    emit_reshape(rw, small, &op.ty)
}
