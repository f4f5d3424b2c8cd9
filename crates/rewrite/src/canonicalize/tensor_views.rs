//! Views and helpers shared by several files: broadcasts of both kinds, named reductions, uniform values, extents.

use std::ops::Range;

use sapwood_ptir::ops::{
    BroadcastInDim, BroadcastTo, Cast, Clamp, Compare, ReduceAnd, ReduceMax, ReduceMin, ReduceOr,
    ReduceProd, ReduceSum, ReduceXor, Reshape, Select, Slice,
};
use sapwood_ptir::{
    Axes, Dim, Function, InstId, Op, OpKey, OpParts, TensorLiteral, TensorType, Value,
};
use sapwood_types::DataType;
use smallvec::SmallVec;

use crate::pattern::{Binary, Rewrite, RootView, Roots, is_elementwise, user_elementwise_keys};

/// A view of the elementwise ops that are not [`Unary`](crate::pattern::Unary).
pub(crate) struct ElementwiseView {
    pub(crate) root: InstId,
}

impl RootView for ElementwiseView {
    fn roots() -> Roots {
        let stated = [Compare::key(), Select::key(), Clamp::key(), Cast::key()];
        let [_, _, more] = user_elementwise_keys();
        let stated = Roots::Keys(stated.into_iter().chain([more]).collect());
        Roots::all([Binary::roots(), stated])
    }

    fn read(f: &Function, root: InstId) -> Option<Self> {
        is_elementwise(f, root).then_some(Self { root })
    }
}

/// A list of axes of a tensor.
pub(crate) type AxisList = SmallVec<[usize; 4]>;

/// A view of `broadcast_to` and `broadcast_in_dim`: for each axis of the operand, the axis of the result it becomes.
#[derive(Clone, Debug)]
pub(crate) struct BroadcastView {
    pub(crate) input: Value,
    pub(crate) dims: AxisList,
    pub(crate) from: TensorType,
    pub(crate) ty: TensorType,
}

impl RootView for BroadcastView {
    fn roots() -> Roots {
        Roots::Keys(SmallVec::from_iter([BroadcastTo::key(), BroadcastInDim::key()]))
    }

    fn read(f: &Function, inst: InstId) -> Option<Self> {
        let key = f.op_key(inst);
        if key != BroadcastTo::key() && key != BroadcastInDim::key() {
            return None;
        }
        let &[input] = f.operands(inst) else { return None };
        let from = f.value_type(input).as_tensor()?.clone();
        let ty = f.value_type(f.value_of(inst)?).as_tensor()?.clone();
        let dims = match f.view::<BroadcastInDim>(inst) {
            Some(op) => axis_list(&op.dims),
            None => (ty.rank().checked_sub(from.rank())?..ty.rank()).collect(),
        };
        Some(Self { input, dims, from, ty })
    }
}

impl BroadcastView {
    /// Returns true if no dim that is not known matters: each axis of the operand has extent one or keeps its extent.
    pub(crate) fn is_certain(&self) -> bool {
        self.dims.iter().zip(&self.from.dims).all(|(&to, &d)| {
            d == Dim::Known(1) || self.ty.dims.get(to).is_some_and(|t| t.certainly_equal(d))
        })
    }

    /// Returns true if all elements along an axis of the result are equal.
    pub(crate) fn repeats_along(&self, axis: usize) -> bool {
        match self.dims.iter().position(|&d| d == axis) {
            Some(at) => self.from.dims[at] == Dim::Known(1),
            None => true,
        }
    }
}

/// Emits a broadcast in its normal form: no op, `broadcast_to` if the axes are aligned at the right, or `broadcast_in_dim`.
pub(crate) fn emit_broadcast(
    rw: &mut Rewrite<'_>,
    input: Value,
    dims: &[usize],
    ty: &TensorType,
) -> Option<Value> {
    let extra = ty.rank().checked_sub(dims.len())?;
    let aligned = dims.iter().enumerate().all(|(i, &d)| d == i + extra);
    if aligned && rw.tensor(input)? == ty {
        return Some(input);
    }
    if aligned {
        return rw.emit(BroadcastTo { input, ty: ty.clone().into() });
    }
    rw.emit(BroadcastInDim { input, dims: dims.iter().copied().collect(), ty: ty.clone().into() })
}

/// A value whose elements are all equal.
pub(crate) enum UniformValue {
    /// A literal of any shape.
    Literal(TensorLiteral),
    /// A scalar value.
    Scalar(Value),
}

