//! The order of the products of a chain of matrices.

use sapwood_ptir::ops::DotGeneral;
use sapwood_ptir::{Axes, Value};

use crate::FloatMode;
use crate::pattern::Rewrite;

crate::patterns! { "chain":
    chain_of_dots hops 15 when any in [DotGeneral] floats fast,
}

/// The largest number of matrices of a chain. The time to find its order grows with the cube of it, and the driver visits users as many definitions away.
const MAX_CHAIN: usize = 16;

/// One matrix of a chain.
#[derive(Clone, Copy, Debug)]
struct ChainMatrix {
    value: Value,
    rows: u128,
    columns: u128,
    // The axes of the value that are rows and columns; `None` for the side of extent one of a vector.
    row_axis: Option<i64>,
    column_axis: Option<i64>,
}

/// `(A B) C = A (B C)`: the products of a chain of matrices and vectors are taken in the order with the fewest operations.
///
/// A chain consists of products that have one user each. All extents must be known.
///
/// Floats: fast.
fn chain_of_dots(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) || !is_matrix_product(rw, &op) {
        return None;
    }
    let mut chain = Vec::new();
    let mut old = 0u128;
    collect(rw, op.clone(), &mut chain, &mut old)?;
    if chain.len() < 3 {
        return None;
    }
    let order = cheapest_order(&chain)?;
    if order.flops >= old {
        return None;
    }
    emit(rw, &op, &chain, &order, 0, chain.len() - 1).map(|matrix| matrix.value)
}

// Returns true if both operands have rank one or two, one contracted axis and no batch axes.
fn is_matrix_product(rw: &Rewrite<'_>, dot: &DotGeneral) -> bool {
    let fits = |value: Value| matches!(rw.rank(value), Some(1 | 2));
    let one_axis = dot.lhs_contract.len() == 1 && dot.rhs_contract.len() == 1;
    let plain = dot.lhs_batch.is_empty() && dot.out.is_none();
    one_axis && plain && fits(dot.lhs) && fits(dot.rhs)
}

// Appends the matrices of a product, from left to right, and adds the operations of its products.
fn collect(
    rw: &mut Rewrite<'_>,
    dot: DotGeneral,
    chain: &mut Vec<ChainMatrix>,
    flops: &mut u128,
) -> Option<()> {
    // The open products, the innermost last, with the number of their operands that were visited. A transposed product is that of its transposed operands
    // in the other order.
    let mut pending = vec![(dot, false, 0u8)];
    while let Some((dot, is_transposed, next)) = pending.pop() {
        if next == 0 {
            let columns = rw.shape(dot.rhs)?;
            let axis = dot.rhs_contract[0] as usize;
            let free: u128 =
                (0..columns.len()).filter(|&a| a != axis).map(|a| u128::from(columns[a])).product();
            let left: u128 = rw.shape(dot.lhs)?.iter().map(|&extent| u128::from(extent)).product();
            *flops = flops.checked_add(left.checked_mul(free)?.checked_mul(2)?)?;
        }
        if next == 2 {
            continue;
        }
        pending.push((dot.clone(), is_transposed, next + 1));
        let is_left = (next == 0) != is_transposed;
        let (value, contract) = match is_left {
            true => (dot.lhs, dot.lhs_contract[0]),
            false => (dot.rhs, dot.rhs_contract[0]),
        };
        // As the first factor a matrix has its contracted axis in its columns, as the second one in its rows.
        let is_first = next == 0;
        let free = (rw.rank(value)? == 2).then(|| 1 - contract);
        let (row_axis, column_axis) =
            if is_first { (free, Some(contract)) } else { (Some(contract), free) };
        let inner = match rw.one_use(value) {
            true => rw.def::<DotGeneral>(value).filter(|inner| is_matrix_product(rw, inner)),
            false => None,
        };
        // A scalar product is a matrix of extent one by one, whose parts do not move.
        let inner = inner.filter(|_| rw.rank(value).is_some_and(|rank| rank > 0));
        match inner {
            Some(inner) => {
                let is_transposed = match rw.rank(value)? {
                    2 => row_axis != Some(0),
                    // The product of a matrix and a vector on its right is a column.
                    _ => (rw.rank(inner.lhs)? == 2) != column_axis.is_none(),
                };
                pending.push((inner, is_transposed, 0));
            }
            None => {
                let shape = rw.shape(value)?;
                let extent =
                    |axis: Option<i64>| axis.map_or(1, |axis| u128::from(shape[axis as usize]));
                let (rows, columns) = (extent(row_axis), extent(column_axis));
                chain.push(ChainMatrix { value, rows, columns, row_axis, column_axis });
            }
        }
        if chain.len() > MAX_CHAIN {
            return None;
        }
    }
    Some(())
}

/// The best place to split each part of a chain.
struct ChainOrder {
    flops: u128,
    splits: Vec<Vec<usize>>,
}

// Finds the order with the fewest operations; of several, the one that splits first at the left.
fn cheapest_order(chain: &[ChainMatrix]) -> Option<ChainOrder> {
    let n = chain.len();
    let mut flops = vec![vec![0u128; n]; n];
    let mut splits = vec![vec![0; n]; n];
    for length in 2..=n {
        for first in 0..=n - length {
            let last = first + length - 1;
            let mut best: Option<(u128, usize)> = None;
            for split in first..last {
                let product = 2u128
                    .checked_mul(chain[first].rows)?
                    .checked_mul(chain[split].columns)?
                    .checked_mul(chain[last].columns)?;
                let total = product
                    .checked_add(flops[first][split])?
                    .checked_add(flops[split + 1][last])?;
                if best.is_none_or(|(found, _)| total < found) {
                    best = Some((total, split));
                }
            }
            (flops[first][last], splits[first][last]) = best?;
        }
    }
    Some(ChainOrder { flops: flops[0][n - 1], splits })
}

// Emits the product of a part of the chain. Chains are short, so that recursion is harmless.
fn emit(
    rw: &mut Rewrite<'_>,
    like: &DotGeneral,
    chain: &[ChainMatrix],
    order: &ChainOrder,
    first: usize,
    last: usize,
) -> Option<ChainMatrix> {
    if first == last {
        return Some(chain[first]);
    }
    let split = order.splits[first][last];
    let left = emit(rw, like, chain, order, first, split)?;
    let right = emit(rw, like, chain, order, split + 1, last)?;
    let value = rw.emit(DotGeneral {
        lhs: left.value,
        rhs: right.value,
        lhs_contract: Axes::from([left.column_axis?]),
        rhs_contract: Axes::from([right.row_axis?]),
        ..like.clone()
    })?;
    let row_axis = left.row_axis.map(|_| 0);
    let column_axis = right.column_axis.map(|_| i64::from(left.row_axis.is_some()));
    Some(ChainMatrix { value, rows: left.rows, columns: right.columns, row_axis, column_axis })
}
