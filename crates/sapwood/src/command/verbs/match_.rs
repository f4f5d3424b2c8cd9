//! `sapwood match`.

use std::path::PathBuf;

use sapwood_explorer::{PageMatch, PageOptions, graph_page};
use sapwood_ptir::{InstPrinter, Name, Program};
use sapwood_rules::{
    IllegalMatch, Match, NearMiss, PatternGraph, explain, find_matches, legalities, select,
    show_attr,
};
use sapwood_types::{Span, counted};
use serde_json::{Map, Value, json};

use crate::command::cli_error::CliError;
use crate::command::color::color_matches;
use crate::command::command_name;
use crate::command::console::Console;
use crate::command::diagnostics::{line_and_scope_suffix, line_suffix, scope_comment, span_json};
use crate::command::io::batch::{self, BatchInputs, FileResult};
use crate::command::io::files::{Input, write_file};
use crate::command::io::load::{InputFormatArgs, ReadOptions, load};
use crate::command::io::pattern_files::{PatternArgs, PatternSearch};
use crate::command::io::target::{companion_path, require_report_file};
use crate::command::status::Status;
use crate::toolkit::Toolkit;

/// Find matches of patterns in programs
///
/// Prints every match: its ops, its bindings, and if it cannot be replaced by a call, the reason. Exit code 2 if a pattern
/// file cannot be read.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Programs, or directories of programs; `-` means standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    patterns: PatternArgs,
    /// Explain why other places do not match, near misses first; at most N per pattern and function (`--explain=N`; the
    /// default is 5)
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "5")]
    explain: Option<usize>,
    /// Print only matches that can be replaced and share no op with each other
    #[arg(long)]
    non_overlapping: bool,
    /// Also write an HTML page that highlights the matches, or one for each input in this directory
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Return exit code 1 if nothing matches
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    input_format: InputFormatArgs,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let search = args.patterns.load(&console.toolkit)?;
    let mut inputs = BatchInputs::new(&args.files)?;
    if let Some(path) = &args.report {
        inputs.prepare_output("--report", path, |_| Some("html"))?;
        require_report_file(path, inputs.iter())?;
    }
    batch::run(&inputs, console, |input| {
        let mut result = match_file(args, &search, input, &console.toolkit)?;
        if console.color_results {
            result.text = color_matches(&result.text);
        }
        Ok(inputs.with_heading(input, result))
    })
}

