//! The order of the products of a chain of matrices.

use sapwood_ptir::ops::DotGeneral;
use sapwood_ptir::{Axes, Value};
use sapwood_types::DataType;
use smallvec::{SmallVec, smallvec};

use super::product_axes::{belongs_to_root, may_reorder};
use crate::CostGoal;
use crate::pattern::Rewrite;

crate::patterns! { "chain":
    chain_of_dots hops 15 when any in [DotGeneral] floats fast,
}

/// The largest number of matrices of a chain. The time to find its order grows with the cube of it, and the driver visits users as many definitions away.
const MAX_CHAIN: usize = 16;

/// The largest number of matrices of a chain that another product continues. The whole chain is solved at its last product; in a chain beyond the limit, the others are only
/// compared with their neighbours. With 16 here too, a chain of a million products took 25 times as long as `simplify`.
const MAX_CONTINUED_CHAIN: usize = 3;

/// The matrices of a chain, in order.
type Chain = SmallVec<[ChainMatrix; MAX_CONTINUED_CHAIN]>;

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

/// `(A B) C = A (B C)`: the products of a chain of matrices and vectors are taken in the order of the lowest cost.
///
/// A chain consists of products that have one user each. All extents must be known.
///
/// Floats: fast.
fn chain_of_dots(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !may_reorder(rw, op.lhs) || !is_matrix_product(rw, &op) {
        return None;
    }
    let mut chain = Chain::new();
    let mut old = 0u128;
    let product_cost =
        ProductCost { goal: rw.goals().first(), bytes: rw.dtype(op.lhs)?.byte_size() };
    let limit = if is_continued(rw) { MAX_CONTINUED_CHAIN } else { MAX_CHAIN };
    collect(rw, &op, &mut chain, (limit, product_cost), &mut old)?;
    if chain.len() < 3 {
        return None;
    }
    let order = cheapest_order(&chain, product_cost)?;
    if order.cost >= old {
        return None;
    }
    emit(rw, &op, &chain, &order, 0, chain.len() - 1).map(|matrix| matrix.value)
}

// Returns true if the only user of the root is a product too.
fn is_continued(rw: &Rewrite<'_>) -> bool {
    let f = rw.function();
    let Some(result) = rw.result(0).filter(|&result| rw.one_use(result)) else { return false };
    let user = f.uses(result).next().map(|one| one.user);
    user.is_some_and(|user| f.is::<DotGeneral>(user) && f.body_of(user) == f.body_of(rw.root()))
}

/// The cost of the product of two matrices.
#[derive(Clone, Copy, Debug)]
struct ProductCost {
    goal: CostGoal,
    // The bytes of one element.
    bytes: usize,
}

impl ProductCost {
    // Returns the cost of a product of `rows` by `inner` and `inner` by `columns` elements.
    fn of(self, rows: u128, inner: u128, columns: u128) -> Option<u128> {
        let bytes = self.bytes as u128;
        match self.goal {
            CostGoal::Flops => rows.checked_mul(inner)?.checked_mul(columns)?.checked_mul(2),
            CostGoal::Bytes => {
                let operands = rows.checked_add(columns)?.checked_mul(inner)?;
                operands.checked_add(rows.checked_mul(columns)?)?.checked_mul(bytes)
            }
            CostGoal::Memory => rows.checked_mul(columns)?.checked_mul(bytes),
        }
    }
}

// Returns true if both operands have rank one or two, one contracted axis and no batch axes.
fn is_matrix_product(rw: &Rewrite<'_>, dot: &DotGeneral) -> bool {
    let fits = |value: Value| matches!(rw.rank(value), Some(1 | 2));
    let one_axis = dot.lhs_contract.len() == 1 && dot.rhs_contract.len() == 1;
    let plain = dot.lhs_batch.is_empty() && dot.out.is_none();
    one_axis && plain && fits(dot.lhs) && fits(dot.rhs)
}

/// A product whose operands are being visited.
struct OpenProduct {
    lhs: Value,
    rhs: Value,
    lhs_contract: i64,
    rhs_contract: i64,
    accumulate: Option<DataType>,
    // True if the transposed product is meant: that of the transposed operands in the other order.
    is_transposed: bool,
    // The number of operands that were visited.
    visited: u8,
}

impl OpenProduct {
    fn new(dot: &DotGeneral, is_transposed: bool) -> Self {
        Self {
            lhs: dot.lhs,
            rhs: dot.rhs,
            lhs_contract: dot.lhs_contract[0],
            rhs_contract: dot.rhs_contract[0],
            accumulate: dot.accumulate,
            is_transposed,
            visited: 0,
        }
    }

