//! `sapwood opt`.

pub(super) mod equivalence_check;
mod first_bad_rewrite;
mod pipeline;
mod report_page;
mod statistics;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sapwood_check::Verdict;
use sapwood_ptir::cost::of_public_functions;
use sapwood_rewrite::{FloatMode, Pass, PipelineFailure};
use sapwood_trace::{FileTraceSink, StepLogSink};
use sapwood_types::{Progress, counted};
use serde_json::json;

use equivalence_check::EquivalenceChecker;
use first_bad_rewrite::find_first_bad_rewrite;
use pipeline::{create_passes, pass_manager};
use report_page::ReportPage;
use statistics::{CostChange, count_ops, report_json, report_text};

use crate::command::cli_error::CliError;
use crate::command::command_name;
use crate::command::console::Console;
use crate::command::io::batch::{self, BatchArgs, BatchInputs, FileResult};
use crate::command::io::files::{Input, canonical_path};
use crate::command::io::load::{
    FileFormat, InputFormatArgs, Loaded, LoadedFile, ReadOptions, default_output_format, load,
    output_extension,
};
use crate::command::io::model_edits::ModelEditArgs;
use crate::command::io::npy::read_arguments;
use crate::command::io::print::print_ptir;
use crate::command::io::target::{Target, companion_path, require_file};
use crate::command::io::trace_folder::TraceFolder;
use crate::command::select_function::entry_function;
use crate::command::status::Status;
use crate::onnx_passes::onnx_to_core;

/// Optimize programs with a pipeline of passes
///
/// The default pass, `simplify`, canonicalizes, folds, merges equal instructions and erases dead ones until nothing changes
/// any more. For an ONNX model, `onnx-to-core` runs first. The result is written to standard output or to -o.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    /// The passes to run, for example 'canonicalize{max-iterations=4},cse,dce'; the default is simplify
    #[arg(short, long, value_name = "PASSES")]
    pipeline: Option<String>,
    /// A preset: 1 inlines functions, removes private ones that are no longer called, and simplifies; the default only
    /// simplifies
    #[arg(short = 'O', value_name = "LEVEL", value_parser = ["1"], conflicts_with = "pipeline")]
    preset: Option<String>,
    /// Float mode: exact (only the bits of a NaN may change), nsz (also the sign of zero), or fast (also rounding); the
    /// default is exact
    #[arg(long, value_name = "MODE")]
    float: Option<FloatMode>,
    /// Largest number of folds and rewrites; the default is 4096 plus 16 per instruction
    #[arg(long, value_name = "N")]
    max_rewrites: Option<usize>,
    /// Largest number of elements of a constant that folding computes; the default is 65536. In an ONNX model, also the number of elements by
    /// which all constants together may grow when nodes are computed; the default is 1048576
    #[arg(long, value_name = "N", conflicts_with = "pipeline")]
    fold_limit: Option<u64>,
    /// A file of rules to apply together with the shipped patterns, in every pass of -p that applies patterns. May be repeated
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// Apply only this pattern or rule. May be repeated
    #[arg(long, value_name = "PATTERN", conflicts_with = "disable")]
    only: Vec<String>,
    /// Do not apply this pattern or rule, or the patterns that rely on this assumption of --stats. May be repeated
    #[arg(long, value_name = "PATTERN")]
    disable: Vec<String>,
    /// Print op counts before and after, statistics of each pattern, and the assumptions that rewrites relied on. Not counted: constants, `return`, `yield`, and a
    /// region's only op, except in branches and loops
    #[arg(long)]
    stats: bool,
    /// Print the time of each pass
    #[arg(long)]
    timing: bool,
    /// Print the changes of each pass
    #[arg(long)]
    print_after_change: bool,
    /// Do not verify after each pass
    #[arg(long)]
    no_verify_each: bool,
    /// Run the programs before and after on the same inputs and compare the results; exit code 1 if they differ by more than
    /// the float mode allows, or if a result could not be checked
    #[arg(long)]
    check: bool,
    /// With --check: an input of `main`, or of the only function, as .npy, one for each parameter, in order; the default is
    /// random inputs
    #[arg(long = "in", value_name = "FILE", requires = "check")]
    inputs: Vec<PathBuf>,
    /// With --check: write the output even if the check fails
    #[arg(long, requires = "check")]
    keep_failed: bool,
    /// With --check: seed of the random inputs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Print every rewrite, fold and edit in order
    #[arg(long)]
    step_log: bool,
    /// Write a trace to this directory: the edits of the passes, and the program after each pass that changed it
    #[arg(long, value_name = "DIRECTORY")]
    dump_dir: Option<PathBuf>,
    /// With --dump-dir: also write the program after passes that changed nothing
    #[arg(long, requires = "dump_dir")]
    dump_all: bool,
    /// If a pass fails, write a program that reproduces the failure to this file, or to this directory if there are several
    /// inputs
    #[arg(long, value_name = "FILE")]
    reproducer: Option<PathBuf>,
    /// Write an HTML page about the run to this file, or to this directory if there are several inputs: before and after,
    /// every step, statistics
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    edits: ModelEditArgs,
    #[command(flatten)]
    input_format: InputFormatArgs,
    /// Format of the output; the default is that of its extension, or else StableHLO for StableHLO inputs, ONNX for ONNX inputs
    /// (PTIR text on standard output) and PTIR text for all others
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FileFormat>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let console = &args.edits.console(console, true);
    let passes = create_passes(args, &console.toolkit)?;
    let mut inputs = args
        .batch
        .inputs(console, |input| output_extension(input, args.input_format.from, args.to))?;
    if inputs.len() > 1 && !args.inputs.is_empty() {
        return Err(CliError::new("--in gives the inputs of one program, but there are several"));
    }
    check_output_conflicts(args, &passes, &mut inputs)?;
    let threads = if inputs.len() > 1 { 1 } else { console.jobs };
    let trace = TraceFolder::open(args.dump_dir.as_deref(), args.dump_all)?;
    let sink = trace.as_ref().map(TraceFolder::sink);
    // A trace lists runs in the order of the arguments.
    let jobs = if trace.is_some() { 1 } else { console.jobs };
    let console = &Console { jobs, ..console.clone() };
    let status = batch::run(&inputs, console, |input| {
        let result = optimize_file(args, &passes, threads, console, sink, input)?;
        Ok(inputs.with_heading(input, result))
    })?;
    trace.as_ref().map_or(Ok(()), TraceFolder::finish)?;
    Ok(status)
}

