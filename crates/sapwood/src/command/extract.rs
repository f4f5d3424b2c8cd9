//! `sapwood extract`.

use std::path::PathBuf;

use sapwood_rules::{ExtractOptions, ExtractReport, PatternGraph, RefusedMatch, extract};
use sapwood_types::counted;
use serde_json::json;

use super::answer::{Answer, Trouble, in_line, place_json};
use super::console::Console;
use super::files::Input;
use super::fmt::{Target, print_with};
use super::load::{FileFormat, Reading, load, usual_output};
use super::many::{self, Inputs, Outcome};
use super::patterns::PatternArgs;

/// Replace matches of patterns by calls of functions
///
/// Each match becomes a function @pattern_N and a call of it. Patterns are applied in the given order; a later one may match
/// calls of what an earlier one extracted. Matches that cannot be replaced are named with the reason, and left.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Programs, or directories of them; `-` is standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Write to this file, or for several files into this directory
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    patterns: PatternArgs,
    /// Equal extractions become one function
    #[arg(long)]
    share: bool,
    /// Leave calls in extracted functions as they are
    #[arg(long)]
    keep_nested: bool,
    /// Leave private functions that nothing calls any more
    #[arg(long)]
    keep_unused: bool,
    /// Format of the input, whatever its name says
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
    /// Format of the output; that of the output's name, or PTIR text, otherwise
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FileFormat>,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    let patterns = args.patterns.load()?;
    let inputs = Inputs::with_output(&args.files, args.output.as_deref(), console, |input| {
        Some(args.to.unwrap_or_else(|| usual_output(input, args.from)).extension())
    })?;
    many::run(&inputs, console, |input| {
        one(args, &patterns, input).map(|outcome| inputs.headed(input, outcome))
    })
}

fn one(args: &Args, patterns: &[PatternGraph], input: &Input) -> Result<Outcome, Trouble> {
    let read = load(
        input,
        Reading { from: args.from, comments: true, names: true, ..Reading::default() },
    )?;
    let notes = read.notes.clone();
    let (mut program, extras) = read.into_parts()?;
    let options = ExtractOptions {
        find: args.patterns.find(),
        prefer: args.patterns.prefer.into(),
        share: args.share,
        keep_nested: args.keep_nested,
        keep_unused: args.keep_unused,
    };
    let report = extract(&mut program, patterns, &options)
        .map_err(|why| Trouble::new(format!("{input}: {why}")))?;
    let outcome = Outcome {
        answer: Answer::Yes,
        text: String::new(),
        line: format!("{input}: {} extracted", report.calls.len()),
        message: notes + &messages(&report),
        json: report_json(&report),
    };
    let usual = usual_output(input, args.from);
    let (target, to) = Target::in_format(args.output.as_deref(), input, args.to, usual);
    let text = print_with(&program, &extras, to, &input.to_string())?;
    outcome.write(&target, text)
}

fn messages(report: &ExtractReport) -> String {
    let mut text = String::new();
    for call in &report.calls {
        let by_name = if call.by_name { ", by the name of what is called" } else { "" };
        let ops = counted(call.ops, "op");
        text += &format!("@{}: {ops} became @{}{by_name}\n", call.function, call.name);
    }
    for refused in &report.refused {
        let RefusedMatch { pattern, function, reason, span } = refused;
        text += &format!("@{function}: {pattern} not extracted{}: {reason}\n", in_line(*span));
    }
    let more = report.refusals - report.refused.len();
    if more > 0 {
        text += &format!("… and {more} more not extracted\n");
    }
    for name in &report.removed {
        text += &format!("@{name} removed: nothing calls it\n");
    }
    for exhausted in &report.exhausted {
        text += &format!("sapwood: {exhausted}\n");
    }
    text
}

fn report_json(report: &ExtractReport) -> serde_json::Value {
    let calls: Vec<_> = report
        .calls
        .iter()
        .map(|c| {
            json!({
                "pattern": c.pattern.as_str(),
                "function": c.function.as_str(),
                "name": c.name.as_str(),
                "ops": c.ops,
                "by_name": c.by_name,
            })
        })
        .collect();
    let refused: Vec<_> = report
        .refused
        .iter()
        .map(|r| {
            json!({
                "pattern": r.pattern.as_str(),
                "function": r.function.as_str(),
                "reason": r.reason,
                "span": place_json(r.span),
            })
        })
        .collect();
    json!({
        "extracted": calls,
        "refused": refused,
        "refusals": report.refusals,
        "removed": report.removed.iter().map(|n| n.as_str()).collect::<Vec<_>>(),
        "exhausted": report.exhausted.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
