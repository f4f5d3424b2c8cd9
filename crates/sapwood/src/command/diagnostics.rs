//! Diagnostics and spans as text and as JSON.

use sapwood_types::{Diagnostic, Diagnostics, Source, Span};
use serde_json::{Value, json};

/// Returns diagnostics as text for people.
pub(crate) fn render_diagnostics(
    diagnostics: &Diagnostics,
    sources: &[Source],
    color: bool,
) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        text += &diagnostic.to_string();
        text.push('\n');
        text += &excerpt_below_title(diagnostic, sources, color);
    }
    if diagnostics.dropped() > 0 {
        text += &format!("… and {} more\n", diagnostics.dropped());
    }
    text
}

// Draws the diagnostic without the lines of its title and position, which are printed in another form.
fn excerpt_below_title(diagnostic: &Diagnostic, sources: &[Source], color: bool) -> String {
    let drawn = diagnostic.render_in(sources, color);
    let skipped = if diagnostic.span.is_unknown() { 1 } else { 2 };
    drawn.lines().skip(skipped).flat_map(|line| [line, "\n"]).collect()
}

/// Returns the source line of a span with a caret under it, as diagnostics draw it; empty if the source is unknown.
pub(crate) fn source_excerpt(span: Span, sources: &[Source], color: bool) -> String {
    excerpt_below_title(&Diagnostic::error(span, ""), sources, color)
}

/// Returns `, line 7` for a span; empty if the span is unknown.
pub(crate) fn line_suffix(span: Span) -> String {
    match span.begin_line() {
        0 => String::new(),
        line => format!(", line {line}"),
    }
}

/// Returns `, line 7, in jit(f)/layer_3/add` for a span, or the part of it that is known.
pub(crate) fn line_and_scope_suffix(span: Span) -> String {
    let scope = span.loc().scope().map(|scope| format!(", in {scope}"));
    line_suffix(span) + &scope.unwrap_or_default()
}

/// Returns the scope of a span as a comment after an instruction; empty if there is none.
pub(crate) fn scope_comment(span: Span) -> String {
    span.loc().scope().map_or_else(String::new, |scope| format!("  // {scope}"))
}

/// Returns a span as JSON, with its scope if it has one; null if it is unknown.
pub(crate) fn span_json(span: Span) -> Value {
    let scope = span.loc().scope();
    if span.begin_line() == 0 && scope.is_none() {
        return Value::Null;
    }
    let mut value = json!({
        "file": span.filename(),
        "line": span.begin_line(),
        "column": span.begin_column(),
        "end_line": span.end_line(),
        "end_column": span.end_column(),
    });
    if let Some(scope) = scope {
        value["scope"] = json!(scope);
    }
    value
}

/// Returns diagnostics as a JSON array.
pub(crate) fn diagnostics_json(diagnostics: &Diagnostics) -> Value {
    diagnostics.iter().map(diagnostic_json).collect()
}

fn diagnostic_json(diagnostic: &Diagnostic) -> Value {
    let notes: Vec<Value> = diagnostic
        .notes
        .iter()
        .map(|(span, note)| json!({ "message": note, "span": span_json(*span) }))
        .collect();
    json!({
        "severity": diagnostic.severity.to_string(),
        "message": diagnostic.message,
        "span": span_json(diagnostic.span),
        "notes": notes,
        "help": diagnostic.help,
    })
}