impl UniformValue {
    /// Returns true if both certainly have the same elements.
    pub(crate) fn is_certainly_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Literal(a), Self::Literal(b)) => {
                a.dtype() == b.dtype() && a.as_splat() == b.as_splat()
            }
            (Self::Scalar(a), Self::Scalar(b)) => a == b,
            _ => false,
        }
    }

    /// Emits a value with these elements and a type whose dims are all known.
    pub(crate) fn emit(&self, rw: &mut Rewrite<'_>, ty: &TensorType) -> Option<Value> {
        let shape = ty.known_shape()?;
        match self {
            Self::Literal(literal) => {
                let literal =
                    TensorLiteral::splat(literal.dtype(), &shape, literal.as_splat()?).ok()?;
                Some(rw.constant(literal))
            }
            Self::Scalar(value) => emit_broadcast(rw, *value, &[], ty),
        }
    }
}

/// Returns a value as a uniform one, if it is a splat, a broadcast of a scalar, or a scalar.
pub(crate) fn as_uniform(rw: &mut Rewrite<'_>, value: Value) -> Option<UniformValue> {
    if let Some(literal) = rw.splat_of(value) {
        return Some(UniformValue::Literal(literal));
    }
    if rw.rank(value)? == 0 {
        return Some(UniformValue::Scalar(value));
    }
    let spread = rw.def::<BroadcastView>(value)?;
    (spread.from.rank() == 0).then_some(UniformValue::Scalar(spread.input))
}

/// A view of the reductions of one tensor by a named op.
#[derive(Clone, Debug)]
pub(crate) struct NamedReduction {
    pub(crate) key: OpKey,
    pub(crate) input: Value,
    /// The reduced axes, in increasing order.
    pub(crate) axes: AxisList,
    pub(crate) keepdims: bool,
    pub(crate) accumulate: Option<DataType>,
}

fn named_reduction_keys() -> [OpKey; 7] {
    [
        ReduceSum::key(),
        ReduceProd::key(),
        ReduceMax::key(),
        ReduceMin::key(),
        ReduceAnd::key(),
        ReduceOr::key(),
        ReduceXor::key(),
    ]
}

impl RootView for NamedReduction {
    fn roots() -> Roots {
        Roots::Keys(named_reduction_keys().into_iter().collect())
    }

    fn read(f: &Function, inst: InstId) -> Option<Self> {
        let key = f.op_key(inst);
        if !named_reduction_keys().contains(&key) {
            return None;
        }
        let &[input] = f.operands(inst) else { return None };
        let mut list = axis_list(f.attr(inst, "axes")?.as_ints()?);
        list.sort_unstable();
        let keepdims = f.attr(inst, "keepdims")? == &sapwood_ptir::Attr::Bool(true);
        let accumulate = match f.attr(inst, "accumulate") {
            Some(sapwood_ptir::Attr::Type(dtype)) => Some(*dtype),
            _ => None,
        };
        Some(Self { key, input, axes: list, keepdims, accumulate })
    }
}

impl NamedReduction {
    /// Returns the reduction of another operand over other axes, to be emitted.
    pub(crate) fn with(&self, input: Value, axes: &[usize]) -> OpParts {
        let mut parts = OpParts::new(self.key);
        parts.operands.push(input);
        parts.push_attr(&axes.iter().copied().collect::<Axes>());
        parts.push_attr(&self.keepdims);
        if self.is_sum() || self.is_product() {
            parts.push_attr(&self.accumulate);
        }
        parts
    }

    pub(crate) fn is_sum(&self) -> bool {
        self.key == ReduceSum::key()
    }

    pub(crate) fn is_product(&self) -> bool {
        self.key == ReduceProd::key()
    }

    /// Returns true if reducing equal elements gives that element.
    pub(crate) fn is_idempotent(&self, dtype: DataType) -> bool {
        let by_key = [ReduceMax::key(), ReduceMin::key(), ReduceAnd::key(), ReduceOr::key()];
        by_key.contains(&self.key) || (dtype.is_bool() && (self.is_sum() || self.is_product()))
    }
}

/// Converts the axes of an attribute.
pub(crate) fn axis_list(list: &[i64]) -> AxisList {
    list.iter().map(|&a| a as usize).collect()
}

/// Returns the axes of a tensor of this rank that are not in a list.
pub(crate) fn remaining_axes(rank: usize, list: &[usize]) -> AxisList {
    (0..rank).filter(|a| !list.contains(a)).collect()
}

