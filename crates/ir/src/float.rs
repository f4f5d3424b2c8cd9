//! Rounding to the values that a float type can hold.

use sapwood_types::DataType;

/// `value` as the data type holds it: rounded to nearest, ties to even. A NaN becomes the canonical
/// one. `FP8E4M3FN`, which has no infinities, gives NaN where the value is too large.
pub(crate) fn round_to(dtype: DataType, value: f64) -> f64 {
    if value.is_nan() {
        return f64::NAN;
    }
    match dtype {
        DataType::F32 => f64::from(value as f32),
        DataType::F16 => round(value, -14, 10, 65_504.0, f64::INFINITY),
        DataType::Bf16 => round(value, -126, 7, 3.389_531_389_251_535_5e38, f64::INFINITY),
        DataType::F8E4M3Fn => round(value, -6, 3, 448.0, f64::NAN),
        DataType::F8E5M2 => round(value, -14, 2, 57_344.0, f64::INFINITY),
        _ => value,
    }
}

/// Rounds to `fraction` bits after the leading one, with the smallest normal exponent `least`.
fn round(value: f64, least: i32, fraction: i32, largest: f64, beyond: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    if value.is_infinite() {
        return beyond.copysign(value);
    }
    let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    let step = 2f64.powi(exponent - fraction);
    let rounded = (value / step).round_ties_even() * step;
    if rounded.abs() > largest { beyond.copysign(value) } else { rounded.copysign(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats_round_to_nearest_even() {
        assert_eq!(round_to(DataType::F16, 0.1), 0.099_975_585_937_5);
        assert_eq!(round_to(DataType::F16, 65_519.0), 65_504.0);
        assert_eq!(round_to(DataType::F16, 65_520.0), f64::INFINITY);
        assert_eq!(round_to(DataType::F16, 2f64.powi(-25)), 0.0);
        assert_eq!(round_to(DataType::F16, 1.5 * 2f64.powi(-24)), 2f64.powi(-23));
        assert_eq!(round_to(DataType::Bf16, 1.0 + 2f64.powi(-8)), 1.0);
        assert_eq!(round_to(DataType::Bf16, 1.0 + 3.0 * 2f64.powi(-8)), 1.0 + 2f64.powi(-6));
        assert_eq!(round_to(DataType::F8E4M3Fn, 464.0), 448.0);
        assert!(round_to(DataType::F8E4M3Fn, 465.0).is_nan());
        assert_eq!(round_to(DataType::F8E5M2, -1e9), f64::NEG_INFINITY);
        assert_eq!(round_to(DataType::F32, 0.1), f64::from(0.1_f32));
        assert!(round_to(DataType::F16, -0.0).is_sign_negative());
    }
}
