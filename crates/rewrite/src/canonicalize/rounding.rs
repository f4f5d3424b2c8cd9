//! Canonicalizations of the ops that round, and of `is_finite` and `next_after`.

use sapwood_ptir::ops::{
    Abs, Cast, Ceil, Floor, IsFinite, Neg, NextAfter, ReducePrecision, RoundAway, RoundEven, Sign,
};
use sapwood_ptir::{Op, Value};

use super::cast::can_represent_all;
use super::numeric_constants::{bool_like_result, exponent_bits, is_float, significand_bits};
use crate::pattern::{Rewrite, Unary};

crate::patterns! { "rounding":
    rounding_of_whole on [Floor, Ceil, RoundAway, RoundEven] when 0 in [Floor, Ceil, RoundAway, RoundEven, Sign, Cast],
    reduce_precision_twice when 0 in [ReducePrecision],
    reduce_precision_to_more,
    is_finite_of_sign_change when 0 in [Neg, Abs],
    is_finite_of_wider when 0 in [Cast],
    is_finite_of_whole when 0 in [Cast],
    next_after_itself when equal,
}

/// `round(x) = x` where `x` is rounded already, a `sign`, or cast from an integer or bool.
///
/// For `floor`, `ceil`, `round_away`, `round_even`.
///
/// Floats: exact.
fn rounding_of_whole(op: Unary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let rounded = [Floor::key(), Ceil::key(), RoundAway::key(), RoundEven::key(), Sign::key()];
    if let Some(unary) = rw.def::<Unary>(op.input) {
        return rounded.contains(&unary.key).then_some(op.input);
    }
    let cast = rw.def::<Cast>(op.input)?;
    let from = rw.dtype(cast.input)?;
    (from.is_integer() || from.is_bool()).then_some(op.input)
}

/// `reduce_precision(reduce_precision(x)) = reduce_precision(x)`, of the same bits.
///
/// Floats: exact.
fn reduce_precision_twice(op: ReducePrecision, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<ReducePrecision>(op.input)?;
    let same = inner.exponent_bits == op.exponent_bits && inner.mantissa_bits == op.mantissa_bits;
    same.then_some(op.input)
}

/// `reduce_precision(x) = x` if it keeps more exponent bits than the type has, and at least as many fraction bits.
///
/// Floats: exact.
fn reduce_precision_to_more(op: ReducePrecision, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dtype = rw.dtype(op.input)?;
    let exponent = op.exponent_bits.0 > i64::from(exponent_bits(dtype)?);
    let fraction = op.mantissa_bits.0 >= i64::from(significand_bits(dtype)?) - 1;
    (exponent && fraction).then_some(op.input)
}

/// `is_finite(-x) = is_finite(|x|) = is_finite(x)`.
///
/// Floats: exact.
fn is_finite_of_sign_change(op: IsFinite, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Unary>(op.input)?;
    if inner.key != Neg::key() && inner.key != Abs::key() || !is_float(rw, inner.input) {
        return None;
    }
    rw.emit(IsFinite { input: inner.input })
}

/// `is_finite(cast(x)) = is_finite(x)` for casts between floats to a type that can represent all values.
///
/// Floats: exact.
fn is_finite_of_wider(op: IsFinite, rw: &mut Rewrite<'_>) -> Option<Value> {
    let cast = rw.def::<Cast>(op.input)?;
    let (from, to) = (rw.dtype(cast.input)?, rw.dtype(op.input)?);
    if !from.is_float() || !can_represent_all(to, from) {
        return None;
    }
    rw.emit(IsFinite { input: cast.input })
}

/// `is_finite(cast(x)) = true` for bools, and for integers that are all below the largest float.
///
/// Floats: exact.
fn is_finite_of_whole(op: IsFinite, rw: &mut Rewrite<'_>) -> Option<Value> {
    let cast = rw.def::<Cast>(op.input)?;
    let (from, to) = (rw.dtype(cast.input)?, rw.dtype(op.input)?);
    // The largest power of two is 2^(2^(bits - 1) - 1), one more for the type without infinities.
    let below = from.is_integer() && from.bit_width() < 1 << (exponent_bits(to)? - 1);
    if !from.is_bool() && !below {
        return None;
    }
    bool_like_result(rw, true)
}

/// `next_after(x, x) = x`.
///
/// Floats: exact.
fn next_after_itself(op: NextAfter, _: &mut Rewrite<'_>) -> Option<Value> {
    (op.lhs == op.rhs).then_some(op.rhs)
}
