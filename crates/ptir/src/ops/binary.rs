//! Elementwise ops of two operands of the same type, which is the result's too unless said otherwise.

use super::support::{Class, one, same_types};
use crate::eval::kernels::binary as k;
use crate::op::{InferCx, InferResult, OpError, Value};
use sapwood_types::DataType;

crate::ops! {
    family "binary", table binary_ops, values BinaryValueOps, graph BinaryGraphOps;

    /// The sum. Integers wrap; of bools the logical or.
    op add Add "add" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| same_types(cx, Class::ANY), eval = k::add;

    /// The difference. Integers wrap.
    op sub Sub "sub" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| same_types(cx, Class::NUMBER), eval = k::sub;

    /// The product. Integers wrap; of bools the logical and; of complex numbers from four products, each rounded.
    op mul Mul "mul" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| same_types(cx, Class::ANY), eval = k::mul;

    /// The quotient. Integers round towards zero; division by zero gives -1 (all bits one); the smallest signed integer
    /// divided by -1 stays itself. Floats follow IEEE 754. Complex numbers are divided with 64-bit parts, scaled by the larger
    /// part of the divisor, and rounded; by zero both parts are divided by zero.
    op div Div "div" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| same_types(cx, Class::NUMBER), eval = k::div;

    /// The remainder of the division that rounds towards zero, with the sign of the dividend. Of integers by zero the
    /// dividend, by -1 zero; of floats by zero and of infinities NaN.
    op rem Rem "rem" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| same_types(cx, Class::FLOAT_INT), eval = k::rem;

    /// The power. Integers wrap; negative exponents give 0, or 1 and -1 for these bases, and -1 (all bits one) for base 0;
    /// `x^0` is 1 always, also of NaN, and `1^y` for floats. A negative float to a power that is not whole is NaN. Of
    /// complex numbers `e^(rhs log lhs)`, 0 for base 0.
    op pow Pow "pow" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| same_types(cx, Class::NUMBER), eval = k::pow;

    /// The smaller. NaN if one is NaN; -0 is below 0; of bools the logical and; complex numbers compare by real part, then
    /// imaginary part, with -0 equal to 0 (and below it if both parts are equal), and both parts are NaN if any part is.
    op min Min "min" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| same_types(cx, Class::ANY), eval = k::min;

    /// The larger. NaN if one is NaN; -0 is below 0; of bools the logical or; complex numbers compare by real part, then
    /// imaginary part, with -0 equal to 0 (and below it if both parts are equal), and both parts are NaN if any part is.
    op max Max "max" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| same_types(cx, Class::ANY), eval = k::max;

    /// Logical and of bools, bitwise and of integers.
    op and And "and" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| same_types(cx, Class::INT_BOOL), eval = k::and;

    /// Logical or of bools, bitwise or of integers.
    op or Or "or" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| same_types(cx, Class::INT_BOOL), eval = k::or;

    /// Exclusive or of bools, bitwise exclusive or of integers.
    op xor Xor "xor" (lhs: Value, rhs: Value) {} -> one [elementwise, commutative] = |cx| same_types(cx, Class::INT_BOOL), eval = k::xor;

    /// Shift to the left. Amounts are read as unsigned; the width or more gives zero.
    op shl Shl "shl" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| same_types(cx, Class::INT), eval = k::shl;

    /// Shift to the right that copies the sign bit, of unsigned types too. Amounts are read as unsigned; the width or more
    /// gives all sign bits.
    op shr_arithmetic ShrArithmetic "shr_arithmetic" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| same_types(cx, Class::INT), eval = k::shr_arithmetic;

    /// Shift to the right that fills with zeros. Amounts are read as unsigned; the width or more gives zero.
    op shr_logical ShrLogical "shr_logical" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| same_types(cx, Class::INT), eval = k::shr_logical;

    /// The angle of the point `(rhs, lhs)`, in [-pi, pi]; signs of zero count as IEEE 754 says; NaN if one is NaN. Of
    /// complex numbers `-i log((rhs + i lhs) / sqrt(rhs^2 + lhs^2))`.
    op atan2 Atan2 "atan2" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| same_types(cx, Class::FLOAT_COMPLEX), eval = k::atan2;

    /// The complex number with these parts: f32 gives c64, f64 gives c128.
    op complex Complex "complex" (lhs: Value, rhs: Value) {} -> one [elementwise] = complex, eval = k::complex;

    /// The next float from `lhs` towards `rhs`. Equal operands give `rhs`; NaN if one is NaN.
    op next_after NextAfter "next_after" (lhs: Value, rhs: Value) {} -> one [elementwise] = |cx| same_types(cx, Class::FLOAT), eval = k::next_after;
}

fn complex(cx: &InferCx<'_>) -> InferResult {
    let parts = same_types(cx, Class::FLOAT)?;
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
    one(parts.with_dtype(dtype))
}
