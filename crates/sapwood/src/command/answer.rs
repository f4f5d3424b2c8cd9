//! How a verb ends: with an answer, or in trouble.

use sapwood_types::{Diagnostic, Diagnostics, Source, Span};
use serde_json::{Value, json};

/// What a verb answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    /// Good.
    Yes,
    /// The answer is no: different, not well-formed.
    No,
    /// Some of many files could not be read; what is wrong with them has been said.
    Trouble,
}

impl Answer {
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::Trouble => 2,
        }
    }
}

/// Why a verb could not answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Something around the program: files, arguments.
    Plain(String),
    /// Something in a program, with the texts it points into.
    Program { diagnostics: Diagnostics, sources: Vec<Source> },
    /// The reader of standard output went away, as `| head` does. There is nothing to say about it.
    ClosedPipe,
}

/// The exit code of a process that a closed pipe ends: 128 and the number of the signal.
const CLOSED_PIPE_CODE: u8 = 141;

impl Trouble {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self::Plain(message.into())
    }

    pub(super) fn in_program(diagnostics: Diagnostics, source: &Source) -> Self {
        Self::Program { diagnostics, sources: vec![source.clone()] }
    }

    /// The exit code.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Plain(_) | Self::Program { .. } => 2,
            Self::ClosedPipe => CLOSED_PIPE_CODE,
        }
    }

    /// The message for people: each complaint as `file:line:column: error: …`, then its line with a caret.
    pub(super) fn text(&self, color: bool) -> String {
        match self {
            Self::Plain(message) => format!("sapwood: {message}\n"),
            Self::Program { diagnostics, sources } => render(diagnostics, sources, color),
            Self::ClosedPipe => String::new(),
        }
    }

    pub(super) fn json(&self) -> Value {
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

/// Complaints for people.
pub(super) fn render(diagnostics: &Diagnostics, sources: &[Source], color: bool) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        text += &diagnostic.to_string();
        text.push('\n');
        text += &excerpt(diagnostic, sources, color);
    }
    if diagnostics.dropped() > 0 {
        text += &format!("… and {} more\n", diagnostics.dropped());
    }
    text
}

// What is drawn below the title and the place, which the first line says already.
fn excerpt(diagnostic: &Diagnostic, sources: &[Source], color: bool) -> String {
    let drawn = diagnostic.render_in(sources, color);
    let skipped = if diagnostic.span.is_unknown() { 1 } else { 2 };
    drawn.lines().skip(skipped).flat_map(|line| [line, "\n"]).collect()
}

/// The line of a place with a caret under it, as complaints draw it; empty if its text is not known.
pub(super) fn pointed(span: Span, sources: &[Source], color: bool) -> String {
    excerpt(&Diagnostic::error(span, ""), sources, color)
}

/// `, line 7`; empty if that is not known.
pub(super) fn in_line(span: Span) -> String {
    match span.begin_line() {
        0 => String::new(),
        line => format!(", line {line}"),
    }
}

/// A place for programs; null if it is not known.
pub(super) fn place_json(span: Span) -> Value {
    match span.begin_line() {
        0 => Value::Null,
        _ => json!({
            "file": span.filename(),
            "line": span.begin_line(),
            "column": span.begin_column(),
            "end_line": span.end_line(),
            "end_column": span.end_column(),
        }),
    }
}

pub(super) fn diagnostics_json(diagnostics: &Diagnostics) -> Value {
    let place = place_json;
    let one = |d: &Diagnostic| {
        let notes: Vec<Value> = d
            .notes
            .iter()
            .map(|(span, note)| json!({ "message": note, "span": place(*span) }))
            .collect();
        json!({
            "severity": d.severity.to_string(),
            "message": d.message,
            "span": place(d.span),
            "notes": notes,
            "help": d.help,
        })
    };
    diagnostics.iter().map(one).collect()
}