    // Returns the cost of this product alone.
    fn cost(&self, rw: &Rewrite<'_>, product_cost: ProductCost) -> Option<u128> {
        let free = |value: Value, contract: i64| -> Option<(u128, u128)> {
            let shape = rw.shape(value)?;
            let inner = u128::from(shape[contract as usize]);
            let free = (shape.len() == 2).then(|| shape[1 - contract as usize]);
            Some((free.map_or(1, u128::from), inner))
        };
        let (rows, inner) = free(self.lhs, self.lhs_contract)?;
        let (columns, _) = free(self.rhs, self.rhs_contract)?;
        product_cost.of(rows, inner, columns)
    }
}

// Appends the matrices of a product, from left to right, and adds the cost of its products.
fn collect(
    rw: &mut Rewrite<'_>,
    dot: &DotGeneral,
    chain: &mut Chain,
    (limit, product_cost): (usize, ProductCost),
    cost: &mut u128,
) -> Option<()> {
    // The open products, the innermost last.
    let mut pending: SmallVec<[OpenProduct; 4]> = smallvec![OpenProduct::new(dot, false)];
    while let Some(open) = pending.last_mut() {
        if open.visited == 2 {
            pending.pop();
            continue;
        }
        // As the first factor a matrix has its contracted axis in its columns, as the second one in its rows.
        let is_first = open.visited == 0;
        if is_first {
            *cost = cost.checked_add(open.cost(rw, product_cost)?)?;
        }
        open.visited += 1;
        let (value, contract) = match is_first != open.is_transposed {
            true => (open.lhs, open.lhs_contract),
            false => (open.rhs, open.rhs_contract),
        };
        let accumulate = open.accumulate;
        let free = (rw.rank(value)? == 2).then(|| 1 - contract);
        let (row_axis, column_axis) =
            if is_first { (free, Some(contract)) } else { (Some(contract), free) };
        // A product beyond the limit is a matrix of the chain.
        let is_open = chain.len() + pending.len() < limit && belongs_to_root(rw, value);
        let inner = match is_open {
            true => rw.def::<DotGeneral>(value).filter(|inner| is_matrix_product(rw, inner)),
            false => None,
        };
        let inner = inner.filter(|inner| inner.accumulate == accumulate);
        // A scalar product is a matrix of extent one by one, whose parts do not move.
        let inner = inner.filter(|_| rw.rank(value).is_some_and(|rank| rank > 0));
        match inner {
            Some(inner) => {
                let is_transposed = match rw.rank(value)? {
                    2 => row_axis != Some(0),
                    // The product of a matrix and a vector on its right is a column.
                    _ => (rw.rank(inner.lhs)? == 2) != column_axis.is_none(),
                };
                pending.push(OpenProduct::new(&inner, is_transposed));
            }
            None => {
                let shape = rw.shape(value)?;
                let extent =
                    |axis: Option<i64>| axis.map_or(1, |axis| u128::from(shape[axis as usize]));
                let (rows, columns) = (extent(row_axis), extent(column_axis));
                chain.push(ChainMatrix { value, rows, columns, row_axis, column_axis });
            }
        }
    }
    Some(())
}

/// The best place to split each part of a chain.
struct ChainOrder {
    cost: u128,
    matrices: usize,
    splits: PartTable<usize>,
}

/// A value for each part of a chain, by its first and its last matrix.
type PartTable<T> = SmallVec<[T; MAX_CONTINUED_CHAIN * MAX_CONTINUED_CHAIN]>;

impl ChainOrder {
    fn split(&self, first: usize, last: usize) -> usize {
        self.splits[first * self.matrices + last]
    }
}

// Finds the order of the lowest cost; of several, the one that splits first at the left.
fn cheapest_order(chain: &[ChainMatrix], product_cost: ProductCost) -> Option<ChainOrder> {
    let n = chain.len();
    let mut costs: PartTable<u128> = smallvec![0; n * n];
    let mut splits: PartTable<usize> = smallvec![0; n * n];
    for length in 2..=n {
        for first in 0..=n - length {
            let last = first + length - 1;
            let mut best: Option<(u128, usize)> = None;
            for split in first..last {
                let (rows, columns) = (chain[first].rows, chain[last].columns);
                let product = product_cost.of(rows, chain[split].columns, columns)?;
                let total = product
                    .checked_add(costs[first * n + split])?
                    .checked_add(costs[(split + 1) * n + last])?;
                if best.is_none_or(|(found, _)| total < found) {
                    best = Some((total, split));
                }
            }
            (costs[first * n + last], splits[first * n + last]) = best?;
        }
    }
    Some(ChainOrder { cost: costs[n - 1], matrices: n, splits })
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
    let split = order.split(first, last);
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
