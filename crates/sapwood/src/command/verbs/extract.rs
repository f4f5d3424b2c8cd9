//! `sapwood extract`.

use sapwood_rules::{ExtractOptions, ExtractReport, RefusedMatch, extract};
use sapwood_types::counted;
use serde_json::json;

use crate::command::cli_error::CliError;
use crate::command::command_name;
use crate::command::console::Console;
use crate::command::diagnostics::{line_and_scope_suffix, span_json};
use crate::command::io::batch::{self, BatchArgs, FileResult};
use crate::command::io::files::Input;
use crate::command::io::load::{
    FileFormat, InputFormatArgs, ReadOptions, default_output_format, load, output_extension,
};
use crate::command::io::pattern_files::{PatternArgs, PatternSearch};
use crate::command::io::print::print_ptir;
use crate::command::io::target::Target;
use crate::command::status::Status;
use crate::command::verbs::opt::equivalence_check::{self, EquivalenceChecker};
use crate::toolkit::Toolkit;

/// Replace matches of patterns by calls of new functions
///
/// Each match becomes a function @pattern_N and a call of it. Patterns are applied in the given order; a later pattern may match
/// calls of functions that an earlier one extracted. Matches that cannot be replaced stay, and are listed with the reason.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    patterns: PatternArgs,
    /// Use one function for equal extractions
    #[arg(long)]
    share: bool,
    /// Keep calls inside extracted functions instead of inlining them
    #[arg(long)]
    keep_nested: bool,
    /// Keep private functions that are no longer called
    #[arg(long)]
    keep_unused: bool,
    /// Run the programs before and after on the same inputs and compare the results; exit code 1, and no output file, if they
    /// differ or could not be compared
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    input_format: InputFormatArgs,
    /// Format of the output; the default is that of its extension, or else StableHLO for StableHLO inputs and PTIR text for
    /// all others
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FileFormat>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let search = args.patterns.load(&console.toolkit)?;
    let inputs = args
        .batch
        .inputs(console, |input| output_extension(input, args.input_format.from, args.to))?;
    batch::run(&inputs, console, |input| {
        let result = extract_file(args, &search, input, &console.toolkit)?;
        Ok(inputs.with_heading(input, result))
    })
}

fn extract_file(
    args: &Args,
    PatternSearch { patterns, passes }: &PatternSearch,
    input: &Input,
    toolkit: &Toolkit,
) -> Result<FileResult, CliError> {
    let options = ReadOptions { comments: true, source_names: true, ..ReadOptions::default() };
    let file = load(input, args.input_format.from, options, toolkit)?;
    let (notes, format) = (file.notes.clone(), file.format);
    let (mut program, extras) = file.into_ptir_and_extras(toolkit)?;
    let before = args.check.then(|| program.clone());
    passes.run(&mut program, format, input)?;
    let options = ExtractOptions {
        find: args.patterns.find_options(),
        prefer: args.patterns.prefer.into(),
        share: args.share,
        keep_nested: args.keep_nested,
        keep_unused: args.keep_unused,
    };
    let report = CliError::catching(|| extract(&mut program, patterns, &options))?
        .map_err(|why| CliError::new(format!("{input}: {why}")))?;
    let mut result = FileResult {
        status: Status::Success,
        text: String::new(),
        line: format!("{input}: {} extracted", report.calls.len()),
        message: notes + &messages(&report),
        json: report_json(&report),
    };
    let default = default_output_format(input, args.input_format.from);
    let (target, to) = Target::with_format(args.batch.output.as_deref(), input, args.to, default);
    if let Some(before) = before {
        let report = EquivalenceChecker::default().compare(&before, &program);
        result.json["check"] = equivalence_check::report_json(&report);
        result.message += &equivalence_check::report_text(&report);
        if !report.passes() {
            result.status = Status::Negative;
            if let Target::File(path) = &target {
                let path = path.display();
                result.message += &format!(
                    "{}: {path} is not written, because the check failed\n",
                    command_name()
                );
                return Ok(result);
            }
        }
    }
    let text = print_ptir(&program, &extras, to, &input.to_string())?;
    result.write(&target, text)
}

fn messages(report: &ExtractReport) -> String {
    let mut text = String::new();
    for call in &report.calls {
        let by_name = if call.by_name { ", by the name of the called function" } else { "" };
        let ops = counted(call.ops, "op");
        text += &format!("@{}: {ops} became @{}{by_name}\n", call.function, call.name);
    }
    for refused in &report.refused {
        let RefusedMatch { pattern, function, reason, span } = refused;
        text += &format!(
            "@{function}: {pattern} not extracted{}: {reason}\n",
            line_and_scope_suffix(*span)
        );
    }
    let more = report.refusals - report.refused.len();
    if more > 0 {
        text += &format!("… and {more} more not extracted\n");
    }
    for name in &report.removed {
        text += &format!("@{name} removed: it is not called\n");
    }
    for exhausted in &report.exhausted {
        text += &format!("{}: {exhausted}\n", command_name());
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
                "span": span_json(r.span),
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
