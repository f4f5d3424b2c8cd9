//! Functions that our libraries lack: the inverse of `erf`, `digamma`, Bessel's `i1e`, the logistic function.

#![allow(clippy::excessive_precision, reason = "coefficients as they were published")]

use std::f64::consts::{PI, SQRT_2};

/// Returns `1 / (1 + e^-x)`.
pub(crate) fn logistic(x: f64) -> f64 {
    if x >= 0.0 {
        return 1.0 / (1.0 + libm::exp(-x));
    }
    let e = libm::exp(x);
    e / (1.0 + e)
}

/// Returns `1 / sqrt(x)`.
pub(crate) fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// Returns the inverse hyperbolic cosine, NaN below 1. `libm` returns numbers for some inputs below -1.
pub(crate) fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// Returns -1, 0 or 1, with the sign of zero kept; NaN for NaN.
pub(crate) fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { 1f64.copysign(x) }
}

/// Evaluates a polynomial, coefficients from the constant on.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Returns the inverse of `erf`: the normal quantile by the rational approximations of algorithm AS 241, then one step of
/// Newton's method where `erf` is steep enough.
pub(crate) fn erf_inv(y: f64) -> f64 {
    let size = y.abs();
    if size >= 1.0 || size.is_nan() {
        return if size == 1.0 { f64::INFINITY.copysign(y) } else { f64::NAN };
    }
    if size <= 0.85 {
        let r = 0.180_625 - 0.25 * y * y;
        let x = 0.5 * y * polynomial(&CENTRAL.0, r) / polynomial(&CENTRAL.1, r) / SQRT_2;
        let slope = std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x);
        return x - (libm::erf(x) - y) / slope;
    }
    let r = (-libm::log((1.0 - size) / 2.0)).sqrt();
    let (parts, shift) = if r <= 5.0 { (&MIDDLE, 1.6) } else { (&TAIL, 5.0) };
    let x = polynomial(&parts.0, r - shift) / polynomial(&parts.1, r - shift) / SQRT_2;
    let slope = std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x);
    (x + (libm::erfc(x) - (1.0 - size)) / slope).copysign(y)
}

type Ratio = ([f64; 8], [f64; 8]);

const CENTRAL: Ratio = (
    [
        3.387_132_872_796_366_608,
        133.141_667_891_784_377_45,
        1_971.590_950_306_551_442_7,
        13_731.693_765_509_461_125,
        45_921.953_931_549_871_457,
        67_265.770_927_008_700_853,
        33_430.575_583_588_128_105,
        2_509.080_928_730_122_672_7,
    ],
    [
        1.0,
        42.313_330_701_600_911_252,
        687.187_007_492_057_908_3,
        5_394.196_021_424_751_107_7,
        21_213.794_301_586_595_867,
        39_307.895_800_092_710_61,
        28_729.085_735_721_942_674,
        5_226.495_278_852_854_561,
    ],
);

const MIDDLE: Ratio = (
    [
        1.423_437_110_749_683_577_34,
        4.630_337_846_156_545_295_9,
        5.769_497_221_460_691_405_5,
        3.647_848_324_763_204_605_04,
        1.270_458_252_452_368_382_58,
        0.241_780_725_177_450_611_77,
        0.022_723_844_989_269_184_583_3,
        7.745_450_142_783_414_076_4e-4,
    ],
    [
        1.0,
        2.053_191_626_637_758_821_87,
        1.676_384_830_183_803_849_4,
        0.689_767_334_985_100_004_55,
        0.148_103_976_427_480_074_59,
        0.015_198_666_563_616_457_196_6,
        5.475_938_084_995_344_946e-4,
        1.050_750_071_644_416_843_24e-9,
    ],
);

const TAIL: Ratio = (
    [
        6.657_904_643_501_103_777_2,
        5.463_784_911_164_114_369_9,
        1.784_826_539_917_291_335_8,
        0.296_560_571_828_504_891_23,
        0.026_532_189_526_576_123_093,
        1.242_660_947_388_078_438_6e-3,
        2.711_555_568_743_487_578_15e-5,
        2.010_334_399_292_288_132_65e-7,
    ],
    [
        1.0,
        0.599_832_206_555_887_937_69,
        0.136_929_880_922_735_805_31,
        0.014_875_361_290_850_614_852_5,
        7.868_691_311_456_132_591e-4,
        1.846_318_317_510_054_681_8e-5,
        1.421_511_758_316_445_888_7e-7,
        2.044_263_103_389_939_785_64e-15,
    ],
);