fn match_file(
    args: &Args,
    PatternSearch { patterns, passes }: &PatternSearch,
    input: &Input,
    toolkit: &Toolkit,
) -> Result<FileResult, CliError> {
    let options = ReadOptions { source_names: true, ..ReadOptions::default() };
    let file = load(input, args.input_format.from, options, toolkit)?;
    let (source, format) = (file.source.clone(), file.format);
    let mut program = file.into_ptir(toolkit)?;
    passes.run(&mut program, format, input)?;
    let options = args.patterns.find_options();
    let found = CliError::catching(|| find_matches(&program, patterns, &options))?;
    let legal: Vec<Result<(), IllegalMatch>> = legalities(&program, patterns, &found.matches);
    let shown: Vec<usize> = match args.non_overlapping {
        true => select(&found.matches, patterns, args.patterns.prefer.into(), |n| legal[n].is_ok()),
        false => (0..found.matches.len()).collect(),
    };
    let misses = match args.explain {
        Some(limit) => {
            let mut misses =
                hidden_matches(&program, patterns, &found.matches, &legal, &shown, limit);
            let explained = || explain(&program, patterns, &options, limit);
            misses.extend(CliError::catching(explained)?);
            misses
        }
        None => Vec::new(),
    };
    let mut report = MatchReport::new(&program, patterns);
    for &n in &shown {
        report.add(&found.matches[n], legal[n].as_ref().err());
    }
    if let Some(path) = &args.report {
        let title = input.to_string();
        let options = PageOptions::new(&title).source(&source).matches(&report.page);
        write_file(&companion_path(path, input, "html"), graph_page(&program, &options))?;
    }
    let mut text = report.text;
    let count = counted(shown.len(), "match");
    text += &format!("{count}\n");
    let explanations: String = misses.iter().map(|miss| near_miss_text(miss, patterns)).collect();
    text += &explanations;
    let exhausted = found.exhausted.iter();
    let message: String = exhausted.map(|e| format!("{}: {e}\n", command_name())).collect();
    let mut json = json!({
        "matches": report.json,
        "exhausted": found.exhausted.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    if args.explain.is_some() {
        json["near_misses"] = misses.iter().map(|m| near_miss_json(m, patterns)).collect();
    }
    let negative = args.exit_code && shown.is_empty();
    Ok(FileResult {
        status: if negative { Status::Negative } else { Status::Success },
        text,
        line: format!("{input}: {count}\n{explanations}").trim_end().to_owned(),
        message,
        json,
    })
}

// Explains why matches are not shown: they cannot be replaced, or share ops with others. At most `limit` per pattern.
fn hidden_matches(
    program: &Program,
    patterns: &[PatternGraph],
    matches: &[Match],
    legal: &[Result<(), IllegalMatch>],
    shown: &[usize],
    limit: usize,
) -> Vec<NearMiss> {
    let mut misses = Vec::new();
    let mut hidden = vec![true; matches.len()];
    shown.iter().for_each(|&n| hidden[n] = false);
    let mut explained = vec![0; patterns.len()];
    for (n, found) in matches.iter().enumerate().filter(|(n, _)| hidden[*n]) {
        let Some(f) = program.function(found.function) else { continue };
        explained[found.pattern] += 1;
        if explained[found.pattern] > limit {
            continue;
        }
        let first = found.ops.iter().copied().min_by_key(|&i| f.order_key(i));
        let reason = match &legal[n] {
            Err(why) => {
                format!("it cannot be replaced: {}", why.describe(&mut InstPrinter::new(f)))
            }
            Ok(()) => "it shares ops with another match".into(),
        };
        misses.push(NearMiss {
            pattern: found.pattern,
            function: found.function,
            root: first,
            matched: found.ops.len(),
            of: patterns[found.pattern].num_ops(),
            op: String::new(),
            reason,
            span: first.map_or(Span::unknown(), |i| f.inst_span(i)),
        });
    }
    misses
}

/// The report on matches as text and as JSON. Values have the names of the program.
struct MatchReport<'a> {
    program: &'a Program,
    patterns: &'a [PatternGraph],
    /// The printer of the function of the last match.
    printer: Option<(Name, InstPrinter<'a>)>,
    text: String,
    json: Vec<Value>,
    page: Vec<PageMatch>,
}

impl<'a> MatchReport<'a> {
    fn new(program: &'a Program, patterns: &'a [PatternGraph]) -> Self {
        Self {
            program,
            patterns,
            printer: None,
            text: String::new(),
            json: Vec::new(),
            page: Vec::new(),
        }
    }

    fn add(&mut self, found: &Match, illegal: Option<&IllegalMatch>) {
        let Some(f) = self.program.function(found.function) else { return };
        if self.printer.as_ref().is_none_or(|(name, _)| *name != found.function) {
            self.printer = Some((found.function, InstPrinter::new(f)));
        }
        let Some((_, printer)) = &mut self.printer else { return };
        let pattern = &self.patterns[found.pattern];
        let ops: Vec<String> = found.ops.iter().map(|&i| printer.print(i)).collect();
        let bindings: Vec<(&str, String)> =
            found.bindings(pattern).map(|(name, v)| (name, printer.value(v))).collect();
        let mut attrs: Vec<(&str, String)> =
            found.attributes(pattern).map(|(name, a)| (name, show_attr(a))).collect();
        for (name, values) in found.lists(pattern) {
            let values: Vec<String> = values.iter().map(|&v| printer.value(v)).collect();
            attrs.push((name, format!("[{}]", values.join(", "))));
        }
        attrs.extend(found.dims().map(|(name, dim)| (name, dim.to_string())));
        attrs.extend(found.wildcards(pattern).map(|(name, i)| (name, f.op_name(i).to_string())));
        let taken = found.alternatives(pattern);
        let reason = illegal.map(|why| why.describe(printer));
        let by_name = if found.by_name { ", by the name of the called function" } else { "" };
        let first = found.ops.iter().copied().min_by_key(|&i| f.order_key(i));
        let span = first.map_or(Span::unknown(), |i| f.inst_span(i));
        let line = line_suffix(span);
        self.text += &format!("@{}: {}{line}{by_name}\n", found.function, pattern.name());
        for (op, &inst) in ops.iter().zip(&found.ops) {
            self.text += &format!("  {op}{}\n", scope_comment(f.inst_span(inst)));
        }
        let inputs: Vec<String> = bindings
            .iter()
            .filter(|(name, _)| pattern.params().any(|p| p == *name))
            .chain(&attrs)
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        if !inputs.is_empty() {
            self.text += &format!("  where {}\n", inputs.join(", "));
        }
        if !taken.is_empty() {
            self.text += &format!("  taken: {}\n", taken.join(", "));
        }
        if let Some(reason) = &reason {
            self.text += &format!("  cannot be replaced: {reason}\n");
        }
        let map = |list: &[(&str, String)]| -> Map<String, Value> {
            list.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
        };
        self.page.push(PageMatch {
            pattern: pattern.name().as_str().to_owned(),
            function: found.function.as_str().to_owned(),
            insts: found.all_insts(f, pattern).iter().map(|inst| inst.index()).collect(),
            reason: reason.clone(),
        });
        let mut json = json!({
            "pattern": pattern.name().as_str(),
            "function": found.function.as_str(),
            "legal": reason.is_none(),
            "reason": reason,
            "ops": ops,
            "bindings": map(&bindings),
            "attributes": map(&attrs),
            "span": span_json(span),
            "by_name": found.by_name,
        });
        if !taken.is_empty() {
            json["alternatives"] = json!(taken);
        }
        self.json.push(json);
    }
}

fn near_miss_text(miss: &NearMiss, patterns: &[PatternGraph]) -> String {
    let NearMiss { function, matched, of, reason, span, .. } = miss;
    let (name, line) = (patterns[miss.pattern].name(), line_and_scope_suffix(*span));
    format!("@{function}: not {name}{line}, {matched} of {}: {reason}\n", counted(*of, "op"))
}

fn near_miss_json(miss: &NearMiss, patterns: &[PatternGraph]) -> Value {
    json!({
        "pattern": patterns[miss.pattern].name().as_str(),
        "function": miss.function.as_str(),
        "matched": miss.matched,
        "of": miss.of,
        "op": miss.op,
        "reason": miss.reason,
        "span": span_json(miss.span),
    })
}
