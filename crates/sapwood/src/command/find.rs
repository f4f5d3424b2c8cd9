//! `sapwood match`.

use std::path::PathBuf;

use sapwood_ptir::{InstPrinter, Name, Program};
use sapwood_rules::{
    IllegalMatch, Match, NearMiss, PatternGraph, explain, find_matches, legalities, select,
    show_attr,
};
use sapwood_types::{Span, counted};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Trouble, in_line, place_json};
use super::console::Console;
use super::files::Input;
use super::load::{FileFormat, Reading, load};
use super::many::{self, Inputs, Outcome};
use super::patterns::PatternArgs;

/// Find patterns in programs
///
/// Prints every match: its ops, what the names of the pattern stand for, and whether it could be replaced by a call. Pattern
/// files that cannot be read are trouble, exit code 2.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Programs, or directories of them; `-` is standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    patterns: PatternArgs,
    /// Say for places without a match why there is none, near misses first; at most N per pattern and function (`--explain=N`)
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "5")]
    explain: Option<usize>,
    /// Only matches that share no op, and could be replaced
    #[arg(long)]
    non_overlapping: bool,
    /// Exit code 1 if there is no match
    #[arg(long)]
    exit_code: bool,
    /// Format of the input, whatever its name says
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    let patterns = args.patterns.load()?;
    let inputs = Inputs::new(&args.files)?;
    many::run(&inputs, console, |input| {
        one(args, &patterns, input).map(|outcome| inputs.headed(input, outcome))
    })
}

fn one(args: &Args, patterns: &[PatternGraph], input: &Input) -> Result<Outcome, Trouble> {
    let read = load(input, Reading { from: args.from, names: true, ..Reading::default() })?;
    let program = read.into_ptir()?;
    let options = args.patterns.find();
    let found = find_matches(&program, patterns, &options);
    let legal: Vec<Result<(), IllegalMatch>> = legalities(&program, patterns, &found.matches);
    let shown: Vec<usize> = match args.non_overlapping {
        true => select(&found.matches, patterns, args.patterns.prefer.into(), |n| legal[n].is_ok()),
        false => (0..found.matches.len()).collect(),
    };
    let misses = match args.explain {
        Some(most) => {
            let mut misses = left_out(&program, patterns, &found.matches, &legal, &shown, most);
            misses.extend(explain(&program, patterns, &options, most));
            misses
        }
        None => Vec::new(),
    };
    let mut report = Report::new(&program, patterns);
    for &n in &shown {
        report.add(&found.matches[n], legal[n].as_ref().err());
    }
    let mut text = report.text;
    let count = counted(shown.len(), "match");
    text += &format!("{count}\n");
    let told: String = misses.iter().map(|miss| miss_text(miss, patterns)).collect();
    text += &told;
    let message: String = found.exhausted.iter().map(|e| format!("sapwood: {e}\n")).collect();
    let mut json = json!({
        "matches": report.json,
        "exhausted": found.exhausted.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    if args.explain.is_some() {
        json["near_misses"] = misses.iter().map(|m| miss_json(m, patterns)).collect();
    }
    let none = args.exit_code && shown.is_empty();
    Ok(Outcome {
        answer: if none { Answer::No } else { Answer::Yes },
        text,
        line: format!("{input}: {count}\n{told}").trim_end().to_owned(),
        message,
        json,
    })
}

// Why matches are not shown: they cannot be replaced, or share ops with others. At most so many per pattern.
fn left_out(
    program: &Program,
    patterns: &[PatternGraph],
    matches: &[Match],
    legal: &[Result<(), IllegalMatch>],
    shown: &[usize],
    most: usize,
) -> Vec<NearMiss> {
    let mut misses = Vec::new();
    let mut hidden = vec![true; matches.len()];
    shown.iter().for_each(|&n| hidden[n] = false);
    let mut told = vec![0; patterns.len()];
    for (n, found) in matches.iter().enumerate().filter(|(n, _)| hidden[*n]) {
        let Some(f) = program.function(found.function) else { continue };
        told[found.pattern] += 1;
        if told[found.pattern] > most {
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

/// Matches as they are shown; values have the names that the program has for them.
struct Report<'a> {
    program: &'a Program,
    patterns: &'a [PatternGraph],
    names: Option<(Name, InstPrinter<'a>)>,
    text: String,
    json: Vec<Value>,
}

impl<'a> Report<'a> {
    fn new(program: &'a Program, patterns: &'a [PatternGraph]) -> Self {
        Self { program, patterns, names: None, text: String::new(), json: Vec::new() }
    }

    fn add(&mut self, found: &Match, illegal: Option<&IllegalMatch>) {
        let Some(f) = self.program.function(found.function) else { return };
        if self.names.as_ref().is_none_or(|(name, _)| *name != found.function) {
            self.names = Some((found.function, InstPrinter::new(f)));
        }
        let Some((_, names)) = &mut self.names else { return };
        let pattern = &self.patterns[found.pattern];
        let ops: Vec<String> = found.ops.iter().map(|&i| names.print(i)).collect();
        let bindings: Vec<(&str, String)> =
            found.bindings(pattern).map(|(name, v)| (name, names.value(v))).collect();
        let mut attrs: Vec<(&str, String)> =
            found.attributes(pattern).map(|(name, a)| (name, show_attr(a))).collect();
        for (name, values) in found.lists(pattern) {
            let values: Vec<String> = values.iter().map(|&v| names.value(v)).collect();
            attrs.push((name, format!("[{}]", values.join(", "))));
        }
        let reason = illegal.map(|why| why.describe(names));
        let by_name = if found.by_name { ", by the name of what is called" } else { "" };
        let first = found.ops.iter().copied().min_by_key(|&i| f.order_key(i));
        let span = first.map_or(Span::unknown(), |i| f.inst_span(i));
        let line = in_line(span);
        self.text += &format!("@{}: {}{line}{by_name}\n", found.function, pattern.name());
        for op in &ops {
            self.text += &format!("  {op}\n");
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
        if let Some(reason) = &reason {
            self.text += &format!("  cannot be replaced: {reason}\n");
        }
        let map = |list: &[(&str, String)]| -> Map<String, Value> {
            list.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
        };
        self.json.push(json!({
            "pattern": pattern.name().as_str(),
            "function": found.function.as_str(),
            "legal": reason.is_none(),
            "reason": reason,
            "ops": ops,
            "bindings": map(&bindings),
            "attributes": map(&attrs),
            "span": place_json(span),
            "by_name": found.by_name,
        }));
    }
}

fn miss_text(miss: &NearMiss, patterns: &[PatternGraph]) -> String {
    let NearMiss { function, matched, of, reason, span, .. } = miss;
    let (name, line) = (patterns[miss.pattern].name(), in_line(*span));
    format!("@{function}: not {name}{line}, {matched} of {}: {reason}\n", counted(*of, "op"))
}

fn miss_json(miss: &NearMiss, patterns: &[PatternGraph]) -> Value {
    json!({
        "pattern": patterns[miss.pattern].name().as_str(),
        "function": miss.function.as_str(),
        "matched": miss.matched,
        "of": miss.of,
        "op": miss.op,
        "reason": miss.reason,
        "span": place_json(miss.span),
    })
}
