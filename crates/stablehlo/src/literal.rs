//! A reader and a writer of literals: `dense<…>` in all its forms.

use std::fmt::Write as _;

use sapwood_ptir::{TensorLiteral, TensorType};
use sapwood_types::{DataType, read_hex, write_decimal, write_signed_decimal};
use smallvec::SmallVec;

use crate::cursor::{Cursor, NumberToken};
use crate::types;

/// The number of elements from which a literal is written as bytes, as MLIR does.
const MIN_HEX_ELEMENTS: u64 = 100;

/// Reads the text between `dense<` and `>` as a literal of this type.
pub(crate) fn read(body: &str, ty: &TensorType) -> Result<TensorLiteral, String> {
    let Some(shape) = ty.known_shape() else {
        let mut shown = String::new();
        types::write_tensor(&mut shown, ty);
        return Err(format!("a literal needs known extents, {shown} has others"));
    };
    let mut c = Cursor::new(body);
    if c.at_end() {
        return TensorLiteral::new(ty.dtype, &shape, &[]).map_err(|e| e.to_string());
    }
    if c.peek() == b'"' {
        let raw = c.raw_string().unwrap_or("");
        let literal = parse_hex_string(raw, ty.dtype, &shape)?;
        return if c.at_end() { Ok(literal) } else { Err("expected `>` after a string".into()) };
    }
    let mut parser = LiteralParser { c, dtype: ty.dtype, bytes: SmallVec::new() };
    if parser.c.peek() != b'[' {
        parser.read_element()?;
        if !parser.c.at_end() {
            return Err("expected `>` after an element".into());
        }
        return TensorLiteral::splat(ty.dtype, &shape, &parser.bytes).map_err(|e| e.to_string());
    }
    parser.read_lists(&shape)?;
    TensorLiteral::new(ty.dtype, &shape, &parser.bytes).map_err(|e| e.to_string())
}

/// A parser of the elements of a literal, which it stores as bytes.
struct LiteralParser<'a> {
    c: Cursor<'a>,
    dtype: DataType,
    bytes: SmallVec<[u8; 16]>,
}

