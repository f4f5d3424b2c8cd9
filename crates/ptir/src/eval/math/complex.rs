//! Functions of complex numbers, principal branches, signs of zero as far as IEEE 754 carries them.

use std::f64::consts::{FRAC_PI_2, LN_2};

use num_complex::Complex;

type C = Complex<f64>;

const I: C = C::new(0.0, 1.0);

// Multiplication by i and -i, which only moves parts.
fn times_i(z: C) -> C {
    C::new(-z.im, z.re)
}

fn over_i(z: C) -> C {
    C::new(z.im, -z.re)
}

pub(crate) fn mul(a: C, b: C) -> C {
    C::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
}

fn scale(z: C, by: f64) -> C {
    C::new(z.re * by, z.im * by)
}

/// The quotient, scaled by the larger part of the divisor. By zero both parts are divided by zero.
pub(crate) fn div(a: C, b: C) -> C {
    if b.re.abs() >= b.im.abs() {
        if b.re == 0.0 && b.im == 0.0 {
            return C::new(a.re / b.re.abs(), a.im / b.re.abs());
        }
        let ratio = b.im / b.re;
        let size = b.re + b.im * ratio;
        C::new((a.re + a.im * ratio) / size, (a.im - a.re * ratio) / size)
    } else {
        let ratio = b.re / b.im;
        let size = b.re * ratio + b.im;
        C::new((a.re * ratio + a.im) / size, (a.im * ratio - a.re) / size)
    }
}

/// The modulus; infinite if a part is.
pub(crate) fn abs(z: C) -> f64 {
    libm::hypot(z.re, z.im)
}

/// Divided by its modulus; zero stays.
pub(crate) fn sign(z: C) -> C {
    let size = abs(z);
    if size == 0.0 {
        return z;
    }
    // Close to the smallest numbers the modulus is not exact enough to divide by.
    if size < 1e-290 {
        return sign(scale(z, 1e200));
    }
    C::new(z.re / size, z.im / size)
}

/// `e^z`.
pub(crate) fn exp(z: C) -> C {
    if z.im == 0.0 {
        return C::new(libm::exp(z.re), z.im);
    }
    if !z.im.is_finite() && z.re.is_infinite() {
        return if z.re < 0.0 { C::new(0.0, 0.0) } else { C::new(f64::INFINITY, f64::NAN) };
    }
    let (sin, cos) = libm::sincos(z.im);
    if z.re > 700.0 {
        let half = libm::exp(z.re / 2.0);
        return C::new(half * cos * half, half * sin * half);
    }
    scale(C::new(cos, sin), libm::exp(z.re))
}

/// `e^z - 1`.
pub(crate) fn expm1(z: C) -> C {
    if z.im == 0.0 {
        return C::new(libm::expm1(z.re), z.im);
    }
    if z.re > 30.0 {
        return exp(z);
    }
    let half = libm::sin(z.im / 2.0);
    let re = libm::expm1(z.re) * libm::cos(z.im) - 2.0 * half * half;
    C::new(re, libm::exp(z.re) * libm::sin(z.im))
}

/// The natural logarithm.
pub(crate) fn log(z: C) -> C {
    C::new(log_abs(z), libm::atan2(z.im, z.re))
}

fn log_abs(z: C) -> f64 {
    let (x, y) = (z.re.abs(), z.im.abs());
    let (large, small) = if x >= y { (x, y) } else { (y, x) };
    if large.is_nan() || small.is_nan() || !(0.5..=2.0).contains(&large) {
        if large > 1e300 {
            return libm::log(libm::hypot(x / 4.0, y / 4.0)) + 2.0 * LN_2;
        }
        if large < 1e-300 && large > 0.0 {
            let up = libm::scalbn(1.0, 200);
            return libm::log(libm::hypot(x * up, y * up)) - 200.0 * LN_2;
        }
        return libm::log(libm::hypot(x, y));
    }
    0.5 * libm::log1p((large - 1.0) * (large + 1.0) + small * small)
}

/// `log(1 + z)`.
pub(crate) fn log1p(z: C) -> C {
    let im = libm::atan2(z.im, 1.0 + z.re);
    if z.re.abs() < 0.5 && z.im.abs() < 0.5 {
        return C::new(0.5 * libm::log1p(z.re * (2.0 + z.re) + z.im * z.im), im);
    }
    C::new(log_abs(C::new(1.0 + z.re, z.im)), im)
}

