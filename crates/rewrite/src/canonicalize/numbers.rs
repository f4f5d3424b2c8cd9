//! What the patterns of arithmetic share: numbers of constants, and constants of numbers.

use sapwood_ptir::eval::{DataType, Float, Int, Native, Num};
use sapwood_ptir::{TensorLiteral, Value, with_float, with_int, with_number};

use crate::FloatMode;
use crate::pattern::Rewrite;

/// Constants with more elements than this are not computed with in patterns; folding has limits of its own.
const MAX_ELEMENTS: usize = 64 * 1024;

/// Whether the elements are integers.
pub(super) fn is_int(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(DataType::is_integer)
}

/// Whether the elements are unsigned integers.
pub(super) fn is_unsigned(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(DataType::is_unsigned_integer)
}

/// Whether the elements are integers or bools.
pub(super) fn is_bits(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(|d| d.is_integer() || d.is_bool())
}

/// Whether the elements are bools.
pub(super) fn is_bool(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(DataType::is_bool)
}

/// Whether the elements are real floats.
pub(super) fn is_float(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(DataType::is_float)
}

/// Whether the elements are complex.
pub(super) fn is_complex(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(DataType::is_complex)
}

/// For laws that are exact but for complex numbers, where they need a mode.
pub(super) fn complex_needs(rw: &Rewrite<'_>, mode: FloatMode, value: Value) -> bool {
    !is_complex(rw, value) || rw.floats() >= mode
}

/// The integer that all elements are.
pub(super) fn int_of(rw: &mut Rewrite<'_>, value: Value) -> Option<i128> {
    int_element(&rw.splat_of(value)?)
}

fn int_element(literal: &TensorLiteral) -> Option<i128> {
    let bytes = literal.as_splat()?;
    with_int!(literal.dtype(), T => Some(T::from_bytes(bytes).to_i128()), _ => None)
}

/// The integer that all elements are, its bits read as unsigned.
pub(super) fn unsigned_of(rw: &mut Rewrite<'_>, value: Value) -> Option<u64> {
    let width = rw.dtype(value)?.bit_width();
    let n = int_of(rw, value)?;
    Some(n as u64 & (u64::MAX >> (64 - width)))
}

/// The real float that all elements are.
pub(super) fn float_of(rw: &mut Rewrite<'_>, value: Value) -> Option<f64> {
    let literal = rw.splat_of(value)?;
    let bytes = literal.as_splat()?;
    with_float!(literal.dtype(), T => Some(T::from_bytes(bytes).number()), _ => None)
}

/// Whether the value is a constant.
pub(super) fn is_constant(rw: &mut Rewrite<'_>, value: Value) -> bool {
    rw.is_constant(value)
}

/// Whether all elements have all bits set: -1, the largest unsigned integer, `true`.
pub(super) fn is_all_ones(rw: &mut Rewrite<'_>, value: Value) -> bool {
    match rw.splat_of(value) {
        Some(literal) if literal.dtype().is_bool() => literal.is_one(),
        Some(literal) => {
            let all =
                literal.dtype().integer_range().map(|(min, max)| if min < 0 { -1 } else { max });
            all.is_some() && int_element(&literal) == all
        }
        None => false,
    }
}

/// Whether all elements are zero, of either sign.
pub(super) fn is_any_zero(rw: &mut Rewrite<'_>, value: Value) -> bool {
    rw.is_zero(value) || rw.is_number(value, -0.0)
}

/// The smallest value of the element type: of floats -infinity.
pub(super) fn is_lowest(rw: &mut Rewrite<'_>, value: Value) -> bool {
    is_extreme(rw, value, false)
}

/// The largest value of the element type: of floats infinity.
pub(super) fn is_highest(rw: &mut Rewrite<'_>, value: Value) -> bool {
    is_extreme(rw, value, true)
}

fn is_extreme(rw: &mut Rewrite<'_>, value: Value, high: bool) -> bool {
    let Some(dtype) = rw.dtype(value) else { return false };
    if dtype.is_bool() {
        return if high { rw.is_one(value) } else { rw.is_zero(value) };
    }
    match dtype.integer_range() {
        Some((min, max)) => int_of(rw, value) == Some(if high { max } else { min }),
        None => float_of(rw, value) == Some(if high { f64::INFINITY } else { f64::NEG_INFINITY }),
    }
}

