//! Elements of tensors as `f64`, and the tolerance for comparing them.

use sapwood_ptir::eval::{Complex, F8E4M3Fn, F8E5M2, StoredByte, Tensor, Value, bf16, f16};
use sapwood_types::DataType;

/// The tolerance for comparing two numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NumberTolerance {
    /// The part of the larger number that they may differ by.
    pub relative: f64,
    /// The amount that they may differ by in addition, whatever their size.
    pub absolute: f64,
}

impl NumberTolerance {
    /// Allows equal numbers, and NaN for NaN.
    pub const SAME: Self = Self { relative: 0.0, absolute: 0.0 };

    /// Returns whether two numbers are close: both NaN, the same infinity, or no further apart than allowed.
    #[must_use]
    pub fn allows(self, a: f64, b: f64) -> bool {
        if a.is_nan() || b.is_nan() {
            return a.is_nan() && b.is_nan();
        }
        if a.is_infinite() || b.is_infinite() {
            return a == b;
        }
        (a - b).abs() <= self.absolute + self.relative * a.abs().max(b.abs())
    }

    /// Returns the index of the first element that differs by more than is allowed, with both numbers. Values of different types
    /// differ in the first element.
    #[must_use]
    pub fn first_difference(self, a: &Value, b: &Value) -> Option<(usize, f64, f64)> {
        match (a, b) {
            (Value::Token, Value::Token) => None,
            (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
                a.iter().zip(b.iter()).find_map(|(a, b)| self.first_difference(a, b))
            }
            (Value::Tensor(a), Value::Tensor(b)) if a.ty() == b.ty() => {
                let pairs = paired_elements(a, b);
                let at = pairs.iter().position(|&(x, y)| !self.allows(x, y))?;
                Some((at, pairs[at].0, pairs[at].1))
            }
            _ => Some((0, f64::NAN, f64::NAN)),
        }
    }
}

/// Returns the elements of two tensors of the same type in pairs, as [`elements_as_f64`] converts them. Two splats give only
/// one pair, which represents all of them.
#[must_use]
pub fn paired_elements(a: &Tensor, b: &Tensor) -> Vec<(f64, f64)> {
    if a.is_splat() && b.is_splat() {
        let one = |t: &Tensor| elements_as_f64(&t.part(0, []));
        return one(a).into_iter().zip(one(b)).collect();
    }
    elements_as_f64(a).into_iter().zip(elements_as_f64(b)).collect()
}

/// The number of bytes that the comparison of two numbers takes: both as `f64`, alone and as a pair.
const COMPARED_NUMBER_BYTES: u64 = 32;