impl LiteralParser<'_> {
    // Reads nested lists and checks their lengths against the extents.
    fn read_lists(&mut self, shape: &[u64]) -> Result<(), String> {
        // The number of entries that each open list has so far.
        let mut open: Vec<u64> = Vec::new();
        loop {
            if self.c.eat(b'[') {
                if open.len() == shape.len() {
                    return Err(format!("lists nest deeper than the rank {}", shape.len()));
                }
                open.push(0);
                if self.c.peek() != b']' {
                    continue;
                }
            } else {
                if open.len() != shape.len() {
                    return Err(format!(
                        "an element is in {} lists, but the rank is {}",
                        open.len(),
                        shape.len()
                    ));
                }
                self.read_element()?;
                if let Some(last) = open.last_mut() {
                    *last += 1;
                }
            }
            // An entry is followed by a comma, or by the end of one or more lists.
            loop {
                if open.is_empty() {
                    return if self.c.at_end() { Ok(()) } else { Err("expected `>`".into()) };
                }
                if self.c.eat(b',') {
                    break;
                }
                if !self.c.eat(b']') {
                    return Err("expected `,` or `]` in a literal".into());
                }
                let count = open.pop().unwrap_or(0);
                let extent = shape[open.len()];
                if count != extent {
                    return Err(format!(
                        "a list has {count} entries, but axis {} has extent {extent}",
                        open.len()
                    ));
                }
                if let Some(last) = open.last_mut() {
                    *last += 1;
                }
            }
        }
    }

    fn read_element(&mut self) -> Result<(), String> {
        if let Some(part) = self.dtype.complex_part() {
            if !self.c.eat(b'(') {
                return self.read_scalar(part).and_then(|()| self.push_zero(part));
            }
            self.read_scalar(part)?;
            if !self.c.eat(b',') {
                return Err("expected `,` between the parts of a complex number".into());
            }
            self.read_scalar(part)?;
            if !self.c.eat(b')') {
                return Err("expected `)` after the parts of a complex number".into());
            }
            return Ok(());
        }
        self.read_scalar(self.dtype)
    }

    fn push_zero(&mut self, part: DataType) -> Result<(), String> {
        self.bytes.resize(self.bytes.len() + part.byte_size(), 0);
        Ok(())
    }

    fn read_scalar(&mut self, dtype: DataType) -> Result<(), String> {
        if dtype.is_bool() {
            let value = if self.c.eat_word("true") {
                1
            } else if self.c.eat_word("false") {
                0
            } else {
                match self.c.integer() {
                    Some(n @ (0 | 1)) => n as u8,
                    // MLIR writes the one bit as a signed integer.
                    Some(-1) => 1,
                    _ => return Err("expected true or false".into()),
                }
            };
            self.bytes.push(value);
            return Ok(());
        }
        let Some(number) = self.c.number() else {
            return Err(format!("expected an element of type {}", types::element_name(dtype)));
        };
        let name = types::element_name(dtype);
        match number {
            NumberToken::Hex { minus: true, digits } if dtype.holds_integers() => {
                match i128::from_str_radix(digits, 16) {
                    Ok(n) => self.push_integer(dtype, -n, &format!("-0x{digits}")),
                    Err(_) => Err(format!("-0x{digits} does not fit {name}")),
                }
            }
            NumberToken::Hex { minus: true, digits } => {
                Err(format!("-0x{digits} is not an element of {name}: the digits are its bits"))
            }
            NumberToken::Hex { digits, .. } => self.push_hex(dtype, digits),
            NumberToken::Integer(text) if dtype.holds_integers() => {
                let text = text.trim_start_matches('+');
                // Most numbers fit 64 bits, which is faster.
                match text.parse::<i64>().map(i128::from).or_else(|_| text.parse::<i128>()) {
                    Ok(n) => self.push_integer(dtype, n, text),
                    Err(_) => Err(format!("{text} does not fit {name}")),
                }
            }
            NumberToken::Float(text) if dtype.holds_integers() => {
                Err(format!("{text} is not an element of {name}"))
            }
            NumberToken::Integer(text) | NumberToken::Float(text) => self.push_float(dtype, text),
        }
    }

    // Appends an integer. StableHLO's `i8` has no sign, so 255 is accepted and has the bits of -1.
    fn push_integer(&mut self, dtype: DataType, n: i128, text: &str) -> Result<(), String> {
        let (min, max) = dtype.integer_range().unwrap_or((0, 0));
        if min <= n && n <= max {
            self.bytes.extend_from_slice(&n.to_le_bytes()[..dtype.byte_size()]);
            return Ok(());
        }
        let count = max - min + 1;
        if max < n && n < count && min < 0 {
            self.bytes.extend_from_slice(&(n - count).to_le_bytes()[..dtype.byte_size()]);
            return Ok(());
        }
        Err(format!("{text} does not fit {}", types::element_name(dtype)))
    }

    fn push_float(&mut self, dtype: DataType, text: &str) -> Result<(), String> {
        let wrong = |_| format!("{text} is not a number");
        match dtype {
            // Decimal text is rounded once.
            DataType::F32 => {
                let x: f32 = text.parse().map_err(wrong)?;
                self.bytes.extend_from_slice(&x.to_le_bytes());
            }
            DataType::F64 => {
                let x: f64 = text.parse().map_err(wrong)?;
                self.bytes.extend_from_slice(&x.to_le_bytes());
            }
            _ => {
                let x: f64 = text.parse().map_err(wrong)?;
                let literal = TensorLiteral::filled(dtype, &[], x).map_err(|e| e.to_string())?;
                self.bytes.extend_from_slice(literal.stored_bytes());
            }
        }
        Ok(())
    }

    fn push_hex(&mut self, dtype: DataType, digits: &str) -> Result<(), String> {
        if dtype.holds_integers()
            && let Ok(n) = i128::from_str_radix(digits, 16)
        {
            return self.push_integer(dtype, n, &format!("0x{digits}"));
        }
        let size = dtype.byte_size();
        let bits = u64::from_str_radix(digits, 16).ok();
        let fits = |n: u64| size == 8 || n >> (8 * size) == 0;
        match bits {
            Some(n) if fits(n) => {
                self.bytes.extend_from_slice(&n.to_le_bytes()[..size]);
                Ok(())
            }
            _ => Err(format!("0x{digits} does not fit the {size} bytes of an element")),
        }
    }
}

