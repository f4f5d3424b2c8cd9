//! Evaluation of operators on scalars. Every operator is total: it has a result for all operands of its types.
//!
//! Integers wrap around. `x // 0` and `x / 0` are -1 (every bit set) and `x % 0` is `x`. A negative exponent truncates the
//! fraction (0, or ±1 for a base of ±1), and gives -1 (every bit set) for a base of 0. Shifting by a negative amount, or by at
//! least the width, shifts out every bit.
//!
//! Floats are computed with 64 bits and rounded to their type once, after every operator. `x // y` is the 64-bit quotient
//! rounded down. `x % y` is the exact remainder, plus `y` if the two have opposite signs. `x ** y` is `libm::pow`, which
//! returns the same bits on every machine. Lowered programs compute the same values.

use sapwood_types::DataType;

use crate::float::round_to_dtype;
use crate::nodes::{BinaryOp, UnaryOp};

/// A number or a bool with its data type.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// A bool.
    Bool(bool),
    /// An integer, within the range of its type.
    Int(DataType, i128),
    /// A float, already rounded to its type.
    Float(DataType, f64),
}

impl PartialEq for Scalar {
    /// Compares bit for bit, except that all NaNs are equal.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(ta, a), Self::Int(tb, b)) => ta == tb && a == b,
            (Self::Float(ta, a), Self::Float(tb, b)) => {
                ta == tb && (a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
            }
            _ => false,
        }
    }
}

impl Scalar {
    /// Creates an integer; the value wraps around to the range of the type.
    #[must_use]
    pub fn int(dtype: DataType, value: i128) -> Self {
        Self::Int(dtype, wrap_to_range(dtype, value))
    }

    /// Creates a float, rounded to the type.
    #[must_use]
    pub fn float(dtype: DataType, value: f64) -> Self {
        Self::Float(dtype, round_to_dtype(dtype, value))
    }

    /// Returns the data type.
    #[must_use]
    pub fn dtype(self) -> DataType {
        match self {
            Self::Bool(_) => DataType::Bool,
            Self::Int(dtype, _) | Self::Float(dtype, _) => dtype,
        }
    }

    /// Returns whether the value counts as true in a condition.
    #[must_use]
    pub fn is_true(self) -> bool {
        match self {
            Self::Bool(value) => value,
            Self::Int(_, value) => value != 0,
            Self::Float(_, value) => value != 0.0,
        }
    }

    /// Casts to another type; returns none for complex types.
    ///
    /// Integers wrap around and floats are rounded. A float becomes an integer by rounding towards zero and clamping to the range; NaN
    /// becomes 0.
    #[must_use]
    pub fn cast(self, dtype: DataType) -> Option<Self> {
        if dtype.is_bool() {
            return Some(Self::Bool(self.is_true()));
        }
        if let Some((min, max)) = dtype.integer_range() {
            let value = match self {
                Self::Bool(value) => i128::from(value),
                Self::Int(_, value) => wrap_to_range(dtype, value),
                Self::Float(_, value) => (value as i128).clamp(min, max),
            };
            return Some(Self::Int(dtype, value));
        }
        if dtype.is_float() {
            let value = match self {
                Self::Bool(value) => f64::from(u8::from(value)),
                Self::Int(_, value) if dtype == DataType::F64 => value as f64,
                Self::Int(_, value) => int_to_f64_round_to_odd(value),
                Self::Float(_, value) => value,
            };
            return Some(Self::float(dtype, value));
        }
        None
    }
}

/// Converts an integer to `f64` with round-to-odd, so that a second rounding to a narrower type gives the correct result.
///
/// Bits that do not fit are dropped, and the last kept bit is set if any dropped bit was set.
fn int_to_f64_round_to_odd(value: i128) -> f64 {
    let magnitude = value.unsigned_abs();
    let spare = (128 - magnitude.leading_zeros()).saturating_sub(f64::MANTISSA_DIGITS);
    let kept = magnitude >> spare << spare;
    let odd = kept | u128::from(kept != magnitude) << spare;
    let float = odd as f64;
    if value < 0 { -float } else { float }
}

/// Returns the value modulo two to the bit width, in the range of the type.
fn wrap_to_range(dtype: DataType, value: i128) -> i128 {
    match dtype.integer_range() {
        Some((min, max)) if value < min || value > max => {
            let low = value & ((1 << dtype.bit_width()) - 1);
            if low > max { low - (1 << dtype.bit_width()) } else { low }
        }
        _ => value,
    }
}

