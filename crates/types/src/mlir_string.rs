//! Strings in the syntax of MLIR.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Resolves the escapes of a string: `\22`, `\n`, `\t`, `\\`. Bytes that are not UTF-8 are replaced.
#[must_use]
pub fn unescape_mlir(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(raw.len()), raw.as_bytes());
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let hex = |b: u8| char::from(b).to_digit(16);
        match rest {
            [a, b, tail @ ..] if hex(*a).is_some() && hex(*b).is_some() => {
                let [high, low] = [a, b].map(|&b| hex(b).unwrap_or(0));
                bytes.push((high * 16 + low) as u8);
                rest = tail;
            }
            [b'n', tail @ ..] => {
                bytes.push(b'\n');
                rest = tail;
            }
            [b't', tail @ ..] => {
                bytes.push(b'\t');
                rest = tail;
            }
            [other, tail @ ..] => {
                bytes.push(*other);
                rest = tail;
            }
            [] => {}
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes a string in quotes.
pub fn write_mlir_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 32 || c as u32 == 127 => {
                let _ = write!(out, "\\{:02X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