/// The square root, in the right half.
pub(crate) fn sqrt(z: C) -> C {
    if z.re == 0.0 && z.im == 0.0 {
        return C::new(0.0, z.im);
    }
    if z.im.is_infinite() {
        return C::new(f64::INFINITY, z.im);
    }
    if z.re.is_infinite() {
        let off = if z.im.is_nan() { f64::NAN } else { 0f64.copysign(z.im) };
        return if z.re > 0.0 {
            C::new(z.re, off)
        } else {
            C::new(off.abs(), f64::INFINITY.copysign(z.im))
        };
    }
    if z.im == 0.0 && z.re > 0.0 {
        return C::new(z.re.sqrt(), z.im);
    }
    // Into a range where squares neither overflow nor vanish, by powers of four.
    let large = z.re.abs().max(z.im.abs());
    let (up, back) = if large > libm::scalbn(1.0, 1000) {
        (libm::scalbn(1.0, -4), libm::scalbn(1.0, 2))
    } else if large < libm::scalbn(1.0, -900) {
        (libm::scalbn(1.0, 200), libm::scalbn(1.0, -100))
    } else {
        (1.0, 1.0)
    };
    let (x, y) = (z.re * up, z.im * up);
    let half = ((x.abs() + libm::hypot(x, y)) * 0.5).sqrt();
    let other = y.abs() / (2.0 * half);
    let root =
        if x >= 0.0 { C::new(half, other.copysign(y)) } else { C::new(other, half.copysign(y)) };
    scale(root, back)
}

/// `1 / sqrt(z)`.
pub(crate) fn rsqrt(z: C) -> C {
    div(C::new(1.0, 0.0), sqrt(z))
}

// A product that is zero if the left one is, whatever the right one.
fn dominated(zero: f64, by: f64) -> f64 {
    if zero == 0.0 && !by.is_nan() { zero.copysign(zero * by.signum()) } else { zero * by }
}

/// The sine.
pub(crate) fn sin(z: C) -> C {
    over_i(sinh(times_i(z)))
}

/// The cosine.
pub(crate) fn cos(z: C) -> C {
    cosh(times_i(z))
}

/// The tangent.
pub(crate) fn tan(z: C) -> C {
    over_i(tanh(times_i(z)))
}

/// The hyperbolic sine.
pub(crate) fn sinh(z: C) -> C {
    let (sin, cos) = libm::sincos(z.im);
    if z.im == 0.0 {
        return C::new(libm::sinh(z.re), z.im);
    }
    if z.re.abs() > 700.0 {
        let half = libm::exp(z.re.abs() / 2.0);
        return C::new((0.5 * half * cos * half).copysign(cos * z.re), 0.5 * half * sin * half);
    }
    C::new(dominated(libm::sinh(z.re), cos), dominated_pair(libm::cosh(z.re), sin))
}

fn dominated_pair(a: f64, b: f64) -> f64 {
    if b == 0.0 { dominated(b, a) } else { a * b }
}

/// The hyperbolic cosine.
pub(crate) fn cosh(z: C) -> C {
    let (sin, cos) = libm::sincos(z.im);
    if z.im == 0.0 {
        return C::new(libm::cosh(z.re), dominated(z.im, z.re));
    }
    if z.re.abs() > 700.0 {
        let half = libm::exp(z.re.abs() / 2.0);
        return C::new(0.5 * half * cos * half, (0.5 * half * sin * half).copysign(sin * z.re));
    }
    C::new(dominated_pair(libm::cosh(z.re), cos), dominated(libm::sinh(z.re), sin))
}

/// The hyperbolic tangent.
pub(crate) fn tanh(z: C) -> C {
    if z.im == 0.0 {
        return C::new(libm::tanh(z.re), z.im);
    }
    // NaN as the imaginary part stays, and infinity makes one, unless the real part is infinite.
    if z.re.abs() > 22.0 && (z.im.is_finite() || z.re.is_infinite()) {
        let (sin, cos) = if z.im.is_finite() { libm::sincos(z.im) } else { (0.0, 1.0) };
        return C::new(1f64.copysign(z.re), 4.0 * sin * cos * libm::exp(-2.0 * z.re.abs()));
    }
    let t = libm::tan(z.im);
    let beta = 1.0 + t * t;
    let s = libm::sinh(z.re);
    let rho = (1.0 + s * s).sqrt();
    if t.is_infinite() {
        return C::new(rho / s, 1.0 / t);
    }
    let size = 1.0 + beta * s * s;
    C::new(beta * rho * s / size, t / size)
}

