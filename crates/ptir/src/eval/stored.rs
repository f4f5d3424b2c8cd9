//! The numbers behind element types that are only stored and cast: narrow floats with unusual formats, and 2-bit integers.

use sapwood_types::DataType;

use super::kernels::cast::Wide;

/// The format of a float that is only stored and cast.
struct StoredFormat {
    /// The number of bits that encode magnitudes; the bit above them is the sign.
    magnitude_bits: u32,
    fraction_bits: u32,
    bias: i32,
    /// The only bit pattern that is NaN.
    nan: Option<u8>,
}

const F8E4M3FNUZ: StoredFormat =
    StoredFormat { magnitude_bits: 7, fraction_bits: 3, bias: 8, nan: Some(0x80) };
const F8E5M2FNUZ: StoredFormat =
    StoredFormat { magnitude_bits: 7, fraction_bits: 2, bias: 16, nan: Some(0x80) };
const F4E2M1FN: StoredFormat =
    StoredFormat { magnitude_bits: 3, fraction_bits: 1, bias: 1, nan: None };

/// The bit pattern of NaN in `f8e8m0fnu`.
const F8E8M0_NAN: u8 = 0xff;
const F8E8M0_BIAS: i32 = 127;

impl StoredFormat {
    fn value(&self, bits: u8) -> f64 {
        if self.nan == Some(bits) {
            return f64::NAN;
        }
        let magnitude = self.magnitude(bits & ((1 << self.magnitude_bits) - 1));
        if bits >> self.magnitude_bits & 1 == 1 { -magnitude } else { magnitude }
    }

    fn magnitude(&self, bits: u8) -> f64 {
        let (exponent, fraction) =
            (i32::from(bits >> self.fraction_bits), bits & ((1 << self.fraction_bits) - 1));
        let whole = f64::from(1u8 << self.fraction_bits);
        match exponent {
            0 => f64::from(fraction) / whole * f64::from(1 - self.bias).exp2(),
            _ => (1.0 + f64::from(fraction) / whole) * f64::from(exponent - self.bias).exp2(),
        }
    }

    // Rounds to nearest, ties to even. Overflow gives NaN if there is one, and the largest number otherwise.
    fn nearest(&self, x: f64) -> u8 {
        let sign = 1 << self.magnitude_bits;
        let largest = sign - 1;
        if x.is_nan() {
            // Without a NaN, it becomes the negative zero, as in other implementations.
            return self.nan.unwrap_or(sign);
        }
        let size = x.abs();
        let below = (0..largest).rev().find(|&bits| self.magnitude(bits) <= size).unwrap_or(0);
        let (low, high) = (self.magnitude(below), self.magnitude(below + 1));
        let to_high = size - low > high - size || size - low == high - size && below & 1 == 1;
        let magnitude = if to_high { below + 1 } else { below };
        // The next number would be this far above the largest.
        let step = self.magnitude(largest) - self.magnitude(largest - 1);
        let overflows = size >= self.magnitude(largest) + step / 2.0;
        match self.nan {
            Some(nan) if overflows => nan,
            // These formats have no negative zero.
            Some(_) if magnitude == 0 => 0,
            _ if x.is_sign_negative() => sign | magnitude,
            _ => magnitude,
        }
    }
}

/// Returns the number of an element that is only stored.
pub(crate) fn value(dtype: DataType, bits: u8) -> f64 {
    match dtype {
        DataType::F8E4M3Fnuz => F8E4M3FNUZ.value(bits),
        DataType::F8E5M2Fnuz => F8E5M2FNUZ.value(bits),
        DataType::F4E2M1Fn => F4E2M1FN.value(bits),
        DataType::F8E8M0Fnu if bits == F8E8M0_NAN => f64::NAN,
        DataType::F8E8M0Fnu => f64::from(i32::from(bits) - F8E8M0_BIAS).exp2(),
        DataType::I2 => f64::from(((bits << 6) as i8) >> 6),
        _ => f64::from(bits & 3),
    }
}

/// Returns the element nearest to a number, as `cast` rounds it.
pub(crate) fn nearest(dtype: DataType, x: f64) -> u8 {
    match dtype {
        DataType::F8E4M3Fnuz => F8E4M3FNUZ.nearest(x),
        DataType::F8E5M2Fnuz => F8E5M2FNUZ.nearest(x),
        DataType::F4E2M1Fn => F4E2M1FN.nearest(x),
        DataType::F8E8M0Fnu => nearest_power_of_two(x),
        // Integers round towards zero and saturate.
        DataType::I2 => (x as i8).clamp(-2, 1) as u8,
        _ => (x as u8).min(3),
    }
}

// Of two powers of two that are equally near, the larger one. Numbers that are not positive have none.
fn nearest_power_of_two(x: f64) -> u8 {
    if x.is_nan() || x <= 0.0 || x.is_infinite() {
        return F8E8M0_NAN;
    }
    let below = (x.to_bits() >> 52) as i32 - 1023;
    let exponent = if x >= 1.5 * f64::from(below.max(-1022)).exp2() { below + 1 } else { below };
    u8::try_from((exponent + F8E8M0_BIAS).clamp(0, 255)).unwrap_or(F8E8M0_NAN)
}

