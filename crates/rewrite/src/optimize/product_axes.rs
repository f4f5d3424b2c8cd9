//! The axes of products and of their operands.

use sapwood_ptir::ops::{DotGeneral, Transpose};
use sapwood_ptir::{Axes, InstId, Value};
use sapwood_types::DataType;

use crate::FloatMode;
use crate::pattern::Rewrite;

/// The axis of an operand that an axis of a product comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProductAxis {
    /// A batch axis, by its position in the lists of batch axes.
    Batch(usize),
    /// A free axis of the left operand.
    Left(usize),
    /// A free axis of the right operand.
    Right(usize),
}

/// Returns the axes of an operand that are neither batch axes nor contracted, in order.
pub(super) fn free_axes(rank: usize, batch: &[i64], contract: &[i64]) -> Vec<usize> {
    (0..rank).filter(|&axis| !batch.iter().chain(contract).any(|&a| a as usize == axis)).collect()
}

/// Returns the origin of each axis of a product.
pub(super) fn product_axes(rw: &Rewrite<'_>, dot: &DotGeneral) -> Option<Vec<ProductAxis>> {
    let left = free_axes(rw.rank(dot.lhs)?, &dot.lhs_batch, &dot.lhs_contract);
    let right = free_axes(rw.rank(dot.rhs)?, &dot.rhs_batch, &dot.rhs_contract);
    let batch = (0..dot.lhs_batch.len()).map(ProductAxis::Batch);
    let free = left.into_iter().map(ProductAxis::Left);
    Some(batch.chain(free).chain(right.into_iter().map(ProductAxis::Right)).collect())
}

/// The sides of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// The left operand.
    Left,
    /// The right operand.
    Right,
}

impl Side {
    /// Both sides.
    pub(super) const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// Returns the other side.
    pub(super) fn other(self) -> Self {
        if self == Self::Left { Self::Right } else { Self::Left }
    }

    /// Returns the operand at this side.
    pub(super) fn value(self, dot: &DotGeneral) -> Value {
        if self == Self::Left { dot.lhs } else { dot.rhs }
    }

    /// Returns the batch axes and the contracted axes of the operand at this side.
    pub(super) fn lists(self, dot: &DotGeneral) -> (&Axes, &Axes) {
        match self {
            Self::Left => (&dot.lhs_batch, &dot.lhs_contract),
            Self::Right => (&dot.rhs_batch, &dot.rhs_contract),
        }
    }

    /// Returns the product with another operand at this side.
    pub(super) fn replaced(
        self,
        dot: &DotGeneral,
        value: Value,
        batch: Axes,
        contract: Axes,
    ) -> DotGeneral {
        let dot = dot.clone();
        match self {
            Self::Left => {
                DotGeneral { lhs: value, lhs_batch: batch, lhs_contract: contract, ..dot }
            }
            Self::Right => {
                DotGeneral { rhs: value, rhs_batch: batch, rhs_contract: contract, ..dot }
            }
        }
    }

    /// Returns the product with an operand of the same axes at this side.
    pub(super) fn with(self, dot: &DotGeneral, value: Value) -> DotGeneral {
        let (batch, contract) = self.lists(dot);
        self.replaced(dot, value, batch.clone(), contract.clone())
    }

    /// Returns the axis of this side's operand that an axis of the product comes from. A batch axis comes from both operands.
    pub(super) fn axis_of(self, dot: &DotGeneral, axis: ProductAxis) -> Option<usize> {
        match (axis, self) {
            (ProductAxis::Batch(at), _) => Some(self.lists(dot).0[at] as usize),
            (ProductAxis::Left(own), Self::Left) | (ProductAxis::Right(own), Self::Right) => {
                Some(own)
            }
            _ => None,
        }
    }
}

/// Emits a transpose that moves an axis to another position, and keeps the order of the others.
pub(super) fn move_axis(
    rw: &mut Rewrite<'_>,
    input: Value,
    from: usize,
    to: usize,
) -> Option<Value> {
    if from == to {
        return Some(input);
    }
    let mut perm: Vec<usize> = (0..rw.rank(input)?).collect();
    let axis = perm.remove(from);
    perm.insert(to, axis);
    let perm = perm.into_iter().collect();
    rw.emit(Transpose { input, perm })
}

/// Returns true if nothing but the root uses a value, and if it is computed in the body of the root: not outside of a loop around the root.
pub(super) fn belongs_to_root(rw: &Rewrite<'_>, value: Value) -> bool {
    let f = rw.function();
    let body = |inst: InstId| f.body_of(inst);
    rw.one_use(value) && f.inst_of(value).and_then(body) == body(rw.root())
}

/// Returns true if sums of such elements may be taken in another order. Narrow floats may not: their products are added in a wider type, and the sum of
/// operands may overflow where the product does not.
pub(super) fn may_reorder(rw: &Rewrite<'_>, value: Value) -> bool {
    let is_narrow = |dtype: DataType| dtype.is_float() && dtype.bit_width() < 32;
    rw.allows(FloatMode::Fast, value) && !rw.dtype(value).is_none_or(is_narrow)
}

/// Returns a list of axes without some, in the numbers of a tensor that does not have those.
pub(super) fn without(list: &[i64], removed: &[usize]) -> Axes {
    let is_removed = |axis: i64| removed.contains(&(axis as usize));
    let before = |axis: i64| removed.iter().filter(|&&r| (r as i64) < axis).count() as i64;
    list.iter().filter(|&&axis| !is_removed(axis)).map(|&axis| axis - before(axis)).collect()
}
