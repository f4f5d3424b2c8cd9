//! Sums of products with a common factor.

use sapwood_ptir::ops::{Add, DotGeneral, Sub};
use sapwood_ptir::{Axes, Op, Value};

use super::product_axes::{Side, may_reorder};
use crate::pattern::Rewrite;

crate::patterns! { "common_factor":
    sum_of_dots hops 1 when 0 in [DotGeneral] floats fast,
    difference_of_dots hops 1 when 0 in [DotGeneral] floats fast,
    dot_of_sum hops 2 when any in [Add, Sub] floats fast,
}

/// `x y + x z = x (y + z)` and `y x + z x = (y + z) x` for products of matrices.
///
/// Floats: fast.
fn sum_of_dots(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    factor_out(rw, op.lhs, op.rhs, |lhs, rhs| Add { lhs, rhs })
}

/// `x y - x z = x (y - z)` and `y x - z x = (y - z) x` for products of matrices.
///
/// Floats: fast.
fn difference_of_dots(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    factor_out(rw, op.lhs, op.rhs, |lhs, rhs| Sub { lhs, rhs })
}

fn factor_out<T: Op>(
    rw: &mut Rewrite<'_>,
    lhs: Value,
    rhs: Value,
    combine: impl Fn(Value, Value) -> T,
) -> Option<Value> {
    if lhs == rhs {
        return None;
    }
    let (a, b) = (rw.def::<DotGeneral>(lhs)?, rw.def::<DotGeneral>(rhs)?);
    // The sum of operands must not be narrower than that of the products.
    if !may_reorder(rw, a.lhs) || a.out.is_some() || a.accumulate.is_some() {
        return None;
    }
    let is_like = DotGeneral { lhs: a.lhs, rhs: a.rhs, ..b.clone() } == a;
    let (old, new) = match () {
        () if is_like && a.lhs == b.lhs => (a.rhs, b.rhs),
        () if is_like && a.rhs == b.rhs => (a.lhs, b.lhs),
        () => return None,
    };
    if !rw.same_type(old, new) {
        return None;
    }
    let sum = rw.emit(combine(old, new))?;
    let is_left = a.rhs == b.rhs && a.lhs == old;
    rw.emit(if is_left { DotGeneral { lhs: sum, ..a } } else { DotGeneral { rhs: sum, ..a } })
}

/// `x (y + z) = x y + x z`, and the same for differences. An addend that is a product is taken apart: `x (y + u v) = x y + (x u) v`.
///
/// Floats: fast.
fn dot_of_sum(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !may_reorder(rw, op.lhs) || op.out.is_some() || op.accumulate.is_some() {
        return None;
    }
    Side::BOTH.into_iter().find_map(|side| {
        let operand = side.value(&op);
        if side.other().value(&op) == operand {
            return None;
        }
        if let Some(sum) = rw.def::<Add>(operand) {
            let lhs = product_with(rw, &op, side, sum.lhs)?;
            let rhs = product_with(rw, &op, side, sum.rhs)?;
            return rw.emit(Add { lhs, rhs });
        }
        let difference = rw.def::<Sub>(operand)?;
        let lhs = product_with(rw, &op, side, difference.lhs)?;
        let rhs = product_with(rw, &op, side, difference.rhs)?;
        rw.emit(Sub { lhs, rhs })
    })
}

// Emits the product with an addend in place of the operand at a side. If the addend is a product of matrices itself, the factor that is contracted comes first.
fn product_with(rw: &mut Rewrite<'_>, op: &DotGeneral, side: Side, addend: Value) -> Option<Value> {
    let plain = side.with(op, addend);
    let Some(inner) = rw.def::<DotGeneral>(addend) else { return rw.emit(plain) };
    let is_plain = |dot: &DotGeneral| dot.lhs_batch.is_empty() && dot.lhs_contract.len() == 1;
    let is_matrix = |value: Value| rw.rank(value) == Some(2);
    let fits = is_plain(op)
        && is_plain(&inner)
        && inner.accumulate.is_none()
        && inner.out.is_none()
        && [inner.lhs, inner.rhs].into_iter().all(is_matrix);
    if !fits {
        return rw.emit(plain);
    }
    // The contracted axis of the addend is the free axis of one of its factors: that factor is multiplied first.
    let contracted = side.lists(op).1[0];
    let (near, far) = if contracted == 0 { Side::BOTH.into() } else { (Side::Right, Side::Left) };
    let near_contract = 1 - near.lists(&inner).1[0];
    let first = side.replaced(op, near.value(&inner), Axes::default(), Axes::from([near_contract]));
    let other_free = rw.rank(side.other().value(op))? as i64 - 1;
    let product = rw.emit(first)?;
    // The result of the first product has the free axes of the left operand, then those of the right one.
    let inner_axis = if side == Side::Right { other_free } else { 0 };
    let second = match side {
        Side::Right => DotGeneral {
            lhs: product,
            rhs: far.value(&inner),
            lhs_contract: Axes::from([inner_axis]),
            rhs_contract: far.lists(&inner).1.clone(),
            ..op.clone()
        },
        Side::Left => DotGeneral {
            lhs: far.value(&inner),
            rhs: product,
            lhs_contract: far.lists(&inner).1.clone(),
            rhs_contract: Axes::from([inner_axis]),
            ..op.clone()
        },
    };
    rw.emit(second)
}
