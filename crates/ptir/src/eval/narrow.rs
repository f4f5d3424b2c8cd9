//! Conversion of 16-bit and 8-bit floats: widening is exact, narrowing rounds once, to nearest even. It uses integer arithmetic only,
//! so results are the same on every machine.

/// The format of a narrow float.
#[derive(Clone, Copy)]
pub(crate) struct NarrowFormat {
    /// The number of exponent bits.
    pub(crate) exponent: u32,
    /// The number of fraction bits.
    pub(crate) fraction: u32,
    /// True if the largest exponent encodes infinities and NaNs; otherwise only the largest fraction with it is NaN.
    pub(crate) infinities: bool,
}

pub(crate) const F16: NarrowFormat = NarrowFormat { exponent: 5, fraction: 10, infinities: true };
pub(crate) const BF16: NarrowFormat = NarrowFormat { exponent: 8, fraction: 7, infinities: true };
pub(crate) const F8E4M3FN: NarrowFormat =
    NarrowFormat { exponent: 4, fraction: 3, infinities: false };
pub(crate) const F8E5M2: NarrowFormat = NarrowFormat { exponent: 5, fraction: 2, infinities: true };

impl NarrowFormat {
    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Returns the bits of positive infinity, or of NaN in formats without infinities.
    const fn infinity_or_nan(self) -> u64 {
        let top = ((1u64 << self.exponent) - 1) << self.fraction;
        if self.infinities { top } else { top | ((1 << self.fraction) - 1) }
    }

    /// Returns the bits of the canonical NaN: positive, quiet, no payload.
    pub(crate) const fn nan(self) -> u16 {
        let top = ((1u64 << self.exponent) - 1) << self.fraction;
        if self.infinities {
            (top | 1 << (self.fraction - 1)) as u16
        } else {
            self.infinity_or_nan() as u16
        }
    }

    /// Returns the bits of the nearest number, ties to even. Overflow gives infinity, or NaN in formats without infinities.
    #[inline]
    pub(crate) fn narrow(self, x: f64) -> u16 {
        let sign = (u64::from(x.is_sign_negative())) << (self.exponent + self.fraction);
        if x.is_nan() {
            return self.nan();
        }
        let bits = x.to_bits() & !(1 << 63);
        let magnitude = bits >> 52;
        if magnitude == 0x7ff {
            let infinite = if self.infinities {
                sign | self.infinity_or_nan()
            } else {
                self.infinity_or_nan()
            };
            return infinite as u16;
        }
        // A subnormal f64 is far below half of the smallest number of any narrow format.
        if magnitude == 0 {
            return sign as u16;
        }
        let exponent = magnitude as i32 - 1023 + self.bias();
        let significand = (bits & ((1 << 52) - 1)) | 1 << 52;
        // The number of low bits to drop, more if the result is subnormal.
        let lost = 52 - self.fraction as i32 + (1 - exponent).max(0);
        if lost > 54 {
            return sign as u16;
        }
        let lost = lost as u32;
        let kept = significand >> lost;
        let rest = significand & ((1 << lost) - 1);
        let half = 1u64 << (lost - 1);
        let up = rest > half || rest == half && kept & 1 == 1;
        let rounded = kept + u64::from(up);
        // A carry out of the fraction increments the exponent.
        let result = if exponent >= 1 {
            rounded + ((exponent as u64 - 1) << self.fraction)
        } else {
            rounded
        };
        if result >= self.infinity_or_nan() {
            return if self.infinities {
                sign | self.infinity_or_nan()
            } else {
                self.infinity_or_nan()
            } as u16;
        }
        (sign | result) as u16
    }

    /// Returns the number with these bits. NaN becomes positive and quiet.
    #[inline]
    pub(crate) fn widen(self, bits: u16) -> f32 {
        let bits = u32::from(bits);
        let width = self.exponent + self.fraction;
        let magnitude = bits & ((1 << width) - 1);
        let sign = (bits >> width) << 31;
        if u64::from(magnitude) >= self.infinity_or_nan() {
            return if self.infinities && u64::from(magnitude) == self.infinity_or_nan() {
                f32::from_bits(sign | 0x7f80_0000)
            } else {
                f32::NAN
            };
        }
        if self.exponent == 8 {
            return f32::from_bits(sign | magnitude << (23 - self.fraction));
        }
        // The bits are in place, with an exponent that is too low by the difference of the biases. One exact multiplication corrects it,
        // also for subnormals.
        let low = f32::from_bits(magnitude << (23 - self.fraction));
        let scale = f32::from_bits(((127 + 127 - self.bias()) as u32) << 23);
        f32::from_bits((low * scale).to_bits() | sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_and_narrowing_is_the_identity() {
        for format in [F16, BF16, F8E4M3FN, F8E5M2] {
            for bits in 0..=(1u32 << (1 + format.exponent + format.fraction)) - 1 {
                let bits = bits as u16;
                let wide = format.widen(bits);
                let back = format.narrow(f64::from(wide));
                if wide.is_nan() {
                    assert_eq!(back, format.nan());
                } else {
                    assert_eq!(back, bits, "{wide}");
                }
            }
        }
    }

    #[test]
    fn narrowing_rounds_to_the_nearest_even() {
        for format in [F16, BF16, F8E4M3FN, F8E5M2] {
            for bits in 0..format.infinity_or_nan() as u16 - 1 {
                let (low, high) =
                    (f64::from(format.widen(bits)), f64::from(format.widen(bits + 1)));
                let middle = low + (high - low) / 2.0;
                let even = bits + (bits & 1);
                assert_eq!(format.narrow(middle), even);
                assert_eq!(format.narrow(f64::from_bits(middle.to_bits() + 1)), bits + 1);
                assert_eq!(format.narrow(f64::from_bits(middle.to_bits() - 1)), bits);
            }
        }
        assert_eq!(F16.narrow(65519.999), 0x7bff);
        assert_eq!(F16.narrow(65520.0), 0x7c00);
        assert_eq!(F8E4M3FN.narrow(463.9), 0x7e);
        assert_eq!(F8E4M3FN.narrow(464.0), 0x7e);
        assert_eq!(F8E4M3FN.narrow(464.1), 0x7f);
        assert_eq!(F8E4M3FN.narrow(f64::NEG_INFINITY), 0x7f);
        assert_eq!(F16.narrow(-0.0), 0x8000);
    }
}
