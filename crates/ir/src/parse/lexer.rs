//! Text into tokens: names, numbers, strings, signs, and the lines and blocks of Python.

use sapwood_types::{Diagnostic, Diagnostics, FileId, Source, Span};

use crate::names::{continues_name, is_keyword, starts_name};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tok {
    Name,
    Keyword,
    Int,
    Float,
    Str,
    /// One or two characters, as they stand: `(`, `:=`, `**`.
    Sign([u8; 2]),
    Newline,
    Indent,
    Dedent,
    End,
}

/// A piece of text and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) tok: Tok,
    start: u32,
    end: u32,
    line: u32,
    column: u32,
    width: u32,
}

pub(super) const fn sign(text: &str) -> Tok {
    let bytes = text.as_bytes();
    Tok::Sign([bytes[0], if bytes.len() > 1 { bytes[1] } else { 0 }])
}

pub(super) struct Lexer<'s> {
    text: &'s str,
    bytes: &'s [u8],
    file: FileId,
    at: usize,
    line: u32,
    line_start: usize,
    /// Bytes of this line so far that do not start a character.
    shift: usize,
    open: usize,
    indents: Vec<usize>,
    /// Dedents still to be given out.
    dedents: usize,
    at_line_start: bool,
    /// Whether the line has given out a token.
    any: bool,
    /// A token to give out once more.
    again: Option<Token>,
    pub(super) problems: Diagnostics,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        let text = source.text();
        Self {
            text,
            bytes: text.as_bytes(),
            file: source.file(),
            at: if text.starts_with('\u{feff}') { 3 } else { 0 },
            line: 1,
            line_start: 0,
            shift: 0,
            open: 0,
            indents: vec![0],
            dedents: 0,
            at_line_start: true,
            any: false,
            again: None,
            problems: Diagnostics::new(),
        }
    }

    pub(super) fn text(&self, token: Token) -> &'s str {
        &self.text[token.start as usize..token.end as usize]
    }

    pub(super) fn span(&self, token: Token) -> Span {
        let Token { line, column, width, .. } = token;
        Span::new(self.file, line, column, line, column + width)
    }

    /// Gives up on the rest of a line, brackets and all.
    pub(super) fn skip_line(&mut self) {
        self.open = 0;
        while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
            self.at += 1;
        }
        self.any = false;
        if self.at < self.bytes.len() {
            self.at += 1;
            self.new_line();
        }
    }

    fn new_line(&mut self) {
        self.line += 1;
        self.line_start = self.at;
        self.shift = 0;
        self.at_line_start = true;
    }

    fn token(&self, tok: Tok, start: usize, shift_before: usize) -> Token {
        let width = (self.at - start) - (self.shift - shift_before);
        Token {
            tok,
            start: start as u32,
            end: self.at as u32,
            line: self.line,
            column: (start - self.line_start - shift_before + 1) as u32,
            width: width as u32,
        }
    }

    fn here(&self, tok: Tok) -> Token {
        self.token(tok, self.at, self.shift)
    }

    fn problem(&mut self, token: Token, message: impl Into<String>, help: &str) {
        let problem = Diagnostic::error(self.span(token), message);
        self.problems.push(if help.is_empty() { problem } else { problem.with_help(help) });
    }

    /// How many brackets are open after the last token.
    pub(super) fn open_brackets(&self) -> usize {
        self.open
    }

    /// Gives out a token once more.
    pub(super) fn push_back(&mut self, token: Token) {
        self.again = Some(token);
    }

    pub(super) fn next(&mut self) -> Token {
        if let Some(token) = self.again.take() {
            return token;
        }
        if self.dedents > 0 {
            self.dedents -= 1;
            return self.here(Tok::Dedent);
        }
        loop {
            if self.at_line_start
                && self.open == 0
                && let Some(token) = self.start_line()
            {
                return token;
            }
            match self.bytes.get(self.at) {
                None => return self.end(),
                Some(b' ') => self.at += 1,
                Some(b'\t' | b'\r' | b'\x0c') => self.at += 1,
                Some(b'#') => self.comment(),
                Some(b'\n') => {
                    let token = self.here(Tok::Newline);
                    self.at += 1;
                    self.new_line();
                    if self.open == 0 && std::mem::take(&mut self.any) {
                        return token;
                    }
                }
                Some(&byte) => {
                    self.any = true;
                    if let Some(token) = self.word(byte) {
                        return token;
                    }
                }
            }
        }
    }

    /// Measures the indentation of a line that holds something.
    fn start_line(&mut self) -> Option<Token> {
        loop {
            let mut width = 0;
            let mut tab = None;
            while let Some(byte @ (b' ' | b'\t')) = self.bytes.get(self.at) {
                if *byte == b'\t' {
                    tab.get_or_insert(self.here(Tok::Indent));
                }
                width += if *byte == b'\t' { 4 } else { 1 };
                self.at += 1;
            }
            match self.bytes.get(self.at) {
                Some(b'\r') if self.bytes.get(self.at + 1) == Some(&b'\n') => {
                    self.at += 2;
                    self.new_line();
                }
                Some(b'\n') => {
                    self.at += 1;
                    self.new_line();
                }
                Some(b'#') => {
                    self.comment();
                }
                None => {
                    self.at_line_start = false;
                    return None;
                }
                Some(_) => {
                    self.at_line_start = false;
                    if let Some(tab) = tab {
                        self.problem(tab, "a tab in the indentation", "indent with four spaces");
                    }
                    let last = self.indents.last().copied().unwrap_or(0);
                    if width > last {
                        self.indents.push(width);
                        return Some(self.here(Tok::Indent));
                    }
                    return self.dedent_to(width);
                }
            }
        }
    }

    fn dedent_to(&mut self, width: usize) -> Option<Token> {
        let last = self.indents.last().copied().unwrap_or(0);
        let fits = self.indents.contains(&width);
        // A line that fits no block is taken to belong to the next deeper one.
        let keep = if fits {
            width
        } else {
            self.indents.iter().copied().find(|i| *i > width).unwrap_or(last)
        };
        if !fits {
            let place = self.here(Tok::Dedent);
            let help = format!("the lines around it are indented by {keep}");
            self.problem(place, format!("indented by {width}, which fits no block"), &help);
        }
        let mut closed = 0;
        while self.indents.len() > 1 && self.indents.last().is_some_and(|&indent| indent > keep) {
            self.indents.pop();
            closed += 1;
        }
        if closed == 0 {
            return None;
        }
        self.dedents = closed - 1;
        Some(self.here(Tok::Dedent))
    }

    fn end(&mut self) -> Token {
        if std::mem::take(&mut self.any) {
            return self.here(Tok::Newline);
        }
        if self.indents.len() > 1 {
            self.indents.pop();
            return self.here(Tok::Dedent);
        }
        self.here(Tok::End)
    }

    fn comment(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'\n' {
                break;
            }
            self.shift += usize::from(byte & 0xC0 == 0x80);
            self.at += 1;
        }
    }

    /// A name, a number, a string or a sign; nothing if the character belongs nowhere.
    fn word(&mut self, byte: u8) -> Option<Token> {
        let (start, shift) = (self.at, self.shift);
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => {
                while let Some(&byte) = self.bytes.get(self.at) {
                    if byte.is_ascii_alphanumeric() || byte == b'_' {
                        self.at += 1;
                    } else if byte >= 0x80 {
                        let Some(c) = self.text[self.at..].chars().next() else { break };
                        let fits =
                            if self.at == start { starts_name(c) } else { continues_name(c) };
                        if !fits {
                            break;
                        }
                        self.at += c.len_utf8();
                        self.shift += c.len_utf8() - 1;
                    } else {
                        break;
                    }
                }
                if self.at == start {
                    return self.stray();
                }
                let word = &self.text[start..self.at];
                let tok = if is_keyword(word) { Tok::Keyword } else { Tok::Name };
                Some(self.token(tok, start, shift))
            }
            b'0'..=b'9' => Some(self.number()),
            b'.' if self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit) => {
                Some(self.number())
            }
            b'"' | b'\'' => self.string(byte),
            _ => self.sign(byte),
        }
    }

    fn number(&mut self) -> Token {
        let start = self.at;
        let mut tok = Tok::Int;
        let digits = |lexer: &mut Self| {
            while lexer.bytes.get(lexer.at).is_some_and(u8::is_ascii_digit) {
                lexer.at += 1;
            }
        };
        digits(self);
        if self.bytes.get(self.at) == Some(&b'.') {
            tok = Tok::Float;
            self.at += 1;
            digits(self);
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            let signed = matches!(self.bytes.get(self.at + 1), Some(b'+' | b'-'));
            let first = self.at + 1 + usize::from(signed);
            if self.bytes.get(first).is_some_and(u8::is_ascii_digit) {
                tok = Tok::Float;
                self.at = first;
                digits(self);
            }
        }
        let token = self.token(tok, start, self.shift);
        if self.bytes.get(self.at).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_') {
            let place = self.here(Tok::Name);
            self.problem(place, "a letter right after a number", "numbers are decimal");
            while self.bytes.get(self.at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                self.at += 1;
            }
        }
        token
    }

    fn string(&mut self, quote: u8) -> Option<Token> {
        let (start, shift) = (self.at, self.shift);
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => break,
                b'\\' if self.bytes.get(self.at + 1) != Some(&b'\n') => self.at += 2,
                _ if byte == quote => {
                    self.at += 1;
                    return Some(self.token(Tok::Str, start, shift));
                }
                _ => {
                    self.shift += usize::from(byte & 0xC0 == 0x80);
                    self.at += 1;
                }
            }
        }
        self.at = self.at.min(self.bytes.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        let token = self.token(Tok::Str, start, shift);
        self.problem(token, "a string that does not end on its line", "close it with a quote");
        None
    }

    fn sign(&mut self, byte: u8) -> Option<Token> {
        let (start, shift) = (self.at, self.shift);
        let next = self.bytes.get(self.at + 1).copied().unwrap_or(0);
        let two = matches!(
            [byte, next],
            [b'*', b'*']
                | [b'/', b'/']
                | [b'<', b'<']
                | [b'>' | b'-', b'>']
                | [b':' | b'=' | b'!' | b'<' | b'>', b'=']
        );
        if two {
            self.at += 2;
            return Some(self.token(Tok::Sign([byte, next]), start, shift));
        }
        match byte {
            b'(' | b'[' => self.open += 1,
            b')' | b']' => self.open = self.open.saturating_sub(1),
            b',' | b':' | b'=' | b'.' | b'@' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>'
            | b'&' | b'|' | b'^' | b'~' => {}
            _ => return self.stray(),
        }
        self.at += 1;
        Some(self.token(Tok::Sign([byte, 0]), start, shift))
    }

    fn stray(&mut self) -> Option<Token> {
        let (start, shift) = (self.at, self.shift);
        let c = self.text[self.at..].chars().next()?;
        self.at += c.len_utf8();
        self.shift += c.len_utf8() - 1;
        let token = self.token(Tok::Name, start, shift);
        self.problem(token, format!("the character {c:?} belongs nowhere"), "");
        None
    }
}
