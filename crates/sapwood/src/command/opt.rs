//! `sapwood opt`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use sapwood_check::Verdict;
use sapwood_ptir as ptir;
use sapwood_rewrite::canonicalize::{LISTS, populate_canonicalization};
use sapwood_rewrite::{FloatMode, GreedyConfig, PassManager, PatternSet, RunReport, SimplifyPass};
use sapwood_rules::Rule;
use sapwood_trace::{FileTraceSink, StepLogSink};
use sapwood_types::{Source, counted};
use serde_json::{Value, json};

use super::answer::{Answer, Trouble};
use super::blame::blame;
use super::check::{self, Checker};
use super::console::Console;
use super::dump;
use super::files::{Input, real};
use super::fmt::{Target, print_with};
use super::load::{FileFormat, Reading, load, usual_output};
use super::many::{self, Inputs, Outcome};
use super::ops::unknown;
use super::patterns::load_rules_beside_shipped;
use super::report::{self, Page};
use super::run::{entry_function, read_inputs};

/// Run a pipeline of passes
///
/// The default, `simplify`, canonicalizes, folds, merges equal instructions and erases dead ones until nothing is left to
/// do. The result goes to standard output or to -o.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Programs, or directories of them; `-` is standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Write to this file, or for several files into this directory
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The passes, as in 'canonicalize{max-iterations=4},cse,dce'
    #[arg(short, long, value_name = "PASSES", conflicts_with_all = ["float", "max_rewrites", "only", "disable"])]
    pub(super) pipeline: Option<String>,
    /// What may change about floats: nothing but which NaN, the sign of zero, or what reordering changes
    #[arg(long, value_name = "MODE")]
    float: Option<FloatMode>,
    /// How many folds and rewrites at most
    #[arg(long, value_name = "N")]
    max_rewrites: Option<usize>,
    /// A file of rules to rewrite by, beside the shipped patterns; may stand several times
    #[arg(long, value_name = "FILE", conflicts_with = "pipeline")]
    rules: Vec<PathBuf>,
    /// Only this pattern or rule; may stand several times
    #[arg(long, value_name = "PATTERN", conflicts_with = "disable")]
    only: Vec<String>,
    /// Not this pattern; may stand several times
    #[arg(long, value_name = "PATTERN")]
    disable: Vec<String>,
    /// Print a table of ops before and after, and what each pattern did; constants, `return` and `yield`, and the only op
    /// of a reduction's region are not counted
    #[arg(long)]
    stats: bool,
    /// Print how long each pass took
    #[arg(long)]
    timing: bool,
    /// Print what each pass changed
    #[arg(long)]
    print_after_change: bool,
    /// Do not verify after each pass
    #[arg(long)]
    no_verify_each: bool,
    /// Run both programs on the same inputs and compare; exit code 1 if they differ by more than the float mode allows, or if a
    /// result could not be checked
    #[arg(long)]
    check: bool,
    /// With --check: an input of `main`, or of the only function, as .npy; one for each parameter, in order
    #[arg(long = "in", value_name = "FILE", requires = "check")]
    inputs: Vec<PathBuf>,
    /// With --check: write the output even if the check fails
    #[arg(long, requires = "check")]
    keep_failed: bool,
    /// Seed of the random inputs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(super) seed: u64,
    /// Print every rewrite, fold and edit as it was made
    #[arg(long)]
    step_log: bool,
    /// Write what passes did to this directory, and the program after each pass that changed it
    #[arg(long, value_name = "DIRECTORY")]
    dump_dir: Option<PathBuf>,
    /// With --dump-dir: also the program after passes that changed nothing
    #[arg(long, requires = "dump_dir")]
    dump_all: bool,
    /// Where to write what makes a failing pass fail again; for several files into this directory
    #[arg(long, value_name = "FILE")]
    reproducer: Option<PathBuf>,
    /// Write a page about the run to this file: before and after, every step, numbers; for several files into this
    /// directory
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Format of the input, whatever its name says
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
    /// Format of the output; that of the output's name, StableHLO for StableHLO, or PTIR text, otherwise
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FileFormat>,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    let rules = load_rules_beside_shipped(&args.rules)?;
    let pipeline = pipeline(args, &rules)?;
    // Read once here, so that a wrong pipeline is one complaint and not one per file.
    manager(args, &pipeline, &rules, 1)?;
    let inputs = Inputs::with_output(&args.files, args.output.as_deref(), console, |input| {
        Some(args.to.unwrap_or_else(|| usual_output(input, args.from)).extension())
    })?;
    if inputs.len() > 1 && !args.inputs.is_empty() {
        return Err(Trouble::new("--in gives inputs for one program, and there are several"));
    }
    beside(args, &inputs)?;
    let threads = if inputs.len() > 1 { 1 } else { console.jobs };
    let dump = dump::open(args.dump_dir.as_deref(), args.dump_all)?;
    // A dump lists runs in the order of the arguments.
    let console = &Console { jobs: if dump.is_some() { 1 } else { console.jobs }, ..*console };
    let answer = many::run(&inputs, console, |input| {
        let outcome = one(args, &pipeline, &rules, threads, dump.as_ref(), input)?;
        Ok(inputs.headed(input, outcome))
    })?;
    dump::close(dump.as_deref())?;
    for rule in rules.iter().filter(|r| r.given_up() > 0) {
        let (name, places) = (rule.name(), counted(rule.given_up(), "place"));
        console.message(&format!(
            "sapwood: rule `{name}` was given up at {places} after too many steps\n"
        ));
    }
    Ok(answer)
}