/// Returns the logarithmic derivative of the gamma function.
pub(crate) fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY.copysign(-x);
    }
    if x == f64::INFINITY {
        return x;
    }
    if x.is_nan() || x == f64::NEG_INFINITY || x < 0.0 && x == x.floor() {
        return f64::NAN;
    }
    if x < 0.0 {
        // psi(x) = psi(1 - x) - pi / tan(pi x), which has period one.
        let fraction = x - x.round_ties_even();
        return digamma_positive(1.0 - x) - PI / libm::tan(PI * fraction);
    }
    digamma_positive(x)
}

fn digamma_positive(mut x: f64) -> f64 {
    // The sum of the reciprocals and its rounding error.
    let (mut below, mut rest) = (0.0, 0.0);
    while x < 12.0 {
        let term = 1.0 / x;
        let sum = below + term;
        let part = sum - below;
        rest += (below - (sum - part)) + (term - part);
        below = sum;
        x += 1.0;
    }
    // B(2k) / 2k.
    let series = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32_760.0,
        1.0 / 12.0,
    ];
    let square = 1.0 / (x * x);
    libm::log(x) - below - (0.5 / x + square * polynomial(&series, square) + rest)
}

/// Returns the modified Bessel function of order one times `e^-|x|`, within 2 ulp: Chebyshev series of `i1e(x) / x` over four parts of
/// [0, 8] and of `sqrt(x) i1e(x)` over `8 / x` in [0, 1].
pub(crate) fn bessel_i1e(x: f64) -> f64 {
    let size = x.abs();
    if size.is_nan() {
        return f64::NAN;
    }
    if size <= 8.0 {
        let (part, middle, half) = match size {
            ..=1.0 => (0, 0.5, 0.5),
            ..=2.0 => (1, 1.5, 0.5),
            ..=4.0 => (2, 3.0, 1.0),
            _ => (3, 6.0, 2.0),
        };
        return x * chebyshev(NEAR[part], (size - middle) / half);
    }
    if size.is_infinite() {
        return 0f64.copysign(x);
    }
    (chebyshev(&FAR, 16.0 / size - 1.0) / size.sqrt()).copysign(x)
}

fn chebyshev(coefficients: &[f64], x: f64) -> f64 {
    let (mut next, mut after) = (0.0, 0.0);
    for c in coefficients[1..].iter().rev() {
        (next, after) = (2.0 * x * next - after + c, next);
    }
    x * next - after + coefficients[0]
}

// Series for `i1e(x) / x` over [0, 1], [1, 2], [2, 4] and [4, 8]; over larger parts large terms would nearly cancel.
const NEAR: [&[f64]; 4] = [
    &[
        0.3331954626607262,
        -0.14376995804923884,
        0.020555781016660054,
        -0.0022593338335648292,
        0.00020294125252998506,
        -1.5440805804758966e-05,
        1.0196295313046634e-06,
        -5.9489133093272817e-08,
        3.1090332731288548e-09,
        -1.4715055202208305e-10,
        6.364044623119196e-12,
        -2.533828804211184e-13,
        9.346203489794796e-15,
        -3.211134911790211e-16,
        1.0324927008931963e-17,
        -3.1196579960373927e-19,
    ],
    &[
        0.15185314398600364,
        -0.049568395991552855,
        0.005872931038705506,
        -0.0005662009199259577,
        4.624957065072571e-05,
        -3.2769842602026156e-06,
        2.0481341008409486e-07,
        -1.1440299730204844e-08,
        5.771969321534611e-10,
        -2.653731880281591e-11,
        1.1201703691756592e-12,
        -4.369052600081917e-14,
        1.5833424030693217e-15,
        -5.3573497750965287e-17,
        1.6996678182098801e-18,
    ],
    &[
        0.07077783997084552,
        -0.030666074053399422,
        0.005274680444005409,
        -0.0007941514761674789,
        0.00010718701380857284,
        -1.3092513578620076e-05,
        1.455868840775671e-06,
        -1.4812694197911398e-07,
        1.385608184246176e-08,
        -1.1971449562881567e-09,
        9.595439854804797e-11,
        -7.164640318304445e-12,
        5.002785150712045e-13,
        -3.278451095491579e-14,
        2.022994614516335e-15,
        -1.1789755185705923e-16,
        6.507397497200852e-18,
        -3.410463107703704e-19,
    ],
    &[
        0.027947364726109907,
        -0.013447340584312654,
        0.002690539881795342,
        -0.0004975018677537552,
        8.741532584676023e-05,
        -1.4727902443452828e-05,
        2.3844856872271264e-06,
        -3.7072908412438424e-07,
        5.525736268209145e-08,
        -7.881569450135684e-09,
        1.074208433828335e-09,
        -1.397661445601321e-10,
        1.7352570350608203e-11,
        -2.0558201245938964e-12,
        2.325084780520701e-13,
        -2.512004329809083e-14,
        2.5948558986194935e-15,
        -2.5654289624737235e-16,
        2.430189470579745e-17,
        -2.2082749693723516e-18,
        1.9271079350932027e-19,
    ],
];

