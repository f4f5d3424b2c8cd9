//! A position in the text, with methods that read the smallest tokens.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::attr::Ints;

/// A position in a text that is read from left to right. Methods that read a token first skip white space and comments.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NumberToken<'a> {
    /// Digits, with or without a sign.
    Integer(&'a str),
    /// Digits with a decimal point.
    Float(&'a str),
    /// The digits after `0x`, and whether a minus sign is before it.
    Hex { minus: bool, digits: &'a str },
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    #[inline]
    fn byte(&self, offset: usize) -> u8 {
        self.text.as_bytes().get(self.at + offset).copied().unwrap_or(0)
    }

    /// Skips white space and comments.
    #[inline]
    pub(crate) fn skip_space(&mut self) {
        let blank = |at: usize| {
            self.text.as_bytes().get(at).is_some_and(|&b| BYTE_CLASSES[usize::from(b)] & 4 != 0)
        };
        // Most often there is nothing or one space to skip.
        if blank(self.at) {
            match self.text.as_bytes()[self.at] {
                b' ' if !blank(self.at + 1) => self.at += 1,
                _ => self.skip_space_slow(),
            }
        }
    }

    #[inline(never)]
    fn skip_space_slow(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                // Lines are indented: eight spaces at a time.
                Some(b' ' | b'\n') => {
                    self.at += 1;
                    while let Some(word) = bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
                        let spaces = leading_spaces(u64::from_le_bytes(*word));
                        self.at += spaces;
                        if spaces < 8 {
                            break;
                        }
                    }
                }
                Some(b'\t' | b'\r') => self.at += 1,
                Some(b'/') if bytes.get(self.at + 1) == Some(&b'/') => {
                    let rest = &bytes[self.at..];
                    self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Returns the end of the text from a place up to here, without white space and comments at its end.
    pub(crate) fn end_since(&self, start: usize) -> usize {
        let mut text = &self.text[start..self.at];
        loop {
            text = text.trim_ascii_end();
            let line = text.rfind('\n').map_or(0, |newline| newline + 1);
            let Some(comment) = find_comment(&text[line..]) else { return start + text.len() };
            text = &text[..line + comment];
        }
    }

    /// Returns the next byte; 0 at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        self.skip_space();
        self.byte(0)
    }

    /// Returns whether the text has no more tokens.
    pub(crate) fn at_end(&mut self) -> bool {
        self.skip_space();
        self.at >= self.text.len()
    }

    /// Consumes this byte if it is next.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    /// Consumes these bytes if they are next.
    #[inline]
    pub(crate) fn eat_str(&mut self, text: &str) -> bool {
        self.skip_space();
        let found = self.text.as_bytes()[self.at..].starts_with(text.as_bytes());
        if found {
            self.at += text.len();
        }
        found
    }

    /// Consumes these bytes if they are next, without skipping white space before them.
    #[inline]
    pub(crate) fn eat_exactly(&mut self, text: &str) -> bool {
        let found =
            self.text.as_bytes().get(self.at..).is_some_and(|b| b.starts_with(text.as_bytes()));
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Returns whether this word is next.
    #[inline]
    pub(crate) fn looking_at_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let rest = &self.text.as_bytes()[self.at..];
        rest.starts_with(word.as_bytes()) && !rest.get(word.len()).is_some_and(|&b| is_word_byte(b))
    }

    /// Consumes this word if it is next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.looking_at_word(word);
        if found {
            self.at += word.len();
        }
        found
    }

    #[inline]
    fn take_while(&mut self, mut f: impl FnMut(u8) -> bool) -> &'a str {
        let (start, bytes) = (self.at, self.text.as_bytes());
        while bytes.get(self.at).is_some_and(|&b| f(b)) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or("")
    }

    /// Reads a bare word, dots included: `stablehlo.add`.
    pub(crate) fn word(&mut self) -> Option<&'a str> {
        match self.peek() {
            b if b.is_ascii_alphabetic() || b == b'_' => Some(self.take_while(is_word_byte)),
            _ => None,
        }
    }

    /// Returns the op name before a space or a parenthesis and its hash, and consumes nothing.
    #[inline]
    pub(crate) fn op_name(&self) -> Option<(&'a str, u64)> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let (len, hash) = op_name_hash(rest)?;
        Some((self.text.get(self.at..self.at + len)?, hash))
    }

    /// Reads the name of a value and returns it without `%`.
    pub(crate) fn value_name(&mut self) -> Option<&'a str> {
        if self.peek() != b'%' {
            return None;
        }
        self.at += 1;
        let name = self.take_while(is_name_byte);
        if name.is_empty() {
            self.at -= 1;
            return None;
        }
        Some(name)
    }

    /// Consumes `#` before the index of a result: `%x#1`, `%x #1`.
    pub(crate) fn eat_result_mark(&mut self) -> bool {
        let start = self.at;
        let found = self.peek() == b'#' && (self.at == start || self.byte(1).is_ascii_digit());
        self.at = if found { self.at + 1 } else { start };
        found
    }

    /// Reads the name of a function, a word or a string, and returns it without `@`.
    pub(crate) fn symbol(&mut self) -> Option<Cow<'a, str>> {
        if self.peek() != b'@' {
            return None;
        }
        self.at += 1;
        if self.byte(0) == b'"' {
            return self.string();
        }
        let name = self.take_while(is_name_byte);
        (!name.is_empty()).then_some(Cow::Borrowed(name))
    }

    /// Reads decimal digits.
    pub(crate) fn digits(&mut self) -> Option<&'a str> {
        self.skip_space();
        let digits = self.take_while(|b| b.is_ascii_digit());
        (!digits.is_empty()).then_some(digits)
    }

    /// Reads a number, with or without a sign.
    pub(crate) fn number(&mut self) -> Option<NumberToken<'a>> {
        self.skip_space();
        let start = self.at;
        if matches!(self.byte(0), b'-' | b'+') {
            self.at += 1;
        }
        if self.byte(0) == b'0' && self.byte(1) == b'x' && self.byte(2).is_ascii_hexdigit() {
            self.at += 2;
            let digits = self.take_while(|b| b.is_ascii_hexdigit());
            let minus = self.text.as_bytes()[start] == b'-';
            return Some(NumberToken::Hex { minus, digits });
        }
        if self.take_while(|b| b.is_ascii_digit()).is_empty() {
            self.at = start;
            return None;
        }
        if self.byte(0) != b'.' {
            return Some(NumberToken::Integer(&self.text[start..self.at]));
        }
        self.at += 1;
        self.take_while(|b| b.is_ascii_digit());
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'-' | b'+'));
            if self.byte(1 + sign).is_ascii_digit() {
                self.at += 1 + sign;
                self.take_while(|b| b.is_ascii_digit());
            }
        }
        Some(NumberToken::Float(&self.text[start..self.at]))
    }

    /// Reads `<1.5> :` and returns the text between the brackets, if that is only letters, digits, signs and points.
    /// Otherwise consumes nothing.
    pub(crate) fn number_in_angles(&mut self) -> Option<&'a str> {
        let rest = self.text[self.at..].strip_prefix('<')?;
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+');
        let len = rest.bytes().position(|b| !plain(b)).filter(|&len| len > 0)?;
        rest[len..].starts_with("> :").then(|| {
            self.at += len + 4;
            &rest[..len]
        })
    }

    /// Reads an integer in decimal notation that fits in 64 bits.
    pub(crate) fn integer(&mut self) -> Option<i64> {
        let start = self.at;
        if let Some(NumberToken::Integer(text)) = self.number()
            && let Ok(n) = text.parse()
        {
            return Some(n);
        }
        self.at = start;
        None
    }

    /// Reads a list of digits only, `[1, 2]`. If the list has anything else, consumes nothing.
    pub(crate) fn int_list(&mut self) -> Option<Ints> {
        let bytes = self.text.as_bytes();
        let (mut at, mut list) = (self.at, Ints::new());
        if bytes.get(at) != Some(&b'[') {
            return None;
        }
        at += 1;
        if bytes.get(at) == Some(&b']') {
            self.at = at + 1;
            return Some(list);
        }
        loop {
            let (start, mut number) = (at, 0i64);
            while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
                if at - start == 18 {
                    return None;
                }
                number = number * 10 + i64::from(digit - b'0');
                at += 1;
            }
            if at == start {
                return None;
            }
            list.push(number);
            match bytes.get(at)? {
                b']' => break,
                b',' if bytes.get(at + 1) == Some(&b' ') => at += 2,
                _ => return None,
            }
        }
        self.at = at + 1;
        Some(list)
    }

    /// Reads `{a.b = 1 : i32, c = "d"}` if it has one or two entries that are plain numbers or strings, written the way they
    /// are stored. Otherwise consumes nothing.
    pub(crate) fn simple_dictionary(&mut self) -> Option<&'a str> {
        let (start, mut names) = (self.at, ["", ""]);
        let read = self.simple_entries(&mut names);
        let fine = read.is_some() && names[0] != names[1];
        if !fine {
            self.at = start;
            return None;
        }
        self.text.get(start..self.at)
    }

    fn simple_entries(&mut self, names: &mut [&'a str; 2]) -> Option<()> {
        let bytes = self.text.as_bytes();
        self.eat_exactly("{").then_some(())?;
        for name in names {
            // Sharding attributes are dropped.
            let first = self.byte(0);
            *name = self.take_while(is_word_byte);
            (first.is_ascii_alphabetic() && !name.starts_with("sdy.")).then_some(())?;
            self.eat_exactly(" = ").then_some(())?;
            let value = self.at;
            if self.eat_exactly("\"") {
                let plain = |b: u8| (b' '..=b'~').contains(&b) && !matches!(b, b'"' | b'\\' | b'/');
                self.take_while(plain);
                self.eat_exactly("\"").then_some(())?;
            } else {
                self.take_while(|b| b.is_ascii_digit());
                let padded = bytes.get(value) == Some(&b'0') && self.at > value + 1;
                let usual = !padded && (1..=9).contains(&(self.at - value));
                (usual && (self.eat_exactly(" : i32") || self.eat_exactly(" : i64")))
                    .then_some(())?;
            }
            if self.eat_exactly("}") {
                return Some(());
            }
            self.eat_exactly(", ").then_some(())?;
        }
        None
    }

    /// Reads a string in quotes and resolves its escapes. Bytes that are not UTF-8 are replaced.
    pub(crate) fn string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        let Some(raw) = self.raw_string() else {
            self.at = start;
            return None;
        };
        Some(sapwood_types::unescape_mlir(raw))
    }

    /// Reads a string in quotes and returns its text with the escapes. A string ends on its line.
    pub(crate) fn raw_string(&mut self) -> Option<&'a str> {
        if self.peek() != b'"' {
            return None;
        }
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let mut at = start;
        loop {
            // Literals are long: eight bytes at a time.
            while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
                let word = u64::from_le_bytes(*chunk);
                let found = first_byte_mask(word, b'"') | first_byte_mask(word, b'\\');
                at += found.trailing_zeros() as usize / 8;
                if found != 0 {
                    break;
                }
            }
            match bytes.get(at)? {
                b'"' => break,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        if memchr::memchr3(b'\n', 0x0b, 0x0c, &bytes[start..at]).is_some() {
            return None;
        }
        self.at = at + 1;
        self.text.get(start..at)
    }

    /// Reads a bracketed piece with all nested brackets, strings and comments, and returns it with its brackets. `->` is not a
    /// bracket.
    pub(crate) fn balanced(&mut self) -> Option<&'a str> {
        self.skip_space();
        let (start, bytes) = (self.at, self.text.as_bytes());
        let mut open: SmallVec<[u8; 16]> = SmallVec::new();
        loop {
            let Some(&byte) = bytes.get(self.at) else {
                self.at = start;
                return None;
            };
            match byte {
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                b'<' => open.push(b'>'),
                b'-' if bytes.get(self.at + 1) == Some(&b'>') => self.at += 1,
                b'/' if bytes.get(self.at + 1) == Some(&b'/') => {
                    let Some(rest) = memchr::memchr(b'\n', &bytes[self.at..]) else {
                        self.at = start;
                        return None;
                    };
                    self.at += rest;
                }
                b')' | b']' | b'}' | b'>' if open.pop() != Some(byte) => {
                    self.at = start;
                    return None;
                }
                b'"' => {
                    if self.raw_string().is_none() {
                        self.at = start;
                        return None;
                    }
                    continue;
                }
                _ => {}
            }
            if open.is_empty() && self.at == start {
                return None;
            }
            self.at += 1;
            if open.is_empty() {
                return Some(&self.text[start..self.at]);
            }
        }
    }
}