/// Pages and reproducers go where nothing else is: neither a program that is read nor another that is written.
fn beside(args: &Args, inputs: &Inputs) -> Result<(), Trouble> {
    let mut taken: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut rules = BTreeSet::new();
    for input in inputs.iter() {
        if let Input::File(path) = input {
            taken.insert(real(path), format!("{input}, which is read"));
        }
    }
    for path in &args.rules {
        taken.insert(real(path), format!("{}, which is read", path.display()));
        rules.insert(real(path));
    }
    for input in inputs.iter() {
        let (target, _) = Target::in_format(
            args.output.as_deref(),
            input,
            args.to,
            usual_output(input, args.from),
        );
        if let Target::File(path) = target {
            if rules.contains(&real(&path)) {
                let path = path.display();
                return Err(Trouble::new(format!("-o would replace {path}, which is read")));
            }
            taken.insert(real(&path), format!("{}, which -o writes", path.display()));
        }
    }
    for (option, chosen, extension) in
        [("--report", &args.report, "html"), ("--reproducer", &args.reproducer, "ptir")]
    {
        let Some(chosen) = chosen else { continue };
        report::check(option, chosen)?;
        inputs.check_output(chosen, |_| Some(extension))?;
        for input in inputs.iter() {
            let path = report::place(chosen, input, extension);
            if let Some(what) = taken.insert(real(&path), format!("what {option} writes")) {
                return Err(Trouble::new(format!("{option} would replace {what}")));
            }
        }
    }
    Ok(())
}

/// The passes as text, options of the command line included.
pub(super) fn pipeline(args: &Args, rules: &[Rule]) -> Result<String, Trouble> {
    if let Some(pipeline) = &args.pipeline {
        return Ok(pipeline.clone());
    }
    let all = || LISTS.iter().flat_map(|list| list.entries.iter().map(|entry| entry.name));
    let known = || all().chain(rules.iter().map(Rule::name));
    for name in args.only.iter().chain(&args.disable) {
        if !known().any(|known| known == name) {
            return Err(unknown("pattern", name, known()));
        }
    }
    let mut options = Vec::new();
    if let Some(float) = args.float {
        options.push(format!("float={float}"));
    }
    if let Some(most) = args.max_rewrites {
        options.push(format!("max-rewrites={most}"));
    }
    if !args.only.is_empty() {
        options.push(format!("only={}", args.only.join("|")));
    }
    if !args.disable.is_empty() {
        let kept = all().filter(|name| !args.disable.iter().any(|d| d == name));
        options.push(format!("only={}", kept.collect::<Vec<_>>().join("|")));
    }
    Ok(match options.is_empty() {
        true => "simplify".into(),
        false => format!("simplify{{{}}}", options.join(",")),
    })
}

