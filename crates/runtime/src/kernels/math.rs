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
    // The low bits of a float between 2^23 and 2^24 count its units.
    f32::from_bits((n + (12_582_912.0 + 127.0)).to_bits() << 23)
}

#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
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
pub(crate) fn log(x: f32) -> f32 {
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
pub(crate) fn logistic(x: f32) -> f32 {
    // For negative x this is e^x / (1 + e^x), which keeps the precision of small results.
    let e = exp(-x.abs());
    let y = if x < 0.0 { e } else { 1.0 } / (1.0 + e);
    if x.is_nan() { x } else { y }
}

#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
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

// Returns e^x for x in [-700, 700], with a relative error below 1e-10.
#[inline(always)]
fn exp_f64(x: f64) -> f64 {
    const ROUNDING_OFFSET: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52
    let shifted = x * std::f64::consts::LOG2_E + ROUNDING_OFFSET;
    let n = shifted - ROUNDING_OFFSET;
    let r = x - n * std::f64::consts::LN_2;
    // The Taylor series: |r| is at most ln(2) / 2.
    let mut p = 1.0 / 362_880.0;
    p = p * r + 1.0 / 40_320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    // The low bits of the shifted number are n.
    let power = shifted.to_bits().wrapping_sub(ROUNDING_OFFSET.to_bits()).wrapping_add(1023) << 52;
    p * f64::from_bits(power)
}

// Returns erfc(x) e^(x^2) for x in [0, 10.5], by a polynomial in (x - 3) / (x + 3) that was fitted by least squares of the relative
// error, which is below 2e-9.
#[inline(always)]
fn scaled_erfc(x: f64) -> f64 {
    let t = (x - 3.0) / (x + 3.0);
    let mut p = 5.682_680_530_587_673e-5;
    p = p * t + 3.064_344_515_362_252_5e-5;
    p = p * t - 5.943_771_073_284_873e-4;
    p = p * t + 7.144_910_444_045_463e-4;
    p = p * t + 4.268_489_751_717_737e-3;
    p = p * t - 2.439_391_771_270_338_7e-2;
    p = p * t + 7.166_595_867_549_894e-2;
    p = p * t - 1.501_158_150_280_689_5e-1;
    p = p * t + 2.456_037_912_875_928_5e-1;
    p = p * t - 3.262_335_627_474_764e-1;
    p * t + 1.790_011_513_187_326_8e-1
}

// Returns erf(x) for |x| at most 1, by a polynomial in x^2 fitted in the same way; its relative error is below 2e-9.
#[inline(always)]
fn small_erf(x: f64) -> f64 {
    let z = x * x;
    let mut p = 7.898_210_210_346_979e-5;
    p = p * z - 8.024_354_129_533_839e-4;
    p = p * z + 5.190_053_577_917_95e-3;
    p = p * z - 2.685_480_853_726_093_8e-2;
    p = p * z + 1.128_361_242_824_578_4e-1;
    p = p * z - 3.761_262_884_332_526_3e-1;
    (p * z + 1.128_379_166_510_052_7) * x
}

#[inline(always)]
pub(crate) fn erf(x: f32) -> f32 {
    // Both polynomials were fitted for the least largest error.
    const SPLIT: f32 = 1.25;
    let a = x.abs();
    // From the split on, the complement is the power -16 of a polynomial: four squares and a division are cheaper than an exponential.
    let t = a.min(4.0) - 2.0;
    let mut p = 1.404_898e-4;
    p = p * t + 1.082_123_6e-3;
    p = p * t + 5.853_466_6e-3;
    p = p * t + 2.864_064_7e-2;
    p = p * t + 1.340_446_2e-1;
    p = p * t + 3.861_390_3e-1;
    p = p * t + 1.398_372_2;
    let p = p * p;
    let p = p * p;
    let p = p * p;
    let far = 1.0 - 1.0 / (p * p);
    let n = a.min(SPLIT);
    let z = n * n;
    let mut q = -7.572_885e-6;
    q = q * z + 1.039_383_7e-4;
    q = q * z - 8.339_562e-4;
    q = q * z + 5.209_015_6e-3;
    q = q * z - 2.686_024_7e-2;
    q = q * z + 1.128_367_5e-1;
    q = q * z - 3.761_263e-1;
    let near = q * z * n + n * 1.283_791_7e-1 + n;
    // Both are computed: a branch would keep the loop from being vectorized.
    let mask = u32::from(a < SPLIT).wrapping_neg();
    let y = f32::from_bits(near.to_bits() & mask | far.to_bits() & !mask);
    if x.is_nan() { x } else { y.copysign(x) }
}

#[inline(always)]
pub(crate) fn erfc(x: f32) -> f32 {
    let wide = f64::from(x);
    let a = wide.abs();
    let c = a.min(10.5);
    let far = exp_f64(-c * c) * scaled_erfc(c);
    let far = if wide < 0.0 { 2.0 - far } else { far };
    let near = 1.0 - small_erf(wide.clamp(-1.0, 1.0));
    let y = (if a < 0.5 { near } else { far }) as f32;
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
        // The form in f64, which is within 2e-9.
        check("erf", erf, |x| {
            let (a, c) = (x.abs(), x.abs().min(10.5));
            let far = 1.0 - exp_f64(-c * c) * scaled_erfc(c);
            let y = if a < 0.5 { small_erf(a) } else { far };
            if x.is_nan() { x } else { y.copysign(x) }
        });
    }

    #[test]
    fn zeros_keep_their_sign() {
        assert!(tanh(-0.0).is_sign_negative());
        assert_eq!(log(-0.0), f32::NEG_INFINITY);
        assert_eq!(exp(-0.0), 1.0);
    }
}
