//! Where in the source something was written.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, PoisonError, RwLock};

/// The number of an interned file name; four bytes instead of a string in every node.
///
/// Numbers are given out in order of first use and mean nothing outside this process. Names are
/// kept until the process ends, so intern file names, not text that a program can make up freely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileId(u32);

#[derive(Default)]
struct Names {
    ids: HashMap<&'static str, u32>,
    /// The name of id `n` is at `n - 1`; id 0 is the unknown file.
    names: Vec<&'static str>,
}

static NAMES: LazyLock<RwLock<Names>> = LazyLock::new(RwLock::default);

impl FileId {
    /// The file of things that were not written in a file.
    pub const UNKNOWN: Self = Self(0);

    /// The id of this name: the same name gives the same id, from any thread. The empty name is
    /// the [unknown](Self::UNKNOWN) file.
    #[must_use]
    pub fn intern(name: &str) -> Self {
        if name.is_empty() {
            return Self::UNKNOWN;
        }
        // A thread that panicked while it held the lock cannot have left the tables half-changed:
        // the name is pushed last.
        let found = NAMES.read().unwrap_or_else(PoisonError::into_inner).ids.get(name).copied();
        if let Some(id) = found {
            return Self(id);
        }
        let mut table = NAMES.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = table.ids.get(name) {
            return Self(id);
        }
        // Out of ids after four thousand million names: the file is unknown, nothing worse.
        let Ok(id) = u32::try_from(table.names.len() + 1) else { return Self::UNKNOWN };
        let name: &'static str = Box::leak(name.into());
        table.names.push(name);
        table.ids.insert(name, id);
        Self(id)
    }

    /// The name, or the empty string for the unknown file.
    #[must_use]
    pub fn name(self) -> &'static str {
        let Some(position) = self.0.checked_sub(1) else { return "" };
        let table = NAMES.read().unwrap_or_else(PoisonError::into_inner);
        table.names.get(position as usize).copied().unwrap_or("")
    }
}

impl From<&str> for FileId {
    fn from(name: &str) -> Self {
        Self::intern(name)
    }
}

/// A stretch of source text: a file, the place it begins, and the place just after its end.
///
/// Lines and columns count from 1; columns count characters (Unicode scalar values), not bytes.
/// A line or column of 0 means it is not known. Twenty bytes, `Copy`.
///
/// ```
/// use sapwood_types::Span;
///
/// let span = Span::new("example.py", 10, 5, 10, 20);
/// assert_eq!(span.filename(), "example.py");
/// assert_eq!(span.begin_line(), 10);
/// assert_eq!(span.to_string(), "example.py:10:5");
/// assert!(Span::unknown().is_unknown());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    file: FileId,
    begin_line: u32,
    begin_column: u32,
    end_line: u32,
    end_column: u32,
}

impl Span {
    /// A span in a file, given as a name or as an interned [`FileId`].
    #[must_use]
    pub fn new(
        file: impl Into<FileId>,
        begin_line: u32,
        begin_column: u32,
        end_line: u32,
        end_column: u32,
    ) -> Self {
        Self { file: file.into(), begin_line, begin_column, end_line, end_column }
    }

    /// The span of something that was not written anywhere.
    #[must_use]
    pub const fn unknown() -> Self {
        Self { file: FileId::UNKNOWN, begin_line: 0, begin_column: 0, end_line: 0, end_column: 0 }
    }

    /// Whether neither file nor line is known.
    #[must_use]
    pub fn is_unknown(self) -> bool {
        self.file == FileId::UNKNOWN && self.begin_line == 0
    }

    /// The interned file.
    #[must_use]
    pub const fn file(self) -> FileId {
        self.file
    }

    /// The name of the file; empty if it is not known.
    #[must_use]
    pub fn filename(self) -> &'static str {
        self.file.name()
    }

    /// The line of the first character.
    #[must_use]
    pub const fn begin_line(self) -> u32 {
        self.begin_line
    }

    /// The column of the first character.
    #[must_use]
    pub const fn begin_column(self) -> u32 {
        self.begin_column
    }

    /// The line of the place just after the last character.
    #[must_use]
    pub const fn end_line(self) -> u32 {
        self.end_line
    }

    /// The column of the place just after the last character.
    #[must_use]
    pub const fn end_column(self) -> u32 {
        self.end_column
    }

    /// From the beginning of `self` to the end of `last`.
    ///
    /// An unknown side gives the other; spans of two files give `self`.
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        if self.is_unknown() {
            last
        } else if last.is_unknown() || self.file != last.file {
            self
        } else {
            Self { end_line: last.end_line, end_column: last.end_column, ..self }
        }
    }

    /// The smallest span that covers both, in whatever order they stand.
    ///
    /// An unknown side gives the other; spans of two files give `self`.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        if self.is_unknown() {
            return other;
        }
        if other.is_unknown() || self.file != other.file {
            return self;
        }
        let (begin_line, begin_column) =
            (self.begin_line, self.begin_column).min((other.begin_line, other.begin_column));
        let (end_line, end_column) =
            (self.end_line, self.end_column).max((other.end_line, other.end_column));
        Self { file: self.file, begin_line, begin_column, end_line, end_column }
    }
}

impl fmt::Display for Span {
    /// `file:line:column`, or as much of it as is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.filename();
        f.write_str(if name.is_empty() { "<unknown>" } else { name })?;
        if self.begin_line > 0 {
            write!(f, ":{}", self.begin_line)?;
            if self.begin_column > 0 {
                write!(f, ":{}", self.begin_column)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_small() {
        assert_eq!(size_of::<Span>(), 20);
        assert_eq!(Span::default(), Span::unknown());
    }

    #[test]
    fn names_are_interned_once_from_many_threads() {
        let ids: Vec<Vec<FileId>> = std::thread::scope(|scope| {
            let work = || (0..100).map(|n| FileId::intern(&format!("thread{n}.ir"))).collect();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|list| *list == ids[0]));
        assert_eq!(ids[0][42].name(), "thread42.ir");
        assert_eq!(FileId::intern(""), FileId::UNKNOWN);
        assert_eq!(FileId::UNKNOWN.name(), "");
    }

    #[test]
    fn display_gives_what_is_known() {
        assert_eq!(Span::unknown().to_string(), "<unknown>");
        assert_eq!(Span::new("a.ir", 0, 0, 0, 0).to_string(), "a.ir");
        assert_eq!(Span::new("a.ir", 3, 0, 0, 0).to_string(), "a.ir:3");
        assert_eq!(Span::new("a.ir", 3, 7, 3, 8).to_string(), "a.ir:3:7");
        assert_eq!(Span::new("", 3, 7, 3, 8).to_string(), "<unknown>:3:7");
    }

    #[test]
    fn joining() {
        let first = Span::new("a.ir", 1, 5, 1, 9);
        let second = Span::new("a.ir", 2, 1, 2, 4);
        let whole = Span::new("a.ir", 1, 5, 2, 4);
        assert_eq!(first.to(second), whole);
        assert_eq!(first.merge(second), whole);
        assert_eq!(second.merge(first), whole);
        assert_eq!(first.merge(Span::unknown()), first);
        assert_eq!(Span::unknown().merge(first), first);
        assert_eq!(Span::unknown().to(first), first);
        assert_eq!(first.to(Span::unknown()), first);
        let elsewhere = Span::new("b.ir", 1, 1, 1, 2);
        assert_eq!(first.merge(elsewhere), first);
        assert_eq!(first.to(elsewhere), first);
    }
}