/// One pass over the shipped patterns and rules.
fn with_rules(args: &Args, rules: &[Rule]) -> PassManager {
    let mut set = PatternSet::new();
    populate_canonicalization(&mut set);
    for rule in rules {
        rule.add_to(&mut set);
    }
    let kept: Vec<String> = (set.names())
        .filter(|name| args.only.is_empty() || args.only.iter().any(|o| o == name))
        .filter(|name| !args.disable.iter().any(|d| d == name))
        .map(str::to_owned)
        .collect();
    // These names are those of the set.
    let _ = set.only(&kept.iter().map(String::as_str).collect::<Vec<_>>());
    let config = GreedyConfig {
        floats: args.float.unwrap_or_default(),
        max_rewrites: args.max_rewrites,
        verify_input: false,
        ..GreedyConfig::default()
    };
    let mut manager = PassManager::new();
    manager.add(SimplifyPass::new(config, set.freeze()));
    manager
}

/// Passes ready to run.
pub(super) fn manager(
    args: &Args,
    pipeline: &str,
    rules: &[Rule],
    threads: usize,
) -> Result<PassManager, Trouble> {
    let manager = match rules {
        [] => PassManager::parse_with(pipeline, sapwood_rules::PASSES).map_err(|problems| {
            let source = Source::new("<pipeline>", pipeline);
            Trouble::in_program(problems, &source)
        })?,
        rules => with_rules(args, rules),
    };
    Ok(manager
        .threads(threads)
        .verify_each(!args.no_verify_each)
        .print_changes(args.print_after_change)
        .assume_verified(true))
}