/// Returns an operand that two commutative ops share, then the other operand of each.
pub(crate) fn shared_operand<V: PartialEq + Copy>(
    first: (V, V),
    second: (V, V),
) -> Option<(V, V, V)> {
    let ((a, b), (c, d)) = (first, second);
    let pairs = [(a, c, b, d), (a, d, b, c), (b, c, a, d), (b, d, a, c)];
    pairs.into_iter().find_map(|(x, same, y, z)| (x == same).then_some((x, y, z)))
}

/// Emits the part of a tensor with these positions along an axis, or returns the tensor if that is all of it. All dims must be
/// known.
pub(crate) fn slice_rows(
    rw: &mut Rewrite<'_>,
    input: Value,
    axis: usize,
    positions: Range<u64>,
) -> Option<Value> {
    let shape = rw.shape(input)?;
    if positions == (0..shape[axis]) {
        return Some(input);
    }
    let mut starts = vec![0; shape.len()];
    let mut limits = shape.iter().map(|&n| i64::try_from(n).ok()).collect::<Option<Vec<i64>>>()?;
    (starts[axis], limits[axis]) =
        (i64::try_from(positions.start).ok()?, i64::try_from(positions.end).ok()?);
    rw.emit(Slice { input, starts: starts.into(), limits: limits.into(), strides: None })
}

/// Emits a reshape, unless the dims of its result would not be determined.
pub(crate) fn emit_reshape(rw: &mut Rewrite<'_>, input: Value, ty: &TensorType) -> Option<Value> {
    if rw.tensor(input)? == ty {
        return Some(input);
    }
    if !has_determined_dims(ty) {
        return None;
    }
    rw.emit(Reshape { input, ty: ty.clone().into() })
}

/// Returns true if the number of elements determines all dims: at most one is not known.
pub(crate) fn has_determined_dims(ty: &TensorType) -> bool {
    let open = ty.dims.iter().filter(|d| d.known().is_none()).count();
    open == 0 || (open == 1 && !ty.dims.contains(&Dim::Known(0)))
}

/// Returns the positions of the axes of one shape in another that has additional axes of extent one.
pub(crate) fn find_axes_among_units(from: &[u64], to: &[u64]) -> Option<AxisList> {
    let mut found = AxisList::new();
    let mut at = 0;
    for &extent in from {
        while *to.get(at)? != extent {
            if to[at] != 1 {
                return None;
            }
            at += 1;
        }
        found.push(at);
        at += 1;
    }
    to[at..].iter().all(|&n| n == 1).then_some(found)
}

/// For each axis of a shape, the axis of another that it becomes, if any.
pub(crate) type AxisPlaces = SmallVec<[Option<usize>; 4]>;

/// Returns, for each axis of the first shape, the axis of the second that it becomes, if both shapes differ only in axes of extent
/// one. Axes of extent one become `None`.
pub(crate) fn axes_without_units(from: &[u64], to: &[u64]) -> Option<AxisPlaces> {
    axes_with_used_units(from, to, |_| false)
}

/// Returns the places as [`axes_without_units`] does, where those axes of the second shape that are used have a place even if their
/// extent is one.
pub(crate) fn axes_with_used_units(
    from: &[u64],
    to: &[u64],
    is_used: impl Fn(usize) -> bool,
) -> Option<AxisPlaces> {
    let mut places = (0..to.len()).filter(|&axis| to[axis] != 1 || is_used(axis)).peekable();
    let mut found = AxisPlaces::new();
    for &extent in from {
        let next = places.next_if(|&axis| to[axis] == extent);
        if next.is_none() && extent != 1 {
            return None;
        }
        found.push(next);
    }
    places.next().is_none().then_some(found)
}

/// Returns an element of an integer literal.
pub(crate) fn int_element_at(literal: &TensorLiteral, index: u64) -> Option<i128> {
    let dtype = literal.dtype();
    if !dtype.is_integer() || dtype.bit_width() < 8 {
        return None;
    }
    let bytes = literal.element(index)?;
    let negative = dtype.is_signed() && bytes.last()? & 0x80 != 0;
    let mut wide = if negative { [0xff; 16] } else { [0; 16] };
    wide[..bytes.len()].copy_from_slice(bytes);
    Some(i128::from_le_bytes(wide))
}

/// Returns true if a tensor certainly has no elements.
pub(crate) fn is_certainly_empty(ty: &TensorType) -> bool {
    ty.dims.contains(&Dim::Known(0))
}

/// Returns true if an extent is certainly zero or one.
pub(crate) fn is_at_most_one(dim: Dim) -> bool {
    matches!(dim, Dim::Known(0 | 1))
}
