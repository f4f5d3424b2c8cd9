//! Elements of literals: conversion from Rust numbers and from decimal and hexadecimal text, and back.

use std::fmt::Write;

use half::{bf16, f16};
use sapwood_types::DataType;
use smallvec::SmallVec;

use crate::eval::{narrow, stored};

type ElementBytes = SmallVec<[u8; 16]>;

/// A Rust number that can be an element of a literal.
pub trait Element: Copy {
    /// The element type.
    const DTYPE: DataType;
    /// Appends the bytes of the element, little-endian.
    fn write(self, bytes: &mut Vec<u8>);
}

macro_rules! elements {
    ($($ty:ty => $dtype:ident),*) => {$(
        impl Element for $ty {
            const DTYPE: DataType = DataType::$dtype;
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
elements!(i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f32 => F32, f64 => F64, f16 => F16, bf16 => Bf16);

impl Element for bool {
    const DTYPE: DataType = DataType::Bool;
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
}

/// Converts an integer to an element of an integer type or bool. Returns `None` if it does not fit or the type is
/// another.
pub(crate) fn int_element(dtype: DataType, n: i128) -> Option<ElementBytes> {
    if dtype.is_bool() {
        return (n == 0 || n == 1).then(|| SmallVec::from_slice(&[n as u8]));
    }
    let (min, max) = dtype.integer_range()?;
    (min <= n && n <= max).then(|| SmallVec::from_slice(&n.to_le_bytes()[..dtype.byte_size()]))
}

/// Rounds a float to the nearest element of a float type, or of a complex type with imaginary part zero. Returns
/// `None` if a finite value does not fit, or the type is another.
pub(crate) fn float_element(dtype: DataType, x: f64) -> Option<ElementBytes> {
    let fits = |finite: bool| finite || !x.is_finite();
    if x.is_nan() && !dtype.is_complex() {
        return canonical_nan(dtype);
    }
    if dtype.is_storage_only() {
        return stored_element(dtype, x);
    }
    Some(match dtype {
        DataType::F64 => SmallVec::from_slice(&x.to_le_bytes()),
        DataType::F32 => {
            let y = x as f32;
            fits(y.is_finite()).then(|| SmallVec::from_slice(&y.to_le_bytes()))?
        }
        DataType::F16 => {
            let y = f16::from_bits(narrow::F16.narrow(x));
            fits(y.is_finite()).then(|| SmallVec::from_slice(&y.to_le_bytes()))?
        }
        DataType::Bf16 => {
            let y = bf16::from_bits(narrow::BF16.narrow(x));
            fits(y.is_finite()).then(|| SmallVec::from_slice(&y.to_le_bytes()))?
        }
        DataType::F8E4M3Fn | DataType::F8E5M2 => SmallVec::from_slice(&[round_to_f8(dtype, x)?]),
        DataType::C64 | DataType::C128 => {
            let part = dtype.complex_part()?;
            let mut bytes = float_element(part, x)?;
            let zero = float_element(part, 0.0)?;
            bytes.extend_from_slice(&zero);
            bytes
        }
        _ => return None,
    })
}

// Rounds to an element of a type without arithmetic. A number that rounds to NaN or beyond the largest element does not fit; a 2-bit
// integer must be exact.
fn stored_element(dtype: DataType, x: f64) -> Option<ElementBytes> {
    let bits = stored::nearest(dtype, x);
    let value = stored::value(dtype, bits);
    let fits = match dtype {
        DataType::I2 | DataType::U2 => value == x,
        // Beyond the middle of the largest and the next number.
        DataType::F4E2M1Fn => x.abs() < 7.0,
        _ => !value.is_nan(),
    };
    fits.then(|| SmallVec::from_slice(&[bits]))
}

/// Returns the NaN that is written `nan`: positive, quiet, without payload.
fn canonical_nan(dtype: DataType) -> Option<ElementBytes> {
    let bytes: &[u8] = match dtype {
        DataType::F64 => &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
        DataType::F32 => &[0, 0, 0xc0, 0x7f],
        DataType::F16 => &[0, 0x7e],
        DataType::Bf16 => &[0xc0, 0x7f],
        DataType::F8E4M3Fn => &[0x7f],
        DataType::F8E5M2 => &[0x7e],
        _ => return stored::nan(dtype).map(|bits| SmallVec::from_slice(&[bits])),
    };
    Some(SmallVec::from_slice(bytes))
}

/// Reads an element from the hexadecimal digits of its bits, most significant first. Returns `None` if the number of
/// digits does not fit the type.
pub(crate) fn bits_element(dtype: DataType, digits: &str) -> Option<ElementBytes> {
    if digits.len() != dtype.byte_size() * 2 || !digits.is_ascii() {
        return None;
    }
    let byte = |i: usize| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok();
    (0..dtype.byte_size()).rev().map(byte).collect()
}

/// Writes an element so that reading it back gives the same bits.
pub(crate) fn write_element(out: &mut String, dtype: DataType, bytes: &[u8]) {
    match dtype {
        DataType::Bool => out.push_str(if bytes == [0] { "false" } else { "true" }),
        DataType::C64 | DataType::C128 => {
            let half = bytes.len() / 2;
            let part = dtype.complex_part().unwrap_or(DataType::F64);
            out.push('(');
            write_element(out, part, &bytes[..half]);
            out.push_str(", ");
            write_element(out, part, &bytes[half..]);
            out.push(')');
        }
        _ if dtype.holds_integers() => {
            let mut wide =
                [if dtype.is_signed() && bytes[bytes.len() - 1] >= 0x80 { 0xff } else { 0 }; 16];
            wide[..bytes.len()].copy_from_slice(bytes);
            let _ = write!(out, "{}", i128::from_le_bytes(wide));
        }
        _ => write_float(out, dtype, bytes),
    }
}

fn write_float(out: &mut String, dtype: DataType, bytes: &[u8]) {
    let value = float_value(dtype, bytes);
    if value.is_nan() {
        if canonical_nan(dtype).is_some_and(|nan| nan[..] == *bytes) {
            out.push_str("nan");
        } else {
            out.push_str("0x");
            for byte in bytes.iter().rev() {
                let _ = write!(out, "{byte:02x}");
            }
        }
        return;
    }
    if value.is_infinite() {
        out.push_str(if value > 0.0 { "inf" } else { "-inf" });
        return;
    }
    let _ = match dtype {
        DataType::F64 => write!(out, "{value:?}"),
        DataType::F32 => write!(out, "{:?}", value as f32),
        _ => {
            let exact = format!("{value:?}");
            if exact.len() <= 8 {
                out.push_str(&exact);
                return;
            }
            // The fewest digits that read back as the same bits.
            let short = (0..17)
                .filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok())
                .find(|&short| float_element(dtype, short).is_some_and(|b| b[..] == *bytes));
            write!(out, "{:?}", short.unwrap_or(value))
        }
    };
}

/// Returns the value of an element of a float type.
pub(crate) fn float_value(dtype: DataType, bytes: &[u8]) -> f64 {
    let array = |n: usize| -> [u8; 8] {
        let mut all = [0; 8];
        all[..n].copy_from_slice(&bytes[..n]);
        all
    };
    match dtype {
        DataType::F64 => f64::from_le_bytes(array(8)),
        DataType::F32 => f64::from(f32::from_bits(u64::from_le_bytes(array(4)) as u32)),
        DataType::F16 => f16::from_bits(u64::from_le_bytes(array(2)) as u16).to_f64(),
        DataType::Bf16 => bf16::from_bits(u64::from_le_bytes(array(2)) as u16).to_f64(),
        _ if dtype.is_storage_only() => stored::value(dtype, bytes[0]),
        _ => f8_value(dtype, bytes[0]),
    }
}

fn f8_value(dtype: DataType, byte: u8) -> f64 {
    if dtype == DataType::F8E5M2 {
        return f16::from_bits(u16::from(byte) << 8).to_f64();
    }
    let sign = if byte >= 0x80 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(byte >> 3 & 15), f64::from(byte & 7));
    match (exponent, byte & 7) {
        (15, 7) => f64::NAN,
        (0, _) => sign * fraction * 2f64.powi(-9),
        _ => sign * (1.0 + fraction / 8.0) * 2f64.powi(exponent - 7),
    }
}

// Rounds to the nearest element, ties to the even bit pattern. Returns `None` if the result exceeds the largest
// finite number.
fn round_to_f8(dtype: DataType, x: f64) -> Option<u8> {
    if x.is_infinite() && dtype == DataType::F8E4M3Fn {
        return None;
    }
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    let largest: u8 = if dtype == DataType::F8E4M3Fn { 0x7e } else { 0x7b };
    if x.is_infinite() {
        return Some(sign | 0x7c);
    }
    let magnitude = x.abs();
    let above = (0..=largest).find(|&b| f8_value(dtype, b) >= magnitude);
    let Some(above) = above else {
        let top = f8_value(dtype, largest);
        let step = top - f8_value(dtype, largest - 1);
        return (magnitude < top + step / 2.0).then_some(sign | largest);
    };
    if above == 0 {
        return Some(sign);
    }
    let (low, high) = (f8_value(dtype, above - 1), f8_value(dtype, above));
    let nearest = if magnitude - low < high - magnitude {
        above - 1
    } else if magnitude - low > high - magnitude || above.is_multiple_of(2) {
        above
    } else {
        above - 1
    };
    Some(sign | nearest)
}
