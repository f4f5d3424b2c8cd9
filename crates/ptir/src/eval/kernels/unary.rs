//! Kernels of elementwise ops with one operand.

use num_complex::Complex;
use sapwood_types::DataType;

use super::elementwise::{map, map_by, map_to, no_kernel};
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::math::{complex, special_functions};
use crate::eval::native::{Cplx, Float, Int, Num};
use crate::eval::tensor::Tensor;
use crate::{with_complex, with_float, with_int, with_number};

type C = Complex<f64>;

fn dtype(cx: &EvalCx<'_>) -> Result<DataType, Fault> {
    Ok(cx.tensor(0)?.dtype())
}

// Applies a function of floats, computed as f64 and rounded.
fn float(cx: &mut EvalCx<'_>, f: fn(f64) -> f64) -> EvalResult {
    let dtype = dtype(cx)?;
    with_float!(dtype, T => map_by::<T>(cx, &|x| T::nearest(f(x.number()))), _ => no_kernel(dtype))
}

// Applies a function of floats and complex numbers, computed with 64-bit parts and rounded.
fn analytic(cx: &mut EvalCx<'_>, f: fn(f64) -> f64, z: fn(C) -> C) -> EvalResult {
    let dtype = dtype(cx)?;
    with_complex!(dtype, T => map_by::<T>(cx, &|x| T::narrow(z(x.wide()))), _ => float(cx, f))
}

macro_rules! functions {
    ($($name:ident = $kind:ident($($f:expr),*);)*) => {$(
        pub(crate) fn $name(cx: &mut EvalCx<'_>) -> EvalResult {
            $kind(cx, $($f),*)
        }
    )*};
}

functions! {
    floor = float(f64::floor);
    ceil = float(f64::ceil);
    round_away = float(f64::round);
    round_even = float(f64::round_ties_even);
    cbrt = analytic(libm::cbrt, complex::cbrt);
    erf = float(libm::erf);
    erfc = float(libm::erfc);
    erf_inv = float(special_functions::erf_inv);
    lgamma = float(libm::lgamma);
    digamma = float(special_functions::digamma);
    bessel_i1e = float(special_functions::bessel_i1e);
    exp = analytic(libm::exp, complex::exp);
    expm1 = analytic(libm::expm1, complex::expm1);
    log = analytic(libm::log, complex::log);
    log1p = analytic(libm::log1p, complex::log1p);
    sqrt = analytic(f64::sqrt, complex::sqrt);
    rsqrt = analytic(special_functions::rsqrt, complex::rsqrt);
    sin = analytic(libm::sin, complex::sin);
    cos = analytic(libm::cos, complex::cos);
    tan = analytic(libm::tan, complex::tan);
    asin = analytic(libm::asin, complex::asin);
    acos = analytic(libm::acos, complex::acos);
    atan = analytic(libm::atan, complex::atan);
    sinh = analytic(libm::sinh, complex::sinh);
    cosh = analytic(libm::cosh, complex::cosh);
    tanh = analytic(libm::tanh, complex::tanh);
    asinh = analytic(libm::asinh, complex::asinh);
    acosh = analytic(special_functions::acosh, complex::acosh);
    atanh = analytic(libm::atanh, complex::atanh);
    logistic = analytic(special_functions::logistic, complex::logistic);
}

pub(crate) fn neg(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    match dtype {
        DataType::F32 => map::<f32>(cx, Num::neg),
        DataType::F64 => map::<f64>(cx, Num::neg),
        _ => with_number!(dtype, T => map_by::<T>(cx, &Num::neg), _ => no_kernel(dtype)),
    }
}

pub(crate) fn abs(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    if let Some(part) = dtype.complex_part() {
        return with_complex!(dtype, T => {
            map_to(cx, part, |z: T| <T as Cplx>::Part::nearest(complex::abs(z.wide())))
        }, _ => no_kernel(dtype));
    }
    if dtype.is_float() {
        return float(cx, f64::abs);
    }
    with_int!(dtype, T => map_by::<T>(cx, &|x| T::wrap(x.to_i128().abs())), _ => no_kernel(dtype))
}