/// A constant like a value whose elements have the low bits of this integer; of bools the lowest bit.
pub(super) fn int_like(rw: &mut Rewrite<'_>, value: Value, n: i128) -> Option<Value> {
    let ty = rw.tensor(value)?;
    let (dtype, shape) = (ty.dtype, ty.known_shape()?);
    let mut bytes = Vec::new();
    if dtype.is_bool() {
        bytes.push((n & 1) as u8);
    } else {
        with_int!(dtype, T => T::wrap(n).write_bytes(&mut bytes), _ => return None);
    }
    let literal = TensorLiteral::splat(dtype, &shape, &bytes).ok()?;
    Some(rw.constant(literal))
}

/// A constant like the result of the root whose bits are all set.
pub(super) fn all_ones_like_result(rw: &mut Rewrite<'_>) -> Option<Value> {
    let result = rw.result(0)?;
    int_like(rw, result, -1)
}

/// A constant like the result of the root that is `true` or `false`.
pub(super) fn truth(rw: &mut Rewrite<'_>, truth: bool) -> Option<Value> {
    rw.filled_like_result(f64::from(u8::from(truth)))
}

/// `-c` of a constant.
pub(super) fn negated(rw: &mut Rewrite<'_>, value: Value) -> Option<Value> {
    let literal = rw.constant_of(value)?;
    let literal = with_number!(literal.dtype(), T => map::<T>(&literal, Num::neg), _ => None)?;
    Some(rw.constant(literal))
}

/// `~c` of a constant.
pub(super) fn inverted(rw: &mut Rewrite<'_>, value: Value) -> Option<Value> {
    let literal = rw.constant_of(value)?;
    let literal = if literal.dtype().is_bool() {
        map::<bool>(&literal, |b| !b)
    } else {
        with_int!(literal.dtype(), T => map::<T>(&literal, |n| T::wrap(!n.to_i128())), _ => None)
    }?;
    Some(rw.constant(literal))
}

fn map<T: Native>(literal: &TensorLiteral, f: impl Fn(T) -> T) -> Option<TensorLiteral> {
    let (dtype, bytes) = (literal.dtype(), literal.stored_bytes());
    let size = dtype.byte_size();
    if bytes.len() / size > MAX_ELEMENTS {
        return None;
    }
    let mut out = Vec::with_capacity(bytes.len());
    for element in bytes.chunks_exact(size) {
        f(T::from_bytes(element)).write_bytes(&mut out);
    }
    if literal.as_splat().is_some() {
        return TensorLiteral::splat(dtype, literal.shape(), &out).ok();
    }
    TensorLiteral::new(dtype, literal.shape(), &out).ok()
}

/// A law of two operands, tried in both orders.
pub(super) fn either_order<R>(
    rw: &mut Rewrite<'_>,
    (a, b): (Value, Value),
    mut law: impl FnMut(&mut Rewrite<'_>, Value, Value) -> Option<R>,
) -> Option<R> {
    law(rw, a, b).or_else(|| law(rw, b, a))
}

/// How many bits an element type has for the significand of floats, the leading one included; `None` for others.
pub(super) fn precision(dtype: DataType) -> Option<u32> {
    Some(match dtype {
        DataType::F64 => 53,
        DataType::F32 => 24,
        DataType::F16 => 11,
        DataType::Bf16 => 8,
        DataType::F8E4M3Fn => 4,
        DataType::F8E5M2 => 3,
        _ => return None,
    })
}

/// How many bits the exponent of a float type has; `None` for others.
pub(super) fn exponent_bits(dtype: DataType) -> Option<u32> {
    Some(match dtype {
        DataType::F64 => 11,
        DataType::F32 | DataType::Bf16 => 8,
        DataType::F16 | DataType::F8E5M2 => 5,
        DataType::F8E4M3Fn => 4,
        _ => return None,
    })
}
