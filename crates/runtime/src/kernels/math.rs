//! Branch-free functions of `f32`, so that the compiler vectorizes loops over them.
//!
//! Each is within [`ULPS`] units in the last place of the exact value, and follows the op's documentation for zeros,
//! infinities and NaN.

/// The largest error of a result, in units in the last place.
#[cfg(test)]
const ULPS: u32 = 4;

// Rounds to the nearest integer for |x| < 2^22, by adding and subtracting a large number.
#[inline(always)]
fn round_to_integer(x: f32) -> f32 {
    const ROUNDING_OFFSET: f32 = 12_582_912.0; // 1.5 * 2^23
    (x + ROUNDING_OFFSET) - ROUNDING_OFFSET
}

// Returns 2^n for an integer from -126 to 127.
#[inline(always)]
fn power_of_two(n: f32) -> f32 {
    f32::from_bits(((n as i32 + 127) << 23) as u32)
}

#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Outside of this range the result is infinite or zero.
    const MAX_FINITE_INPUT: f32 = 89.0;
    const MIN_NONZERO_INPUT: f32 = -104.0;
    let c = x.clamp(MIN_NONZERO_INPUT, MAX_FINITE_INPUT);
    let n = round_to_integer(c * std::f32::consts::LOG2_E);
    // x - n ln 2, in two steps, the first of which is exact.
    let r = (c - n * 0.693_359_4) - n * -2.121_944_4e-4;
    let mut p = 1.987_569_2e-4;
    p = p * r + 1.398_2e-3;
    p = p * r + 8.333_452e-3;
    p = p * r + 4.166_579_6e-2;
    p = p * r + 1.666_666_5e-1;
    p = p * r + 0.5;
    let e = p * (r * r) + r + 1.0;
    // The scaling is done in two steps, so that neither factor overflows unless the product does.
    let half = round_to_integer(n * 0.5);
    let y = e * power_of_two(half) * power_of_two(n - half);
    if x.is_nan() { x } else { y }
}

#[inline(always)]
pub(super) fn log(x: f32) -> f32 {
    // Denormals are scaled into the normal range.
    let small = x < f32::MIN_POSITIVE;
    let scaled = if small { x * 8_388_608.0 } else { x };
    let bits = scaled.to_bits() as i32;
    // The mantissa in [sqrt(1/2), sqrt(2)).
    let shifted = bits.wrapping_sub(0x3f35_04f3);
    let e = (shifted >> 23) as f32 - if small { 23.0 } else { 0.0 };
    let m = f32::from_bits(((shifted & 0x007f_ffff) + 0x3f35_04f3) as u32) - 1.0;
    let z = m * m;
    let mut p = 7.037_683_6e-2;
    p = p * m - 1.151_461e-1;
    p = p * m + 1.167_699_9e-1;
    p = p * m - 1.242_014_1e-1;
    p = p * m + 1.424_932_3e-1;
    p = p * m - 1.666_805_8e-1;
    p = p * m + 2.000_071_5e-1;
    p = p * m - 2.499_999_4e-1;
    p = p * m + 3.333_333e-1;
    let y = p * m * z + e * -2.121_944_4e-4 - 0.5 * z;
    let y = m + y + e * 0.693_359_4;
    let y = if x == f32::INFINITY { x } else { y };
    let y = if x == 0.0 { f32::NEG_INFINITY } else { y };
    if x < 0.0 || x.is_nan() { f32::NAN } else { y }
}

#[inline(always)]
pub(super) fn logistic(x: f32) -> f32 {
    // For negative x this is e^x / (1 + e^x), which keeps the precision of small results.
    let e = exp(-x.abs());
    let y = if x < 0.0 { e } else { 1.0 } / (1.0 + e);
    if x.is_nan() { x } else { y }
}

#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let a = x.abs();
    // Near zero the quotient below would lose precision.
    let z = x * x;
    let mut p = -5.704_988_7e-3;
    p = p * z + 2.063_909e-2;
    p = p * z - 5.373_972e-2;
    p = p * z + 1.333_144_2e-1;
    p = p * z - 3.333_328e-1;
    let near = (p * z * x + x).copysign(x);
    let far = 1.0 - 2.0 / (exp(2.0 * a.min(20.0)) + 1.0);
    let far = if x < 0.0 { -far } else { far };
    let y = if a < 0.625 { near } else { far };
    if x.is_nan() { x } else { y }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: f32, b: f32) -> u32 {
        let key = |x: f32| {
            let bits = x.to_bits() as i32;
            if bits < 0 { i32::MIN.wrapping_sub(bits) } else { bits }
        };
        if a.is_nan() && b.is_nan() { 0 } else { key(a).abs_diff(key(b)) }
    }

    fn check(name: &str, fast: fn(f32) -> f32, slow: fn(f64) -> f64) {
        // Every 977th float of all: zeros, denormals, infinities and NaN among them.
        let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1.0, -1.0, 1e-45];
        let all = (0..u32::MAX / 977).map(|i| f32::from_bits(i * 977)).chain(special);
        let mut worst = (0, 0.0);
        for x in all {
            let found = distance(fast(x), slow(f64::from(x)) as f32);
            if found > worst.0 {
                worst = (found, x);
            }
        }
        assert!(worst.0 <= ULPS, "{name}({}) is off by {} ulps", worst.1, worst.0);
    }

    #[test]
    fn functions_are_close_everywhere() {
        check("exp", exp, f64::exp);
        check("log", log, f64::ln);
        check("tanh", tanh, f64::tanh);
        check("logistic", logistic, |x| 1.0 / (1.0 + (-x).exp()));
    }

    #[test]
    fn zeros_keep_their_sign() {
        assert!(tanh(-0.0).is_sign_negative());
        assert_eq!(log(-0.0), f32::NEG_INFINITY);
        assert_eq!(exp(-0.0), 1.0);
    }
}
