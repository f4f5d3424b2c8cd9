//! What several files ask: broadcasts of both kinds, named reductions, uniform values, extents.

use sapwood_ptir::ops::{
    BroadcastInDim, BroadcastTo, ReduceAnd, ReduceMax, ReduceMin, ReduceOr, ReduceProd, ReduceSum,
    ReduceXor, Reshape,
};
use sapwood_ptir::{
    Axes, Dim, Function, InstId, Op, OpKey, OpParts, TensorLiteral, TensorType, Value,
};
use sapwood_types::DataType;
use smallvec::SmallVec;

use crate::pattern::{Rewrite, RootView, Roots};

/// Axes of a tensor.
pub(super) type AxisList = SmallVec<[usize; 4]>;

/// A broadcast of either kind: for each axis of the operand, the axis of the result it becomes.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    pub(super) input: Value,
    pub(super) dims: AxisList,
    pub(super) from: TensorType,
    pub(super) ty: TensorType,
}

impl RootView for Spread {
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
            Some(op) => axes(&op.dims),
            None => (ty.rank().checked_sub(from.rank())?..ty.rank()).collect(),
        };
        Some(Self { input, dims, from, ty })
    }
}

impl Spread {
    /// Whether nothing depends on dims that are not known: each axis of the operand has extent one or stays.
    pub(super) fn certain(&self) -> bool {
        self.dims.iter().zip(&self.from.dims).all(|(&to, &d)| {
            d == Dim::Known(1) || self.ty.dims.get(to).is_some_and(|t| t.certainly_equal(d))
        })
    }

    /// Whether all elements along an axis of the result are the same.
    pub(super) fn repeats(&self, axis: usize) -> bool {
        match self.dims.iter().position(|&d| d == axis) {
            Some(at) => self.from.dims[at] == Dim::Known(1),
            None => true,
        }
    }
}

/// Emits a broadcast in its normal form: none, `broadcast_to` if axes are aligned at the right, `broadcast_in_dim`.
pub(super) fn spread(
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

/// A value all of whose elements are the same.
pub(super) enum Uniform {
    /// This literal, of some shape.
    Literal(TensorLiteral),
    /// This scalar.
    Scalar(Value),
}

impl Uniform {
    /// Whether both have certainly the same elements.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Literal(a), Self::Literal(b)) => {
                a.dtype() == b.dtype() && a.as_splat() == b.as_splat()
            }
            (Self::Scalar(a), Self::Scalar(b)) => a == b,
            _ => false,
        }
    }

    /// The same elements under a type all of whose dims are known.
    pub(super) fn emit(&self, rw: &mut Rewrite<'_>, ty: &TensorType) -> Option<Value> {
        let shape = ty.known_shape()?;
        match self {
            Self::Literal(literal) => {
                let literal =
                    TensorLiteral::splat(literal.dtype(), &shape, literal.as_splat()?).ok()?;
                Some(rw.constant(literal))
            }
            Self::Scalar(value) => spread(rw, *value, &[], ty),
        }
    }
}

/// A value as a uniform one: a splat, or a broadcast of a scalar, or a scalar.
pub(super) fn uniform(rw: &mut Rewrite<'_>, value: Value) -> Option<Uniform> {
    if let Some(literal) = rw.splat_of(value) {
        return Some(Uniform::Literal(literal));
    }
    if rw.rank(value)? == 0 {
        return Some(Uniform::Scalar(value));
    }
    let spread = rw.def::<Spread>(value)?;
    (spread.from.rank() == 0).then_some(Uniform::Scalar(spread.input))
}

/// A reduction of one tensor by a named op.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) key: OpKey,
    pub(super) input: Value,
    /// Increasing.
    pub(super) axes: AxisList,
    pub(super) keepdims: bool,
    pub(super) accumulate: Option<DataType>,
}

impl RootView for Named {
    fn roots() -> Roots {
        let keys = [
            ReduceSum::key(),
            ReduceProd::key(),
            ReduceMax::key(),
            ReduceMin::key(),
            ReduceAnd::key(),
            ReduceOr::key(),
            ReduceXor::key(),
        ];
        Roots::Keys(keys.into_iter().collect())
    }

    fn read(f: &Function, inst: InstId) -> Option<Self> {
        let key = f.op_key(inst);
        let Roots::Keys(keys) = Self::roots() else { return None };
        if !keys.contains(&key) {
            return None;
        }
        let &[input] = f.operands(inst) else { return None };
        let mut list = axes(f.attr(inst, "axes")?.as_ints()?);
        list.sort_unstable();
        let keepdims = f.attr(inst, "keepdims")? == &sapwood_ptir::Attr::Bool(true);
        let accumulate = match f.attr(inst, "accumulate") {
            Some(sapwood_ptir::Attr::Type(dtype)) => Some(*dtype),
            _ => None,
        };
        Some(Self { key, input, axes: list, keepdims, accumulate })
    }
}

impl Named {
    /// The same reduction of another operand over other axes, to be emitted.
    pub(super) fn with(&self, input: Value, axes: &[usize]) -> OpParts {
        let mut parts = OpParts::new(self.key);
        parts.operands.push(input);
        parts.push_attr(&axes.iter().copied().collect::<Axes>());
        parts.push_attr(&self.keepdims);
        if self.adds() || self.multiplies() {
            parts.push_attr(&self.accumulate);
        }
        parts
    }

    pub(super) fn adds(&self) -> bool {
        self.key == ReduceSum::key()
    }

    pub(super) fn multiplies(&self) -> bool {
        self.key == ReduceProd::key()
    }

    /// Whether reducing equal elements gives that element.
    pub(super) fn is_idempotent(&self, dtype: DataType) -> bool {
        let by_key = [ReduceMax::key(), ReduceMin::key(), ReduceAnd::key(), ReduceOr::key()];
        by_key.contains(&self.key) || (dtype.is_bool() && (self.adds() || self.multiplies()))
    }
}

/// The axes of an attribute.
pub(super) fn axes(list: &[i64]) -> AxisList {
    list.iter().map(|&a| a as usize).collect()
}

/// The axes of a tensor of this rank that a list leaves out.
pub(super) fn others(rank: usize, list: &[usize]) -> AxisList {
    (0..rank).filter(|a| !list.contains(a)).collect()
}

/// Emits a reshape, unless it would not be certain what its dims are.
pub(super) fn reshape(rw: &mut Rewrite<'_>, input: Value, ty: &TensorType) -> Option<Value> {
    if rw.tensor(input)? == ty {
        return Some(input);
    }
    if !determined(ty) {
        return None;
    }
    rw.emit(Reshape { input, ty: ty.clone().into() })
}

/// Whether the number of elements says what a dim is that is not known.
pub(super) fn determined(ty: &TensorType) -> bool {
    let open = ty.dims.iter().filter(|d| d.known().is_none()).count();
    open == 0 || (open == 1 && !ty.dims.contains(&Dim::Known(0)))
}

/// Where the axes of one shape are found in another that has axes of extent one besides.
pub(super) fn among_units(from: &[u64], to: &[u64]) -> Option<AxisList> {
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

/// An element of a literal of integers.
pub(super) fn int_at(literal: &TensorLiteral, index: u64) -> Option<i128> {
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

/// Whether a tensor has certainly no elements.
pub(super) fn is_empty(ty: &TensorType) -> bool {
    ty.dims.contains(&Dim::Known(0))
}

/// Whether an extent is certainly zero or one.
pub(super) fn at_most_one(dim: Dim) -> bool {
    matches!(dim, Dim::Known(0 | 1))
}