/// Computes `left op right` in the data type of the operands, or as a bool for predicates.
///
/// Returns none if the operands do not match each other or the operator.
#[must_use]
pub fn binary(op: BinaryOp, left: Scalar, right: Scalar) -> Option<Scalar> {
    if op.is_logical() {
        let (a, b) = (left.is_true(), right.is_true());
        return Some(Scalar::Bool(match op {
            BinaryOp::And => a && b,
            BinaryOp::Or => a || b,
            _ => a != b,
        }));
    }
    match (left, right) {
        (Scalar::Bool(a), Scalar::Bool(b)) => Some(Scalar::Bool(match op {
            BinaryOp::Eq => a == b,
            BinaryOp::Ne | BinaryOp::BitXor => a != b,
            BinaryOp::BitAnd => a && b,
            BinaryOp::BitOr => a || b,
            _ => return None,
        })),
        (Scalar::Int(dtype, a), Scalar::Int(other, b)) if dtype == other => {
            comparison(op, a, b).or_else(|| int_binary(op, dtype, a, b))
        }
        (Scalar::Float(dtype, a), Scalar::Float(other, b)) if dtype == other => {
            comparison(op, a, b).or_else(|| float_binary(op, dtype, a, b))
        }
        _ => None,
    }
}

// Returns the result of a comparison, and none for other operators.
fn comparison<T: Copy + PartialOrd>(op: BinaryOp, a: T, b: T) -> Option<Scalar> {
    Some(Scalar::Bool(match op {
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Ge => a >= b,
        _ => return None,
    }))
}

// Computes an operator that is neither a comparison nor logical.
fn int_binary(op: BinaryOp, dtype: DataType, a: i128, b: i128) -> Option<Scalar> {
    let width = i128::from(dtype.bit_width());
    let shifts_out = !(0..width).contains(&b);
    Some(Scalar::int(
        dtype,
        match op {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::FloorDiv | BinaryOp::FloatDiv if b == 0 => -1,
            BinaryOp::FloorDiv => floor_div(a, b),
            BinaryOp::FloatDiv => a.wrapping_div(b),
            BinaryOp::FloorMod if b == 0 => a,
            BinaryOp::FloorMod => a.wrapping_sub(b.wrapping_mul(floor_div(a, b))),
            BinaryOp::Min => a.min(b),
            BinaryOp::Max => a.max(b),
            BinaryOp::Pow => int_power(a, b),
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitOr => a | b,
            BinaryOp::BitXor => a ^ b,
            BinaryOp::BitShiftLeft if shifts_out => 0,
            BinaryOp::BitShiftLeft => a << b,
            BinaryOp::BitShiftRight if shifts_out => -i128::from(a < 0),
            BinaryOp::BitShiftRight => a >> b,
            _ => return None,
        },
    ))
}

fn floor_div(a: i128, b: i128) -> i128 {
    let quotient = a.wrapping_div(b);
    if a.wrapping_rem(b) != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

fn int_power(base: i128, exponent: i128) -> i128 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 | 0 => -1,
            _ => 0,
        };
    }
    let (mut result, mut square, mut rest) = (1i128, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    result
}

fn float_binary(op: BinaryOp, dtype: DataType, a: f64, b: f64) -> Option<Scalar> {
    Some(Scalar::float(
        dtype,
        match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::FloatDiv => a / b,
            BinaryOp::FloorDiv => (a / b).floor(),
            BinaryOp::FloorMod => {
                let rest = a % b;
                if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
            }
            BinaryOp::Min if a.is_nan() || b.is_nan() => f64::NAN,
            BinaryOp::Max if a.is_nan() || b.is_nan() => f64::NAN,
            BinaryOp::Min => {
                if a < b || (a == b && a.is_sign_negative()) {
                    a
                } else {
                    b
                }
            }
            BinaryOp::Max => {
                if a > b || (a == b && a.is_sign_positive()) {
                    a
                } else {
                    b
                }
            }
            BinaryOp::Pow => libm::pow(a, b),
            _ => return None,
        },
    ))
}

