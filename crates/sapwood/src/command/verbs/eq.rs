//! `sapwood eq`.

use sapwood_ir as ir;
use sapwood_ptir as ptir;
use sapwood_structural::{
    self as structural, Field as _, Mismatch, MismatchReason, NodePath, NodeRef, PathStep, View,
};
use sapwood_types::Span;
use serde_json::json;

use crate::command::cli_error::CliError;
use crate::command::command_name;
use crate::command::console::Console;
use crate::command::diagnostics::{source_excerpt, span_json};
use crate::command::io::load::{Loaded, LoadedFile};
use crate::command::io::program_pair::{ProgramPair, comparison_mode};
use crate::command::status::Status;

/// Compare two programs up to renaming
///
/// Names of values do not matter. In PTIR the order of independent instructions does not matter either; in the front-end IR
/// (.py) it does. Exit code 0 if the programs are equal. Otherwise exit code 1, and the first difference is shown with its path.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pair: ProgramPair,
}

/// The first difference of two programs: the reason, and the path and span on both sides.
struct FirstDifference {
    reason: String,
    paths: [String; 2],
    spans: [Span; 2],
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let (left, right) = args.pair.load(false, &console.toolkit)?;
    let difference = first_difference(&left, &right, args.pair.ordered)?;
    if console.json {
        let value = match &difference {
            None => json!({ "equal": true }),
            Some(first) => {
                let side =
                    |n: usize| json!({ "path": first.paths[n], "span": span_json(first.spans[n]) });
                json!({ "equal": false, "reason": first.reason, "left": side(0), "right": side(1) })
            }
        };
        console.write_json(&value)?;
    } else {
        let text = match &difference {
            None => "equal\n".into(),
            Some(first) => describe(first, &left, &right, console.color),
        };
        console.write(&text)?;
    }
    Ok(if difference.is_none() { Status::Success } else { Status::Negative })
}

fn describe(
    difference: &FirstDifference,
    left: &LoadedFile,
    right: &LoadedFile,
    color: bool,
) -> String {
    let mut text = format!("different: {}\n", difference.reason);
    for (n, file) in [left, right].into_iter().enumerate() {
        let span = difference.spans[n];
        let name = file.source.name();
        let position = if span.is_unknown() { name.to_owned() } else { span.to_string() };
        text += &format!("{position}: {}\n", difference.paths[n]);
        text += &source_excerpt(span, std::slice::from_ref(&file.source), color);
    }
    text
}

fn first_difference(
    left: &LoadedFile,
    right: &LoadedFile,
    ordered: bool,
) -> Result<Option<FirstDifference>, CliError> {
    match (&left.program, &right.program) {
        (Loaded::Ptir(a), Loaded::Ptir(b)) => {
            let found = ptir::structural::first_mismatch(a, b, comparison_mode(ordered));
            Ok(found.map(|m| FirstDifference {
                reason: m.reason.to_string(),
                paths: [m.left.to_string(), m.right.to_string()],
                spans: [m.left.span, m.right.span],
            }))
        }
        (Loaded::Ir(a), Loaded::Ir(b)) => {
            let found = structural::first_mismatch(a, b)
                .map_err(|error| CliError::new(format!("cannot compare the programs: {error}")))?;
            Ok(found.map(|m| ir_difference(&m, a, b)))
        }
        _ => Err(CliError::new(format!(
            "cannot compare {} with {}: one is PTIR, the other front-end IR; `{} lower` converts front-end IR to PTIR",
            left.source.name(),
            right.source.name(),
            command_name()
        ))),
    }
}

// Describes a mismatch of two front-end programs, with its spans.
fn ir_difference(
    mismatch: &Mismatch,
    left: &ir::ProgramRef,
    right: &ir::ProgramRef,
) -> FirstDifference {
    let ((left_view, left_span), (right_view, right_span)) =
        (follow_path(left, &mismatch.left), follow_path(right, &mismatch.right));
    let sides = match &mismatch.reason {
        MismatchReason::Binding(Some(bound)) => {
            let bound = (follow_path(left, &bound.at).0, follow_path(right, &bound.at).0);
            match (
                variable_name(left_view),
                variable_name(right_view),
                variable_name(bound.0),
                variable_name(bound.1),
            ) {
                (Some(a), Some(b), Some(one), Some(other)) => Some(format!(
                    "`{a}` on the left, `{b}` on the right, but `{one}` corresponds to `{other}`"
                )),
                _ => None,
            }
        }
        MismatchReason::Type | MismatchReason::Value => {
            match (left_view.and_then(describe_view), right_view.and_then(describe_view)) {
                (Some(a), Some(b)) if a != b => Some(format!("{a} on the left, {b} on the right")),
                _ => None,
            }
        }
        _ => None,
    };
    FirstDifference {
        reason: sides.unwrap_or_else(|| mismatch.reason.to_string()),
        paths: [mismatch.left.to_string(), mismatch.right.to_string()],
        spans: [left_span, right_span],
    }
}

// Returns the view at a path, and the innermost known span on the way to it.
fn follow_path<'p>(program: &'p ir::ProgramRef, path: &NodePath) -> (Option<View<'p>>, Span) {
    let (mut view, mut span) = (program.view(), Span::unknown());
    for step in path.steps() {
        let Some(next) = child(view, step) else { return (None, span) };
        view = next;
        if let View::Node(node) = view {
            span = node_span(node, span).unwrap_or(span);
        }
    }
    (Some(view), span)
}

fn child<'p>(view: View<'p>, step: &PathStep) -> Option<View<'p>> {
    match (view, step) {
        (View::Node(node), PathStep::Field(name)) => node.field(name),
        (View::Node(node), PathStep::Index(at)) => (*at < node.len()).then(|| node.child(*at)),
        (View::List(list), PathStep::Index(at)) => (*at < list.len()).then(|| list.item(*at)),
        // The children of a map are its keys and values in turn.
        (View::Node(node), PathStep::Key(key)) => (0..node.len())
            .step_by(2)
            .find(|at| matches!(node.child(*at), View::Str(name) if Some(name) == key.as_str()))
            .map(|at| node.child(at + 1)),
        _ => None,
    }
}

// Returns the span of a node inside something with the span `outer`, if it is known.
fn node_span(node: NodeRef<'_>, outer: Span) -> Option<Span> {
    let span = if let Some(function) = node.downcast::<ir::Function>() {
        function.span
    } else if let Some(stmt) = node.downcast::<ir::Stmt>() {
        stmt.span()
    } else {
        let expr = node.downcast::<ir::Expr>()?;
        // A variable has the span of its first binding, which may be outside.
        if expr.name().is_some() && !is_within(expr.span(), outer) {
            return None;
        }
        expr.span()
    };
    (!span.is_unknown()).then_some(span)
}

fn is_within(inner: Span, outer: Span) -> bool {
    let begin = |span: Span| (span.begin_line(), span.begin_column());
    let end = |span: Span| (span.end_line(), span.end_column());
    begin(outer) <= begin(inner) && end(inner) <= end(outer)
}

// Returns the name if the view is a variable.
fn variable_name(view: Option<View<'_>>) -> Option<&str> {
    match view? {
        View::Node(node) => node.downcast::<ir::Expr>()?.name(),
        _ => None,
    }
}

// Returns a value as text, or the type of a node; none for a list.
fn describe_view(view: View<'_>) -> Option<String> {
    match view {
        View::Node(node) => {
            let key = node.info().key();
            Some(key.strip_prefix("ir.").unwrap_or(key).to_owned())
        }
        View::List(_) => None,
        value => Some(structural::abridged(value).to_string()),
    }
}