/// Returns the number of bytes that [`paired_elements`] allocates for two values. Tuples nest at most 64 deep.
pub(crate) fn comparison_bytes(a: &Value, b: &Value) -> u64 {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) if !(a.is_splat() && b.is_splat()) => {
            let parts = if a.dtype().is_complex() || a.dtype().byte_size() == 8 { 2 } else { 1 };
            (a.len() as u64).saturating_mul(parts * COMPARED_NUMBER_BYTES)
        }
        (Value::Tuple(a), Value::Tuple(b)) => {
            let bytes = a.iter().zip(b.iter()).map(|(a, b)| comparison_bytes(a, b));
            bytes.max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// Returns all elements as `f64`: floats exactly, 64-bit integers in two halves, complex numbers in two parts.
#[must_use]
pub fn elements_as_f64(t: &Tensor) -> Vec<f64> {
    let halves = |n: u64| [(n >> 32) as f64, (n & 0xffff_ffff) as f64];
    macro_rules! first_of {
        ($($ty:ty => |$x:ident| $numbers:expr),* $(,)?) => {$(
            if let Some(all) = t.elements::<$ty>() {
                return all.iter().flat_map(|&$x| $numbers).collect();
            }
        )*};
    }
    first_of! {
        f32 => |x| [f64::from(x)],
        f64 => |x| [x],
        bool => |x| [f64::from(u8::from(x))],
        i8 => |x| [f64::from(x)],
        i16 => |x| [f64::from(x)],
        i32 => |x| [f64::from(x)],
        i64 => |x| halves(x as u64),
        u8 => |x| [f64::from(x)],
        u16 => |x| [f64::from(x)],
        u32 => |x| [f64::from(x)],
        u64 => |x| halves(x),
        f16 => |x| [x.to_f64()],
        bf16 => |x| [x.to_f64()],
        F8E4M3Fn => |x| [of_eight_bits(x.0, 3, false)],
        F8E5M2 => |x| [of_eight_bits(x.0, 2, true)],
        Complex<f32> => |x| [f64::from(x.re), f64::from(x.im)],
        Complex<f64> => |x| [x.re, x.im],
    }
    if t.dtype().is_storage_only() {
        let all = t.elements::<StoredByte>().unwrap_or_default();
        return all.iter().map(|x| x.number(t.dtype())).collect();
    }
    let Ok(literal) = t.to_literal() else { return Vec::new() };
    let byte = |i| Some(f64::from(*literal.element(i)?.first()?));
    (0..literal.num_elements()).filter_map(byte).collect()
}

// Decodes a float of eight bits with the given number of fraction bits. Without infinities only the largest bit pattern is NaN.
fn of_eight_bits(bits: u8, fraction: u32, infinities: bool) -> f64 {
    let exponent_bits = 7 - fraction;
    let largest = (1 << exponent_bits) - 1;
    let exponent = i32::from(bits >> fraction) & largest;
    let digits = i32::from(bits) & ((1 << fraction) - 1);
    let bias = (1 << (exponent_bits - 1)) - 1;
    let scale = |power: i32| f64::from(power - bias - fraction as i32).exp2();
    let size = match exponent {
        0 => f64::from(digits) * scale(1),
        _ if exponent == largest && infinities && digits == 0 => f64::INFINITY,
        _ if exponent == largest && (infinities || digits == (1 << fraction) - 1) => f64::NAN,
        _ => f64::from(digits + (1 << fraction)) * scale(exponent),
    };
    if bits >> 7 == 1 { -size } else { size }
}

/// Returns the item that more than half of the items equal.
pub(crate) fn majority<T: PartialEq + Copy>(items: impl Iterator<Item = T> + Clone) -> Option<T> {
    // Each item that differs from the candidate cancels one that equals it.
    let (candidate, _) = items.clone().fold((None, 0u64), |(candidate, votes), item| match votes {
        0 => (Some(item), 1),
        _ if candidate == Some(item) => (candidate, votes + 1),
        _ => (candidate, votes - 1),
    });
    let (all, equal) = items.fold((0u64, 0u64), |(all, equal), item| {
        (all + 1, equal + u64::from(candidate == Some(item)))
    });
    candidate.filter(|_| 2 * equal > all)
}

/// Returns the distance from one to the next larger number of a float or complex type; zero for other types.
pub(crate) fn unit(dtype: DataType) -> f64 {
    let digits = match dtype.complex_part().unwrap_or(dtype) {
        DataType::F8E5M2 => 2,
        DataType::F8E4M3Fn => 3,
        DataType::Bf16 => 7,
        DataType::F16 => 10,
        DataType::F32 => 23,
        DataType::F64 => 52,
        _ => return 0.0,
    };
    f64::from(-digits).exp2()
}

#[cfg(test)]
mod tests {
    use sapwood_ptir::eval::DataType;

    use super::*;

    #[test]
    fn nan_is_close_to_nan_and_infinity_to_itself() {
        let close = NumberTolerance { relative: 1e-3, absolute: 0.0 };
        assert!(close.allows(f64::NAN, -f64::NAN));
        assert!(!close.allows(f64::NAN, 1.0));
        assert!(close.allows(f64::INFINITY, f64::INFINITY));
        assert!(!close.allows(f64::INFINITY, f64::MAX));
        assert!(close.allows(1.0, 1.0005) && !close.allows(1.0, 1.01));
        assert!(NumberTolerance::SAME.allows(0.0, -0.0));
    }

    #[test]
    fn splats_are_compared_by_their_element() {
        let shape = [1usize << 40];
        let value = |x: f32| Value::from(Tensor::splat(DataType::F32, shape, x));
        assert_eq!(NumberTolerance::SAME.first_difference(&value(1.0), &value(1.0)), None);
        let found = NumberTolerance::SAME.first_difference(&value(1.0), &value(2.0));
        assert_eq!(found, Some((0, 1.0, 2.0)));
        let none = Value::from(Tensor::splat(DataType::F32, [1usize << 40, 0], 1f32));
        assert_eq!(NumberTolerance::SAME.first_difference(&none, &none.clone()), None);
    }

    #[test]
    fn eight_bits_are_the_numbers_that_literals_say() {
        use sapwood_ptir::TensorLiteral;
        for dtype in [DataType::F8E4M3Fn, DataType::F8E5M2] {
            for bits in 0..=255u8 {
                let literal = TensorLiteral::new(dtype, &[], &[bits]).unwrap();
                let number = elements_as_f64(&Tensor::from_literal(&literal).unwrap())[0];
                if number.is_nan() {
                    let text = Value::try_from(&literal).unwrap().to_string();
                    assert!(text.starts_with("nan") || text.starts_with("0x"), "{text}");
                } else {
                    let back = TensorLiteral::filled(dtype, &[], number).unwrap();
                    assert_eq!(back.stored_bytes(), [bits], "{dtype} {number}");
                }
            }
        }
    }

    #[test]
    fn a_majority_is_more_than_half() {
        let of = |items: &[i32]| majority(items.iter().copied());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[7]), Some(7));
        assert_eq!(of(&[1, 2]), None);
        assert_eq!(of(&[1, 2, 1]), Some(1));
        assert_eq!(of(&[1, 2, 3, 1, 1, 2]), None);
        assert_eq!(of(&[1, 2, 3, 2, 2, 2]), Some(2));
    }

    #[test]
    fn wide_integers_are_compared_in_full() {
        let value = |n: i64| Value::from(Tensor::scalar(n));
        assert_eq!(
            NumberTolerance::SAME
                .first_difference(&value(1 << 62), &value((1 << 62) + 1))
                .map(|d| d.0),
            Some(1)
        );
        assert_eq!(NumberTolerance::SAME.first_difference(&value(-1), &value(-1)), None);
    }
}