// Checks that no two outputs are the same file, and that `--report` and `--reproducer` replace no input.
fn check_output_conflicts(
    args: &Args,
    passes: &[Arc<dyn Pass>],
    inputs: &mut BatchInputs,
) -> Result<(), CliError> {
    let mut taken: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut pass_files: BTreeMap<PathBuf, &str> = BTreeMap::new();
    for input in inputs.iter() {
        if let Input::File(path) = input {
            taken.insert(canonical_path(path), format!("the input {input}"));
        }
    }
    let read_by =
        |path: &Path, pass: &str| format!("{}, which the pass `{pass}` reads", path.display());
    for pass in passes {
        for path in pass.files() {
            taken.insert(canonical_path(&path), read_by(&path, pass.name()));
            pass_files.insert(canonical_path(&path), pass.name());
        }
    }
    for input in inputs.iter() {
        let (target, _) = Target::with_format(
            args.batch.output.as_deref(),
            input,
            args.to,
            default_output_format(input, args.input_format.from),
        );
        if let Target::File(path) = target {
            if let Some(pass) = pass_files.get(&canonical_path(&path)) {
                let file = read_by(&path, pass);
                return Err(CliError::new(format!("-o would replace {file}; give another path")));
            }
            taken.insert(canonical_path(&path), format!("{}, the output of -o", path.display()));
        }
    }
    for (option, output, extension) in
        [("--report", &args.report, "html"), ("--reproducer", &args.reproducer, "ptir")]
    {
        let Some(output) = output else { continue };
        require_file(option, output)?;
        inputs.prepare_output(option, output, |_| Some(extension))?;
        for input in inputs.iter() {
            let path = companion_path(output, input, extension);
            if let Some(other) =
                taken.insert(canonical_path(&path), format!("the output of {option}"))
            {
                return Err(CliError::new(format!(
                    "{option} would replace {other}; give another path"
                )));
            }
        }
    }
    Ok(())
}

