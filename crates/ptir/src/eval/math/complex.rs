//! Functions of complex numbers on principal branches, with signs of zero as far as IEEE 754 carries them.

use std::f64::consts::{FRAC_PI_2, LN_2, PI};

use num_complex::Complex;

type C = Complex<f64>;

const I: C = C::new(0.0, 1.0);

// Multiplies by i or -i, which only swaps the parts.
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

/// Returns the quotient, scaled by the larger part of the divisor. For a zero divisor both parts are divided by zero.
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

/// Returns the modulus, which is infinite if a part is.
pub(crate) fn abs(z: C) -> f64 {
    libm::hypot(z.re, z.im)
}

/// Returns the number divided by its modulus; zero is unchanged.
pub(crate) fn sign(z: C) -> C {
    let size = abs(z);
    if size == 0.0 {
        return z;
    }
    // Near the smallest numbers the modulus is not accurate enough to divide by.
    if size < 1e-290 {
        return sign(scale(z, 1e200));
    }
    C::new(z.re / size, z.im / size)
}

/// Returns `e^z`.
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

/// Returns `e^z - 1`.
pub(crate) fn expm1(z: C) -> C {
    if z.im == 0.0 {
        return C::new(libm::expm1(z.re), z.im);
    }
    if z.re > 700.0 {
        return exp(z);
    }
    let half = libm::sin(z.im / 2.0);
    let re = libm::expm1(z.re) * libm::cos(z.im) - 2.0 * half * half;
    C::new(re, libm::exp(z.re) * libm::sin(z.im))
}

/// Returns the natural logarithm.
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
    half_log1p(-1.0, large, small)
}

// Returns `log(1 + base + x^2 + y^2) / 2`. The sum is computed with three times the precision, because it may be much smaller than its
// terms.
fn half_log1p(base: f64, x: f64, y: f64) -> f64 {
    let ((xx, x_rest), (yy, y_rest)) = (square(x), square(y));
    let mut terms = [base, xx, yy, x_rest, y_rest];
    for _ in 0..2 {
        for n in 1..terms.len() {
            (terms[n], terms[n - 1]) = sum(terms[n], terms[n - 1]);
        }
    }
    0.5 * libm::log1p(terms.iter().sum())
}

// Returns a sum and its exact rounding error.
fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

// Returns a square and its exact rounding error, for numbers whose square does not overflow.
fn square(x: f64) -> (f64, f64) {
    let square = x * x;
    (square, libm::fma(x, x, -square))
}

/// Returns `log(1 + z)`.
pub(crate) fn log1p(z: C) -> C {
    let im = libm::atan2(z.im, 1.0 + z.re);
    // The range in which `1 + z` is rounded and its modulus may be close to one.
    let re = if -0.5 < z.re && z.re < 2.0 && z.im.abs() < 2.0 {
        half_log1p(2.0 * z.re, z.re, z.im)
    } else {
        log_abs(C::new(1.0 + z.re, z.im))
    };
    C::new(re, im)
}

/// Returns the square root in the right half-plane.
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
    let (C { re: x, im: y }, back) = in_range(z, 2);
    let half = ((x.abs() + libm::hypot(x, y)) * 0.5).sqrt();
    let other = y.abs() / (2.0 * half);
    let root =
        if x >= 0.0 { C::new(half, other.copysign(y)) } else { C::new(other, half.copysign(y)) };
    scale(root, back)
}

// Scales a finite number to a range where its modulus neither overflows nor loses precision, and returns the factor for its root of
// this degree.
fn in_range(z: C, degree: i32) -> (C, f64) {
    let large = z.re.abs().max(z.im.abs());
    let by = if large > libm::scalbn(1.0, 1000) {
        -2
    } else if large < libm::scalbn(1.0, -900) {
        100
    } else {
        return (z, 1.0);
    };
    (scale(z, libm::scalbn(1.0, by * degree)), libm::scalbn(1.0, -by))
}

/// Returns the principal cube root: a third of the angle, so negative numbers have a root in the first quadrant.
pub(crate) fn cbrt(z: C) -> C {
    if z.im == 0.0 && z.re >= 0.0 {
        return C::new(libm::cbrt(z.re), z.im);
    }
    if z.re == 0.0 && z.im == 0.0 {
        return C::new(0.0, z.im);
    }
    let (sin, cos) = libm::sincos(libm::atan2(z.im, z.re) / 3.0);
    if z.re.is_infinite() || z.im.is_infinite() {
        return C::new(f64::INFINITY, dominated(sin, f64::INFINITY));
    }
    let (z, back) = in_range(z, 3);
    scale(C::new(cos, sin), libm::cbrt(abs(z)) * back)
}