/// Returns the canonical NaN of a type; `None` if it has no NaN.
pub(crate) fn nan(dtype: DataType) -> Option<u8> {
    match dtype {
        DataType::F8E4M3Fnuz | DataType::F8E5M2Fnuz => Some(0x80),
        DataType::F8E8M0Fnu => Some(F8E8M0_NAN),
        _ => None,
    }
}

/// Returns the canonical form of an element, given its bits in the low bits of a byte: the others are zero, or the sign of an integer.
pub(crate) fn canonical(dtype: DataType, byte: u8) -> u8 {
    match dtype {
        DataType::I2 => (((byte << 6) as i8) >> 6) as u8,
        DataType::U2 => byte & 3,
        DataType::F4E2M1Fn => byte & 15,
        _ => byte,
    }
}

/// Returns the element as the widest number of its class.
pub(crate) fn wide(dtype: DataType, bits: u8) -> Wide {
    match dtype {
        DataType::I2 => Wide::Signed(i64::from(((bits << 6) as i8) >> 6)),
        DataType::U2 => Wide::Unsigned(u64::from(bits & 3)),
        _ => Wide::Float(value(dtype, bits)),
    }
}

/// Converts a number to an element, as `cast` does.
pub(crate) fn from_wide(dtype: DataType, number: Wide) -> u8 {
    match (dtype, number) {
        // Integers wrap.
        (DataType::I2, Wide::Signed(n)) => (((n as i8) << 6) >> 6) as u8,
        (DataType::I2, Wide::Unsigned(n)) => (((n as i8) << 6) >> 6) as u8,
        (DataType::U2, Wide::Signed(n)) => n as u8 & 3,
        (DataType::U2, Wide::Unsigned(n)) => n as u8 & 3,
        // These formats have at most four significant bits, so that integers above 2^53 round as their f64 does: it is far from
        // the middle of two elements, or beyond the largest.
        (_, Wide::Signed(n)) => nearest(dtype, n as f64),
        (_, Wide::Unsigned(n)) => nearest(dtype, n as f64),
        (_, Wide::Float(x)) => nearest(dtype, x),
        (_, Wide::Complex(z)) => nearest(dtype, z.re),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> impl Iterator<Item = DataType> {
        DataType::ALL.into_iter().filter(|dtype| dtype.is_storage_only())
    }

    #[test]
    fn casting_a_number_back_gives_its_element() {
        for dtype in stored() {
            for bits in (0..=255).filter(|&bits| canonical(dtype, bits) == bits) {
                let number = value(dtype, bits);
                assert_eq!(nearest(dtype, number), bits, "{dtype} {number}");
                assert_eq!(from_wide(dtype, wide(dtype, bits)), bits, "{dtype} {number}");
            }
        }
    }

    #[test]
    fn limits_and_ties() {
        // As in ml_dtypes 0.6.
        for (dtype, x, bits) in [
            (DataType::F8E4M3Fnuz, 247.9, 0x7f),
            (DataType::F8E4M3Fnuz, 248.0, 0x80),
            (DataType::F8E4M3Fnuz, f64::NEG_INFINITY, 0x80),
            (DataType::F8E4M3Fnuz, -0.0, 0),
            (DataType::F8E4M3Fnuz, -1e-9, 0),
            (DataType::F8E4M3Fnuz, -7.0, 214),
            (DataType::F8E5M2Fnuz, 61439.0, 0x7f),
            (DataType::F8E5M2Fnuz, 61440.0, 0x80),
            (DataType::F8E5M2Fnuz, 1.41, 66),
            (DataType::F8E8M0Fnu, 0.0, 255),
            (DataType::F8E8M0Fnu, -1.0, 255),
            (DataType::F8E8M0Fnu, 1.5, 128),
            (DataType::F8E8M0Fnu, 1.4999, 127),
            (DataType::F8E8M0Fnu, 1e-45, 0),
            (DataType::F8E8M0Fnu, 8.816_207_631_167_156e-39, 1),
            (DataType::F4E2M1Fn, f64::NAN, 8),
            (DataType::F4E2M1Fn, f64::INFINITY, 7),
            (DataType::F4E2M1Fn, -1e9, 15),
            (DataType::F4E2M1Fn, -0.0, 8),
            (DataType::F4E2M1Fn, 0.25, 0),
            (DataType::F4E2M1Fn, 0.75, 2),
            (DataType::I2, 5.9, 1),
            (DataType::I2, -5.9, 0xfe),
            (DataType::U2, -1.0, 0),
            (DataType::U2, 9.0, 3),
        ] {
            assert_eq!(nearest(dtype, x), bits, "{dtype} {x}");
        }
        assert_eq!(from_wide(DataType::I2, Wide::Signed(2)), 0xfe);
        assert_eq!(from_wide(DataType::U2, Wide::Signed(-1)), 3);
    }
}