fn optimize_file(
    args: &Args,
    passes: &[Arc<dyn Pass>],
    threads: usize,
    console: &Console,
    trace: Option<&Arc<FileTraceSink>>,
    input: &Input,
) -> Result<FileResult, CliError> {
    let source_names = args.report.is_some();
    let options = ReadOptions { comments: true, source_names, ..ReadOptions::default() };
    let file = load(input, args.input_format.from, options, &console.toolkit)?;
    let page = args.report.as_ref().map(|path| ReportPage::new(path, input, &file));
    let notes = file.notes.clone();
    let with_lowering: Vec<Arc<dyn Pass>>;
    let passes = match (file.format, &args.pipeline) {
        (FileFormat::Onnx, None) => {
            let once = || [onnx_to_core(args.fold_limit)].into_iter().chain(passes.iter().cloned());
            // Ops after a branch that was decided know more about their operands.
            with_lowering = match has_branches(&file) {
                true => once().chain(once()).collect(),
                false => once().collect(),
            };
            &with_lowering[..]
        }
        _ => passes,
    };
    let (before, extras) = file.into_ptir_and_extras(&console.toolkit)?;
    let check_inputs = match &args.inputs[..] {
        [] => None,
        files => {
            let f = entry_function(None, &before, input)?;
            Some((f.name(), read_arguments(files, f, "")?))
        }
    };
    let old = count_ops(&before);
    let old_cost = args.stats.then(|| of_public_functions(&before));
    // Only the check needs the program before. Without it, functions that change are released one by one.
    let kept = args.check.then(|| before.clone());
    let mut after = before;
    let mut manager =
        pass_manager(args, passes).threads(threads).print_changes(args.print_after_change);
    let (floats, allow_removed) = (manager.float_mode(), manager.may_remove_functions());
    manager = match &args.reproducer {
        Some(path) => manager.reproducer(companion_path(path, input, "ptir")),
        // After a failure the program is not used, so that no snapshot is needed. A page shows the functions before.
        None => manager.in_place(page.is_none()),
    };
    if let Some(trace) = trace {
        trace.input(&input.to_string());
        manager = manager.trace(trace.clone());
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
        CliError::new(format!("{input}: {failure}{}", reproducer_message(&failure)))
    })?;
    let new = count_ops(&after);
    let cost = old_cost.map(|before| CostChange::new(before, &after));
    let total = |ops: &BTreeMap<&str, usize>| ops.values().sum::<usize>();
    let mut result = FileResult {
        status: Status::Success,
        text: String::new(),
        line: format!("{input}: {} before, {} after", counted(total(&old), "op"), total(&new)),
        message: notes + &report_text(args, console.color, &report, &old, &new, cost.as_ref()),
        json: report_json(&report, &old, &new),
    };
    if let Some(cost) = &cost {
        result.json["cost"] = cost.json();
    }
    if let Some(steps) = steps {
        let text = steps.text();
        result.json["steps"] = json!(text.lines().collect::<Vec<_>>());
        result.message.insert_str(0, &text);
    }
    let mut check = None;
    if let Some(before) = &kept {
        let checker =
            EquivalenceChecker { floats, seed: args.seed, inputs: check_inputs, allow_removed };
        Progress::enter_phase("check");
        let report = checker.compare(before, &after);
        let different = report.verdict() == Verdict::Different;
        let narrowed = checker.narrowed_to(&report);
        if different {
            Progress::enter_phase("search for the first wrong rewrite");
        }
        let culprit =
            different.then(|| find_first_bad_rewrite(args, passes, before, &narrowed)).flatten();
        result.status = if report.passes() { Status::Success } else { Status::Negative };
        result.json["check"] = equivalence_check::report_json(&report);
        result.message += &equivalence_check::report_text(&report);
        if let Some(culprit) = &culprit {
            result.message += &format!("{culprit}\n");
            result.json["check"][culprit.kind()] = json!(culprit.name());
        }
        check = Some(equivalence_check::page_section(&report, culprit.as_ref()));
    }
    if let Some((page, recording)) = page.as_ref().zip(recording) {
        page.write(&recording, check.as_ref())?;
        result.json["report"] = json!(page.path.display().to_string());
    }
    let (target, to) = Target::with_format(
        args.batch.output.as_deref(),
        input,
        args.to,
        default_output_format(input, args.input_format.from),
    );
    if let (Target::File(path), true) =
        (&target, result.status != Status::Success && !args.keep_failed)
    {
        let path = path.display();
        result.message += &format!(
            "{}: {path} is not written, because the check failed; --keep-failed writes it\n",
            command_name()
        );
        return Ok(result);
    }
    Progress::enter_phase("write");
    let text = print_ptir(&after, &extras, to, &input.to_string())?;
    result.write(&target, text)
}

// Returns the end of the message about a failed pass: the path of the reproducer, and the command that runs it.
fn reproducer_message(failure: &PipelineFailure) -> String {
    match &failure.written {
        Some(Ok(path)) => {
            let path = path.display();
            let command = match &failure.reproducer {
                Some(reproducer) => {
                    let pipeline = reproducer.pipeline.replace('\'', "'\\''");
                    format!(": {} opt {path} -p '{pipeline}'", command_name())
                }
                None => String::new(),
            };
            format!("; a reproducer is in {path}{command}")
        }
        Some(Err(error)) => format!("; the reproducer could not be written: {error}"),
        None => String::new(),
    }
}

// Returns whether an ONNX model contains `If`.
fn has_branches(file: &LoadedFile) -> bool {
    let Loaded::Ptir(program) = &file.program else { return false };
    program.functions().iter().any(|f| f.walk().any(|inst| f.op_name(inst) == "onnx.If"))
}
