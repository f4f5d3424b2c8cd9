//! Elementwise ops of two operands. Unless documented otherwise, both operands and the result have the same type.

use super::support::{DtypeClass, infer_same_types, one_result};
use crate::eval::kernels::binary as k;
use crate::op::{InferCx, InferResult, OpError, Value};
use sapwood_types::DataType;

crate::ops! {
    family "binary", table binary_ops, values BinaryValueOps, graph BinaryGraphOps;

    /// Adds two values. Integers wrap. For bools, the result is the logical or.
    op add Add "add" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| infer_same_types(cx, DtypeClass::COMPUTED), eval = k::add;

    /// Subtracts `rhs` from `lhs`. Integers wrap.
    op sub Sub "sub" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| infer_same_types(cx, DtypeClass::NUMBER), eval = k::sub;

    /// Multiplies two values. Integers wrap. For bools, the result is the logical and. A complex product is computed
    /// from four real products, each of them rounded.
    op mul Mul "mul" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| infer_same_types(cx, DtypeClass::COMPUTED), eval = k::mul;

    /// Divides `lhs` by `rhs`. Integer division rounds towards zero; division by zero gives -1 (all bits one), and
    /// the smallest signed integer divided by -1 gives itself. Floats follow IEEE 754. Complex division is computed
    /// with 64-bit parts, scaled by the larger part of the divisor, and then rounded; if the divisor is zero, both
    /// parts are divided by zero.
    op div Div "div" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| infer_same_types(cx, DtypeClass::NUMBER), eval = k::div;

    /// Computes the remainder of a division that rounds towards zero; it has the sign of the dividend. For integers,
    /// the remainder by zero is the dividend, and by -1 it is zero. For floats, the remainder by zero and the
    /// remainder of an infinity are NaN.
    op rem Rem "rem" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| infer_same_types(cx, DtypeClass::FLOAT_INT), eval = k::rem;

    /// Raises `lhs` to the power `rhs`. Integers wrap; a negative integer exponent gives 0, except that base 1 or -1
    /// gives 1 or -1, and base 0 gives -1 (all bits one). `x^0` is 1 for every `x`, NaN included, and for floats
    /// `1^y` is 1 for every `y`. A negative float to a power that is not a whole number is NaN. For complex numbers,
    /// the result is `e^(rhs log lhs)`, and 0 for base 0.
    op pow Pow "pow" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| infer_same_types(cx, DtypeClass::NUMBER), eval = k::pow;

    /// Returns the smaller of two values. For floats, the result is NaN if either operand is NaN, and -0 is smaller
    /// than 0. For bools, it is the logical and. Complex numbers are compared by real part, then by imaginary part;
    /// -0 equals 0, and is smaller only if all parts are otherwise equal. If any part is NaN, both parts of the
    /// result are NaN.
    op min Min "min" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| infer_same_types(cx, DtypeClass::COMPUTED), eval = k::min;

    /// Returns the larger of two values. For floats, the result is NaN if either operand is NaN, and -0 is smaller
    /// than 0. For bools, it is the logical or. Complex numbers are compared by real part, then by imaginary part; -0
    /// equals 0, and is smaller only if all parts are otherwise equal. If any part is NaN, both parts of the result
    /// are NaN.
    op max Max "max" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| infer_same_types(cx, DtypeClass::COMPUTED), eval = k::max;

    /// Computes the logical and of bools, or the bitwise and of integers.
    op and And "and" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| infer_same_types(cx, DtypeClass::INT_BOOL), eval = k::and;

    /// Computes the logical or of bools, or the bitwise or of integers.
    op or Or "or" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| infer_same_types(cx, DtypeClass::INT_BOOL), eval = k::or;

    /// Computes the exclusive or of bools, or the bitwise exclusive or of integers.
    op xor Xor "xor" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| infer_same_types(cx, DtypeClass::INT_BOOL), eval = k::xor;

    /// Shifts the bits of `lhs` to the left. Shift amounts are read as unsigned; an amount of at least the bit width
    /// gives zero.
    op shl Shl "shl" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| infer_same_types(cx, DtypeClass::INT), eval = k::shl;

    /// Shifts the bits of `lhs` to the right and fills with copies of the highest bit, for unsigned types too. Shift
    /// amounts are read as unsigned; an amount of at least the bit width gives all copies of that bit.
    op shr_arithmetic ShrArithmetic "shr_arithmetic" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| infer_same_types(cx, DtypeClass::INT), eval = k::shr_arithmetic;

    /// Shifts the bits of `lhs` to the right and fills with zeros. Shift amounts are read as unsigned; an amount of
    /// at least the bit width gives zero.
    op shr_logical ShrLogical "shr_logical" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| infer_same_types(cx, DtypeClass::INT), eval = k::shr_logical;

    /// Computes the angle of the point `(rhs, lhs)`, in [-pi, pi]. The signs of zeros count as in IEEE 754. The
    /// result is NaN if either operand is NaN. For complex numbers, it is
    /// `-i log((rhs + i lhs) / sqrt(rhs^2 + lhs^2))`.
    op atan2 Atan2 "atan2" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| infer_same_types(cx, DtypeClass::FLOAT_COMPLEX), eval = k::atan2;

    /// Builds complex numbers from real and imaginary parts: f32 gives c64, f64 gives c128.
    op complex Complex "complex" (lhs: Value, rhs: Value) {} -> one [elementwise] = infer_complex, eval = k::complex;

    /// Returns the next float after `lhs` in the direction of `rhs`. If the operands are equal, the result is `rhs`;
    /// if either is NaN, it is NaN.
    op next_after NextAfter "next_after" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| infer_same_types(cx, DtypeClass::FLOAT), eval = k::next_after;
}

fn infer_complex(cx: &InferCx<'_>) -> InferResult {
    let parts = infer_same_types(cx, DtypeClass::FLOAT)?;
    let Some(parts) = parts[0].as_tensor() else { return Ok(parts) };
    let dtype = match parts.dtype {
        DataType::F32 => DataType::C64,
        DataType::F64 => DataType::C128,
        other => {
            return Err(OpError::new(format!(
                "the parts have element type {other}, expected f32 or f64"
            )));
        }
    };
    one_result(parts.with_dtype(dtype))
}
