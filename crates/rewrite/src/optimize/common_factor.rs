//! Sums of products with a common factor.

use sapwood_ptir::cost::Amount;
use sapwood_ptir::ops::{Add, DotGeneral, Sub};
use sapwood_ptir::{Op, Value};

use super::dot_cost::{dot_flops, is_less};
use crate::FloatMode;
use crate::pattern::Rewrite;

crate::patterns! { "common_factor":
    sum_of_dots hops 1 when 0 in [DotGeneral] floats fast,
    difference_of_dots hops 1 when 0 in [DotGeneral] floats fast,
}

/// `x y + x z = x (y + z)` and `y x + z x = (y + z) x` for products of matrices.
///
/// Only if nothing else uses the products, and if it takes fewer operations.
///
/// Floats: fast.
fn sum_of_dots(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    factor_out(rw, op.lhs, op.rhs, |lhs, rhs| Add { lhs, rhs })
}

/// `x y - x z = x (y - z)` and `y x - z x = (y - z) x` for products of matrices.
///
/// Only if nothing else uses the products, and if it takes fewer operations.
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
    if lhs == rhs || !rw.allows(FloatMode::Fast, lhs) || !rw.one_use(lhs) || !rw.one_use(rhs) {
        return None;
    }
    let (a, b) = (rw.def::<DotGeneral>(lhs)?, rw.def::<DotGeneral>(rhs)?);
    let is_like = DotGeneral { lhs: a.lhs, rhs: a.rhs, ..b.clone() } == a;
    let (old, new) = match () {
        () if is_like && a.lhs == b.lhs => (a.rhs, b.rhs),
        () if is_like && a.rhs == b.rhs => (a.lhs, b.lhs),
        () => return None,
    };
    let (left, right) = (rw.tensor(a.lhs)?.clone(), rw.tensor(a.rhs)?.clone());
    if !rw.same_type(old, new) {
        return None;
    }
    // Two products and a sum of the results become one product and a sum of operands.
    let product = dot_flops(&a, &left, &right);
    let before = product.plus(product).plus(Amount::elements(rw.tensor(lhs)?));
    let after = product.plus(Amount::elements(rw.tensor(old)?));
    if !is_less(after, before) {
        return None;
    }
    let sum = rw.emit(combine(old, new))?;
    let is_left = a.rhs == b.rhs && a.lhs == old;
    rw.emit(if is_left { DotGeneral { lhs: sum, ..a } } else { DotGeneral { rhs: sum, ..a } })
}
