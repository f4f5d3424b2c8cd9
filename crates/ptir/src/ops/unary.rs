//! Elementwise ops of one operand. The result has the operand's type unless said otherwise. NaN gives NaN unless said
//! otherwise. Where overflow gives infinity, f8e4m3fn, which has none, gives NaN.

use super::support::{Class, one, unary};
use crate::attr::Int;
use crate::eval::kernels::unary as k;
use crate::op::{InferCx, InferResult, OpError, Value};
use sapwood_types::DataType;

crate::ops! {
    family "unary", table unary_ops, values UnaryValueOps, graph UnaryGraphOps;

    /// `-x`. Integers wrap (the smallest stays itself, unsigned are negated modulo 2^n); floats flip the sign bit, NaN stays NaN.
    op neg Neg "neg" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::NUMBER), eval = k::neg;

    /// The absolute value. The smallest signed integer stays itself; NaN stays NaN. Of a complex number the modulus, with
    /// the element type of its parts; infinite if a part is, else NaN if a part is.
    op abs Abs "abs" (input: Value) {} -> one [elementwise] = abs, eval = k::abs;

    /// -1, 0 or 1. Floats keep the sign of zero and give NaN for NaN; a complex number is divided by
    /// its modulus, zero for zero: an infinite part becomes NaN, a finite one beside it zero.
    op sign Sign "sign" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::NUMBER), eval = k::sign;

    /// The largest whole number not above. NaN, infinities and -0 stay.
    op floor Floor "floor" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT), eval = k::floor;

    /// The smallest whole number not below. NaN, infinities and -0 stay.
    op ceil Ceil "ceil" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT), eval = k::ceil;

    /// The nearest whole number, halves away from zero. NaN, infinities and -0 stay.
    op round_away RoundAway "round_away" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT), eval = k::round_away;

    /// The nearest whole number, halves to even. NaN, infinities and -0 stay.
    op round_even RoundEven "round_even" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT), eval = k::round_even;

    /// `e^x`. Overflow gives infinity, underflow zero; NaN for NaN. Of a complex number with real part -infinity
    /// zero, whatever the imaginary part.
    op exp Exp "exp" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::exp;

    /// `e^x - 1`, exact near zero. Overflow gives infinity; NaN for NaN.
    op expm1 Expm1 "expm1" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::expm1;

    /// The natural logarithm. Of zero -infinity, of negative floats NaN; the principal branch for complex numbers.
    op log Log "log" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::log;

    /// `log(1 + x)`, exact near zero. Of -1 -infinity, below NaN.
    op log1p Log1p "log1p" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::log1p;

    /// The square root, correctly rounded for floats. Of negative floats NaN, of -0 -0; the principal branch for complex numbers.
    op sqrt Sqrt "sqrt" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::sqrt;

    /// `1 / sqrt(x)`. Of 0 infinity, of -0 -infinity, of negative floats NaN.
    op rsqrt Rsqrt "rsqrt" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::rsqrt;

    /// The cube root, with the sign of its operand; the principal branch for complex numbers. NaN and infinities stay.
    op cbrt Cbrt "cbrt" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::cbrt;

    /// The sine. Of infinities NaN.
    op sin Sin "sin" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::sin;

    /// The cosine. Of infinities NaN.
    op cos Cos "cos" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::cos;

    /// The tangent. Of infinities NaN.
    op tan Tan "tan" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::tan;

    /// The inverse sine. Outside [-1, 1] NaN; the principal branch for complex numbers.
    op asin Asin "asin" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::asin;

    /// The inverse cosine. Outside [-1, 1] NaN; the principal branch for complex numbers.
    op acos Acos "acos" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::acos;

    /// The inverse tangent. Of infinities plus or minus pi/2.
    op atan Atan "atan" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::atan;

    /// The hyperbolic sine. Overflow gives infinity.
    op sinh Sinh "sinh" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::sinh;

    /// The hyperbolic cosine. Overflow gives infinity.
    op cosh Cosh "cosh" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::cosh;

    /// The hyperbolic tangent. Of infinities plus or minus 1.
    op tanh Tanh "tanh" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::tanh;

    /// The inverse hyperbolic sine. Infinities stay.
    op asinh Asinh "asinh" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::asinh;

    /// The inverse hyperbolic cosine. Below 1 NaN; the principal branch for complex numbers.
    op acosh Acosh "acosh" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::acosh;

    /// The inverse hyperbolic tangent. Of 1 and -1 the infinities, outside NaN.
    op atanh Atanh "atanh" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::atanh;

    /// `1 / (1 + e^-x)`. 0 and 1 at the infinities.
    op logistic Logistic "logistic" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT_COMPLEX), eval = k::logistic;

    /// The error function. -1 and 1 at the infinities.
    op erf Erf "erf" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT), eval = k::erf;

    /// `1 - erf(x)`, exact for large `x`. 2 and 0 at the infinities.
    op erfc Erfc "erfc" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT), eval = k::erfc;

    /// The inverse of `erf`. Of 1 and -1 the infinities, outside NaN.
    op erf_inv ErfInv "erf_inv" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT), eval = k::erf_inv;

    /// The logarithm of the absolute value of the gamma function. Infinity at zero, at negative whole numbers and at the infinities.
    op lgamma Lgamma "lgamma" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT), eval = k::lgamma;

    /// The derivative of `lgamma`. NaN at negative whole numbers and at -infinity, -infinity at 0, infinity at -0 and at
    /// infinity.
    op digamma Digamma "digamma" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT), eval = k::digamma;

    /// The modified Bessel function of order one times `e^-|x|`. Zero at the infinities.
    op bessel_i1e BesselI1e "bessel_i1e" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::FLOAT), eval = k::bessel_i1e;

    /// Logical not of bools, bitwise not of integers.
    op not Not "not" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::INT_BOOL), eval = k::not;

    /// The number of one bits, in the operand's type.
    op popcnt Popcnt "popcnt" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::INT), eval = k::popcnt;

    /// The number of leading zero bits; the width for zero.
    op clz Clz "clz" (input: Value) {} -> one [elementwise] = |cx| unary(cx, Class::INT), eval = k::clz;

    /// Whether an element is neither infinite nor NaN, as bool.
    op is_finite IsFinite "is_finite" (input: Value) {} -> one [elementwise] = is_finite, eval = k::is_finite;

    /// The real part; a float is its own.
    op real Real "real" (input: Value) {} -> one [elementwise] = part, eval = k::real;

    /// The imaginary part; zero for a float.
    op imag Imag "imag" (input: Value) {} -> one [elementwise] = part, eval = k::imag;

    /// Rounds to a float with fewer bits and back, halves to even. What is too large becomes infinity (NaN in f8e4m3fn),
    /// what is below the smallest normal number zero with its sign. NaN stays NaN, but without mantissa bits, where there is
    /// no NaN, it becomes infinity. As many bits as the type has, or more, change nothing: then numbers below the smallest
    /// normal one stay too.
    op reduce_precision ReducePrecision "reduce_precision" (input: Value) {
        /// Bits of the exponent, at least 1.
        exponent_bits: Int,
        /// Bits of the fraction, at least 0.
        mantissa_bits: Int,
    } -> one [elementwise] = reduce_precision, eval = k::reduce_precision;
}

fn abs(cx: &InferCx<'_>) -> InferResult {
    Class::NUMBER.check("the operand", cx.tensor(0)?.dtype)?;
    part(cx)
}

fn part(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    match input.dtype.complex_part() {
        Some(dtype) => one(input.with_dtype(dtype)),
        None if cx.def.name == "abs" => cx.same_as(0),
        None => unary(cx, Class::FLOAT_COMPLEX),
    }
}

fn is_finite(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    Class::FLOAT.check("the operand", input.dtype)?;
    one(input.with_dtype(DataType::Bool))
}

fn reduce_precision(cx: &InferCx<'_>) -> InferResult {
    let (exponent, mantissa) = (cx.int("exponent_bits")?, cx.int("mantissa_bits")?);
    if !(1..=64).contains(&exponent) {
        return Err(OpError::new(format!("`exponent_bits` is {exponent}, expected 1 to 64")));
    }
    if !(0..=64).contains(&mantissa) {
        return Err(OpError::new(format!("`mantissa_bits` is {mantissa}, expected 0 to 64")));
    }
    unary(cx, Class::FLOAT)
}