/// Computes `op operand` in the data type of the operand, or as a bool for `not`. For casts use [`Scalar::cast`].
#[must_use]
pub fn unary(op: UnaryOp, operand: Scalar) -> Option<Scalar> {
    Some(match (op, operand) {
        (UnaryOp::Not, operand) => Scalar::Bool(!operand.is_true()),
        (UnaryOp::BitNot, Scalar::Bool(value)) => Scalar::Bool(!value),
        (UnaryOp::BitNot, Scalar::Int(dtype, value)) => Scalar::int(dtype, !value),
        (UnaryOp::Neg, Scalar::Int(dtype, value)) => Scalar::int(dtype, value.wrapping_neg()),
        (UnaryOp::Neg, Scalar::Float(dtype, value)) => Scalar::float(dtype, -value),
        (UnaryOp::Abs, Scalar::Int(dtype, value)) => Scalar::int(dtype, value.wrapping_abs()),
        (UnaryOp::Abs, Scalar::Float(dtype, value)) => Scalar::float(dtype, value.abs()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(op: BinaryOp, dtype: DataType, a: i128, b: i128) -> i128 {
        match binary(op, Scalar::int(dtype, a), Scalar::int(dtype, b)) {
            Some(Scalar::Int(_, value)) => value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn integers_are_total_and_python_where_python_is() {
        use BinaryOp::*;
        let i8 = DataType::I8;
        assert_eq!(int(FloorDiv, i8, -7, 2), -4);
        assert_eq!(int(FloorMod, i8, -7, 2), 1);
        assert_eq!(int(FloorMod, i8, 7, -2), -1);
        assert_eq!(int(FloatDiv, i8, -7, 2), -3);
        assert_eq!(int(FloorDiv, i8, 7, 0), -1);
        assert_eq!(int(FloorDiv, DataType::U8, 7, 0), 255);
        assert_eq!(int(FloorMod, i8, 7, 0), 7);
        assert_eq!(int(FloorDiv, i8, -128, -1), -128);
        assert_eq!(int(Pow, i8, 2, 7), -128);
        assert_eq!(int(Pow, i8, 3, -1), 0);
        assert_eq!(int(Pow, i8, -1, -3), -1);
        assert_eq!(int(Pow, i8, -1, -4), 1);
        assert_eq!(int(Pow, i8, 1, -4), 1);
        assert_eq!(int(Pow, i8, 0, -1), -1);
        assert_eq!(int(Pow, i8, 0, 0), 1);
        assert_eq!(int(FloatDiv, i8, 7, 0), -1);
        assert_eq!(int(FloatDiv, i8, -128, -1), -128);
        assert_eq!(int(FloorMod, i8, -128, -1), 0);
        assert_eq!(int(BitShiftLeft, i8, 1, -1), 0);
        assert_eq!(int(BitShiftRight, i8, 64, -1), 0);
        assert_eq!(int(BitShiftRight, i8, -2, -1), -1);
        assert_eq!(int(BitShiftLeft, i8, 1, 8), 0);
        assert_eq!(int(BitShiftRight, i8, -1, 100), -1);
        assert_eq!(int(Mul, DataType::U64, u64::MAX.into(), u64::MAX.into()), 1);
        assert_eq!(int(Add, DataType::I4, 7, 1), -8);
    }

    /// Checks the values documented in this module; tests of lowering check the same.
    #[test]
    fn floats_have_one_meaning() {
        let float = |op, dtype, a, b| {
            binary(op, Scalar::float(dtype, a), Scalar::float(dtype, b)).map(|value| match value {
                Scalar::Float(_, value) => value.to_bits(),
                other => panic!("{other:?}"),
            })
        };
        use BinaryOp::*;
        let is = |value: f64| Some(value.to_bits());
        // The quotient is rounded to 64 bits, then down.
        assert_eq!(float(FloorDiv, DataType::F64, 1.0, 0.1), is(10.0));
        assert_eq!(float(FloorDiv, DataType::F32, 1.0, f64::from(1.0f32 / 3.0)), is(2.0));
        assert_eq!(float(FloorDiv, DataType::F64, -7.0, 2.0), is(-4.0));
        assert_eq!(float(FloorDiv, DataType::F64, 1.0, 0.0), is(f64::INFINITY));
        // The remainder is exact; a remainder of zero keeps the sign of the dividend.
        assert_eq!(float(FloorMod, DataType::F64, 1.0, 0.1), is(1.0 % 0.1));
        assert_eq!(float(FloorMod, DataType::F64, -7.0, 2.0), is(1.0));
        assert_eq!(float(FloorMod, DataType::F64, 7.0, -2.0), is(-1.0));
        assert_eq!(float(FloorMod, DataType::F64, -4.0, 2.0), is(-0.0));
        // These bits are the same on every machine.
        assert_eq!(float(Pow, DataType::F64, 2.5, 0.3), is(libm::pow(2.5, 0.3)));
        assert_eq!(float(Pow, DataType::F64, 2.5, 0.3), Some(0x3ff5_0fe6_c94a_6e58));
        assert_eq!(float(Pow, DataType::F32, 2.0, 0.5), is(f64::from(std::f32::consts::SQRT_2)));
        assert_eq!(float(Pow, DataType::F64, 0.0, -1.0), is(f64::INFINITY));
    }

    #[test]
    fn casts_wrap_round_and_hold_to_the_range() {
        let float = |value| Scalar::Float(DataType::F64, value);
        assert_eq!(float(-2.9).cast(DataType::I8), Some(Scalar::Int(DataType::I8, -2)));
        assert_eq!(float(1e9).cast(DataType::I8), Some(Scalar::Int(DataType::I8, 127)));
        assert_eq!(float(f64::NAN).cast(DataType::I8), Some(Scalar::Int(DataType::I8, 0)));
        assert_eq!(
            Scalar::int(DataType::I64, 300).cast(DataType::I8),
            Some(Scalar::Int(DataType::I8, 44))
        );
        // The cast rounds once, not first to 64 bits and then to 32.
        let tie = (1 << 62) + (1 << 38) + 1;
        let above = f64::from(2f32.powi(62)) + 2f64.powi(39);
        assert_eq!(
            Scalar::int(DataType::I64, tie).cast(DataType::F32),
            Some(Scalar::Float(DataType::F32, above))
        );
        assert_eq!(
            Scalar::int(DataType::I64, i64::MAX.into()).cast(DataType::F64),
            Some(Scalar::Float(DataType::F64, 2f64.powi(63)))
        );
        assert_eq!(float(f64::NAN).cast(DataType::Bool), Some(Scalar::Bool(true)));
        assert_eq!(Scalar::Bool(true).cast(DataType::F32), Some(Scalar::Float(DataType::F32, 1.0)));
    }
}
