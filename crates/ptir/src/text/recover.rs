//! Where reading goes on after a problem of syntax: at the types or regions of the same instruction, at the next one, or at
//! the end of the body. Braces stay balanced.

use super::lexer::Kind;
use super::parser::Parser;

impl Parser<'_> {
    /// Passes over the rest of what cannot be read of an instruction: up to its types, a region of it, the next
    /// instruction or the end of the body. Never beyond the braces of the body.
    pub(super) fn resume(&mut self) {
        let mut braces = std::mem::take(&mut self.braces);
        loop {
            match self.token.kind {
                Kind::End => return,
                Kind::Punct(b'}') if braces == 0 => return,
                Kind::Punct(b'}') => braces -= 1,
                Kind::Punct(b'{') if braces == 0 && !self.opens_attributes() => return,
                Kind::Punct(b'{') => braces += 1,
                Kind::Punct(b':') if braces == 0 => return,
                Kind::Punct(b'(') if braces == 0 && self.opens_region() => return,
                // No attribute holds a value, so this is certain even if a brace was not closed.
                Kind::Value if self.starts_results() => return,
                Kind::Word if self.starts_function() || self.starts_op(braces > 0) => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Passes over everything up to the next function.
    pub(super) fn skip_to_function(&mut self) {
        while self.token.kind != Kind::End && !self.starts_function() {
            self.bump();
        }
    }

    /// Passes over the rest of a parameter. Gives whether the list goes on or is closed here.
    pub(super) fn skip_to_param(&mut self) -> bool {
        // Lists of extents may hold commas.
        let mut depth = 0usize;
        loop {
            match self.token.kind {
                Kind::End | Kind::Arrow | Kind::Punct(b'{' | b'}') => return false,
                Kind::Punct(b'[' | b'<' | b'(') => depth += 1,
                Kind::Punct(b')') if depth == 0 => return true,
                Kind::Punct(b']' | b'>' | b')') => depth = depth.saturating_sub(1),
                Kind::Punct(b',') if depth == 0 => {
                    self.bump();
                    return true;
                }
                Kind::Word if self.starts_function() => return false,
                _ => {}
            }
            self.bump();
        }
    }

    /// `func @name`, which stands nowhere else.
    pub(super) fn starts_function(&self) -> bool {
        self.word() == Some("func") && self.lexer.ahead().next().kind == Kind::Func
    }

    /// Values that are followed by `=` begin an instruction, wherever they stand.
    pub(super) fn starts_results(&self) -> bool {
        if self.token.start < self.no_start_before.get() {
            return false;
        }
        let mut ahead = self.lexer.ahead();
        loop {
            let next = ahead.next();
            match next.kind {
                Kind::Punct(b'=') => return true,
                Kind::Punct(b',') => {
                    let value = ahead.next();
                    if value.kind != Kind::Value {
                        self.no_start_before.set(value.start);
                        return false;
                    }
                }
                _ => {
                    self.no_start_before.set(next.start);
                    return false;
                }
            }
        }
    }

    // The name of an op before an operand. Inside of attributes, or if the op is not known, only a value and a new line
    // are clear enough.
    fn starts_op(&self, inside: bool) -> bool {
        let name = self.lexer.text(self.token);
        let def = self.options.registry.by_name(name);
        let known = def.is_some() || name.contains('.');
        let fresh = self.token.line > self.last_end.0;
        match self.lexer.ahead().next().kind {
            Kind::Value => known || fresh,
            Kind::Punct(b'}') => !inside && def.is_some_and(|d| d.terminator),
            Kind::Int | Kind::Float | Kind::Hex | Kind::Func | Kind::Str => known && !inside,
            Kind::Punct(b'{' | b'(') => known && !inside,
            Kind::Word => known && !inside && fresh,
            _ => false,
        }
    }

    /// Parentheses before a region hold parameters or nothing.
    pub(super) fn opens_region(&self) -> bool {
        let mut ahead = self.lexer.ahead();
        match ahead.next().kind {
            Kind::Punct(b')') => true,
            Kind::Value => ahead.next().kind == Kind::Punct(b':'),
            _ => false,
        }
    }

    /// A brace before `key =`, or before the next brace, holds attributes; any other a body.
    pub(super) fn opens_attributes(&self) -> bool {
        let mut ahead = self.lexer.ahead();
        match ahead.next().kind {
            Kind::Punct(b'}') => true,
            Kind::Word | Kind::Str => ahead.next().kind == Kind::Punct(b'='),
            _ => false,
        }
    }
}