const FAR: [f64; 26] = [
    0.38928811750914005,
    -0.009761097491361469,
    -0.00011058893876262371,
    -3.882564808877691e-06,
    -2.512236237870209e-07,
    -2.6314688468895196e-08,
    -3.835380385964237e-09,
    -5.589743462196584e-10,
    -1.8974958123505413e-11,
    3.2526035830154884e-11,
    1.4125807436613782e-11,
    2.0356285441470896e-12,
    -7.198551776245908e-13,
    -4.0835511110921974e-13,
    -2.101541842772664e-14,
    4.2724400167119504e-14,
    1.042027698412881e-14,
    -3.81440307243699e-15,
    -1.8803547755108365e-15,
    3.3082023109211504e-16,
    2.962628997647643e-16,
    -3.2095259220292276e-17,
    -4.6503053684974685e-17,
    4.414348324590344e-18,
    7.517296308797812e-18,
    -9.314178896000805e-19,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digamma_is_within_four_ulp_of_one() {
        // Computed by mpmath with 40 digits.
        let known = [
            (0.7448812480595062, -1.0989420446947895),
            (0.5159124567369583, -1.8870523631507636),
            (0.547894837609217, -1.7448311301302908),
            (0.5597313051609403, -1.6956748034481686),
        ];
        for (x, expected) in known {
            let off = (digamma(x) - expected).abs() / f64::EPSILON;
            assert!(off <= 4.0, "digamma({x}) is {off} ulp of 1 off");
        }
    }

    #[test]
    fn acosh_below_one_is_nan() {
        for x in [0.5, -1.0, -2.5, -11_920.0, f64::MIN, f64::NEG_INFINITY] {
            assert!(acosh(x).is_nan(), "acosh({x}) is {}", acosh(x));
        }
    }

    #[test]
    fn bessel_i1e_is_within_two_ulp() {
        // Computed by mpmath with 40 digits; the series meet at 1, 2, 4 and 8.
        let known = [
            (0.25, 0.09811262869736824),
            (0.99, 0.20740348795792476),
            (1.01, 0.2084023606566035),
            (1.99, 0.21541234648327334),
            (3.5, 0.18739997660305),
            (4.01, 0.17858664652514541),
            (6.5, 0.1469386457237643),
            (7.75, 0.1360511000803391),
            (7.999, 0.13414997242586205),
            (8.0, 0.13414249329269817),
            (8.001, 0.13413501537956068),
            (12.5, 0.10936143099065089),
        ];
        for (x, expected) in known {
            let ulp = f64::from_bits(f64::to_bits(expected) + 1) - expected;
            let off = (bessel_i1e(x) - expected).abs() / ulp;
            assert!(off <= 2.5, "bessel_i1e({x}) is {off} ulp off");
            assert_eq!(bessel_i1e(-x).to_bits(), (-bessel_i1e(x)).to_bits());
        }
    }
}