fn one(
    args: &Args,
    pipeline: &str,
    rules: &[Rule],
    threads: usize,
    dump: Option<&Arc<FileTraceSink>>,
    input: &Input,
) -> Result<Outcome, Trouble> {
    let names = args.report.is_some();
    let reading = Reading { from: args.from, comments: true, names, ..Reading::default() };
    let read = load(input, reading)?;
    let page = args.report.as_ref().map(|path| Page::new(path, input, &read));
    let notes = read.notes.clone();
    let (before, extras) = read.into_parts()?;
    let given = match &args.inputs[..] {
        [] => None,
        files => {
            let f = entry_function(None, &before, input)?;
            Some((f.name(), read_inputs(files, f, "")?))
        }
    };
    let mut after = before.clone();
    let mut manager = manager(args, pipeline, rules, threads)?;
    if let Some(path) = &args.reproducer {
        manager = manager.reproducer(report::place(path, input, "ptir"));
    }
    if let Some(dump) = dump {
        dump.input(&input.to_string());
        manager = manager.trace(dump.clone());
    }
    let steps = args.step_log.then(|| Arc::new(StepLogSink::new()));
    if let Some(steps) = &steps {
        manager = manager.trace(steps.clone());
    }
    let (ran, recording) = match &page {
        None => (manager.run(&mut after), None),
        Some(page) => {
            let (ran, recording) = page.run(manager, &mut after, args.check)?;
            (ran, Some(recording))
        }
    };
    let report = ran.map_err(|failure| {
        let written = match &failure.written {
            Some(Ok(path)) => {
                let path = path.display();
                let again = match &failure.reproducer {
                    // Rules are no part of it.
                    Some(kept) if rules.is_empty() => {
                        format!(": sapwood opt {path} -p '{}'", kept.pipeline)
                    }
                    _ => String::new(),
                };
                format!("; a reproducer is in {path}{again}")
            }
            Some(Err(why)) => format!("; the reproducer could not be written: {why}"),
            None => String::new(),
        };
        Trouble::new(format!("{input}: {failure}{written}"))
    })?;
    let (old, new) = (count_ops(&before), count_ops(&after));
    let total = |ops: &BTreeMap<&str, usize>| ops.values().sum::<usize>();
    let mut outcome = Outcome {
        answer: Answer::Yes,
        text: String::new(),
        line: format!("{input}: {} before, {} after", counted(total(&old), "op"), total(&new)),
        message: notes + &messages(args, &report, &old, &new),
        json: stats_json(&report, &old, &new),
    };
    if let Some(steps) = steps {
        let text = steps.text();
        outcome.json["steps"] = json!(text.lines().collect::<Vec<_>>());
        outcome.message.insert_str(0, &text);
    }
    let mut checked = None;
    if args.check {
        let floats = args.float.unwrap_or_else(|| floats_of(pipeline));
        // Only `symbol-dce{keep=…}` removes public functions, and then it was asked to.
        let allow_removed = pipeline.contains("keep=");
        let checker = Checker { floats, seed: args.seed, inputs: given, allow_removed };
        let found = checker.compare(&before, &after);
        let different = found.verdict() == Verdict::Different;
        let culprit = different.then(|| blame(args, rules, &before, &checker)).flatten();
        outcome.answer = if found.passes() { Answer::Yes } else { Answer::No };
        outcome.json["check"] = check::as_json(&found);
        outcome.message += &check::text(&found);
        if let Some(culprit) = &culprit {
            outcome.message += &format!("{culprit}\n");
            outcome.json["check"][culprit.kind()] = json!(culprit.name());
        }
        checked = Some(check::page(&found, culprit.as_ref()));
    }
    if let Some((page, mut recording)) = page.as_ref().zip(recording) {
        page.write(&mut recording, checked)?;
        outcome.json["report"] = json!(page.path.display().to_string());
    }
    let (target, to) =
        Target::in_format(args.output.as_deref(), input, args.to, usual_output(input, args.from));
    if let (Target::File(path), true) =
        (&target, outcome.answer != Answer::Yes && !args.keep_failed)
    {
        let path = path.display();
        outcome.message += &format!(
            "sapwood: {path} is not written, because the check failed; --keep-failed writes it\n"
        );
        return Ok(outcome);
    }
    let text = print_with(&after, &extras, to, &input.to_string())?;
    outcome.write(&target, text)
}

// The loosest of what the passes may do to floats.
fn floats_of(pipeline: &str) -> FloatMode {
    let says = |mode: &str| pipeline.contains(&format!("float={mode}"));
    match (says("fast"), says("nsz")) {
        (true, _) => FloatMode::Fast,
        (false, true) => FloatMode::Nsz,
        (false, false) => FloatMode::Exact,
    }
}

impl Args {
    /// The same choice of passes, patterns and floats with so many rewrites, and nothing printed or written.
    pub(super) fn plain(&self, max_rewrites: Option<usize>) -> Self {
        Self {
            files: Vec::new(),
            output: None,
            pipeline: self.pipeline.clone(),
            float: self.float,
            max_rewrites: max_rewrites.or(self.max_rewrites),
            rules: self.rules.clone(),
            only: self.only.clone(),
            disable: self.disable.clone(),
            stats: false,
            timing: false,
            print_after_change: false,
            no_verify_each: self.no_verify_each,
            check: false,
            inputs: Vec::new(),
            keep_failed: false,
            seed: self.seed,
            step_log: false,
            dump_dir: None,
            dump_all: false,
            reproducer: None,
            report: None,
            from: None,
            to: None,
        }
    }
}

