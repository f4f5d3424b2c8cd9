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
        if self.loc_aliases.is_none() {
            let mut aliases = LocAliases::new();
            let twice = aliases.define_all(text);
            self.loc_aliases = Some(aliases);
            twice.into_iter().for_each(|error| self.report_loc(error));
        }
        let aliases = self.loc_aliases.get_or_insert_default();
        let on_one_line = |(loc, end): (Loc, usize)| match text[at..end].contains('\n') {
            true => Err(LocError { at, message: "a location is on one line".into() }),
            false => Ok((loc, end)),
        };
        let (loc, end) = aliases.read(text, at).and_then(on_one_line).unwrap_or_else(|error| {
            self.report_loc(error);
            // The end of the line is searched only after an error: the whole text may be one line.
            (Loc::UNKNOWN, text[at..].find('\n').map_or(text.len(), |len| at + len))
        });
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
        if !self.loc_errors.insert(error.at) {
            return;
        }
        let source = Source::new("", self.lexer.whole_text());
        let end = (error.at + 1).min(source.text().len());
        let span = source.span(error.at..end).in_file(self.options.file);
        self.problems.push(Diagnostic::error(span, error.message));
    }
}