pub(crate) fn sign(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    let sign = |n: i128| n.signum();
    with_int!(dtype, T => map_by::<T>(cx, &|x| T::wrap(sign(x.to_i128()))), _ => {
        analytic(cx, special_functions::sign, complex::sign)
    })
}

pub(crate) fn not(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    if dtype.is_bool() {
        return map_by::<bool>(cx, &|x| !x);
    }
    with_int!(dtype, T => map_by::<T>(cx, &|x| T::wrap(!x.to_i128())), _ => no_kernel(dtype))
}

// Returns the bits of an integer, zero-extended.
pub(super) fn unsigned<T: Int>(x: T) -> u64 {
    x.to_i128() as u64 & (u64::MAX >> (64 - T::BITS))
}

pub(crate) fn popcnt(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    with_int!(dtype, T => {
        map_by::<T>(cx, &|x| T::wrap(unsigned(x).count_ones().into()))
    }, _ => no_kernel(dtype))
}

pub(crate) fn clz(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    with_int!(dtype, T => {
        map_by::<T>(cx, &|x| T::wrap((unsigned(x).leading_zeros() - (64 - T::BITS)).into()))
    }, _ => no_kernel(dtype))
}

pub(crate) fn is_finite(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    with_float!(dtype, T => {
        map_to(cx, DataType::Bool, |x: T| x.number().is_finite())
    }, _ => no_kernel(dtype))
}

pub(crate) fn real(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    match dtype.complex_part() {
        Some(part) => {
            with_complex!(dtype, T => map_to(cx, part, |z: T| Cplx::re(z)), _ => no_kernel(dtype))
        }
        None => one(cx.take_tensor(0)?),
    }
}

pub(crate) fn imag(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    match dtype.complex_part() {
        Some(part) => {
            with_complex!(dtype, T => map_to(cx, part, |z: T| Cplx::im(z)), _ => no_kernel(dtype))
        }
        None => {
            let input = cx.take_tensor(0)?;
            with_float!(dtype, T => one(Tensor::splat(dtype, input.shape(), T::ZERO)), _ => no_kernel(dtype))
        }
    }
}

pub(crate) fn reduce_precision(cx: &mut EvalCx<'_>) -> EvalResult {
    let (exponent, fraction) = (cx.int("exponent_bits")?, cx.int("mantissa_bits")?);
    let (exponent, fraction) = (exponent.clamp(1, 64) as u32, fraction.clamp(0, 64) as u32);
    let dtype = dtype(cx)?;
    with_float!(dtype, T => map_by::<T>(cx, &|x| reduce(x, exponent, fraction)), _ => no_kernel(dtype))
}

// Rounds the fraction to `fraction` bits, ties to even. Then numbers above the largest exponent become infinite, and numbers
// below the smallest normal number become zero with their sign.
fn reduce<T: Float>(x: T, exponent: u32, fraction: u32) -> T {
    let wide = x.number();
    if wide.is_nan() && fraction == 0 {
        return T::nearest(f64::INFINITY);
    }
    if !wide.is_finite() {
        return T::nearest(wide);
    }
    let sign = x.raw() & 1 << (T::WIDTH - 1);
    let mut bits = x.raw() ^ sign;
    if fraction < T::FRACTION {
        let lost = T::FRACTION - fraction;
        let odd = bits >> lost & 1;
        bits = (bits + ((1 << (lost - 1)) - 1) + odd) & !((1 << lost) - 1);
    }
    // f8e4m3fn has numbers with the largest exponent, so a carry may reach the sign.
    if bits >= 1 << (T::WIDTH - 1) {
        return T::nearest(f64::INFINITY.copysign(wide));
    }
    let own = T::WIDTH - 1 - T::FRACTION;
    if exponent < own {
        let bias = |bits: u32| (1i64 << (bits - 1)) - 1;
        let power = (bits >> T::FRACTION).cast_signed() - bias(own);
        if power > bias(exponent) {
            return T::nearest(f64::INFINITY.copysign(wide));
        }
        if power <= -bias(exponent) {
            bits = 0;
        }
    }
    // A carry may have produced the largest exponent, which is infinity, or NaN in f8e4m3fn.
    T::nearest(T::from_raw(sign | bits).number())
}
