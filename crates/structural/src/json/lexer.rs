//! A JSON lexer. Numbers stay text, so that nothing is rounded before its meaning is known.

use std::borrow::Cow;

use super::error::JsonReadError;

/// A JSON token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum JsonToken<'t> {
    /// One of `{ } [ ] : ,`.
    Punctuation(u8),
    Null,
    Bool(bool),
    /// The number as it is written.
    Number(&'t str),
    Text(Cow<'t, str>),
    End,
}

impl JsonToken<'_> {
    /// Returns the token as messages show it.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Punctuation(mark) => format!("`{}`", char::from(*mark)),
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(digits) => truncate(digits),
            Self::Text(text) => format!("{:?}", truncate(text)),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Cuts a long text for a message.
pub(super) fn truncate(text: &str) -> String {
    match text.char_indices().nth(40) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A JSON lexer: a position in the text.
#[derive(Clone, Copy)]
pub(super) struct JsonLexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> JsonLexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Returns the next byte after white space, without taking it.
    pub(super) fn peek_byte(&mut self) -> Option<u8> {
        self.skip_space();
        self.byte()
    }

    pub(super) fn next(&mut self) -> Result<JsonToken<'t>, JsonReadError> {
        self.skip_space();
        let Some(byte) = self.byte() else { return Ok(JsonToken::End) };
        match byte {
            b'{' | b'}' | b'[' | b']' | b':' | b',' => {
                self.at += 1;
                Ok(JsonToken::Punctuation(byte))
            }
            b'"' => self.string().map(JsonToken::Text),
            b'-' | b'0'..=b'9' => self.number().map(JsonToken::Number),
            _ => {
                for (word, token) in [
                    ("null", JsonToken::Null),
                    ("true", JsonToken::Bool(true)),
                    ("false", JsonToken::Bool(false)),
                ] {
                    if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
                        self.at += word.len();
                        return Ok(token);
                    }
                }
                Err(self.syntax_error("a value"))
            }
        }
    }

    /// Takes `mark`, or returns an error that names `what` if it does not come next.
    pub(super) fn expect(&mut self, mark: u8, what: &'static str) -> Result<(), JsonReadError> {
        if self.peek_byte() == Some(mark) {
            self.at += 1;
            return Ok(());
        }
        Err(self.syntax_error(what))
    }

    /// Takes `mark` if it comes next, and returns whether it did.
    pub(super) fn take_if(&mut self, mark: u8) -> bool {
        let found = self.peek_byte() == Some(mark);
        self.at += usize::from(found);
        found
    }

    /// Takes the `,` or the closing `close` after an element. Returns whether another element follows.
    pub(super) fn next_element(&mut self, close: u8) -> Result<bool, JsonReadError> {
        if self.take_if(b',') {
            return Ok(true);
        }
        let what = if close == b']' { "`,` or `]`" } else { "`,` or `}`" };
        self.expect(close, what).map(|()| false)
    }

    /// Reads a key and its colon.
    pub(super) fn key(&mut self) -> Result<Cow<'t, str>, JsonReadError> {
        if self.peek_byte() != Some(b'"') {
            return Err(self.syntax_error("a key"));
        }
        let key = self.string()?;
        self.expect(b':', "`:`")?;
        Ok(key)
    }

    /// Skips a value of any kind. Nesting is counted on a stack, without recursion.
    pub(super) fn skip_value(&mut self) -> Result<(), JsonReadError> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            let start = *self;
            match self.next()? {
                JsonToken::Punctuation(mark @ (b'{' | b'[')) => {
                    let close = mark + 2;
                    if !self.take_if(close) {
                        open.push(close);
                        if close == b'}' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                JsonToken::Punctuation(_) | JsonToken::End => {
                    return Err(start.syntax_error("a value"));
                }
                _ => {}
            }
            loop {
                let Some(&close) = open.last() else { return Ok(()) };
                if self.next_element(close)? {
                    if close == b'}' {
                        self.key()?;
                    }
                    break;
                }
                open.pop();
            }
        }
    }

    fn number(&mut self) -> Result<&'t str, JsonReadError> {
        let start = self.at;
        self.at += usize::from(self.byte() == Some(b'-'));
        match self.byte() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(self.syntax_error("a digit")),
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'0'..=b'9' | b'.' | b'-' | b'+')) {
            return Err(self.syntax_error("the end of the number"));
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) -> Result<(), JsonReadError> {
        if !matches!(self.byte(), Some(b'0'..=b'9')) {
            return Err(self.syntax_error("a digit"));
        }
        while matches!(self.byte(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a string from its opening quote on. Borrowed if nothing is escaped.
    fn string(&mut self) -> Result<Cow<'t, str>, JsonReadError> {
        self.at += 1;
        let mut start = self.at;
        let mut owned = String::new();
        loop {
            match self.byte() {
                None => return Err(self.syntax_error("`\"`")),
                Some(b'"') => {
                    let rest = &self.text[start..self.at];
                    self.at += 1;
                    if owned.is_empty() {
                        return Ok(Cow::Borrowed(rest));
                    }
                    owned += rest;
                    return Ok(Cow::Owned(owned));
                }
                Some(b'\\') => {
                    owned += &self.text[start..self.at];
                    self.at += 1;
                    owned.push(self.escape()?);
                    start = self.at;
                }
                Some(0..0x20) => return Err(self.syntax_error("an escaped control character")),
                Some(_) => self.at += 1,
            }
        }
    }

    /// Reads the part of an escape after the backslash.
    fn escape(&mut self) -> Result<char, JsonReadError> {
        let Some(byte) = self.byte() else { return Err(self.syntax_error("an escape")) };
        let simple = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.syntax_error("an escape")),
        };
        self.at += 1;
        Ok(simple)
    }

    /// Reads four hexadecimal digits, or two groups of them for a character beyond 16 bits.
    fn unicode(&mut self) -> Result<char, JsonReadError> {
        let first = self.four_digits()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let second = if self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            self.at += 2;
            self.four_digits()?
        } else {
            0
        };
        if (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(&second) {
            let code = 0x1_0000 + ((first - 0xd800) << 10 | (second - 0xdc00));
            return char::from_u32(code).ok_or_else(|| self.syntax_error("a character"));
        }
        Err(self.syntax_error("the second half of a surrogate pair"))
    }

    fn four_digits(&mut self) -> Result<u32, JsonReadError> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let code = digits.and_then(|digits| {
            digits
                .iter()
                .try_fold(0, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?))
        });
        let code = code.ok_or_else(|| self.syntax_error("four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }

    /// Returns the line and column of the current position, from 1.
    pub(super) fn line_column(&self) -> (usize, usize) {
        let before = &self.text.as_bytes()[..self.at.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count();
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        (line + 1, before.len() - start + 1)
    }

    /// Creates the error that `expected` does not come next.
    pub(super) fn syntax_error(&self, expected: &'static str) -> JsonReadError {
        let (line, column) = self.line_column();
        let rest = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        let found = rest.map_or("the end".to_owned(), |c| format!("{c:?}"));
        JsonReadError::Syntax { line, column, expected, found }
    }
}
