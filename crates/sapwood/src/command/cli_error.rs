//! The error that ends a verb.

use sapwood_types::{Diagnostics, Source, SourceErrors, catch_panic, did_you_mean};
use serde_json::{Value, json};

use super::command_name;
use super::diagnostics::{diagnostics_json, render_diagnostics};

/// The reason why a verb could not do its work.
#[derive(Debug)]
pub(crate) enum CliError {
    /// An error outside of any program: files, arguments.
    Plain(String),
    /// Errors in programs, with the sources that their spans refer to.
    Program { diagnostics: Diagnostics, sources: Vec<Source> },
    /// The reader of standard output has closed the pipe, as `| head` does. Nothing is printed about it.
    ClosedPipe,
}

/// The exit code after a closed pipe: 128 plus the number of SIGPIPE.
const CLOSED_PIPE_EXIT_CODE: u8 = 141;

/// The largest number of known names that [`CliError::unknown_name`] lists if none is similar.
const MAX_LISTED_NAMES: usize = 8;

impl From<SourceErrors> for CliError {
    fn from(errors: SourceErrors) -> Self {
        let SourceErrors { diagnostics, sources } = errors;
        let first = diagnostics.iter().next();
        match first.filter(|first| diagnostics.len() == 1 && first.span.is_unknown()) {
            Some(plain) => Self::Plain(plain.message.clone()),
            None => Self::Program { diagnostics, sources },
        }
    }
}

impl CliError {
    /// Creates an error that is not about the text of a program.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Plain(message.into())
    }

    /// Calls a function that calls predicates of a user. If it panics, the message is the error.
    pub(crate) fn catching<R>(work: impl FnOnce() -> R) -> Result<R, Self> {
        catch_panic(work).map_err(|message| Self::new(format!("a panic: {message}")))
    }

    /// Creates an error from the diagnostics about one source.
    pub(crate) fn in_program(diagnostics: Diagnostics, source: &Source) -> Self {
        Self::Program { diagnostics, sources: vec![source.clone()] }
    }

    /// Creates the error for an unknown name, with the most similar known name, or with all of them if they are few.
    pub(crate) fn unknown_name<'a>(
        kind: &str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = match (did_you_mean(name, known.iter().copied()), known.len()) {
            (Some(similar), _) => format!("; did you mean `{similar}`?"),
            (None, 1..=MAX_LISTED_NAMES) => format!("; expected `{}`", known.join("`, `")),
            _ => String::new(),
        };
        Self::new(format!("unknown {kind} `{name}`{hint}"))
    }

    /// Returns the exit code of the process.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Plain(_) | Self::Program { .. } => 2,
            Self::ClosedPipe => CLOSED_PIPE_EXIT_CODE,
        }
    }

    /// Returns the message for people. Each diagnostic is `file:line:column: error: …`, then its line with a caret.
    pub(crate) fn text(&self, color: bool) -> String {
        match self {
            Self::Plain(message) => format!("{}: {message}\n", command_name()),
            Self::Program { diagnostics, sources } => {
                render_diagnostics(diagnostics, sources, color)
            }
            Self::ClosedPipe => String::new(),
        }
    }

    /// Returns the error as JSON.
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Plain(message) => json!({ "error": message }),
            Self::Program { diagnostics, .. } => json!({
                "error": diagnostics.to_string().lines().next().unwrap_or_default(),
                "diagnostics": diagnostics_json(diagnostics),
            }),
            Self::ClosedPipe => Value::Null,
        }
    }
}