// Reads a string of hexadecimal digits: the bytes of all elements, or of one.
fn parse_hex_string(raw: &str, dtype: DataType, shape: &[u64]) -> Result<TensorLiteral, String> {
    let digits = raw.strip_prefix("0x").ok_or("a literal in quotes starts with 0x")?;
    if !digits.len().is_multiple_of(2) {
        return Err(format!(
            "a literal has {} hexadecimal digits, expected an even number",
            digits.len()
        ));
    }
    let bytes = read_hex(digits).ok_or("expected hexadecimal digits in a literal")?;
    literal_from_bytes(bytes, dtype, shape)
}

fn literal_from_bytes(
    bytes: Vec<u8>,
    dtype: DataType,
    shape: &[u64],
) -> Result<TensorLiteral, String> {
    let count = TensorType::new(dtype, shape.iter().copied()).num_elements();
    let size = dtype.byte_size();
    if dtype.is_bool()
        && let Some(n) = count
        && bytes.len() as u64 != n
        && bytes.len() as u64 == n.div_ceil(8)
    {
        // Bools are packed, eight in a byte, the first in the lowest bit.
        let bit = |i: u64| bytes[(i / 8) as usize] >> (i % 8) & 1;
        let unpacked: Vec<u8> = (0..n).map(bit).collect();
        return TensorLiteral::new(dtype, shape, &unpacked).map_err(|e| e.to_string());
    }
    if bytes.len() == size && count != Some(1) {
        // One element fills the tensor. A packed bool is all bits or none.
        let one = if dtype.is_bool() { vec![u8::from(bytes[0] != 0)] } else { bytes };
        return TensorLiteral::splat(dtype, shape, &one).map_err(|e| e.to_string());
    }
    let mut bytes = bytes;
    match dtype {
        DataType::Bool => bytes.iter_mut().for_each(|b| *b = u8::from(*b != 0)),
        DataType::I4 => bytes.iter_mut().for_each(|b| *b = ((*b << 4) as i8 >> 4) as u8),
        DataType::U4 | DataType::F4E2M1Fn => bytes.iter_mut().for_each(|b| *b &= 15),
        DataType::I2 => bytes.iter_mut().for_each(|b| *b = ((*b << 6) as i8 >> 6) as u8),
        DataType::U2 => bytes.iter_mut().for_each(|b| *b &= 3),
        _ => {}
    }
    TensorLiteral::new(dtype, shape, &bytes).map_err(|e| e.to_string())
}

/// Reads a resource of the file's trailer: four bytes of alignment, then the elements.
pub(crate) fn read_resource(raw: &str, ty: &TensorType) -> Result<TensorLiteral, String> {
    let Some(shape) = ty.known_shape() else {
        return Err("a literal needs known extents".into());
    };
    match raw.get(..10).filter(|p| p.starts_with("0x")) {
        Some(_) => {
            // A single element does not fill a tensor here: a short resource was cut off.
            let (digits, size) = (raw.len() - 10, ty.dtype.byte_size());
            if !ty.dtype.is_bool() && digits == 2 * size && ty.num_elements() != Some(1) {
                return Err(format!("a resource has {size} bytes, but its type {ty} needs more"));
            }
            parse_hex_string(&format!("0x{}", &raw[10..]), ty.dtype, &shape)
        }
        None => Err("a resource is 0x, eight digits for its alignment, then its bytes".into()),
    }
}

