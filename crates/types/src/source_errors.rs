//! Diagnostics together with the texts they refer to.

use std::fmt;

use crate::{Diagnostic, Diagnostics, Source, Span};

/// Errors in texts, with the texts that their spans refer to. An error about no text, such as a file that cannot be read, has
/// an unknown span.
#[derive(Clone, Default)]
pub struct SourceErrors {
    /// The errors.
    pub diagnostics: Diagnostics,
    /// The texts.
    pub sources: Vec<Source>,
}

impl SourceErrors {
    /// Creates an error that is about no text.
    #[must_use]
    pub fn plain(message: impl Into<String>) -> Self {
        let diagnostic = Diagnostic::error(Span::unknown(), message);
        Self { diagnostics: diagnostic.into(), sources: Vec::new() }
    }

    /// Creates errors in one text.
    #[must_use]
    pub fn in_source(diagnostics: impl Into<Diagnostics>, source: &Source) -> Self {
        Self { diagnostics: diagnostics.into(), sources: vec![source.clone()] }
    }

    /// Adds the errors and texts of others that are not in the list yet. Errors with an unknown span are moved to this span.
    pub fn append_at(&mut self, span: Span, others: Self) {
        for mut diagnostic in others.diagnostics.into_vec() {
            if diagnostic.span.is_unknown() {
                diagnostic.span = span;
            }
            if !self.diagnostics.iter().any(|known| *known == diagnostic) {
                self.diagnostics.push(diagnostic);
            }
        }
        for source in others.sources {
            if !self.sources.iter().any(|known| known.file() == source.file()) {
                self.sources.push(source);
            }
        }
    }

    /// Renders all errors with their lines and carets, without colours.
    #[must_use]
    pub fn render(&self) -> String {
        self.diagnostics.render_in(&self.sources, false)
    }

    /// Returns `Ok` with the value unless there are errors.
    ///
    /// # Errors
    /// If there is an error.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.diagnostics.has_errors() { Err(self) } else { Ok(value) }
    }
}

impl fmt::Display for SourceErrors {
    /// Writes one line for each error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostics.fmt(f)
    }
}

impl fmt::Debug for SourceErrors {
    /// Writes the errors as `Display` does: `main` prints the error that it returns in this form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SourceErrors {}
