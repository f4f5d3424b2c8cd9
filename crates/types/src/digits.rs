//! Digits of numbers: decimal ones, and hexadecimal ones of bytes.

/// Appends a number as decimal digits, without the cost of a formatter.
///
/// ```
/// let mut text = String::from("n = ");
/// sapwood_types::write_decimal(&mut text, 1024);
/// assert_eq!(text, "n = 1024");
/// ```
pub fn write_decimal(out: &mut String, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or("0"));
}

/// Appends an integer as decimal digits, after `-` if it is negative.
///
/// ```
/// let mut text = String::from("n = ");
/// sapwood_types::write_signed_decimal(&mut text, -1024);
/// assert_eq!(text, "n = -1024");
/// ```
pub fn write_signed_decimal(out: &mut String, number: i64) {
    if number < 0 {
        out.push('-');
    }
    write_decimal(out, number.unsigned_abs());
}

/// Appends bytes as hexadecimal digits in lower case, two for each byte.
///
/// ```
/// let mut text = String::from("0x");
/// sapwood_types::write_hex(&mut text, &[0, 0x80, 0x3f]);
/// assert_eq!(text, "0x00803f");
/// ```
pub fn write_hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    out.reserve(2 * bytes.len());
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// Reads bytes from hexadecimal digits, two for each byte. Returns `None` if there is another character, or an odd number of
/// digits.
///
/// ```
/// use sapwood_types::read_hex;
///
/// assert_eq!(read_hex("00803F"), Some(vec![0, 0x80, 0x3f]));
/// assert_eq!((read_hex("008"), read_hex("+f"), read_hex("0x")), (None, None, None));
/// ```
#[must_use]
pub fn read_hex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let mut bytes = vec![0; pairs.len()];
    // Characters that are not digits set high bits, which are checked once at the end.
    let mut seen = 0;
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (DIGIT_VALUES[usize::from(*high)], DIGIT_VALUES[usize::from(*low)]);
        seen |= high | low;
        *byte = high << 4 | low;
    }
    (seen <= 15).then_some(bytes)
}

const DIGIT_VALUES: [u8; 256] = {
    let mut table = [255; 256];
    let mut i = 0;
    while i < 10 {
        table[b'0' as usize + i] = i as u8;
        i += 1;
    }
    let mut i = 0;
    while i < 6 {
        table[b'a' as usize + i] = 10 + i as u8;
        table[b'A' as usize + i] = 10 + i as u8;
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_by_a_formatter() {
        let powers = (0..20).map(|n| 10u64.pow(n));
        for number in powers.flat_map(|n| [n - 1, n, n + 1]).chain([u64::MAX]) {
            let mut text = String::new();
            write_decimal(&mut text, number);
            assert_eq!(text, number.to_string());
        }
    }

    #[test]
    fn every_byte_is_written_and_read_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut text = String::new();
        write_hex(&mut text, &bytes);
        assert_eq!(read_hex(&text), Some(bytes.clone()));
        assert_eq!(read_hex(&text.to_uppercase()), Some(bytes));
    }

    #[test]
    fn only_the_twenty_two_digits_are_read() {
        for c in (0..=255u8).map(char::from) {
            for text in [format!("0{c}"), format!("{c}0")] {
                let is_digit = c.is_ascii_hexdigit();
                assert_eq!(read_hex(&text).is_some(), is_digit, "{text:?}");
            }
        }
    }
}
