//! Diagnostics: errors and warnings about a user's program.

use std::fmt;

use crate::Span;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Useful information.
    Note,
    /// Probably a mistake.
    Warning,
    /// The program cannot be used as it is.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A diagnostic: one error or warning about a user's program, with its place.
///
/// Messages are lower case, have no full stop, name the op and give both numbers. `Display` gives one line,
/// `file:line:column: error: message`; [`render`](Self::render) shows the source line with carets, the notes
/// and the help. Long messages are shortened to their beginning and end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity of a diagnostic.
    pub severity: Severity,
    /// The place.
    pub span: Span,
    /// The message.
    pub message: String,
    /// Further information, such as the place of the other half of a conflict. The span may be unknown.
    pub notes: Vec<(Span, String)>,
    /// The suggested correction, if it is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates a diagnostic of any severity.
    #[must_use]
    pub fn new(severity: Severity, span: Span, message: impl Into<String>) -> Self {
        Self { severity, span, message: shortened(message.into()), notes: Vec::new(), help: None }
    }

    /// Creates an error.
    #[must_use]
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, span, message)
    }

    /// Creates a warning.
    #[must_use]
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, span, message)
    }

    /// Adds a note without a place.
    #[must_use]
    pub fn with_note(self, message: impl Into<String>) -> Self {
        self.with_note_at(Span::unknown(), message)
    }

    /// Adds a note that points somewhere.
    #[must_use]
    pub fn with_note_at(mut self, span: Span, message: impl Into<String>) -> Self {
        self.notes.push((span, shortened(message.into())));
        self
    }

    /// Sets the suggested correction.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shortened(help.into()));
        self
    }
}

/// The most bytes of a message that are kept: a program may contain names of megabytes.
const MAX_MESSAGE_BYTES: usize = 1000;

// Shortens a long message to its beginning and end.
fn shortened(message: String) -> String {
    if message.len() <= MAX_MESSAGE_BYTES {
        return message;
    }
    let cut = |at: usize| (at..message.len()).find(|&at| message.is_char_boundary(at));
    let (Some(head), Some(tail)) =
        (cut(MAX_MESSAGE_BYTES / 2), cut(message.len() - MAX_MESSAGE_BYTES / 4))
    else {
        return message;
    };
    format!("{} … {}", &message[..head], &message[tail..])
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.span.is_unknown() {
            write!(f, "{}: ", self.span)?;
        }
        write!(f, "{}: {}", self.severity, self.message)
    }
}

impl std::error::Error for Diagnostic {}

/// A collection of diagnostics. Keeps the first ones up to a limit and counts the rest, so that a hostile input
/// cannot fill memory with errors.
///
/// If no error was kept when the limit was reached, the first error replaces the last kept diagnostic, so that
/// the errors of a program are never all hidden by warnings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    limit: usize,
    errors: usize,
    total: usize,
}

impl Diagnostics {
    /// The default number of diagnostics that are kept.
    pub const DEFAULT_LIMIT: usize = 100;

    /// Creates an empty collection with the default limit.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }

    /// Creates an empty collection that keeps at most `limit` diagnostics, and at least one.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { kept: Vec::new(), limit: limit.max(1), errors: 0, total: 0 }
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.total += 1;
        let is_error = diagnostic.severity == Severity::Error;
        if self.kept.len() < self.limit {
            self.kept.push(diagnostic);
        } else if is_error && self.errors == 0 {
            self.kept.pop();
            self.kept.push(diagnostic);
        }
        self.errors += usize::from(is_error);
    }

    /// Sets this file in all diagnostics without a file.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<crate::FileId>) -> Self {
        let file = file.into();
        for diagnostic in &mut self.kept {
            diagnostic.span = diagnostic.span.in_file(file);
        }
        self
    }

    /// Adds an error.
    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::error(span, message));
    }

    /// Adds a warning.
    pub fn warning(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::warning(span, message));
    }

    /// Adds all diagnostics of another collection, and its counts.
    pub fn append(&mut self, other: Self) {
        let (dropped, errors) = (other.dropped(), other.errors);
        let errors_before = self.errors;
        for diagnostic in other.kept {
            self.push(diagnostic);
        }
        self.total += dropped;
        self.errors = errors_before + errors;
    }

    /// Returns the diagnostics that were kept, in the order they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.kept.iter()
    }

    /// Returns the number of diagnostics, kept or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.total
    }

    /// Returns whether there are no diagnostics.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns the number of errors, kept or not.
    #[must_use]
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Returns whether there is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Returns the number of diagnostics that were counted but not kept.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.total - self.kept.len()
    }

    /// Sorts the kept diagnostics by file name, line and column; the sort is stable.
    pub fn sort(&mut self) {
        self.kept.sort_by_key(|d| (d.span.filename(), d.span.begin_line(), d.span.begin_column()));
    }

    /// Returns the diagnostics that were kept, by value.
    #[must_use]
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.kept
    }

    /// Returns `Ok` with the value unless there are errors, and all diagnostics otherwise. Warnings are lost on
    /// success; read them before.
    ///
    /// # Errors
    /// If there is an error.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.has_errors() { Err(self) } else { Ok(value) }
    }
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        let mut all = Self::new();
        all.push(diagnostic);
        all
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, iter: I) {
        for diagnostic in iter {
            self.push(diagnostic);
        }
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.kept.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Diagnostics {
    /// Writes one line per diagnostic, with its help in a second one, and the number of the others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, diagnostic) in self.kept.iter().enumerate() {
            let newline = if position > 0 { "\n" } else { "" };
            write!(f, "{newline}{diagnostic}")?;
            if let Some(help) = &diagnostic.help {
                write!(f, "\n  help: {help}")?;
            }
        }
        match self.dropped() {
            0 => Ok(()),
            dropped => write!(f, "\n… and {dropped} more"),
        }
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_shows_help() {
        let mut list = Diagnostics::new();
        list.push(Diagnostic::error(Span::unknown(), "no").with_help("say yes"));
        list.push(Diagnostic::warning(Span::unknown(), "hm"));
        assert_eq!(list.to_string(), "error: no\n  help: say yes\nwarning: hm");
    }

    #[test]
    fn display_is_one_line() {
        let error = Diagnostic::error(Span::new("d.ir", 2, 3, 2, 4), "no").with_note("really");
        assert_eq!(error.to_string(), "d.ir:2:3: error: no");
        assert_eq!(Diagnostic::warning(Span::unknown(), "hm").to_string(), "warning: hm");
    }

    #[test]
    fn the_rest_is_counted() {
        let mut all = Diagnostics::with_limit(2);
        for n in 0..5 {
            all.error(Span::new("d.ir", n + 1, 1, n + 1, 2), format!("number {n}"));
        }
        assert_eq!((all.len(), all.error_count(), all.dropped()), (5, 5, 3));
        let text = "d.ir:1:1: error: number 0\nd.ir:2:1: error: number 1\n… and 3 more";
        assert_eq!(all.to_string(), text);
        assert!(all.into_result(()).is_err());
    }

    #[test]
    fn an_error_is_kept_among_many_warnings() {
        let mut all = Diagnostics::with_limit(2);
        for _ in 0..3 {
            all.warning(Span::unknown(), "mild");
        }
        assert!(!all.has_errors());
        all.error(Span::unknown(), "bad");
        all.error(Span::unknown(), "worse");
        assert_eq!(all.to_string(), "warning: mild\nerror: bad\n… and 3 more");
    }

    #[test]
    fn appending_adds_up() {
        let mut first = Diagnostics::with_limit(3);
        let mut second = Diagnostics::with_limit(2);
        first.warning(Span::unknown(), "w");
        for _ in 0..4 {
            second.error(Span::unknown(), "e");
        }
        first.append(second);
        assert_eq!((first.len(), first.error_count(), first.dropped()), (5, 4, 2));
        assert!(Diagnostics::new().into_result(7).is_ok());
    }

    #[test]
    fn sorting_is_by_place_and_stable() {
        let mut all = Diagnostics::new();
        all.error(Span::new("b.ir", 1, 1, 1, 1), "third");
        all.error(Span::new("a.ir", 9, 1, 9, 1), "first");
        all.error(Span::new("a.ir", 9, 1, 9, 1), "second");
        all.sort();
        let order: Vec<_> = all.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(order, ["first", "second", "third"]);
    }
}
