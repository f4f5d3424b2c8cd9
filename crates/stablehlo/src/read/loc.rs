//! Locations, `loc(…)`, which may follow ops, functions, parameters and modules.

use sapwood_types::{Diagnostic, Loc};

use super::{AlreadyReported, ModuleReader, ReadResult};

impl ModuleReader<'_> {
    /// Reads a location, if there is one. Otherwise, the location is unknown.
    pub(super) fn read_loc(&mut self) -> ReadResult<Loc> {
        if !self.c.eat_word("loc") {
            return Ok(Loc::UNKNOWN);
        }
        match self.tables.locs.read(self.c.text, self.c.at) {
            Ok((loc, end)) => {
                self.c.at = end;
                Ok(loc)
            }
            Err(error) => {
                let end = (error.at + 1).min(self.c.text.len());
                let span = self.source.span(error.at..end);
                // Each use of an alias has the errors of its definition.
                if !self.problems.iter().any(|p| p.span == span && p.message == error.message) {
                    self.problems.push(Diagnostic::error(span, error.message));
                }
                Err(AlreadyReported)
            }
        }
    }

    /// Reads a location for the fast path: in the form that tools print, an alias, and without a report of errors. Returns `None`
    /// for all others.
    #[inline]
    pub(super) fn try_read_loc(&mut self) -> Option<Loc> {
        if self.c.peek() != b'l' || !self.c.looking_at_word("loc") {
            return Some(Loc::UNKNOWN);
        }
        if !self.c.text[self.c.at..].starts_with("loc(#") {
            return None;
        }
        self.c.at += "loc".len();
        let (loc, end) = self.tables.locs.read(self.c.text, self.c.at).ok()?;
        self.c.at = end;
        Some(loc)
    }
}
