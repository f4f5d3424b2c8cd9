//! `sapwood eq`.

use std::path::PathBuf;

use sapwood_ir as ir;
use sapwood_ptir as ptir;
use sapwood_ptir::structural::Mode;
use sapwood_structural::{
    self as structural, Field as _, Mismatch, MismatchReason, NodePath, NodeRef, PathStep, View,
};
use sapwood_types::Span;
use serde_json::json;

use super::answer::{Answer, Trouble, place_json, pointed};
use super::console::Console;
use super::files::Input;
use super::load::{FileFormat, Loaded, Program, Reading, load};

/// Compare two programs up to renaming
///
/// Names of values do not count, and in PTIR neither does the order of independent instructions; in the front-end IR (.py)
/// it does. Exit code 0 if they are equal, 1 if not: then the first difference is shown with its path.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) pair: Pair,
}

/// Two programs and how to take them.
#[derive(clap::Args)]
pub(super) struct Pair {
    /// A program; `-` is standard input
    #[arg(value_name = "LEFT")]
    left: PathBuf,
    /// Another
    #[arg(value_name = "RIGHT")]
    right: PathBuf,
    /// Take lists of instructions as they stand
    #[arg(long)]
    pub(super) ordered: bool,
    /// Format of the inputs, whatever their names say
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
}

impl Pair {
    /// Reads both; `names` are kept for messages if they are asked for.
    pub(super) fn load(&self, names: bool) -> Result<(Program, Program), Trouble> {
        let (left, right) = (Input::new(&self.left), Input::new(&self.right));
        if left == Input::Stdin && right == Input::Stdin {
            return Err(Trouble::new("only one of the two programs can be standard input"));
        }
        let reading = Reading { from: self.from, names, ..Reading::default() };
        Ok((load(&left, reading)?, load(&right, reading)?))
    }
}

pub(super) fn mode(ordered: bool) -> Mode {
    if ordered { Mode::Ordered } else { Mode::DataFlow }
}

/// A difference: the path, why, and where on both sides.
struct Found {
    reason: String,
    paths: [String; 2],
    spans: [Span; 2],
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    let (left, right) = args.pair.load(false)?;
    let found = first_mismatch(&left, &right, args.pair.ordered)?;
    if console.json {
        let value = match &found {
            None => json!({ "equal": true }),
            Some(found) => {
                let side = |n: usize| json!({ "path": found.paths[n], "span": place_json(found.spans[n]) });
                json!({ "equal": false, "reason": found.reason, "left": side(0), "right": side(1) })
            }
        };
        console.write_json(&value)?;
    } else {
        let text = match &found {
            None => "equal\n".into(),
            Some(found) => describe(found, &left, &right, console.color),
        };
        console.write(&text)?;
    }
    Ok(if found.is_none() { Answer::Yes } else { Answer::No })
}

fn describe(found: &Found, left: &Program, right: &Program, color: bool) -> String {
    let mut text = format!("different: {}\n", found.reason);
    for (n, program) in [left, right].into_iter().enumerate() {
        let span = found.spans[n];
        let name = program.source.name();
        let at = if span.is_unknown() { name.to_owned() } else { span.to_string() };
        text += &format!("{at}: {}\n", found.paths[n]);
        text += &pointed(span, std::slice::from_ref(&program.source), color);
    }
    text
}

fn first_mismatch(
    left: &Program,
    right: &Program,
    ordered: bool,
) -> Result<Option<Found>, Trouble> {
    match (&left.loaded, &right.loaded) {
        (Loaded::Ptir(a), Loaded::Ptir(b)) => {
            let found = ptir::structural::first_mismatch(a, b, mode(ordered));
            Ok(found.map(|m| Found {
                reason: m.reason.to_string(),
                paths: [m.left.to_string(), m.right.to_string()],
                spans: [m.left.span, m.right.span],
            }))
        }
        (Loaded::Ir(a), Loaded::Ir(b)) => {
            let found = structural::first_mismatch(a, b)
                .map_err(|error| Trouble::new(format!("cannot be compared: {error}")))?;
            Ok(found.map(|m| in_ir(&m, a, b)))
        }
        _ => Err(Trouble::new(format!(
            "{} and {} are different kinds of programs; `sapwood lower` makes PTIR of front-end IR",
            left.source.name(),
            right.source.name()
        ))),
    }
}

/// A difference of two programs of the front-end IR, with its places.
fn in_ir(found: &Mismatch, left: &ir::ProgramRef, right: &ir::ProgramRef) -> Found {
    let ((left_view, left_span), (right_view, right_span)) =
        (follow(left, &found.left), follow(right, &found.right));
    let sides = match &found.reason {
        MismatchReason::Binding(Some(bound)) => {
            let bound = (follow(left, &bound.at).0, follow(right, &bound.at).0);
            match (name(left_view), name(right_view), name(bound.0), name(bound.1)) {
                (Some(a), Some(b), Some(one), Some(other)) => Some(format!(
                    "`{a}` on the left, `{b}` on the right, but `{one}` stands for `{other}`"
                )),
                _ => None,
            }
        }
        MismatchReason::Type | MismatchReason::Value => {
            match (left_view.and_then(kind), right_view.and_then(kind)) {
                (Some(a), Some(b)) if a != b => Some(format!("{a} on the left, {b} on the right")),
                _ => None,
            }
        }
        _ => None,
    };
    Found {
        reason: sides.unwrap_or_else(|| found.reason.to_string()),
        paths: [found.left.to_string(), found.right.to_string()],
        spans: [left_span, right_span],
    }
}

/// What stands at a path, and the innermost place on the way there that is known.
fn follow<'p>(program: &'p ir::ProgramRef, path: &NodePath) -> (Option<View<'p>>, Span) {
    let (mut view, mut span) = (program.view(), Span::unknown());
    for step in path.steps() {
        let Some(next) = child(view, step) else { return (None, span) };
        view = next;
        if let View::Node(node) = view {
            span = written_at(node, span).unwrap_or(span);
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

/// Where a node inside something that is written there was written, if that is known.
fn written_at(node: NodeRef<'_>, outer: Span) -> Option<Span> {
    let span = if let Some(function) = node.downcast::<ir::Function>() {
        function.span
    } else if let Some(stmt) = node.downcast::<ir::Stmt>() {
        stmt.span()
    } else {
        let expr = node.downcast::<ir::Expr>()?;
        // A variable has the place where it was bound first, which may be elsewhere.
        if expr.name().is_some() && !within(expr.span(), outer) {
            return None;
        }
        expr.span()
    };
    (!span.is_unknown()).then_some(span)
}

fn within(inner: Span, outer: Span) -> bool {
    let begin = |span: Span| (span.begin_line(), span.begin_column());
    let end = |span: Span| (span.end_line(), span.end_column());
    begin(outer) <= begin(inner) && end(inner) <= end(outer)
}

/// The name of a variable.
fn name(view: Option<View<'_>>) -> Option<&str> {
    match view? {
        View::Node(node) => node.downcast::<ir::Expr>()?.name(),
        _ => None,
    }
}

/// A value, or what sort of node it is.
fn kind(view: View<'_>) -> Option<String> {
    match view {
        View::Node(node) => {
            let key = node.info().key();
            Some(key.strip_prefix("ir.").unwrap_or(key).to_owned())
        }
        View::List(_) => None,
        value => Some(structural::abridged(value).to_string()),
    }
}