// A bit mask per byte: 1 if it is allowed in a word, 2 if it is allowed in the name of a value or a function, 4 if it is white
// space or may start a comment.
const BYTE_CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut b = 0;
    while b < 256 {
        if (b as u8).is_ascii_alphanumeric() || matches!(b as u8, b'_' | b'$' | b'.') {
            classes[b] = 3;
        }
        b += 1;
    }
    classes[b'-' as usize] = 2;
    let blanks = b" \n\t\r/";
    let mut i = 0;
    while i < blanks.len() {
        classes[blanks[i] as usize] = 4;
        i += 1;
    }
    classes
};

#[inline]
fn is_word_byte(b: u8) -> bool {
    BYTE_CLASSES[usize::from(b)] & 1 != 0
}

/// Returns whether a byte is allowed in the name of a value or a function.
#[inline]
pub(crate) fn is_name_byte(b: u8) -> bool {
    BYTE_CLASSES[usize::from(b)] & 2 != 0
}

/// Returns the length and the hash of an op name that ends with a space or a parenthesis.
#[inline]
pub(crate) fn op_name_hash(bytes: &[u8]) -> Option<(usize, u64)> {
    hash_until(bytes, 48, |word| first_byte_mask(word, b' ') | first_byte_mask(word, b'('))
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);

