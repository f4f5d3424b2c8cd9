//! Functions that no library of ours has: the inverse of `erf`, `digamma`, Bessel's `i1e`, the logistic function.

#![allow(clippy::excessive_precision, reason = "coefficients as they were published")]

use std::f64::consts::{PI, SQRT_2};

/// `1 / (1 + e^-x)`.
pub(crate) fn logistic(x: f64) -> f64 {
    if x >= 0.0 {
        return 1.0 / (1.0 + libm::exp(-x));
    }
    let e = libm::exp(x);
    e / (1.0 + e)
}

/// `1 / sqrt(x)`.
pub(crate) fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// -1, 0 or 1 with the sign of zero; NaN for NaN.
pub(crate) fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { 1f64.copysign(x) }
}

/// The value of a polynomial, coefficients from the constant on.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// The inverse of `erf`: the normal quantile by the rational approximations of algorithm AS 241, then one step of
/// Newton's method where `erf` is steep enough for it.
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

/// The logarithmic derivative of the gamma function.
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
    let mut below = 0.0;
    while x < 12.0 {
        below += 1.0 / x;
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
    libm::log(x) - 0.5 / x - square * polynomial(&series, square) - below
}

/// The modified Bessel function of order one times `e^-|x|`: Chebyshev series of `i1e(x) / x` over [0, 8] and of
/// `sqrt(x) i1e(x)` over `8 / x` in [0, 1].
pub(crate) fn bessel_i1e(x: f64) -> f64 {
    let size = x.abs();
    if size.is_nan() {
        return f64::NAN;
    }
    if size <= 8.0 {
        return x * chebyshev(&NEAR, size / 4.0 - 1.0);
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

const NEAR: [f64; 30] = [
    0.12629359322181682,
    -0.17641651835783406,
    0.1026436586898471,
    -0.05294598120809499,
    0.024726449030626516,
    -0.010564084894626197,
    0.004156422944312888,
    -0.0015135724506312532,
    0.0005122859561685758,
    -0.00016176081582589674,
    4.781565107550054e-05,
    -1.3273163656039436e-05,
    3.4702513081376785e-06,
    -8.568720264695455e-07,
    2.0032947535521353e-07,
    -4.445059128796328e-08,
    9.381537386495773e-09,
    -1.8872497517228294e-09,
    3.625590281552117e-10,
    -6.663489723502027e-11,
    1.1736186298890901e-11,
    -1.9839743977649436e-12,
    3.223793365945575e-13,
    -5.042185504727912e-14,
    7.600684294735408e-15,
    -1.1055969477353862e-15,
    1.5536319577362005e-16,
    -2.111421214358166e-17,
    2.7779141127610464e-18,
    -3.541581772542136e-19,
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