/// Writes a literal, `dense<…>` without the type.
pub(crate) fn write(out: &mut String, literal: &TensorLiteral) {
    let dtype = literal.dtype();
    out.push_str("dense<");
    let count = literal.num_elements();
    if let Some(element) = literal.as_splat() {
        write_element(out, dtype, element);
    } else if count >= MIN_HEX_ELEMENTS && !dtype.is_bool() {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        out.reserve(literal.stored_bytes().len() * 2 + 8);
        out.push_str("\"0x");
        for byte in literal.stored_bytes() {
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        out.push('"');
    } else if count > 0 {
        write_lists(out, literal);
    }
    out.push('>');
}

// Writes nested lists. The number of elements per nesting depth determines where brackets open and close.
fn write_lists(out: &mut String, literal: &TensorLiteral) {
    let mut sizes = Vec::new();
    let mut size = 1u64;
    for &extent in literal.shape().iter().rev() {
        size = size.saturating_mul(extent);
        sizes.push(size);
    }
    for i in 0..literal.num_elements() {
        if i > 0 {
            out.push_str(", ");
        }
        sizes.iter().filter(|&&size| i.is_multiple_of(size)).for_each(|_| out.push('['));
        if let Some(element) = literal.element(i) {
            write_element(out, literal.dtype(), element);
        }
        sizes.iter().filter(|&&size| (i + 1).is_multiple_of(size)).for_each(|_| out.push(']'));
    }
}

fn write_element(out: &mut String, dtype: DataType, bytes: &[u8]) {
    if let Some(part) = dtype.complex_part() {
        let half = bytes.len() / 2;
        out.push('(');
        write_element(out, part, &bytes[..half]);
        out.push(',');
        write_element(out, part, &bytes[half..]);
        out.push(')');
        return;
    }
    let mut wide = [0u8; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    match dtype {
        DataType::Bool => out.push_str(if bits == 0 { "false" } else { "true" }),
        DataType::F64 => write_float(out, f64::from_bits(bits), |x| x.to_bits() == bits, bits, 16),
        DataType::F32 => {
            let x = f32::from_bits(bits as u32);
            write_float(out, f64::from(x), |y| (y as f32).to_bits() == bits as u32, bits, 8);
        }
        _ if dtype.holds_integers() => {
            let shift = 64 - 8 * bytes.len();
            let signed = dtype.integer_range().is_some_and(|(min, _)| min < 0);
            match signed {
                true => write_signed_decimal(out, (bits << shift) as i64 >> shift),
                false => write_decimal(out, bits),
            }
        }
        // Six digits distinguish all values of f16 and bf16; infinities, NaN and other narrow floats are written as bits.
        _ => {
            let digits = 2 * bytes.len();
            match narrow_float_value(dtype, bits) {
                Some(x) => write_float(out, x, |y| rounds_to_bytes(dtype, y, bytes), bits, digits),
                None => drop(write!(out, "0x{bits:0digits$X}")),
            }
        }
    }
}

pub(crate) fn narrow_float_value(dtype: DataType, bits: u64) -> Option<f64> {
    match dtype {
        DataType::Bf16 => Some(f64::from(f32::from_bits((bits as u32) << 16))),
        DataType::F16 => {
            let (exponent, fraction) = ((bits >> 10 & 31) as i32, (bits & 0x3ff) as f64);
            let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
            match exponent {
                31 => None,
                0 => Some(sign * fraction * 2f64.powi(-24)),
                e => Some(sign * (1024.0 + fraction) * 2f64.powi(e - 25)),
            }
        }
        _ => None,
    }
}

fn rounds_to_bytes(dtype: DataType, x: f64, bytes: &[u8]) -> bool {
    TensorLiteral::filled(dtype, &[], x).is_ok_and(|l| l.stored_bytes() == bytes)
}

// Writes a float as MLIR does: six digits after the point if they are exact, else as many as are needed, and the bits for
// infinities and NaN.
fn write_float(out: &mut String, x: f64, same: impl Fn(f64) -> bool, bits: u64, digits: usize) {
    if !x.is_finite() {
        let _ = write!(out, "0x{bits:0digits$X}");
        return;
    }
    let mut text = format!("{x:.6e}");
    if !text.parse().is_ok_and(&same) {
        let wide = digits == 16;
        text = if wide { format!("{x:e}") } else { format!("{:e}", x as f32) };
    }
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    out.push_str(mantissa);
    if !mantissa.contains('.') {
        out.push_str(".0");
    }
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(rest) => ('-', rest),
        None => ('+', exponent),
    };
    let _ = write!(out, "e{sign}{exponent:0>2}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(text: &str) -> TensorType {
        types::read(&mut Cursor::new(text), &|_| None).unwrap().as_tensor().unwrap().clone()
    }

    fn back(body: &str, of: &str) -> String {
        let mut out = String::new();
        write(&mut out, &read(body, &ty(of)).unwrap());
        out
    }

    #[test]
    fn literals_print_back() {
        for (body, of) in [
            ("1.000000e+00", "tensor<4xf32>"),
            ("[1.5, -2.0e+00]", "tensor<2xf32>"),
            ("[[1, 2], [-3, 4]]", "tensor<2x2xi8>"),
            ("[true, false]", "tensor<2xi1>"),
            ("0x7FC00000", "tensor<f32>"),
            ("(1.000000e+00,-2.500000e-01)", "tensor<complex<f32>>"),
            ("", "tensor<0x3xf32>"),
            ("0.333333343", "tensor<f32>"),
            ("3.140630e+00", "tensor<bf16>"),
            ("0xFC00", "tensor<f16>"),
            ("18446744073709551615", "tensor<ui64>"),
        ] {
            let once = back(body, of);
            let inner = once.strip_prefix("dense<").unwrap().strip_suffix('>').unwrap();
            assert_eq!(back(inner, of), once, "{body}");
            assert_eq!(read(inner, &ty(of)), read(body, &ty(of)), "{body}");
        }
        assert_eq!(back("\"0x0000803F\"", "tensor<3xf32>"), "dense<1.000000e+00>");
        assert_eq!(back("\"0x05\"", "tensor<3xi1>"), "dense<[true, false, true]>");
        assert_eq!(back("\"0x01000200\"", "tensor<2xi16>"), "dense<[1, 2]>");
    }

    #[test]
    fn literals_that_do_not_fit_are_refused() {
        for (body, of, why) in [
            ("300", "tensor<i8>", "300 does not fit i8"),
            ("[1, 2, 3]", "tensor<2xi8>", "a list has 3 entries, but axis 0 has extent 2"),
            ("[1, 2]", "tensor<2x1xi8>", "an element is in 1 lists, but the rank is 2"),
            ("[[1], [2]]", "tensor<2xi8>", "deeper"),
            ("\"0x0102\"", "tensor<3xi8>", "needs 3 bytes, found 2"),
            ("\"0x012\"", "tensor<3xi8>", "even number"),
            ("\"0xzz\"", "tensor<1xi8>", "hexadecimal"),
            ("1.5", "tensor<i8>", "not an element"),
            ("[1, 2", "tensor<2xi8>", "expected `,` or `]`"),
            ("", "tensor<2xi8>", "needs 2 bytes, found 0"),
            ("1", "tensor<?xi8>", "known extents"),
        ] {
            let message = read(body, &ty(of)).unwrap_err();
            assert!(message.contains(why), "{body}: {message}");
        }
    }
}
