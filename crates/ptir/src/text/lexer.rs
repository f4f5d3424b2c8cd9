//! The lexer of the text form.

use sapwood_types::{FileId, Span};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    Word,
    /// `%name`
    Value,
    /// `@name` or `@"name"`
    Func,
    /// `?`
    Question,
    Int,
    Float,
    /// `0x…`
    Hex,
    /// `"…"`
    Str,
    /// One of the single bytes `( ) [ ] { } < > , : =`
    Punct(u8),
    /// `->`
    Arrow,
    /// `...`
    Dots,
    /// `{{name}}`, only in snippets.
    Placeholder,
    /// A character that starts no token.
    Bad,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    // Texts of four gigabytes and more are refused before they are read.
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

#[derive(Clone)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    end: usize,
    line: u32,
    // The position at which columns of the current line were last counted, and the column there.
    counted: usize,
    column: u32,
    ascii: bool,
    pub(crate) comments: Option<String>,
}

pub(crate) fn is_word_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

pub(crate) fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'.'
}

/// Returns whether a text is one word of the text form.
pub(crate) fn is_word(text: &str) -> bool {
    text.as_bytes().first().is_some_and(|&b| is_word_start(b))
        && text.bytes().all(is_word_byte)
        && !text.ends_with('.')
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        // A byte order mark is not part of the text.
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let ascii = text.as_bytes()[start..].is_ascii();
        Self { at: start, counted: start, ascii, ..Self::of_first_tokens(text) }
    }

    /// Creates a lexer of a few tokens at the start of a text, which does not look at the rest of the text.
    pub(crate) fn of_first_tokens(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            end: text.len(),
            line: 1,
            counted: 0,
            column: 1,
            ascii: false,
            comments: None,
        }
    }

    /// Returns the whole text.
    pub(crate) fn whole_text(&self) -> &'a str {
        self.text
    }

    /// Returns the length of the whole text in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Skips the rest of the text.
    pub(crate) fn skip_to_end(&mut self) {
        self.end = self.at;
    }

    /// Returns a second lexer at the same position, for lookahead.
    pub(crate) fn lookahead(&self) -> Self {
        Self { comments: None, ..*self }
    }

    /// Returns a lexer of the tokens between two positions that were read before.
    pub(crate) fn sub_lexer(&self, first: Token, end: usize) -> Self {
        Self {
            at: first.start as usize,
            end,
            line: first.line,
            counted: first.start as usize,
            column: first.column,
            ..self.lookahead()
        }
    }

    /// Returns the text of a tensor type that starts at a token, up to its `]`, if it is short and on one line.
    pub(crate) fn tensor_text(&self, token: Token) -> Option<&'a str> {
        if !self.ascii {
            return None;
        }
        let start = token.start as usize;
        let stop = self.end.min(start + 64);
        let rest = &self.bytes[start..stop];
        let open = rest.iter().position(|&b| !is_word_byte(b))?;
        if rest[open] != b'[' {
            return None;
        }
        // Quoted names may contain any character.
        let end =
            open + rest[open..].iter().position(|&b| matches!(b, b']' | b'\n' | b'/' | b'"'))?;
        (rest[end] == b']').then(|| &self.text[start..=start + end])
    }

    /// Continues at a later position of the same line.
    pub(crate) fn continue_at(&mut self, at: usize) {
        self.at = at;
    }

    /// Returns whether the first byte after a token and white space has a property.
    pub(crate) fn continues_with(&self, token: Token, property: impl Fn(u8) -> bool) -> bool {
        let rest = &self.bytes[token.end as usize..self.end];
        rest.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|&byte| property(byte))
    }

    /// Returns the text from a position to the end.
    pub(crate) fn text_from(&self, start: usize) -> &'a str {
        &self.text[start..self.end]
    }

    pub(crate) fn text(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    fn column_at(&mut self, at: usize) -> u32 {
        let chars = if self.ascii {
            at - self.counted
        } else {
            self.text[self.counted..at].chars().count()
        };
        self.column = self.column.saturating_add(chars as u32);
        self.counted = at;
        self.column
    }

    fn skip_space(&mut self) {
        while self.at < self.end {
            match self.bytes[self.at] {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.line = self.line.saturating_add(1);
                    self.counted = self.at;
                    self.column = 1;
                }
                b'/' if self.bytes.get(self.at + 1) == Some(&b'/') => {
                    let start = self.at;
                    while self.at < self.end && self.bytes[self.at] != b'\n' {
                        self.at += 1;
                    }
                    if let Some(comments) = &mut self.comments {
                        comments.push_str(self.text[start..self.at].trim_end());
                        comments.push('\n');
                    }
                }
                _ => return,
            }
        }
    }

    pub(crate) fn next(&mut self) -> Token {
        self.skip_space();
        let start = self.at;
        let column = self.column_at(start);
        let line = self.line;
        let kind = if start >= self.end { TokenKind::End } else { self.scan() };
        Token { kind, start: start as u32, end: self.at as u32, line, column }
    }

    fn scan(&mut self) -> TokenKind {
        let first = self.bytes[self.at];
        match first {
            b'%' => {
                self.at += 1;
                let start = self.at;
                self.take_while(is_word_byte);
                if self.at == start { TokenKind::Bad } else { TokenKind::Value }
            }
            b'@' => {
                self.at += 1;
                if self.bytes.get(self.at) == Some(&b'"') {
                    return if self.string() { TokenKind::Func } else { TokenKind::Bad };
                }
                let start = self.at;
                self.take_while(is_word_byte);
                if self.at == start { TokenKind::Bad } else { TokenKind::Func }
            }
            b'{' if self.bytes.get(self.at + 1) == Some(&b'{') && self.placeholder() => {
                TokenKind::Placeholder
            }
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b':' | b'=' => {
                self.at += 1;
                TokenKind::Punct(first)
            }
            b'?' => {
                self.at += 1;
                TokenKind::Question
            }
            b'"' => {
                if self.string() {
                    TokenKind::Str
                } else {
                    TokenKind::Bad
                }
            }
            b'-' if self.bytes.get(self.at + 1) == Some(&b'>') => {
                self.at += 2;
                TokenKind::Arrow
            }
            b'.' if self.bytes[self.at..self.end].starts_with(b"...") => {
                self.at += 3;
                TokenKind::Dots
            }
            b'-' | b'0'..=b'9' => self.number(),
            _ if is_word_start(first) => {
                self.take_while(is_word_byte);
                TokenKind::Word
            }
            _ => {
                // Takes a whole character, so that tokens never split one.
                let width = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                self.at = (self.at + width).min(self.end);
                TokenKind::Bad
            }
        }
    }

    fn take_while(&mut self, accept: fn(u8) -> bool) {
        while self.at < self.end && accept(self.bytes[self.at]) {
            self.at += 1;
        }
    }

    fn placeholder(&mut self) -> bool {
        let mut at = self.at + 2;
        while at < self.end && is_word_byte(self.bytes[at]) {
            at += 1;
        }
        if at > self.at + 2 && self.bytes[at..self.end].starts_with(b"}}") {
            self.at = at + 2;
            return true;
        }
        false
    }

    fn number(&mut self) -> TokenKind {
        if self.bytes[self.at] == b'-' {
            self.at += 1;
            // `-inf`, `-nan`
            if self.at < self.end && is_word_start(self.bytes[self.at]) {
                self.take_while(is_word_byte);
                return TokenKind::Float;
            }
        }
        if self.bytes[self.at..self.end].starts_with(b"0x") {
            self.at += 2;
            self.take_while(|b| b.is_ascii_hexdigit());
            return TokenKind::Hex;
        }
        let start = self.at;
        self.take_while(|b| b.is_ascii_digit());
        if self.at == start {
            return TokenKind::Bad;
        }
        let mut kind = TokenKind::Int;
        if self.at < self.end
            && self.bytes[self.at] == b'.'
            && self.bytes.get(self.at + 1) != Some(&b'.')
        {
            kind = TokenKind::Float;
            self.at += 1;
            self.take_while(|b| b.is_ascii_digit());
        }
        if self.at < self.end && matches!(self.bytes[self.at], b'e' | b'E') {
            let mut at = self.at + 1;
            if at < self.end && matches!(self.bytes[at], b'+' | b'-') {
                at += 1;
            }
            if at < self.end && self.bytes[at].is_ascii_digit() {
                self.at = at;
                self.take_while(|b| b.is_ascii_digit());
                kind = TokenKind::Float;
            }
        }
        kind
    }

    // Reads from the opening quote to after the closing one. Strings do not span lines.
    fn string(&mut self) -> bool {
        self.at += 1;
        while self.at < self.end {
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    return true;
                }
                b'\n' => return false,
                b'\\' if self.bytes.get(self.at + 1).is_some_and(|&b| b != b'\n') => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = self.end;
        false
    }
}

impl Token {
    pub(crate) fn span(self, file: FileId) -> Span {
        let width = self.end - self.start;
        Span::new(file, self.line, self.column, self.line, self.column.saturating_add(width))
    }
}

/// Writes a text in quotes.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Returns the text between quotes; an error names the unknown escape.
pub(crate) fn read_string(quoted: &str) -> Result<String, String> {
    let inner = quoted.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(quoted);
    if !inner.contains('\\') {
        return Ok(inner.to_owned());
    }
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(c @ ('"' | '\\')) => out.push(c),
            Some('u') => {
                let rest = chars.as_str();
                let code = rest.strip_prefix('{').and_then(|r| r.split_once('}'));
                let Some((digits, after)) = code else { return Err("unknown escape `\\u`".into()) };
                match u32::from_str_radix(digits, 16).ok().and_then(char::from_u32) {
                    Some(c) => out.push(c),
                    None => return Err(format!("`\\u{{{digits}}}` is not a character")),
                }
                chars = after.chars();
            }
            Some(other) => return Err(format!("unknown escape `\\{other}`")),
            None => return Err("the string ends in a backslash".into()),
        }
    }
    Ok(out)
}
