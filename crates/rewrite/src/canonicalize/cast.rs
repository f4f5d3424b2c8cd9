//! Canonicalizations of `cast` and `bitcast`.

use sapwood_ptir::Value;
use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{Bitcast, Cast};

use super::numeric_constants::{exponent_bits, significand_bits};
use crate::pattern::Rewrite;

crate::patterns! { "cast":
    cast_to_same hops 1 when same,
    cast_of_cast hops 1 when 0 in [Cast],
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
    let changes_class = a.is_integer() && !b.is_integer() && c.is_integer();
    can_represent_all(b, a) && (!changes_class || can_represent_all(c, a))
}

/// Returns true if every value of `a` is a value of `b`.
pub(super) fn can_represent_all(b: DataType, a: DataType) -> bool {
    if a == b || a.is_bool() {
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
