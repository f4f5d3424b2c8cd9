//! The text of locations, in the syntax of MLIR: writing, inline or as a table of aliases.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::{Loc, LocKind};
use crate::mlir_string::write_mlir_string;

/// A part of the text of a location.
enum Piece {
    Text(String),
    Nested(Loc),
}

// Returns the text of a location in parts, in order.
fn pieces(loc: Loc) -> Vec<Piece> {
    let text = |text: &str| Piece::Text(text.into());
    let quoted = |name: &str| {
        let mut out = String::new();
        write_mlir_string(&mut out, name);
        out
    };
    match loc.kind() {
        LocKind::Unknown => vec![text("unknown")],
        LocKind::File { file, range: [line, column, last_line, last_column] } => {
            let mut out = format!("{}:{line}:{column}", quoted(file.name()));
            if last_line != line {
                let _ = write!(out, " to {last_line}:{last_column}");
            } else if last_column != column {
                let _ = write!(out, " to :{last_column}");
            }
            vec![Piece::Text(out)]
        }
        LocKind::Name { name, child: Loc::UNKNOWN } => vec![Piece::Text(quoted(name))],
        LocKind::Name { name, child } => {
            vec![Piece::Text(quoted(name) + "("), Piece::Nested(child), text(")")]
        }
        LocKind::CallSite { callee, caller } => vec![
            text("callsite("),
            Piece::Nested(callee),
            text(" at "),
            Piece::Nested(caller),
            text(")"),
        ],
        LocKind::Fused { metadata, locs } => {
            let mut out = vec![match metadata {
                "" => text("fused["),
                metadata => Piece::Text(format!("fused<{metadata}>[")),
            }];
            for (i, &loc) in locs.iter().enumerate() {
                if i > 0 {
                    out.push(text(", "));
                }
                out.push(Piece::Nested(loc));
            }
            out.push(text("]"));
            out
        }
        LocKind::Dialect(attribute) => vec![text(attribute)],
    }
}

/// Returns the text of a location without aliases, with at most this many nested locations.
pub(super) fn inline_text(loc: Loc, limit: usize) -> String {
    let (mut out, mut left) = (String::new(), limit);
    let mut stack = vec![Piece::Nested(loc)];
    while let Some(piece) = stack.pop() {
        match piece {
            Piece::Text(text) => out.push_str(&text),
            Piece::Nested(_) if left == 0 => out.push_str("..."),
            Piece::Nested(loc) => {
                left -= 1;
                stack.extend(pieces(loc).into_iter().rev());
            }
        }
    }
    out
}

/// The locations that a text uses, as aliases `#loc0`, `#loc1`, … that are defined at its end. Each location is
/// written once, whatever the number of its uses.
#[derive(Debug, Default)]
pub struct LocTable {
    numbers: HashMap<Loc, usize>,
    /// The numbered locations. Nested locations are before those that contain them.
    locs: Vec<Loc>,
}

impl LocTable {
    /// Creates an empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether no location was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.locs.is_empty()
    }

    /// Returns the number of a location, and adds it and those that it contains if they are new.
    pub fn number(&mut self, loc: Loc) -> usize {
        if let Some(&number) = self.numbers.get(&loc) {
            return number;
        }
        // A location is visited twice: first its parts are pushed, then it is numbered.
        let mut stack = vec![(loc, false)];
        while let Some((loc, parts_done)) = stack.pop() {
            if self.numbers.contains_key(&loc) {
                continue;
            }
            if parts_done {
                self.numbers.insert(loc, self.locs.len());
                self.locs.push(loc);
                continue;
            }
            stack.push((loc, true));
            let nested = pieces(loc).into_iter().rev().filter_map(|piece| match piece {
                Piece::Nested(loc) => Some((loc, false)),
                Piece::Text(_) => None,
            });
            stack.extend(nested);
        }
        self.numbers[&loc]
    }

    /// Writes `loc(#loc7)`.
    pub fn write_use(&mut self, out: &mut String, loc: Loc) {
        let _ = write!(out, "loc(#loc{})", self.number(loc));
    }

    /// Writes the definitions, one per line.
    pub fn write_definitions(&self, out: &mut String) {
        for (number, text) in self.texts().enumerate() {
            let _ = writeln!(out, "#loc{number} = loc({text})");
        }
    }

    /// Returns the texts of the locations in the order of their numbers; nested locations are written `#loc7`.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.locs.iter().map(|&loc| {
            let mut out = String::new();
            for piece in pieces(loc) {
                match piece {
                    Piece::Text(text) => out.push_str(&text),
                    Piece::Nested(loc) => {
                        let _ = write!(out, "#loc{}", self.numbers[&loc]);
                    }
                }
            }
            out
        })
    }
}