/// Returns `1 / sqrt(z)`.
pub(crate) fn rsqrt(z: C) -> C {
    div(C::new(1.0, 0.0), sqrt(z))
}

// Returns a product that is zero if the left factor is, whatever the right factor.
fn dominated(zero: f64, by: f64) -> f64 {
    if zero == 0.0 && !by.is_nan() { zero.copysign(zero * by.signum()) } else { zero * by }
}

/// Returns the sine.
pub(crate) fn sin(z: C) -> C {
    over_i(sinh(times_i(z)))
}

/// Returns the cosine.
pub(crate) fn cos(z: C) -> C {
    cosh(times_i(z))
}

/// Returns the tangent.
pub(crate) fn tan(z: C) -> C {
    over_i(tanh(times_i(z)))
}

/// Returns the hyperbolic sine.
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

/// Returns the hyperbolic cosine.
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

/// Returns the hyperbolic tangent.
pub(crate) fn tanh(z: C) -> C {
    if z.im == 0.0 {
        return C::new(libm::tanh(z.re), z.im);
    }
    // A NaN imaginary part stays, and an infinite one becomes NaN, unless the real part is infinite.
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

/// Returns the inverse sine.
pub(crate) fn asin(z: C) -> C {
    let (minus, plus) = (sqrt(C::new(1.0 - z.re, -z.im)), sqrt(C::new(1.0 + z.re, z.im)));
    let re = libm::atan2(z.re, minus.re * plus.re - minus.im * plus.im);
    // The imaginary part of conj(sqrt(1 - z)) * sqrt(1 + z).
    C::new(re, asinh_safe(minus.re * plus.im - minus.im * plus.re, z))
}

/// Returns the inverse cosine.
pub(crate) fn acos(z: C) -> C {
    let (minus, plus) = (sqrt(C::new(1.0 - z.re, -z.im)), sqrt(C::new(1.0 + z.re, z.im)));
    let re = 2.0 * libm::atan2(minus.re, plus.re);
    // The imaginary part of conj(sqrt(1 + z)) * sqrt(1 - z).
    C::new(re, asinh_safe(plus.re * minus.im - plus.im * minus.re, z))
}

// Returns asinh of a product of two square roots; if the product overflows, log(2 |z|).
fn asinh_safe(x: f64, z: C) -> f64 {
    if x.is_infinite() && z.re.is_finite() && z.im.is_finite() {
        return (log_abs(z) + LN_2).copysign(x);
    }
    libm::asinh(x)
}

/// Returns the inverse tangent.
pub(crate) fn atan(z: C) -> C {
    over_i(atanh(times_i(z)))
}

/// Returns the inverse hyperbolic sine.
pub(crate) fn asinh(z: C) -> C {
    over_i(asin(times_i(z)))
}

/// Returns the inverse hyperbolic cosine.
pub(crate) fn acosh(z: C) -> C {
    let (minus, plus) = (sqrt(C::new(z.re - 1.0, z.im)), sqrt(C::new(z.re + 1.0, z.im)));
    let re = minus.re * plus.re + minus.im * plus.im;
    C::new(asinh_safe(re, z), 2.0 * libm::atan2(minus.im, plus.re))
}

/// Returns the inverse hyperbolic tangent.
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

/// Returns `1 / (1 + e^-z)`.
pub(crate) fn logistic(z: C) -> C {
    let e = exp(C::new(-z.re, -z.im));
    if e.re.is_infinite() || e.im.is_infinite() {
        return C::new(0.0, 0.0);
    }
    div(C::new(1.0, 0.0), C::new(1.0 + e.re, e.im))
}

/// Returns `a^b` as `e^(b log a)`; 1 if `b` is zero, 0 if only `a` is.
pub(crate) fn pow(a: C, b: C) -> C {
    if b.re == 0.0 && b.im == 0.0 {
        return C::new(1.0, 0.0);
    }
    if a.re == 0.0 && a.im == 0.0 {
        return C::new(0.0, 0.0);
    }
    exp(mul(b, log(a)))
}

/// Returns `-i log((x + i y) / sqrt(x^2 + y^2))`: the inverse tangent of the quotient, on the branch of the logarithm.
pub(crate) fn atan2(y: C, x: C) -> C {
    let large = [y.re, y.im, x.re, x.im].into_iter().map(f64::abs).fold(0.0, f64::max);
    let by = libm::scalbn(1.0, -libm::ilogb(large).clamp(-1000, 1000));
    let (y, x) = (scale(y, by), scale(x, by));
    let size = sqrt(add(mul(x, x), mul(y, y)));
    let rough = over_i(log(div(add(x, mul(I, y)), size)));
    let mut fine = if abs(x) >= abs(y) {
        atan(div(y, x))
    } else {
        let rest = atan(div(x, y));
        C::new(FRAC_PI_2 - rest.re, -rest.im)
    };
    let half_turns = libm::rint((rough.re - fine.re) / PI);
    if half_turns.is_nan() || fine.im.is_nan() {
        return rough;
    }
    fine.re += half_turns * PI;
    fine
}

fn add(a: C, b: C) -> C {
    C::new(a.re + b.re, a.im + b.im)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(name: &str, found: C, (re, im): (f64, f64)) {
        for (part, expected) in [(found.re, re), (found.im, im)] {
            let ulp = f64::from_bits(expected.abs().to_bits() + 1) - expected.abs();
            let off = (part - expected).abs() / ulp;
            assert!(off <= 4.0, "{name} is {found}, expected {re} + {im}i: {off} ulp off");
        }
    }

    // Expected values were computed by mpmath with 400 digits.
    #[test]
    fn logarithms_keep_the_digits_of_a_part_that_nearly_vanishes() {
        let known = [
            (
                (-0.16436586372840944, -0.5492864373873005),
                (5.892730332996175e-18, -0.5815100804761367),
            ),
            ((-5e-9, 1e-4), (1.2500000374604557e-17, 0.00010000000016666667)),
            ((-1.25, 0.9682458365518543), (3.2971266067415e-17, 1.8234765819369754)),
            ((1e-300, 1e-200), (1e-300, 1e-200)),
        ];
        for ((re, im), expected) in known {
            assert_close("log1p", log1p(C::new(re, im)), expected);
        }
        assert_close("log", log(C::new(0.6, 0.8)), (2.2204460492503132e-17, 0.9272952180016123));
        let z = C::new(-0.6952043993123324, -0.7188121056136848);
        assert_close("log", log(z), (6.330024292896643e-18, -2.339500545589458));
    }

    #[test]
    fn expm1_subtracts_one_from_large_numbers() {
        let expected = (29048835140822.805, 29048844823.772724);
        assert_close("expm1", expm1(C::new(31.0, 1e-3)), expected);
        let expected = (-2957979685320864.0, 6463303527143850.0);
        assert_close("expm1", expm1(C::new(36.5, 2.0)), expected);
    }

    #[test]
    fn cube_roots_are_principal_and_do_not_overflow() {
        let known = [
            ((-8.0, 1e-300), (1.0, 1.7320508075688772)),
            ((1.5e308, -1.5e308), (5.760752235919036e102, -1.5435889094102904e102)),
            ((-3e-310, 4e-310), (5.871391285196166e-104, 5.340675694223162e-104)),
        ];
        for ((re, im), expected) in known {
            assert_close("cbrt", cbrt(C::new(re, im)), expected);
        }
        assert_eq!(cbrt(C::new(f64::INFINITY, -1.0)), C::new(f64::INFINITY, -0.0));
        assert_eq!(cbrt(C::new(-0.0, -0.0)).im.to_bits(), (-0.0f64).to_bits());
    }

    #[test]
    fn angles_of_unlike_sizes_keep_their_digits() {
        let known = [
            (((1.5e-8, 5.5e-9), (1e-4, -4e7)), (-1.3749999999906248e-16, 3.7500000000034373e-16)),
            (((3.0, 1.0), (-2e20, 5.0)), (PI, -5e-21)),
            (((-1e200, 2e200), (1e180, 3.0)), (-FRAC_PI_2, 4.0000000000000004e-21)),
        ];
        for ((y, x), expected) in known {
            assert_close("atan2", atan2(C::new(y.0, y.1), C::new(x.0, x.1)), expected);
        }
    }
}
