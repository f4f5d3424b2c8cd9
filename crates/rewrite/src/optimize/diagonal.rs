//! Diagonals: of products, and as operands of products.

use sapwood_ptir::ops::{Cast, Concat, DotGeneral, Gather, Mul, ReduceSum, Select, Transpose};
use sapwood_ptir::{Axes, Value};

use super::masks::{diagonal_mask, index_axis, masked_diagonal, vector_along};
use super::product_axes::{ProductAxis, Side, may_reorder, move_axis, product_axes};
use crate::canonicalize::tensor_views::emit_broadcast;
use crate::cost_goals::CostGoal;
use crate::pattern::Rewrite;

crate::patterns! { "diagonal":
    diagonal_of_dot hops 7 when 0 in [DotGeneral],
    sum_of_diagonal_of_dot hops 6 when 0 in [Select] floats fast,
    dot_of_diagonal hops 6 when any in [Select, Cast, Mul] floats fast,
}

// Returns the free axes of both operands that two axes of a product come from, if one comes from each.
fn free_pair(dot: &[ProductAxis], (a, b): (usize, usize)) -> Option<(usize, usize)> {
    match (dot[a], dot[b]) {
        (ProductAxis::Left(left), ProductAxis::Right(right))
        | (ProductAxis::Right(right), ProductAxis::Left(left)) => Some((left, right)),
        _ => None,
    }
}

fn pushed(list: &Axes, axis: usize) -> Axes {
    list.iter().copied().chain([axis as i64]).collect()
}

// Emits a product with two free axes as batch axes, the last ones.
fn emit_diagonal(
    rw: &mut Rewrite<'_>,
    dot: DotGeneral,
    (left, right): (usize, usize),
) -> Option<Value> {
    let new = DotGeneral {
        lhs_batch: pushed(&dot.lhs_batch, left),
        rhs_batch: pushed(&dot.rhs_batch, right),
        ..dot
    };
    emit_product(rw, new)
}

// Emits a product. Without free axes it is a sum of elementwise products, which takes one operation less per sum, if sums may be taken in another order.
fn emit_product(rw: &mut Rewrite<'_>, new: DotGeneral) -> Option<Value> {
    let batch = new.lhs_batch.len();
    let is_full = |rank: Option<usize>| rank == Some(batch + new.lhs_contract.len());
    let is_plain = is_full(rw.rank(new.lhs)) && is_full(rw.rank(new.rhs));
    let is_sum = is_plain
        && rw.goals().first() == CostGoal::Flops
        && may_reorder(rw, new.lhs)
        && new.accumulate.or(new.out).is_none();
    if !is_sum {
        return rw.emit(new);
    }
    // The order of the sums is that of the left operand, which then needs no transpose. XLA on the CPU takes 54 instead of 64 microseconds for a trace of 512 x 512 elements.
    let mut pairs: Vec<(i64, i64)> =
        new.lhs_contract.iter().copied().zip(new.rhs_contract.iter().copied()).collect();
    pairs.sort_unstable();
    let lhs_contract = pairs.iter().map(|&(left, _)| left).collect();
    let rhs_contract = pairs.iter().map(|&(_, right)| right).collect();
    let new = DotGeneral { lhs_contract, rhs_contract, ..new };
    let mut factors = [(new.lhs, Side::Left), (new.rhs, Side::Right)];
    for (value, side) in &mut factors {
        let (batch, contract) = side.lists(&new);
        let perm: Axes = batch.iter().chain(contract.iter()).copied().collect();
        if !perm.is_sorted() {
            *value = rw.emit(Transpose { input: *value, perm })?;
        }
    }
    let input = rw.emit(Mul { lhs: factors[0].0, rhs: factors[1].0 })?;
    let axes = (batch..batch + new.lhs_contract.len()).collect();
    rw.emit(ReduceSum { input, axes, keepdims: false, accumulate: None })
}

