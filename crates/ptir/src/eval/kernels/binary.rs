//! Kernels of elementwise ops with two operands.

use sapwood_types::DataType;

use super::elementwise::{no_kernel, zip, zip_by, zip_to};
use super::unary::unsigned;
use crate::eval::context::{EvalCx, EvalResult};
use crate::eval::error::Fault;
use crate::eval::math::complex;
use crate::eval::native::{Cplx, Float, Int, Num};
use crate::{with_complex, with_computed, with_float, with_int, with_number};

fn dtype(cx: &EvalCx<'_>) -> Result<DataType, Fault> {
    Ok(cx.tensor(0)?.dtype())
}

// The most frequent types have a loop per op; the others share one per type.
macro_rules! arithmetic {
    ($($name:ident, $f:ident, $with:ident, $other:expr;)*) => {$(
        pub(crate) fn $name(cx: &mut EvalCx<'_>) -> EvalResult {
            match dtype(cx)? {
                DataType::F32 => zip::<f32>(cx, Num::$f),
                DataType::F64 => zip::<f64>(cx, Num::$f),
                DataType::I32 => zip::<i32>(cx, Num::$f),
                DataType::I64 | DataType::Index => zip::<i64>(cx, Num::$f),
                dtype => $with!(dtype, T => {
                    zip_by::<T>(cx, &<T as Num>::$f)
                }, _ => $other(dtype)),
            }
        }
    )*};
}

arithmetic! {
    add, add, with_computed, no_kernel;
    mul, mul, with_computed, no_kernel;
    min, smaller, with_computed, no_kernel;
    max, larger, with_computed, no_kernel;
    sub, sub, with_number, no_kernel;
    div, div, with_number, no_kernel;
}

/// Applies a function of floats in `f64` on exact operands, so results of narrower floats are the nearest numbers.
fn float(cx: &mut EvalCx<'_>, f: fn(f64, f64) -> f64) -> EvalResult {
    let dtype = dtype(cx)?;
    with_float!(dtype, T => {
        zip_by::<T>(cx, &|x, y| T::nearest(f(x.number(), y.number())))
    }, _ => no_kernel(dtype))
}

pub(crate) fn rem(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    with_int!(dtype, T => zip_by::<T>(cx, &int_rem), _ => float(cx, libm::fmod))
}

// Returns the remainder: by zero it is the dividend, and of the smallest number by -1 it is zero.
fn int_rem<T: Int>(x: T, y: T) -> T {
    if y == T::ZERO { x } else { T::wrap(x.to_i128() % y.to_i128()) }
}

pub(crate) fn pow(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    if dtype.is_complex() {
        return with_complex!(dtype, T => {
            zip_by::<T>(cx, &|x, y| T::narrow(complex::pow(x.wide(), y.wide())))
        }, _ => no_kernel(dtype));
    }
    with_int!(dtype, T => zip_by::<T>(cx, &int_pow), _ => float(cx, libm::pow))
}

fn int_pow<T: Int>(base: T, exponent: T) -> T {
    let mut power = exponent.to_i128();
    if power < 0 {
        // The result is 1 / base^n, rounded towards zero; a zero base is a division by zero.
        return match base.to_i128() {
            0 => T::wrap(-1),
            1 => T::ONE,
            -1 if power % 2 == 0 => T::ONE,
            -1 => base,
            _ => T::ZERO,
        };
    }
    let (mut result, mut square) = (T::ONE, base);
    while power > 0 {
        if power & 1 == 1 {
            result = result.mul(square);
        }
        square = square.mul(square);
        power >>= 1;
    }
    result
}

fn bits(
    cx: &mut EvalCx<'_>,
    bools: fn(bool, bool) -> bool,
    ints: fn(u64, u64) -> u64,
) -> EvalResult {
    let dtype = dtype(cx)?;
    if dtype.is_bool() {
        return zip_by::<bool>(cx, &bools);
    }
    with_int!(dtype, T => {
        zip_by::<T>(cx, &|x, y| T::wrap(ints(unsigned(x), unsigned(y)).into()))
    }, _ => no_kernel(dtype))
}

pub(crate) fn and(cx: &mut EvalCx<'_>) -> EvalResult {
    bits(cx, |x, y| x & y, |x, y| x & y)
}

pub(crate) fn or(cx: &mut EvalCx<'_>) -> EvalResult {
    bits(cx, |x, y| x | y, |x, y| x | y)
}

pub(crate) fn xor(cx: &mut EvalCx<'_>) -> EvalResult {
    bits(cx, |x, y| x ^ y, |x, y| x ^ y)
}

// Returns the shift amount, read as unsigned; `None` if it is the width or more.
fn amount<T: Int>(y: T) -> Option<u32> {
    let amount = unsigned(y);
    (amount < u64::from(T::BITS)).then_some(amount as u32)
}

fn shift_left<T: Int>(x: T, y: T) -> T {
    amount(y).map_or(T::ZERO, |n| T::wrap((unsigned(x) << n).into()))
}

fn shift_right<T: Int>(x: T, y: T) -> T {
    amount(y).map_or(T::ZERO, |n| T::wrap((unsigned(x) >> n).into()))
}

fn shift_sign<T: Int>(x: T, y: T) -> T {
    // The sign bit is shifted to the top of an i64, also for unsigned types.
    let high = (unsigned(x) << (64 - T::BITS)).cast_signed();
    let n = amount(y).unwrap_or(T::BITS - 1);
    T::wrap((high >> (64 - T::BITS) >> n).into())
}

macro_rules! shifts {
    ($($name:ident, $f:ident;)*) => {$(
        pub(crate) fn $name(cx: &mut EvalCx<'_>) -> EvalResult {
            let dtype = dtype(cx)?;
            with_int!(dtype, T => zip_by::<T>(cx, &$f), _ => no_kernel(dtype))
        }
    )*};
}

shifts! {
    shl, shift_left;
    shr_logical, shift_right;
    shr_arithmetic, shift_sign;
}

pub(crate) fn atan2(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    with_complex!(dtype, T => {
        zip_by::<T>(cx, &|y, x| T::narrow(complex::atan2(y.wide(), x.wide())))
    }, _ => float(cx, libm::atan2))
}

pub(crate) fn complex(cx: &mut EvalCx<'_>) -> EvalResult {
    match dtype(cx)? {
        DataType::F32 => zip_to(cx, DataType::C64, num_complex::Complex::<f32>::new),
        DataType::F64 => zip_to(cx, DataType::C128, num_complex::Complex::<f64>::new),
        other => no_kernel(other),
    }
}

pub(crate) fn next_after(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = dtype(cx)?;
    with_float!(dtype, T => zip_by::<T>(cx, &after), _ => no_kernel(dtype))
}

fn after<T: Float>(x: T, y: T) -> T {
    let (from, to) = (x.number(), y.number());
    if from.is_nan() || to.is_nan() {
        return T::nearest(f64::NAN);
    }
    if from == to {
        return y;
    }
    let sign = 1u64 << (T::WIDTH - 1);
    if from == 0.0 {
        // The smallest number with the sign of the target.
        return T::from_raw(if to < 0.0 { sign | 1 } else { 1 });
    }
    let away = (from < to) == (from > 0.0);
    let bits = x.raw();
    T::from_raw(if away { bits + 1 } else { bits - 1 })
}
