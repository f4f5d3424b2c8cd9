//! Elementwise ops of one operand. Unless documented otherwise, the result has the type of the operand, and NaN gives
//! NaN. Where overflow gives infinity, f8e4m3fn, which has no infinity, gives NaN.

use super::support::{DtypeClass, infer_unary, one_result};
use crate::attr::Int;
use crate::eval::kernels::unary as k;
use crate::op::{InferCx, InferResult, OpError, Value};
use sapwood_types::DataType;

crate::ops! {
    family "unary", table unary_ops, values UnaryValueOps, graph UnaryGraphOps;

    /// Negates its operand. Integers wrap: the smallest signed integer gives itself, and unsigned integers are
    /// negated modulo 2^n. For floats, the sign bit is flipped; NaN stays NaN.
    op neg Neg "neg" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::NUMBER), eval = k::neg;

    /// Computes the absolute value. The smallest signed integer gives itself; NaN stays NaN. For complex numbers, the
    /// result is the modulus, with the element type of the parts; it is infinite if either part is, and otherwise NaN
    /// if either part is.
    op abs Abs "abs" (input: Value) {} -> one [elementwise] = infer_abs, eval = k::abs;

    /// Computes the sign: -1, 0 or 1. Floats keep the sign of zero, and NaN gives NaN. A complex number is divided by
    /// its modulus, and zero gives zero; an infinite part becomes NaN, and a finite part next to an infinite one
    /// becomes zero.
    op sign Sign "sign" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::NUMBER), eval = k::sign;

    /// Rounds down to a whole number. NaN, infinities and -0 are unchanged.
    op floor Floor "floor" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT), eval = k::floor;

    /// Rounds up to a whole number. NaN, infinities and -0 are unchanged.
    op ceil Ceil "ceil" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT), eval = k::ceil;

    /// Rounds to the nearest whole number, ties away from zero. NaN, infinities and -0 are unchanged.
    op round_away RoundAway "round_away" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT), eval = k::round_away;

    /// Rounds to the nearest whole number, ties to even. NaN, infinities and -0 are unchanged.
    op round_even RoundEven "round_even" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT), eval = k::round_even;

    /// Computes `e^x`. Overflow gives infinity and underflow gives zero; NaN gives NaN. A complex number with real
    /// part -infinity gives zero, whatever its imaginary part.
    op exp Exp "exp" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::exp;

    /// Computes `e^x - 1`, accurately near zero. Overflow gives infinity; NaN gives NaN.
    op expm1 Expm1 "expm1" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::expm1;

    /// Computes the natural logarithm. Zero gives -infinity, and negative floats give NaN. Complex numbers use the
    /// principal branch.
    op log Log "log" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::log;

    /// Computes `log(1 + x)`, accurately near zero. -1 gives -infinity, and smaller floats give NaN.
    op log1p Log1p "log1p" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::log1p;

    /// Computes the square root, correctly rounded for floats. Negative floats give NaN, and -0 gives -0. Complex
    /// numbers use the principal branch.
    op sqrt Sqrt "sqrt" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::sqrt;

    /// Computes `1 / sqrt(x)`. 0 gives infinity, -0 gives -infinity, and negative floats give NaN.
    op rsqrt Rsqrt "rsqrt" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::rsqrt;

    /// Computes the cube root, with the sign of the operand. NaN and infinities are unchanged. Complex numbers use
    /// the principal branch.
    op cbrt Cbrt "cbrt" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::cbrt;

    /// Computes the sine. Infinities give NaN.
    op sin Sin "sin" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::sin;

    /// Computes the cosine. Infinities give NaN.
    op cos Cos "cos" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::cos;

    /// Computes the tangent. Infinities give NaN.
    op tan Tan "tan" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::tan;

    /// Computes the inverse sine. Floats outside [-1, 1] give NaN. Complex numbers use the principal branch.
    op asin Asin "asin" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::asin;

    /// Computes the inverse cosine. Floats outside [-1, 1] give NaN. Complex numbers use the principal branch.
    op acos Acos "acos" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::acos;

    /// Computes the inverse tangent. Infinities give plus or minus pi/2.
    op atan Atan "atan" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::atan;

    /// Computes the hyperbolic sine. Overflow gives infinity.
    op sinh Sinh "sinh" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::sinh;

    /// Computes the hyperbolic cosine. Overflow gives infinity.
    op cosh Cosh "cosh" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::cosh;

    /// Computes the hyperbolic tangent. Infinities give plus or minus 1.
    op tanh Tanh "tanh" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::tanh;

    /// Computes the inverse hyperbolic sine. Infinities are unchanged.
    op asinh Asinh "asinh" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::asinh;

    /// Computes the inverse hyperbolic cosine. Floats below 1 give NaN. Complex numbers use the principal branch.
    op acosh Acosh "acosh" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::acosh;

    /// Computes the inverse hyperbolic tangent. 1 and -1 give the infinities, and floats outside [-1, 1] give NaN.
    op atanh Atanh "atanh" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::atanh;

    /// Computes the logistic function `1 / (1 + e^-x)`. It is 0 and 1 at the infinities.
    op logistic Logistic "logistic" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT_COMPLEX), eval = k::logistic;

    /// Computes the error function. It is -1 and 1 at the infinities.
    op erf Erf "erf" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT), eval = k::erf;

    /// Computes `1 - erf(x)`, accurately for large `x`. It is 2 and 0 at the infinities.
    op erfc Erfc "erfc" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT), eval = k::erfc;

    /// Computes the inverse of `erf`. 1 and -1 give the infinities, and floats outside [-1, 1] give NaN.
    op erf_inv ErfInv "erf_inv" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT), eval = k::erf_inv;

    /// Computes the logarithm of the absolute value of the gamma function. It is infinity at zero, at negative whole
    /// numbers and at both infinities.
    op lgamma Lgamma "lgamma" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT), eval = k::lgamma;

    /// Computes the derivative of `lgamma`. It is NaN at negative whole numbers and at -infinity, -infinity at 0, and
    /// infinity at -0 and at infinity.
    op digamma Digamma "digamma" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT), eval = k::digamma;

    /// Computes the modified Bessel function of order one times `e^-|x|`. It is zero at the infinities.
    op bessel_i1e BesselI1e "bessel_i1e" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::FLOAT), eval = k::bessel_i1e;

    /// Computes the logical not of bools, or the bitwise not of integers.
    op not Not "not" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::INT_BOOL), eval = k::not;

    /// Counts the one bits. The result has the operand's type.
    op popcnt Popcnt "popcnt" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::INT), eval = k::popcnt;

    /// Counts the leading zero bits. Zero gives the bit width.
    op clz Clz "clz" (input: Value) {} -> one [elementwise] = |cx| infer_unary(cx, DtypeClass::INT), eval = k::clz;

    /// Tests whether an element is neither infinite nor NaN; the result is bool.
    op is_finite IsFinite "is_finite" (input: Value) {} -> one [elementwise] = infer_is_finite, eval = k::is_finite;

    /// Returns the real part. A float is its own real part.
    op real Real "real" (input: Value) {} -> one [elementwise] = infer_part, eval = k::real;

    /// Returns the imaginary part. For a float it is zero.
    op imag Imag "imag" (input: Value) {} -> one [elementwise] = infer_part, eval = k::imag;

    /// Rounds to a float format with fewer bits and back, ties to even. Values that are too large become infinity
    /// (NaN in f8e4m3fn); values below the smallest normal number become zero with their sign. NaN stays NaN, except
    /// that a format without mantissa bits has no NaN: there it becomes infinity. If the format has at least the bits
    /// of the type, nothing changes, and values below the smallest normal number are kept too.
    op reduce_precision ReducePrecision "reduce_precision" (input: Value) {
        /// Number of exponent bits, at least 1.
        exponent_bits: Int,
        /// Number of fraction bits, at least 0.
        mantissa_bits: Int,
    } -> one [elementwise] = infer_reduce_precision, eval = k::reduce_precision;
}

fn infer_abs(cx: &InferCx<'_>) -> InferResult {
    DtypeClass::NUMBER.check("the operand", cx.tensor(0)?.dtype)?;
    infer_part(cx)
}

fn infer_part(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    match input.dtype.complex_part() {
        Some(dtype) => one_result(input.with_dtype(dtype)),
        None if cx.def.name == "abs" => cx.same_as(0),
        None => infer_unary(cx, DtypeClass::FLOAT_COMPLEX),
    }
}

fn infer_is_finite(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    DtypeClass::FLOAT.check("the operand", input.dtype)?;
    one_result(input.with_dtype(DataType::Bool))
}

fn infer_reduce_precision(cx: &InferCx<'_>) -> InferResult {
    let (exponent, mantissa) = (cx.int("exponent_bits")?, cx.int("mantissa_bits")?);
    if !(1..=64).contains(&exponent) {
        return Err(OpError::new(format!("`exponent_bits` is {exponent}, expected 1 to 64")));
    }
    if !(0..=64).contains(&mantissa) {
        return Err(OpError::new(format!("`mantissa_bits` is {mantissa}, expected 0 to 64")));
    }
    infer_unary(cx, DtypeClass::FLOAT)
}
