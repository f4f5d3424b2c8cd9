//! Queries and construction of numeric constants, for patterns on arithmetic.

use sapwood_ptir::eval::{DataType, Float, Int, Native, Num};
use sapwood_ptir::{TensorLiteral, Value, with_float, with_int, with_number};

use crate::FloatMode;
use crate::pattern::Rewrite;

/// Patterns do not compute with constants that have more elements than this; folding has its own limits.
const MAX_COMPUTED_ELEMENTS: usize = 64 * 1024;

/// Returns true if the elements are integers.
pub(super) fn is_int(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(DataType::is_integer)
}

/// Returns true if the elements are unsigned integers.
pub(super) fn is_unsigned(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(DataType::is_unsigned_integer)
}

/// Returns true if the elements are integers or bools.
pub(super) fn is_int_or_bool(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(|d| d.is_integer() || d.is_bool())
}

/// Returns true if the elements are bools.
pub(super) fn is_bool(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(DataType::is_bool)
}

/// Returns true if the elements are real floats.
pub(super) fn is_float(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(DataType::is_float)
}

/// Returns true if the elements are complex.
pub(super) fn is_complex(rw: &Rewrite<'_>, value: Value) -> bool {
    rw.dtype(value).is_some_and(DataType::is_complex)
}

/// Returns true unless the elements are complex and the float mode is stricter than `mode`.
pub(super) fn complex_allows(rw: &Rewrite<'_>, mode: FloatMode, value: Value) -> bool {
    !is_complex(rw, value) || rw.floats() >= mode
}

/// Returns the integer that all elements equal.
pub(super) fn splat_int(rw: &mut Rewrite<'_>, value: Value) -> Option<i128> {
    int_element(&rw.splat_of(value)?)
}

fn int_element(literal: &TensorLiteral) -> Option<i128> {
    let bytes = literal.as_splat()?;
    with_int!(literal.dtype(), T => Some(T::from_bytes(bytes).to_i128()), _ => None)
}

/// Returns the integer that all elements equal, with its bits read as unsigned.
pub(super) fn splat_unsigned(rw: &mut Rewrite<'_>, value: Value) -> Option<u64> {
    let width = rw.dtype(value)?.bit_width();
    let n = splat_int(rw, value)?;
    Some(n as u64 & (u64::MAX >> (64 - width)))
}

/// Returns the real float that all elements equal.
pub(super) fn splat_float(rw: &mut Rewrite<'_>, value: Value) -> Option<f64> {
    let literal = rw.splat_of(value)?;
    let bytes = literal.as_splat()?;
    with_float!(literal.dtype(), T => Some(T::from_bytes(bytes).number()), _ => None)
}

/// Returns true if the value is a constant.
pub(super) fn is_constant(rw: &mut Rewrite<'_>, value: Value) -> bool {
    rw.is_constant(value)
}

/// Returns true if all elements have all bits set: -1, the largest unsigned integer, `true`.
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

/// Returns true if all elements are zero, of either sign.
pub(super) fn is_any_zero(rw: &mut Rewrite<'_>, value: Value) -> bool {
    rw.is_zero(value) || rw.is_number(value, -0.0)
}

/// Returns true if all elements are the smallest value of the element type; for floats -infinity.
pub(super) fn is_lowest(rw: &mut Rewrite<'_>, value: Value) -> bool {
    is_extreme(rw, value, false)
}

/// Returns true if all elements are the largest value of the element type; for floats infinity.
pub(super) fn is_highest(rw: &mut Rewrite<'_>, value: Value) -> bool {
    is_extreme(rw, value, true)
}

fn is_extreme(rw: &mut Rewrite<'_>, value: Value, high: bool) -> bool {
    let Some(dtype) = rw.dtype(value) else { return false };
    if dtype.is_bool() {
        return if high { rw.is_one(value) } else { rw.is_zero(value) };
    }
    match dtype.integer_range() {
        Some((min, max)) => splat_int(rw, value) == Some(if high { max } else { min }),
        None => {
            splat_float(rw, value) == Some(if high { f64::INFINITY } else { f64::NEG_INFINITY })
        }
    }
}

/// Returns a constant of the type of a value whose elements have the low bits of this integer; for bools the lowest bit.
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

/// Returns a constant of the type of the root's result with all bits set.
pub(super) fn all_ones_like_result(rw: &mut Rewrite<'_>) -> Option<Value> {
    let result = rw.result(0)?;
    int_like(rw, result, -1)
}

/// Returns a constant of the type of the root's result that is `true` or `false`.
pub(super) fn bool_like_result(rw: &mut Rewrite<'_>, truth: bool) -> Option<Value> {
    rw.filled_like_result(f64::from(u8::from(truth)))
}

/// Returns the constant `-c` for a constant `c`.
pub(super) fn negated_constant(rw: &mut Rewrite<'_>, value: Value) -> Option<Value> {
    let literal = rw.constant_of(value)?;
    let literal =
        with_number!(literal.dtype(), T => map_literal::<T>(&literal, Num::neg), _ => None)?;
    Some(rw.constant(literal))
}

/// Returns the constant `~c` for a constant `c`.
pub(super) fn inverted_constant(rw: &mut Rewrite<'_>, value: Value) -> Option<Value> {
    let literal = rw.constant_of(value)?;
    let literal = if literal.dtype().is_bool() {
        map_literal::<bool>(&literal, |b| !b)
    } else {
        with_int!(literal.dtype(), T => map_literal::<T>(&literal, |n| T::wrap(!n.to_i128())), _ => None)
    }?;
    Some(rw.constant(literal))
}

fn map_literal<T: Native>(literal: &TensorLiteral, f: impl Fn(T) -> T) -> Option<TensorLiteral> {
    let (dtype, bytes) = (literal.dtype(), literal.stored_bytes());
    let size = dtype.byte_size();
    if bytes.len() / size > MAX_COMPUTED_ELEMENTS {
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

/// Tries a law of two operands in both orders.
pub(super) fn either_order<R>(
    rw: &mut Rewrite<'_>,
    (a, b): (Value, Value),
    mut law: impl FnMut(&mut Rewrite<'_>, Value, Value) -> Option<R>,
) -> Option<R> {
    law(rw, a, b).or_else(|| law(rw, b, a))
}

/// Returns the number of significand bits of a float type, including the leading one; `None` for other types.
pub(super) fn significand_bits(dtype: DataType) -> Option<u32> {
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

/// Returns the number of exponent bits of a float type; `None` for other types.
pub(super) fn exponent_bits(dtype: DataType) -> Option<u32> {
    Some(match dtype {
        DataType::F64 => 11,
        DataType::F32 | DataType::Bf16 => 8,
        DataType::F16 | DataType::F8E5M2 => 5,
        DataType::F8E4M3Fn => 4,
        _ => return None,
    })
}
