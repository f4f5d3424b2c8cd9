//! The lexer: names, numbers, strings, symbols, and the line and block structure of Python.

use sapwood_types::{Diagnostic, Diagnostics, FileId, Source, Span};

use crate::names::{can_continue_name, can_start_name, is_keyword};

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    Name,
    Keyword,
    Int,
    Float,
    Str,
    /// A symbol of one to three characters: `(`, `:=`, `**=`.
    Symbol([u8; 3]),
    /// `;`, which ends a statement but not its line.
    Semicolon,
    Newline,
    Indent,
    Dedent,
    End,
}

/// A token: its kind and its range in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    start: u32,
    end: u32,
    line: u32,
    column: u32,
    width: u32,
}

/// Returns the kind of a symbol token with this text.
pub(super) const fn symbol(text: &str) -> TokenKind {
    let bytes = text.as_bytes();
    let second = if bytes.len() > 1 { bytes[1] } else { 0 };
    TokenKind::Symbol([bytes[0], second, if bytes.len() > 2 { bytes[2] } else { 0 }])
}

/// The state of the lexer.
pub(super) struct Lexer<'s> {
    text: &'s str,
    bytes: &'s [u8],
    file: FileId,
    pos: usize,
    line: u32,
    line_start: usize,
    /// The number of bytes of this line so far that do not start a character.
    continuation_bytes: usize,
    open_brackets: usize,
    indents: Vec<usize>,
    /// The number of dedents still to be returned.
    pending_dedents: usize,
    at_line_start: bool,
    /// True if the line has returned a token.
    line_has_tokens: bool,
    /// A token that is returned again next.
    pushed_back: Option<Token>,
    pub(super) problems: Diagnostics,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        let text = source.text();
        Self {
            text,
            bytes: text.as_bytes(),
            file: source.file(),
            pos: if text.starts_with('\u{feff}') { 3 } else { 0 },
            line: 1,
            line_start: 0,
            continuation_bytes: 0,
            open_brackets: 0,
            indents: vec![0],
            pending_dedents: 0,
            at_line_start: true,
            line_has_tokens: false,
            pushed_back: None,
            problems: Diagnostics::new(),
        }
    }

    pub(super) fn text(&self, token: Token) -> &'s str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// Returns the text from the start of a token on.
    pub(super) fn text_from(&self, token: Token) -> &'s str {
        &self.text[token.start as usize..]
    }

    pub(super) fn span(&self, token: Token) -> Span {
        let Token { line, column, width, .. } = token;
        Span::new(self.file, line, column, line, column + width)
    }

    /// Skips the rest of a line and closes all brackets.
    pub(super) fn skip_line(&mut self) {
        self.open_brackets = 0;
        while self.pos < self.bytes.len() && self.bytes[self.pos] != b'\n' {
            self.pos += 1;
        }
        self.line_has_tokens = false;
        if self.pos < self.bytes.len() {
            self.pos += 1;
            self.new_line();
        }
    }

    fn new_line(&mut self) {
        self.line += 1;
        self.line_start = self.pos;
        self.continuation_bytes = 0;
        self.at_line_start = true;
    }

    fn make_token(&self, kind: TokenKind, start: usize, shift_before: usize) -> Token {
        let width = (self.pos - start) - (self.continuation_bytes - shift_before);
        Token {
            kind,
            start: start as u32,
            end: self.pos as u32,
            line: self.line,
            column: (start - self.line_start - shift_before + 1) as u32,
            width: width as u32,
        }
    }

    fn empty_token_here(&self, kind: TokenKind) -> Token {
        self.make_token(kind, self.pos, self.continuation_bytes)
    }

    fn report(&mut self, token: Token, message: impl Into<String>, help: &str) {
        let problem = Diagnostic::error(self.span(token), message);
        self.problems.push(if help.is_empty() { problem } else { problem.with_help(help) });
    }

    /// Returns the indentation of the outermost lines.
    pub(super) fn base_indent(&self) -> usize {
        self.indents.first().copied().unwrap_or(0)
    }

    /// Sets the indentation of the outermost lines, for a function inside a class or another function.
    pub(super) fn set_base_indent(&mut self, width: usize) {
        self.indents = vec![width];
    }

    /// Returns the number of open brackets after the last token.
    pub(super) fn open_brackets(&self) -> usize {
        self.open_brackets
    }

    /// Makes the lexer return a token again.
    pub(super) fn push_back(&mut self, token: Token) {
        self.pushed_back = Some(token);
    }

    pub(super) fn next_token(&mut self) -> Token {
        if let Some(token) = self.pushed_back.take() {
            return token;
        }
        if self.pending_dedents > 0 {
            self.pending_dedents -= 1;
            return self.empty_token_here(TokenKind::Dedent);
        }
        loop {
            if self.at_line_start
                && self.open_brackets == 0
                && let Some(token) = self.measure_indentation()
            {
                return token;
            }
            match self.bytes.get(self.pos) {
                None => return self.end_of_text(),
                Some(b' ') => self.pos += 1,
                Some(b'\t' | b'\r' | b'\x0c') => self.pos += 1,
                Some(b'#') => self.skip_comment(),
                // A backslash at the end of a line continues it.
                Some(b'\\') if self.bytes[self.pos + 1..].starts_with(b"\n") => {
                    self.pos += 2;
                    self.new_line();
                    self.at_line_start = false;
                }
                Some(b'\\') if self.bytes[self.pos + 1..].starts_with(b"\r\n") => {
                    self.pos += 3;
                    self.new_line();
                    self.at_line_start = false;
                }
                Some(b'\n') => {
                    let token = self.empty_token_here(TokenKind::Newline);
                    self.pos += 1;
                    self.new_line();
                    if self.open_brackets == 0 && std::mem::take(&mut self.line_has_tokens) {
                        return token;
                    }
                }
                Some(&byte) => {
                    self.line_has_tokens = true;
                    // A line inside brackets has no indentation, also if it closes them.
                    self.at_line_start = false;
                    if let Some(token) = self.lex_word(byte) {
                        return token;
                    }
                }
            }
        }
    }

    /// Measures the indentation of the next line that is not empty.
    fn measure_indentation(&mut self) -> Option<Token> {
        loop {
            let mut width = 0;
            let mut tab = None;
            while let Some(byte @ (b' ' | b'\t')) = self.bytes.get(self.pos) {
                if *byte == b'\t' {
                    tab.get_or_insert(self.empty_token_here(TokenKind::Indent));
                }
                width += if *byte == b'\t' { 4 } else { 1 };
                self.pos += 1;
            }
            match self.bytes.get(self.pos) {
                Some(b'\r') if self.bytes.get(self.pos + 1) == Some(&b'\n') => {
                    self.pos += 2;
                    self.new_line();
                }
                Some(b'\n') => {
                    self.pos += 1;
                    self.new_line();
                }
                Some(b'#') => {
                    self.skip_comment();
                }
                None => {
                    self.at_line_start = false;
                    return None;
                }
                Some(_) => {
                    self.at_line_start = false;
                    if let Some(tab) = tab {
                        self.report(tab, "a tab in the indentation", "indent with four spaces");
                    }
                    let last = self.indents.last().copied().unwrap_or(0);
                    if width > last {
                        self.indents.push(width);
                        return Some(self.empty_token_here(TokenKind::Indent));
                    }
                    return self.dedent_to(width);
                }
            }
        }
    }

    fn dedent_to(&mut self, width: usize) -> Option<Token> {
        let last = self.indents.last().copied().unwrap_or(0);
        let fits = self.indents.contains(&width);
        // A line that matches no block is treated as part of the next deeper one.
        let keep = if fits {
            width
        } else {
            self.indents.iter().copied().find(|i| *i > width).unwrap_or(last)
        };
        if !fits {
            let place = self.empty_token_here(TokenKind::Dedent);
            let help = format!("the lines around it are indented by {keep}");
            self.report(place, format!("indented by {width}, which matches no block"), &help);
        }
        let mut closed = 0;
        while self.indents.len() > 1 && self.indents.last().is_some_and(|&indent| indent > keep) {
            self.indents.pop();
            closed += 1;
        }
        if closed == 0 {
            return None;
        }
        self.pending_dedents = closed - 1;
        Some(self.empty_token_here(TokenKind::Dedent))
    }

    fn end_of_text(&mut self) -> Token {
        if std::mem::take(&mut self.line_has_tokens) {
            return self.empty_token_here(TokenKind::Newline);
        }
        if self.indents.len() > 1 {
            self.indents.pop();
            return self.empty_token_here(TokenKind::Dedent);
        }
        self.empty_token_here(TokenKind::End)
    }

    fn skip_comment(&mut self) {
        while let Some(&byte) = self.bytes.get(self.pos) {
            if byte == b'\n' {
                break;
            }
            self.continuation_bytes += usize::from(byte & 0xC0 == 0x80);
            self.pos += 1;
        }
    }

    /// Lexes a name, a number, a string or a symbol; returns none for an invalid character.
    fn lex_word(&mut self, byte: u8) -> Option<Token> {
        let (start, shift) = (self.pos, self.continuation_bytes);
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => {
                while let Some(&byte) = self.bytes.get(self.pos) {
                    if byte.is_ascii_alphanumeric() || byte == b'_' {
                        self.pos += 1;
                    } else if byte >= 0x80 {
                        let Some(c) = self.text[self.pos..].chars().next() else { break };
                        let fits = if self.pos == start {
                            can_start_name(c)
                        } else {
                            can_continue_name(c)
                        };
                        if !fits {
                            break;
                        }
                        self.pos += c.len_utf8();
                        self.continuation_bytes += c.len_utf8() - 1;
                    } else {
                        break;
                    }
                }
                if self.pos == start {
                    return self.report_stray_character();
                }
                let word = &self.text[start..self.pos];
                let kind = if is_keyword(word) { TokenKind::Keyword } else { TokenKind::Name };
                Some(self.make_token(kind, start, shift))
            }
            b'0'..=b'9' => Some(self.lex_number()),
            b'.' if self.bytes.get(self.pos + 1).is_some_and(u8::is_ascii_digit) => {
                Some(self.lex_number())
            }
            b'"' | b'\'' if self.bytes[start..].starts_with(&[byte; 3]) => {
                self.lex_long_string(byte)
            }
            b'"' | b'\'' => self.lex_string(byte),
            _ => self.lex_symbol(byte),
        }
    }

    fn lex_number(&mut self) -> Token {
        let start = self.pos;
        let mut kind = TokenKind::Int;
        // An underscore separates two digits.
        let digits = |lexer: &mut Self, is_digit: fn(&u8) -> bool| {
            while lexer.bytes.get(lexer.pos).is_some_and(|byte| {
                is_digit(byte)
                    || *byte == b'_' && lexer.bytes.get(lexer.pos + 1).is_some_and(is_digit)
            }) {
                lexer.pos += 1;
            }
        };
        let radix: Option<fn(&u8) -> bool> = match self.bytes.get(start..start + 2) {
            Some(b"0x" | b"0X") => Some(u8::is_ascii_hexdigit),
            Some(b"0o" | b"0O") => Some(|byte| matches!(byte, b'0'..=b'7')),
            Some(b"0b" | b"0B") => Some(|byte| matches!(byte, b'0' | b'1')),
            _ => None,
        };
        if let Some(is_digit) = radix
            && self.bytes[start + 2..].iter().find(|byte| **byte != b'_').is_some_and(is_digit)
        {
            self.pos += 2;
            digits(self, is_digit);
            return self.end_number(kind, start);
        }
        let decimal: fn(&u8) -> bool = u8::is_ascii_digit;
        digits(self, decimal);
        if self.bytes.get(self.pos) == Some(&b'.') {
            kind = TokenKind::Float;
            self.pos += 1;
            digits(self, decimal);
        }
        if matches!(self.bytes.get(self.pos), Some(b'e' | b'E')) {
            let signed = matches!(self.bytes.get(self.pos + 1), Some(b'+' | b'-'));
            let first = self.pos + 1 + usize::from(signed);
            if self.bytes.get(first).is_some_and(u8::is_ascii_digit) {
                kind = TokenKind::Float;
                self.pos = first;
                digits(self, decimal);
            }
        }
        self.end_number(kind, start)
    }

    /// Returns the token of a number, and reports letters right after it.
    fn end_number(&mut self, kind: TokenKind, start: usize) -> Token {
        let token = self.make_token(kind, start, self.continuation_bytes);
        if self.bytes.get(self.pos).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_') {
            let place = self.empty_token_here(TokenKind::Name);
            self.report(place, "a letter right after a number", "separate them with a space");
            while self.bytes.get(self.pos).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
            {
                self.pos += 1;
            }
        }
        token
    }

    fn lex_string(&mut self, quote: u8) -> Option<Token> {
        let (start, shift) = (self.pos, self.continuation_bytes);
        self.pos += 1;
        while let Some(&byte) = self.bytes.get(self.pos) {
            match byte {
                b'\n' => break,
                b'\\' if self.bytes.get(self.pos + 1) != Some(&b'\n') => self.pos += 2,
                _ if byte == quote => {
                    self.pos += 1;
                    return Some(self.make_token(TokenKind::Str, start, shift));
                }
                _ => {
                    self.continuation_bytes += usize::from(byte & 0xC0 == 0x80);
                    self.pos += 1;
                }
            }
        }
        self.pos = self.pos.min(self.bytes.len());
        while !self.text.is_char_boundary(self.pos) {
            self.pos += 1;
        }
        let token = self.make_token(TokenKind::Str, start, shift);
        self.report(token, "a string that does not end on its line", "close it with a quote");
        None
    }

    /// Lexes a string in three quotes, which may span lines.
    fn lex_long_string(&mut self, quote: u8) -> Option<Token> {
        let (start, shift) = (self.pos, self.continuation_bytes);
        self.pos += 3;
        let mut first_line = self.make_token(TokenKind::Str, start, shift);
        loop {
            match self.bytes.get(self.pos) {
                None => {
                    let help = "close it with three quotes";
                    self.report(first_line, "a string that does not end", help);
                    return None;
                }
                Some(b'\\') if self.bytes.get(self.pos + 1).is_some_and(|byte| *byte != b'\n') => {
                    self.pos += 2;
                }
                Some(b'\n') => {
                    self.pos += 1;
                    self.new_line();
                    self.at_line_start = false;
                }
                Some(_) if self.bytes[self.pos..].starts_with(&[quote; 3]) => {
                    self.pos += 3;
                    first_line.end = self.pos as u32;
                    return Some(first_line);
                }
                Some(&byte) => {
                    self.continuation_bytes += usize::from(byte & 0xC0 == 0x80);
                    self.pos += 1;
                }
            }
        }
    }

    fn lex_symbol(&mut self, byte: u8) -> Option<Token> {
        let (start, shift) = (self.pos, self.continuation_bytes);
        let next = self.bytes.get(self.pos + 1).copied().unwrap_or(0);
        let two = matches!(
            [byte, next],
            [b'*', b'*']
                | [b'/', b'/']
                | [b'<', b'<']
                | [b'>' | b'-', b'>']
                | [
                    b':' | b'='
                        | b'!'
                        | b'<'
                        | b'>'
                        | b'+'
                        | b'-'
                        | b'*'
                        | b'/'
                        | b'%'
                        | b'&'
                        | b'|'
                        | b'^'
                        | b'@',
                    b'='
                ]
        );
        if two {
            let assigns = matches!([byte, next], [b'*', b'*'] | [b'/', b'/'] | [b'<', b'<'])
                || [byte, next] == *b">>";
            self.pos += 2;
            let mut third = 0;
            if assigns && self.bytes.get(self.pos) == Some(&b'=') {
                self.pos += 1;
                third = b'=';
            }
            return Some(self.make_token(TokenKind::Symbol([byte, next, third]), start, shift));
        }
        if byte == b';' {
            self.pos += 1;
            return Some(self.make_token(TokenKind::Semicolon, start, shift));
        }
        match byte {
            b'(' | b'[' => self.open_brackets += 1,
            b')' | b']' => self.open_brackets = self.open_brackets.saturating_sub(1),
            b',' | b':' | b'=' | b'.' | b'@' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>'
            | b'&' | b'|' | b'^' | b'~' => {}
            _ => return self.report_stray_character(),
        }
        self.pos += 1;
        Some(self.make_token(TokenKind::Symbol([byte, 0, 0]), start, shift))
    }

    fn report_stray_character(&mut self) -> Option<Token> {
        let (start, shift) = (self.pos, self.continuation_bytes);
        let c = self.text[self.pos..].chars().next()?;
        self.pos += c.len_utf8();
        self.continuation_bytes += c.len_utf8() - 1;
        let token = self.make_token(TokenKind::Name, start, shift);
        let help = match c {
            '{' | '}' => "there are no dicts and no sets here",
            _ => "",
        };
        self.report(token, format!("unexpected character {c:?}"), help);
        None
    }
}