/// Returns a word whose lowest set bit is the highest bit of the first byte of `word` equal to `byte`; 0 if there is none.
/// Bits of later bytes may be set too.
#[inline]
pub(crate) fn first_byte_mask(word: u64, byte: u8) -> u64 {
    let word = word ^ (ONES * u64::from(byte));
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

// Returns the number of spaces at the start of eight bytes.
#[inline]
fn leading_spaces(word: u64) -> usize {
    (word ^ (ONES * u64::from(b' '))).trailing_zeros() as usize / 8
}

/// Returns the number at the start of a text and its count of digits, if it has fewer than eight digits and no leading zero.
/// Returns `None` also within eight bytes of the end of the text.
#[inline]
pub(crate) fn leading_number(bytes: &[u8]) -> Option<(usize, usize)> {
    let word = u64::from_le_bytes(*bytes.first_chunk::<8>()?);
    // Each digit as its value; the highest bit of each byte that is not a digit.
    let values = word ^ (ONES * u64::from(b'0'));
    let others = (values.wrapping_add(ONES * 0x76) | values) & (ONES << 7);
    let digits = others.trailing_zeros() as usize / 8;
    if digits == 0 || digits == 8 || (bytes[0] == b'0' && digits > 1) {
        return None;
    }
    // Joins pairs, then fours, then all eight, of which the first are zeros.
    let values = values << (64 - 8 * digits);
    let pairs = (values * 10 + (values >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let number = (fours * 10_000 + (fours >> 32)) as u32;
    Some((number as usize, digits))
}

/// Returns the length and the hash of a text up to the first end byte, read eight bytes at a time.
///
/// `ends` returns a word whose lowest set bit is the highest bit of the first end byte. Returns `None` if no end
/// byte is within `longest`, or near the end of the text.
#[inline]
pub(crate) fn hash_until(
    bytes: &[u8],
    longest: usize,
    ends: impl Fn(u64) -> u64,
) -> Option<(usize, u64)> {
    let (mut at, mut hash) = (0, 0u64);
    while at <= longest {
        let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk::<8>()?);
        let found = ends(word);
        if found != 0 {
            let before = found.trailing_zeros() / 8;
            hash = mix_hash(hash, word & ((1 << (8 * before)) - 1));
            return Some((at + before as usize, hash));
        }
        hash = mix_hash(hash, word);
        at += 8;
    }
    None
}

/// Returns the hash extended by one word.
#[inline]
pub(crate) fn mix_hash(hash: u64, word: u64) -> u64 {
    let product =
        u128::from(hash ^ 0x9e37_79b9_7f4a_7c15) * u128::from(word ^ 0xd6e8_feb8_6659_fd93);
    product as u64 ^ (product >> 64) as u64
}

// Returns the place of `//` in a line, outside of strings.
fn find_comment(line: &str) -> Option<usize> {
    if !line.contains("//") {
        return None;
    }
    let (bytes, mut quoted, mut at) = (line.as_bytes(), false, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => quoted = !quoted,
            b'\\' if quoted => at += 1,
            b'/' if !quoted && bytes.get(at + 1) == Some(&b'/') => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_ends_before_comments() {
        for (text, end) in [
            ("a b", 3),
            ("a b \n  ", 3),
            ("a b // c", 3),
            ("a b // c\n\n // d \"e\n\t", 3),
            ("a \"//\"", 6),
            ("a \"// \\\" //\" // \"b\"", 12),
            ("a // b\n c", 9),
        ] {
            assert_eq!(Cursor { text, at: text.len() }.end_since(0), end, "{text}");
        }
    }

    #[test]
    fn leading_numbers_are_parsed() {
        for number in (0..2000).chain([9999, 10_000, 123_456, 1_234_567, 9_999_999]) {
            for after in ["        ", "#1 = abcd", ", %1 : t", ":;/\u{80}__"] {
                let text = format!("{number}{after}");
                let digits = number.to_string().len();
                assert_eq!(leading_number(text.as_bytes()), Some((number, digits)), "{text}");
            }
        }
        for text in
            ["", "1", "1234567", "12345678", "123456789", "00 : f32x", "01 : f32x", "a1234567"]
        {
            assert_eq!(leading_number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn blanks_are_skipped_however_many_there_are() {
        for blanks in 0..40 {
            for (before, after) in [("", ""), ("\n", "\t"), ("\r\n\t", "// x\n  "), (" \n\n", "\n")]
            {
                let text = format!("{before}{}{after}x", " ".repeat(blanks));
                let mut c = Cursor::new(&text);
                assert_eq!((c.peek(), c.at), (b'x', text.len() - 1), "{text:?}");
            }
        }
    }

    #[test]
    fn tokens_are_read_in_order() {
        let mut c =
            Cursor::new(" %a_1 // x\n @\"f\\22g\" -1 2.5e-3 0x7F tensor<2x3> stablehlo.add");
        assert_eq!(c.value_name(), Some("a_1"));
        assert_eq!(c.symbol().as_deref(), Some("f\"g"));
        assert_eq!(c.number(), Some(NumberToken::Integer("-1")));
        assert_eq!(c.number(), Some(NumberToken::Float("2.5e-3")));
        assert_eq!(c.number(), Some(NumberToken::Hex { minus: false, digits: "7F" }));
        assert!(c.eat_word("tensor"));
        assert_eq!(c.balanced(), Some("<2x3>"));
        assert_eq!(c.word(), Some("stablehlo.add"));
        assert!(c.at_end());
    }

    #[test]
    fn lists_of_plain_numbers_are_read_at_once() {
        for (text, list) in [
            ("[]", Some(&[][..])),
            ("[0, 12]x", Some(&[0, 12])),
            ("[999999999999999999]", Some(&[999_999_999_999_999_999])),
            ("[9999999999999999999]", None),
            ("[-1]", None),
            ("[1,2]", None),
            ("[1, ]", None),
            ("[1 : i64]", None),
            ("[1", None),
            ("1", None),
        ] {
            let mut c = Cursor::new(text);
            assert_eq!(c.int_list().as_deref(), list, "{text}");
            assert_eq!(c.at == 0, list.is_none(), "{text}");
        }
    }

    #[test]
    fn simple_dictionaries_are_returned_as_text() {
        for (text, plain) in [
            ("{a = 1 : i32} x", true),
            ("{mhlo.n = 10 : i64, b = \"r[0].x\"}", true),
            ("{a = 1 : i32, a = 2 : i32}", false),
            ("{a = 1 : i32, b = 2 : i32, c = 3 : i32}", false),
            ("{a = 1 : i32,b = 2 : i32}", false),
            ("{a = 1 : f32}", false),
            ("{a = 1 : i321}", false),
            ("{a = 01 : i32}", false),
            ("{a = 1}", false),
            ("{a}", false),
            ("{}", false),
            ("{ a = 1 : i32}", false),
            ("{1 = 1 : i32}", false),
            ("{sdy.a = 1 : i32}", false),
            ("{a = \"x\\22\"}", false),
            ("{a = \"//\"}", false),
            ("{a = \"x\", }", false),
            ("{a = \"x", false),
        ] {
            let mut c = Cursor::new(text);
            let found = c.simple_dictionary();
            assert_eq!(found.is_some(), plain, "{text}");
            assert_eq!(c.at, found.map_or(0, str::len), "{text}");
        }
    }

    #[test]
    fn unclosed_tokens_are_refused() {
        for text in ["<a // >", "<a // >\n", "(\n// )\n]"] {
            let mut c = Cursor::new(text);
            assert_eq!((c.balanced(), c.at), (None, 0), "{text}");
        }
        assert_eq!(Cursor::new("<a // >\n>").balanced(), Some("<a // >\n>"));
        let multi_line = ["\"a\nb\"", "{a = \"b\\\n\"}", "\"a\u{b}\"", "\"twelve bytes\n\""];
        for text in ["\"abc", "{a = \"}\"", "<[>]", "(", "\"\\"].into_iter().chain(multi_line) {
            let mut c = Cursor::new(text);
            assert_eq!((c.string(), c.balanced(), c.at), (None, None, 0), "{text}");
        }
    }
}