/// The inverse sine.
pub(crate) fn asin(z: C) -> C {
    let (minus, plus) = (sqrt(C::new(1.0 - z.re, -z.im)), sqrt(C::new(1.0 + z.re, z.im)));
    let re = libm::atan2(z.re, minus.re * plus.re - minus.im * plus.im);
    // The imaginary part of conj(sqrt(1 - z)) * sqrt(1 + z).
    C::new(re, asinh_safe(minus.re * plus.im - minus.im * plus.re, z))
}

/// The inverse cosine.
pub(crate) fn acos(z: C) -> C {
    let (minus, plus) = (sqrt(C::new(1.0 - z.re, -z.im)), sqrt(C::new(1.0 + z.re, z.im)));
    let re = 2.0 * libm::atan2(minus.re, plus.re);
    // The imaginary part of conj(sqrt(1 + z)) * sqrt(1 - z).
    C::new(re, asinh_safe(plus.re * minus.im - plus.im * minus.re, z))
}

// asinh of a product of two square roots; if that overflows it is log(2 |z|).
fn asinh_safe(x: f64, z: C) -> f64 {
    if x.is_infinite() && z.re.is_finite() && z.im.is_finite() {
        return (log_abs(z) + LN_2).copysign(x);
    }
    libm::asinh(x)
}

/// The inverse tangent.
pub(crate) fn atan(z: C) -> C {
    over_i(atanh(times_i(z)))
}

/// The inverse hyperbolic sine.
pub(crate) fn asinh(z: C) -> C {
    over_i(asin(times_i(z)))
}

/// The inverse hyperbolic cosine.
pub(crate) fn acosh(z: C) -> C {
    let (minus, plus) = (sqrt(C::new(z.re - 1.0, z.im)), sqrt(C::new(z.re + 1.0, z.im)));
    let re = minus.re * plus.re + minus.im * plus.im;
    C::new(asinh_safe(re, z), 2.0 * libm::atan2(minus.im, plus.re))
}

/// The inverse hyperbolic tangent.
pub(crate) fn atanh(z: C) -> C {
    let flip = 1f64.copysign(z.re);
    let (x, y) = (z.re.abs(), -flip * z.im);
    let huge = 1e150;
    let tiny = 1e-150;
    let (re, im) = if x > huge || y.abs() > huge {
        let one_over = div(C::new(1.0, 0.0), C::new(x, y)).re;
        (if one_over.is_nan() { 0.0 } else { one_over }, FRAC_PI_2.copysign(y))
    } else if x == 1.0 && y == 0.0 {
        (f64::INFINITY, y)
    } else {
        let near = y.abs() + tiny;
        let re = if x == 1.0 {
            libm::log((4.0 + y * y).sqrt().sqrt() / near.sqrt())
        } else {
            0.25 * libm::log1p(4.0 * x / ((1.0 - x) * (1.0 - x) + near * near))
        };
        (re, 0.5 * libm::atan2(2.0 * y, (1.0 - x) * (1.0 + x) - y * y))
    };
    C::new(flip * re, -flip * im)
}

/// `1 / (1 + e^-z)`.
pub(crate) fn logistic(z: C) -> C {
    let e = exp(C::new(-z.re, -z.im));
    if e.re.is_infinite() || e.im.is_infinite() {
        return C::new(0.0, 0.0);
    }
    div(C::new(1.0, 0.0), C::new(1.0 + e.re, e.im))
}

/// `a^b`: `e^(b log a)`; 1 if `b` is zero, 0 if only `a` is.
pub(crate) fn pow(a: C, b: C) -> C {
    if b.re == 0.0 && b.im == 0.0 {
        return C::new(1.0, 0.0);
    }
    if a.re == 0.0 && a.im == 0.0 {
        return C::new(0.0, 0.0);
    }
    exp(mul(b, log(a)))
}

/// `-i log((x + i y) / sqrt(x^2 + y^2))`.
pub(crate) fn atan2(y: C, x: C) -> C {
    let size = sqrt(add(mul(x, x), mul(y, y)));
    over_i(log(div(add(x, mul(I, y)), size)))
}

fn add(a: C, b: C) -> C {
    C::new(a.re + b.re, a.im + b.im)
}
