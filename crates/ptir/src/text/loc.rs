//! Locations in the text form: `loc(…)` after instructions and functions, and aliases `#loc7 = loc(…)`, both in the syntax of
//! MLIR. Each is on one line.

use sapwood_types::{Diagnostic, Loc, LocAliases, LocError, Source, Span};

use super::lexer::TokenKind;
use super::parser::{Parser, memory_cost};

impl Parser<'_> {
    /// Reads `loc(…)`, if it is next. Otherwise, and after an error, the location is unknown.
    pub(super) fn loc(&mut self) -> Loc {
        if self.word() != Some("loc") {
            return Loc::UNKNOWN;
        }
        self.charge_memory(memory_cost::ATTR);
        let (text, at) = (self.lexer.whole_text(), self.token.end as usize);
        let aliases = self.loc_aliases.get_or_insert_with(|| {
            let mut aliases = LocAliases::new();
            aliases.define_all(text, 0);
            aliases
        });
        let line_end = text[at..].find('\n').map_or(text.len(), |len| at + len);
        let (loc, end) = match aliases.read(text, at) {
            Ok((loc, end)) if end <= line_end => (loc, end),
            Ok(_) => {
                let message = "a location is on one line".into();
                self.report_loc(LocError { at, message });
                (Loc::UNKNOWN, line_end)
            }
            Err(error) => {
                self.report_loc(error);
                (Loc::UNKNOWN, line_end)
            }
        };
        self.lexer.continue_at(end);
        self.token = self.lexer.next();
        loc
    }

    /// Reads the definition of an alias, `#loc7 = loc(…)`. Returns whether there is one.
    pub(super) fn loc_definition(&mut self) -> bool {
        if self.token.kind != TokenKind::Bad || self.lexer.text(self.token) != "#" {
            return false;
        }
        self.advance();
        if self.token.kind != TokenKind::Word {
            let _ = self.report_expected("the name of a location");
            return true;
        }
        self.advance();
        if self.expect(b'=').is_ok() {
            match self.word() {
                Some("loc") => {
                    let _ = self.loc();
                }
                _ => {
                    let _ = self.report_expected("`loc(…)`");
                }
            }
        }
        true
    }

    // Reports an error, which may be in the definition of an alias. Each use of an alias has the errors of its definition.
    fn report_loc(&mut self, error: LocError) {
        if self.problems.error_count() >= self.options.limit {
            self.problems.error(Span::unknown(), error.message);
            return;
        }
        let source = Source::new("", self.lexer.whole_text());
        let end = (error.at + 1).min(source.text().len());
        let span = source.span(error.at..end).in_file(self.options.file);
        if !self.problems.iter().any(|p| p.span == span && p.message == error.message) {
            self.problems.push(Diagnostic::error(span, error.message));
        }
    }
}
