//! The lexer of the rule language.

use std::ops::Range;

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A name: `transpose`, `x`, `toy.print`.
    Word,
    Int,
    Float,
    /// `"…"`
    Str,
    /// `@f`
    Func,
    /// One of `( ) [ ] { } , = : . | ?`
    Punct(u8),
    /// `=>`
    Arrow,
    /// `:=`
    Define,
    /// One of `< <= > >= == !=`
    Compare,
    /// `..`
    Dots,
    /// A byte that starts no token.
    Reported,
    End,
}

#[derive(Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The comment lines directly before the last token.
    pub(super) comment: String,
}

fn starts_word(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

fn in_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, at, comment: String::new() }
    }

    /// Returns the next token and its byte range.
    pub(super) fn next(&mut self) -> (Token, Range<usize>) {
        self.space();
        let start = self.at;
        let token = self.scan();
        (token, start..self.at)
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        self.comment.clear();
        let mut lines = 0;
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            lines += rest[..rest.len() - trimmed.len()].matches('\n').count();
            // A blank line separates a comment from the next rule.
            if lines > 1 {
                self.comment.clear();
            }
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            let end = trimmed.find('\n').unwrap_or(trimmed.len());
            self.comment.push_str(trimmed[2..end].trim());
            self.comment.push('\n');
            self.at += end;
            lines = 0;
        }
    }

    fn scan(&mut self) -> Token {
        let Some(&first) = self.text.as_bytes().get(self.at) else { return Token::End };
        match first {
            b'=' if self.byte(1) == b'>' => self.take(2, Token::Arrow),
            b'.' if self.byte(1) == b'.' => self.take(2, Token::Dots),
            b':' if self.byte(1) == b'=' => self.take(2, Token::Define),
            b'<' | b'>' | b'=' | b'!' if self.byte(1) == b'=' => self.take(2, Token::Compare),
            b'<' | b'>' => self.take(1, Token::Compare),
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b'=' | b':' | b'.' | b'|' | b'?' => {
                self.take(1, Token::Punct(first))
            }
            b'"' => self.string(),
            b'@' => {
                self.at += 1;
                let start = self.at;
                self.word();
                if self.at > start { Token::Func } else { Token::Reported }
            }
            b'-' | b'0'..=b'9' => self.number(),
            _ if starts_word(first) => {
                self.word();
                Token::Word
            }
            _ => {
                self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                Token::Reported
            }
        }
    }

    fn take(&mut self, bytes: usize, token: Token) -> Token {
        self.at += bytes;
        token
    }

    // A dot belongs to a word if a letter follows: `toy.print`, but not `s.0` or `xs..`.
    fn word(&mut self) {
        while in_word(self.byte(0)) || (self.byte(0) == b'.' && starts_word(self.byte(1))) {
            self.at += 1;
        }
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
        self.at > start
    }

    fn number(&mut self) -> Token {
        if self.byte(0) == b'-' {
            self.at += 1;
        }
        if !self.digits() {
            if self.text[self.at..].starts_with("inf") {
                self.at += 3;
                return Token::Float;
            }
            return Token::Reported;
        }
        let mut token = Token::Int;
        if self.byte(0) == b'.' && self.byte(1).is_ascii_digit() {
            self.at += 1;
            self.digits();
            token = Token::Float;
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() {
                self.at += 1 + sign;
                self.digits();
                token = Token::Float;
            }
        }
        token
    }

    // Strings do not span lines and have no escapes.
    fn string(&mut self) -> Token {
        self.at += 1;
        let rest = &self.text[self.at..];
        match rest.find(['"', '\n']) {
            Some(n) if rest.as_bytes()[n] == b'"' => {
                self.at += n + 1;
                Token::Str
            }
            Some(n) => self.take(n, Token::Reported),
            None => self.take(rest.len(), Token::Reported),
        }
    }
}
