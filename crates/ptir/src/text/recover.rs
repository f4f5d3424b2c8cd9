//! Error recovery of the parser. After a syntax error, parsing continues at the types or regions of the same
//! instruction, at the next instruction, or at the end of the body. Braces stay balanced.

use super::lexer::TokenKind;
use super::parser::Parser;

impl Parser<'_> {
    /// Skips the unreadable rest of an instruction: up to its types, one of its regions, the next instruction or the
    /// end of the body. Never skips past the braces of the body.
    pub(super) fn resume(&mut self) {
        let mut braces = std::mem::take(&mut self.braces);
        loop {
            match self.token.kind {
                TokenKind::End => return,
                TokenKind::Punct(b'}') if braces == 0 => return,
                TokenKind::Punct(b'}') => braces -= 1,
                TokenKind::Punct(b'{') if braces == 0 && !self.opens_attributes() => return,
                TokenKind::Punct(b'{') => braces += 1,
                TokenKind::Punct(b':') if braces == 0 => return,
                TokenKind::Punct(b'(') if braces == 0 && self.opens_region() => return,
                // Attributes contain no values, so this is certain even if a brace was not closed.
                TokenKind::Value if self.starts_results() => return,
                TokenKind::Word if self.starts_function() || self.starts_op(braces > 0) => return,
                _ => {}
            }
            self.advance();
        }
    }

    /// Skips to the next function.
    pub(super) fn skip_to_function(&mut self) {
        while self.token.kind != TokenKind::End && !self.starts_function() {
            self.advance();
        }
    }

    /// Skips the rest of a parameter. Returns whether the list continues or is closed here.
    pub(super) fn skip_to_param(&mut self) -> bool {
        // Lists of extents may contain commas.
        let mut depth = 0usize;
        loop {
            match self.token.kind {
                TokenKind::End | TokenKind::Arrow | TokenKind::Punct(b'{' | b'}') => return false,
                TokenKind::Punct(b'[' | b'<' | b'(') => depth += 1,
                TokenKind::Punct(b')') if depth == 0 => return true,
                TokenKind::Punct(b']' | b'>' | b')') => depth = depth.saturating_sub(1),
                TokenKind::Punct(b',') if depth == 0 => {
                    self.advance();
                    return true;
                }
                TokenKind::Word if self.starts_function() => return false,
                _ => {}
            }
            self.advance();
        }
    }

    /// Returns whether `func @name` follows, which occurs only at the start of a function.
    pub(super) fn starts_function(&self) -> bool {
        self.word() == Some("func") && self.lexer.lookahead().next().kind == TokenKind::Func
    }

    /// Returns whether values and `=` follow, which start an instruction.
    pub(super) fn starts_results(&self) -> bool {
        if self.token.start < self.no_results_before.get() {
            return false;
        }
        let mut ahead = self.lexer.lookahead();
        loop {
            let next = ahead.next();
            match next.kind {
                TokenKind::Punct(b'=') => return true,
                TokenKind::Punct(b',') => {
                    let value = ahead.next();
                    if value.kind != TokenKind::Value {
                        self.no_results_before.set(value.start);
                        return false;
                    }
                }
                _ => {
                    self.no_results_before.set(next.start);
                    return false;
                }
            }
        }
    }

    // Returns whether the name of an op and an operand follow. Inside attributes, or if the op is unknown, only a
    // value on a new line is clear enough.
    fn starts_op(&self, inside: bool) -> bool {
        let name = self.lexer.text(self.token);
        let def = self.options.registry.by_name(name);
        let known = def.is_some() || name.contains('.');
        let fresh = self.token.line > self.last_end.0;
        match self.lexer.lookahead().next().kind {
            TokenKind::Value => known || fresh,
            TokenKind::Punct(b'}') => !inside && def.is_some_and(|d| d.terminator),
            TokenKind::Int
            | TokenKind::Float
            | TokenKind::Hex
            | TokenKind::Func
            | TokenKind::Str => known && !inside,
            TokenKind::Punct(b'{' | b'(') => known && !inside,
            TokenKind::Word => known && !inside && fresh,
            _ => false,
        }
    }

    /// Returns whether parentheses before a region follow, with parameters or empty.
    pub(super) fn opens_region(&self) -> bool {
        let mut ahead = self.lexer.lookahead();
        match ahead.next().kind {
            TokenKind::Punct(b')') => true,
            TokenKind::Value => ahead.next().kind == TokenKind::Punct(b':'),
            _ => false,
        }
    }

    /// Returns whether a brace opens attributes: it does before `key =` and before the next brace. Any other brace
    /// opens a body.
    pub(super) fn opens_attributes(&self) -> bool {
        let mut ahead = self.lexer.lookahead();
        match ahead.next().kind {
            TokenKind::Punct(b'}') => true,
            TokenKind::Word | TokenKind::Str => ahead.next().kind == TokenKind::Punct(b'='),
            _ => false,
        }
    }
}
