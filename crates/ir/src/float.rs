//! Rounding of an `f64` to another float type.

use sapwood_types::DataType;

/// Rounds `value` to a data type: to nearest, ties to even.
///
/// A NaN becomes the canonical NaN. A value too large for `FP8E4M3FN`, which has no infinities, becomes NaN.
pub(crate) fn round_to_dtype(dtype: DataType, value: f64) -> f64 {
    if value.is_nan() {
        return f64::NAN;
    }
    match dtype {
        DataType::F32 => f64::from(value as f32),
        DataType::F16 => round_to_precision(value, -14, 10, 65_504.0, f64::INFINITY),
        DataType::Bf16 => {
            round_to_precision(value, -126, 7, 3.389_531_389_251_535_5e38, f64::INFINITY)
        }
        DataType::F8E4M3Fn => round_to_precision(value, -6, 3, 448.0, f64::NAN),
        DataType::F8E5M2 => round_to_precision(value, -14, 2, 57_344.0, f64::INFINITY),
        _ => value,
    }
}

/// Rounds to `fraction_bits` bits after the leading one, with the smallest normal exponent `min_exponent`.
///
/// A result above `max_finite` becomes `overflow` with the sign of the value.
fn round_to_precision(
    value: f64,
    min_exponent: i32,
    fraction_bits: i32,
    max_finite: f64,
    overflow: f64,
) -> f64 {
    if value == 0.0 {
        return value;
    }
    if value.is_infinite() {
        return overflow.copysign(value);
    }
    let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(min_exponent);
    let step = 2f64.powi(exponent - fraction_bits);
    let rounded = (value / step).round_ties_even() * step;
    if rounded.abs() > max_finite { overflow.copysign(value) } else { rounded.copysign(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats_round_to_nearest_even() {
        assert_eq!(round_to_dtype(DataType::F16, 0.1), 0.099_975_585_937_5);
        assert_eq!(round_to_dtype(DataType::F16, 65_519.0), 65_504.0);
        assert_eq!(round_to_dtype(DataType::F16, 65_520.0), f64::INFINITY);
        assert_eq!(round_to_dtype(DataType::F16, 2f64.powi(-25)), 0.0);
        assert_eq!(round_to_dtype(DataType::F16, 1.5 * 2f64.powi(-24)), 2f64.powi(-23));
        assert_eq!(round_to_dtype(DataType::Bf16, 1.0 + 2f64.powi(-8)), 1.0);
        assert_eq!(round_to_dtype(DataType::Bf16, 1.0 + 3.0 * 2f64.powi(-8)), 1.0 + 2f64.powi(-6));
        assert_eq!(round_to_dtype(DataType::F8E4M3Fn, 464.0), 448.0);
        assert!(round_to_dtype(DataType::F8E4M3Fn, 465.0).is_nan());
        assert_eq!(round_to_dtype(DataType::F8E5M2, -1e9), f64::NEG_INFINITY);
        assert_eq!(round_to_dtype(DataType::F32, 0.1), f64::from(0.1_f32));
        assert!(round_to_dtype(DataType::F16, -0.0).is_sign_negative());
    }
}