/// The rule that [`count_ops`] counts by.
const COUNTED: &str =
    "not counted: constants, `return` and `yield`, and the only op of a reduction's region";

// Counts ops as a reader of the program does. A constant is a number, and `return` and `yield` compute nothing. The only op
// of a region that is no branch or loop, such as the maximum of a reduction, is part of the op that applies it: most
// formats write both as one, `reduce_max` or `reduce … applies maximum`.
fn count_ops(program: &ptir::Program) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for f in program.functions() {
        let is_end = |inst| f.op_def(inst).is_some_and(|def| def.terminator);
        let is_applied = |inst| {
            let body = f.body_of(inst)?;
            let owner = f.op_def(f.body_owner(body)?);
            let branches = owner.is_some_and(|def| def.family == "control");
            Some(!branches && f.body_insts(body).take(3).count() <= 2)
        };
        for inst in f.walk() {
            let constant = f.value_of(inst).is_some_and(|value| f.constant_of(value).is_some());
            if !is_end(inst) && !constant && is_applied(inst) != Some(true) {
                *counts.entry(f.op_name(inst)).or_default() += 1;
            }
        }
    }
    counts
}

fn messages(
    args: &Args,
    report: &RunReport,
    before: &BTreeMap<&str, usize>,
    after: &BTreeMap<&str, usize>,
) -> String {
    let mut text: String = report.warnings().map(|w| format!("sapwood: {w}\n")).collect();
    if args.print_after_change {
        text += &report.changes();
    }
    if args.stats {
        text += &table(before, after);
        text += &report.statistics();
    }
    if args.timing {
        text += &report.timing();
    }
    text
}

/// Ops before and after, those that changed most first.
fn table(before: &BTreeMap<&str, usize>, after: &BTreeMap<&str, usize>) -> String {
    let count = |ops: &BTreeMap<&str, usize>, name: &str| ops.get(name).copied().unwrap_or(0);
    let mut names: Vec<&str> = before.keys().chain(after.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    let change = |name: &str| count(after, name) as i64 - count(before, name) as i64;
    names.sort_by_key(|name| (change(name), *name));
    let mut text = format!("{:<24} {:>8} {:>8} {:>8}\n", "op", "before", "after", "change");
    let mut line = |name: &str, old: usize, new: usize| {
        let change = match new as i64 - old as i64 {
            0 => String::new(),
            n => format!("{n:+}"),
        };
        text += format!("{name:<24} {old:>8} {new:>8} {change:>8}").trim_end();
        text.push('\n');
    };
    for name in names {
        line(name, count(before, name), count(after, name));
    }
    line("total", before.values().sum(), after.values().sum());
    text + COUNTED + "\n"
}

fn stats_json(
    report: &RunReport,
    before: &BTreeMap<&str, usize>,
    after: &BTreeMap<&str, usize>,
) -> Value {
    let passes: Vec<Value> = report
        .passes
        .iter()
        .map(|pass| {
            let counters: BTreeMap<&str, usize> = pass.counters.iter().copied().collect();
            let patterns: Vec<Value> = pass
                .greedy
                .iter()
                .flat_map(|greedy| &greedy.patterns)
                .filter(|p| p.matched > 0)
                .map(|p| json!({ "name": p.name, "tried": p.tried, "matched": p.matched, "applied": p.applied }))
                .collect();
            let mut report = json!({
                "pass": pass.name,
                "changed": pass.changed,
                "converged": pass.greedy.as_ref().is_none_or(|greedy| greedy.converged),
                "seconds": pass.time.as_secs_f64(),
                "counters": counters,
                "patterns": patterns,
            });
            if let Some(greedy) = pass.greedy.as_ref().filter(|greedy| !greedy.disabled.is_empty()) {
                report["switched_off"] = json!(greedy.disabled);
            }
            report
        })
        .collect();
    json!({ "ops_before": before, "ops_after": after, "passes": passes })
}