/// `gather(dot_general(x, y), [i, i]) = dot_general(x, y)` with the free axes as batch axes: the diagonal of a product.
///
/// The index vectors are `[0, 0]`, `[1, 1]` and so on.
///
/// Floats: exact.
fn diagonal_of_dot(op: Gather, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dot = rw.def::<DotGeneral>(op.input)?;
    let shape = rw.shape(op.input)?;
    let &[a, b] = &op.start_index_map[..] else { return None };
    let (a, b) = (a.min(b) as usize, a.max(b) as usize);
    let is_whole = |(at, (&size, &extent)): (usize, (&i64, &u64))| {
        size == if at == a || at == b { 1 } else { extent as i64 }
    };
    let is_plain = op.input_batch_dims.is_empty()
        && op.collapsed_dims[..] == [a as i64, b as i64]
        && op.slice_sizes.iter().zip(&shape).enumerate().all(is_whole)
        && op.index_vector_dim.0 == 1
        && rw.rank(op.indices)? == 2
        && rw.shape(op.indices)?[0] == shape[a].min(shape[b])
        && shape[a] == shape[b]
        && is_index_pair(rw, op.indices)?;
    let (left, right) = free_pair(&product_axes(rw, &dot)?, (a, b)).filter(|_| is_plain)?;
    let batch = dot.lhs_batch.len();
    let diagonal = emit_diagonal(rw, dot, (left, right))?;
    // The diagonal is the last batch axis of the product, and the axis of the gather that runs over the indices.
    let rank = shape.len() - 1;
    let to = (0..rank).find(|&at| !op.offset_dims.contains(&(at as i64)))?;
    move_axis(rw, diagonal, batch, to)
}

// Returns true if the two columns of a matrix both count from zero.
fn is_index_pair(rw: &mut Rewrite<'_>, indices: Value) -> Option<bool> {
    let columns = rw.def::<Concat>(indices).filter(|concat| concat.axis.0 == 1)?;
    let &[first, second] = &columns.inputs[..] else { return None };
    let counts = |rw: &mut Rewrite<'_>, column: Value| index_axis(rw, column) == Some(0);
    Some(counts(rw, first) && counts(rw, second))
}

/// `reduce_sum(select(i == j, dot_general(x, y), 0))` sums the products of a diagonal only: its trace, or the diagonal itself.
///
/// Floats: fast.
fn sum_of_diagonal_of_dot(op: ReduceSum, rw: &mut Rewrite<'_>) -> Option<Value> {
    let select = rw.def::<Select>(op.input).filter(|select| rw.is_zero(select.on_false))?;
    let dot = rw.def::<DotGeneral>(select.on_true)?;
    let is_wider = op.accumulate.or(dot.accumulate).or(dot.out).is_some();
    if is_wider || op.keepdims || !may_reorder(rw, op.input) {
        return None;
    }
    let (a, b) = diagonal_mask(rw, select.pred)?;
    let axes = product_axes(rw, &dot)?;
    let (left, right) = free_pair(&axes, (a, b))?;
    let is_summed = |axis: usize| op.axes.contains(&(axis as i64));
    match (is_summed(a), is_summed(b), op.axes.len()) {
        (true, true, 2) => {
            let new = DotGeneral {
                lhs_contract: pushed(&dot.lhs_contract, left),
                rhs_contract: pushed(&dot.rhs_contract, right),
                ..dot
            };
            emit_product(rw, new)
        }
        (false, true, 1) | (true, false, 1) => {
            let batch = dot.lhs_batch.len();
            let diagonal = emit_diagonal(rw, dot, (left, right))?;
            // The axis that stays, among those of the result.
            let kept = if is_summed(a) { b - 1 } else { a };
            move_axis(rw, diagonal, batch, kept)
        }
        _ => None,
    }
}

/// `dot_general(x, diag(v)) = x * v`, for either operand. A diagonal matrix is `select(i == j, v, 0)`, `cast(i == j)` or their product.
///
/// Floats: fast.
fn dot_of_diagonal(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    let is_plain = op.lhs_batch.is_empty() && op.lhs_contract.len() == 1;
    if !is_plain || !may_reorder(rw, op.lhs) || op.accumulate.or(op.out).is_some() {
        return None;
    }
    Side::BOTH.into_iter().find_map(|side| {
        let matrix = side.value(&op);
        if rw.rank(matrix)? != 2 {
            return None;
        }
        let (_, elements) = masked_diagonal(rw, matrix)?;
        let other = side.other();
        let input = other.value(&op);
        let axis = other.lists(&op).1[0] as usize;
        let product = match elements {
            None => input,
            Some(elements) => {
                // The elements on the diagonal, as far as they depend on one of the two axes only.
                let vector =
                    vector_along(rw, elements, 0).or_else(|| vector_along(rw, elements, 1))?;
                let ty = rw.tensor(input)?.clone();
                let dims: &[usize] = if rw.rank(vector)? == 0 { &[] } else { &[axis] };
                let rhs = emit_broadcast(rw, vector, dims, &ty)?;
                rw.emit(Mul { lhs: input, rhs })?
            }
        };
        // The contracted axis is replaced by the other axis of the matrix: the last one of the product, or the first.
        let to = if side == Side::Right { rw.rank(input)? - 1 } else { 0 };
        move_axis(rw, product, axis, to)
    })
}
