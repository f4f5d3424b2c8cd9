//! Canonicalizations of `cast` and `bitcast`.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{Add, And, Bitcast, Cast, Max, Min, Mul, Or, Sub, Xor};
use sapwood_ptir::{Op, Value};

use super::numeric_constants::{exponent_bits, significand_bits};
use crate::pattern::{Binary, Rewrite};

crate::patterns! { "cast":
    cast_to_same hops 1 when same,
    cast_of_cast hops 1 when 0 in [Cast],
    cast_of_wide_arithmetic when 0 in [Add, Sub, Mul, And, Or, Xor] of [Int],
    cast_of_wide_choice when 0 in [Max, Min],
    bitcast_to_same hops 1 when same,
    bitcast_of_bitcast hops 1 when 0 in [Bitcast],
}

/// `cast(x : t) : t = x`.
///
/// Floats: exact.
fn cast_to_same(op: Cast, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.ty(op.input) == rw.result_type()).then_some(op.input)
}

/// `cast(cast(x : a) : b) : c = cast(x : a) : c`, if `b` loses nothing that `c` would keep.
///
/// Either `b` can represent all values of `a`, or all three are integers and `c` is not wider than `b`. From integers over
/// floats to integers only if `c` can represent all values of `a`: floats saturate where integers wrap.
///
/// Floats: exact.
fn cast_of_cast(op: Cast, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Cast>(op.input)?;
    let (a, b) = (rw.dtype(inner.input)?, rw.dtype(op.input)?);
    let c = rw.result_tensor()?.dtype;
    if !is_lossless_through(a, b, c) {
        return None;
    }
    if rw.ty(inner.input) == rw.result_type() {
        return Some(inner.input);
    }
    rw.emit(Cast { input: inner.input, ty: op.ty })
}

fn is_lossless_through(a: DataType, b: DataType, c: DataType) -> bool {
    let truncates = b.is_integer() && c.is_integer() && c.bit_width() <= b.bit_width();
    if truncates && (a.is_integer() || a.is_bool()) {
        return true;
    }
    let changes_class = a.is_integer() && !b.is_integer() && c.holds_integers();
    can_represent_all(b, a) && (!changes_class || can_represent_all(c, a))
}

/// Returns true if every value of `a` is a value of `b`.
pub(super) fn can_represent_all(b: DataType, a: DataType) -> bool {
    if a == b {
        return true;
    }
    // Some types that are only stored lack zero, or a sign; they are not worth more cases.
    if a.is_storage_only() || b.is_storage_only() {
        return false;
    }
    if a.is_bool() {
        return true;
    }
    if let Some(part) = b.complex_part() {
        return can_represent_all(part, a.complex_part().unwrap_or(a));
    }
    if let (Some((low, high)), Some((least, most))) = (a.integer_range(), b.integer_range()) {
        return least <= low && high <= most;
    }
    let (Some(digits), Some(exponent)) = (significand_bits(b), exponent_bits(b)) else {
        return false;
    };
    if let Some((low, _)) = a.integer_range() {
        // Every value has at most this many binary digits, except the smallest one, which is a power of two.
        let width = a.bit_width() - u32::from(low < 0);
        return width <= digits && width < 1 << (exponent - 1);
    }
    match (significand_bits(a), exponent_bits(a)) {
        (Some(fewer), Some(smaller)) => fewer <= digits && smaller <= exponent,
        _ => false,
    }
}

/// `bitcast(x : t) : t = x`.
///
/// Floats: exact.
fn bitcast_to_same(op: Bitcast, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.ty(op.input) == rw.result_type()).then_some(op.input)
}

/// `bitcast(bitcast(x)) = bitcast(x)`, if the result has the same type; not over bools.
///
/// Floats: exact.
fn bitcast_of_bitcast(op: Bitcast, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Bitcast>(op.input)?;
    if rw.dtype(op.input)?.is_bool() {
        return None;
    }
    if rw.ty(inner.input) == rw.result_type() {
        return Some(inner.input);
    }
    let value = rw.emit(Bitcast { input: inner.input, ty: op.ty })?;
    (rw.ty(value) == rw.result_type()).then_some(value)
}

/// `cast(cast(x : a) ∘ cast(y : a) : b) : a = x ∘ y` for integers, if `a` is not wider than `b`.
///
/// For `add`, `sub`, `mul`, `and`, `or`, `xor`, if nothing else uses the result of the op. One operand may be a constant.
///
/// Floats: never.
fn cast_of_wide_arithmetic(op: Cast, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (wide, ty) = (rw.dtype(op.input)?, rw.result_tensor()?);
    let narrows = ty.dtype.is_integer() && ty.dtype.bit_width() <= wide.bit_width();
    if !narrows || !wide.is_integer() || !rw.one_use(op.input) {
        return None;
    }
    let inner = rw.def::<Binary>(op.input)?;
    let wraps = [Add::key(), Sub::key(), Mul::key(), And::key(), Or::key(), Xor::key()];
    if !wraps.contains(&inner.key) {
        return None;
    }
    let mut casts = 0;
    let mut narrow = |rw: &mut Rewrite<'_>, value: Value| {
        if rw.is_constant(value) {
            return rw.emit(Cast { input: value, ty: op.ty.clone() });
        }
        let cast = rw.def::<Cast>(value)?;
        casts += 1;
        (rw.dtype(cast.input)? == ty.dtype).then_some(cast.input)
    };
    let (lhs, rhs) = (narrow(rw, inner.lhs)?, narrow(rw, inner.rhs)?);
    if casts == 0 {
        return None;
    }
    rw.emit_parts(&inner.with(lhs, rhs))
}

/// `cast(max(cast(x : a), cast(y : a)) : b) : a = max(x, y)`, likewise for `min`, if `b` can represent all values of `a`.
///
/// Only if nothing else uses the result of the op.
///
/// Floats: exact.
fn cast_of_wide_choice(op: Cast, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (wide, narrow) = (rw.dtype(op.input)?, rw.result_tensor()?.dtype);
    let inner = rw.def::<Binary>(op.input)?;
    let chooses = [Max::key(), Min::key()].contains(&inner.key);
    if !chooses || !can_represent_all(wide, narrow) || !rw.one_use(op.input) {
        return None;
    }
    let (x, y) = (rw.def::<Cast>(inner.lhs)?.input, rw.def::<Cast>(inner.rhs)?.input);
    let same = rw.dtype(x)? == narrow && rw.dtype(y)? == narrow;
    if !same || wide.is_complex() {
        return None;
    }
    rw.emit_parts(&inner.with(x, y))
}
