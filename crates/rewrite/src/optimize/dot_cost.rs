//! The operations of products, and the axes of their results.

use sapwood_ptir::cost::Amount;
use sapwood_ptir::ops::DotGeneral;
use sapwood_ptir::{Dim, TensorType};

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

/// Returns the operations of a product of tensors of these types.
pub(super) fn dot_flops(dot: &DotGeneral, lhs: &TensorType, rhs: &TensorType) -> Amount {
    let shared = |axis: &i64| dot.rhs_batch.iter().chain(&dot.rhs_contract.0).any(|a| a == axis);
    let free: Vec<Dim> = rhs
        .dims
        .iter()
        .enumerate()
        .filter(|(axis, _)| !shared(&(*axis as i64)))
        .map(|(_, &dim)| dim)
        .collect();
    Amount::elements(lhs).times(Amount::product(&free)).times(Amount::Known(2))
}

/// Returns true if an amount is certainly smaller than another.
pub(super) fn is_less(new: Amount, old: Amount) -> bool {
    new != old && new.plus(Amount::ONE).at_most(old) == Some(true)
}
