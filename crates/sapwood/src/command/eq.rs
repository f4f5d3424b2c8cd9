//! `sapwood eq`.

use std::path::PathBuf;

use sapwood_ptir as ptir;
use sapwood_ptir::structural::Mode;
use sapwood_structural as structural;
use sapwood_types::Span;
use serde_json::json;

use super::answer::{Answer, Trouble, place_json, pointed};
use super::console::Console;
use super::files::Input;
use super::load::{FileFormat, Loaded, Program, Reading, load};

/// Compare two programs up to renaming
///
/// Names of values and the order of independent instructions do not count. Exit code 0 if they are equal, 1 if not: then
/// the first difference is shown with its path.
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
    /// Reads both.
    pub(super) fn load(&self) -> Result<(Program, Program), Trouble> {
        let (left, right) = (Input::new(&self.left), Input::new(&self.right));
        if left == Input::Stdin && right == Input::Stdin {
            return Err(Trouble::new("only one of the two programs can be standard input"));
        }
        let reading = Reading { from: self.from, verify: true, comments: false };
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
    let (left, right) = args.pair.load()?;
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
            Ok(found.map(|m| Found {
                reason: m.reason.to_string(),
                paths: [m.left.to_string(), m.right.to_string()],
                spans: [Span::unknown(); 2],
            }))
        }
        _ => Err(Trouble::new(format!(
            "{} and {} are different kinds of programs; `sapwood lower` makes PTIR of front-end IR",
            left.source.name(),
            right.source.name()
        ))),
    }
}
