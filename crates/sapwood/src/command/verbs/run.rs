//! `sapwood run`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use sapwood_check::InputGenerator;
use sapwood_check::show::{abridged, is_abridged, to_json};
use sapwood_onnx::ModelEdits;
use sapwood_ptir::eval::{Kernels, RunOptions, Value};
use sapwood_ptir::{Function, Name, Program};
use sapwood_runtime::{Backend as _, CpuBackend, FastKernels, RunRequest};
use sapwood_trace::install_global_sink;
use sapwood_types::Progress;
use serde_json::json;

use crate::Toolkit;
use crate::command::cli_error::CliError;
use crate::command::command_name;
use crate::command::console::Console;
use crate::command::io::batch::ends_in_separator;
use crate::command::io::created_folder::CreatedFolder;
use crate::command::io::files::{Input, write_file};
use crate::command::io::load::{FileFormat, Loaded, ReadOptions, load};
use crate::command::io::npy::{read_arguments, write_results};
use crate::command::io::target::{companion_path, require_report_file};
use crate::command::io::trace_folder::TraceFolder;
use crate::command::progress_line::with_progress_line;
use crate::command::run_report::RunReport;
use crate::command::select_function::entry_function;
use crate::command::status::Status;

/// Run a function of a program
///
/// The inputs are NumPy files, one --in per parameter, or random. The results are printed, or saved with -o as NumPy files.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A program; `-` means standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The function to run; the default is `main`, or the only function
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// An input as .npy, one for each parameter, in order; `-` means standard input
    #[arg(long = "in", value_name = "FILE", conflicts_with = "random")]
    inputs: Vec<PathBuf>,
    /// Use random inputs with this seed
    #[arg(long, value_name = "SEED")]
    random: Option<u64>,
    /// Use the fixed-order evaluator: the same bytes on every machine
    #[arg(long)]
    exact: bool,
    /// Run on this backend of the toolkit instead of the CPU
    #[arg(long, value_name = "NAME", hide = true,
        conflicts_with_all = ["exact", "max_steps", "time_limit", "dump_dir", "profile", "report"])]
    backend: Option<String>,
    /// Save results to this directory as result0.npy and so on; it is created if it is missing
    #[arg(short, long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
    /// Largest number of instructions to run; the default is no limit
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
    /// Largest running time in seconds; the default is no limit
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Report the time and the bytes read and written of each instruction and of each group that runs as one
    #[arg(long)]
    profile: bool,
    /// Write the profile as an HTML page to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write a trace to this directory: the program, its run and how it ended
    #[arg(long, value_name = "DIRECTORY")]
    dump_dir: Option<PathBuf>,
    /// Format of the program; the default is that of its extension, or PTIR text for standard input
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
}

/// The largest number of elements of a result that is written as JSON.
const MAX_JSON_ELEMENTS: usize = 1 << 20;
/// The largest `--time-limit` in seconds.
const MAX_TIME_LIMIT: f64 = 1e9;

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let input = Input::new(&args.file);
    let time_limit = args.time_limit.map(parse_time_limit).transpose()?;
    let paths = std::iter::once(&args.file).chain(&args.inputs);
    if paths.filter(|path| Input::new(path) == Input::Stdin).count() > 1 {
        return Err(CliError::new("only one of the program and its inputs can be standard input"));
    }
    if let Some(folder) = &args.output {
        check_output_folder(folder)?;
    }
    if let Some(report) = &args.report {
        require_report_file(report, std::iter::once(&input))?;
    }
    let run = with_progress_line(console, || run_function(args, console, &input, time_limit))?;
    // Results are printed or saved even if the trace cannot be written.
    let output =
        run.results.map_err(|why| CliError::new(format!("{input}: {why}"))).and_then(|results| {
            write_output(args, console, run.function.as_str(), &results, run.profile.as_ref())
        });
    match (output, run.trace.as_ref().map_or(Ok(()), TraceFolder::finish)) {
        (Ok(()), Ok(())) => Ok(Status::Success),
        (Err(error), Ok(())) | (Ok(()), Err(error)) => Err(error),
        (Err(first), Err(second)) => {
            console.message(&second.text(console.color));
            Err(first)
        }
    }
}

/// A run that has ended.
struct FinishedRun {
    function: Name,
    results: Result<Vec<Value>, String>,
    trace: Option<TraceFolder>,
    profile: Option<RunReport>,
}

// Loads the program and runs the function.
fn run_function(
    args: &Args,
    console: &Console,
    input: &Input,
    time_limit: Option<Duration>,
) -> Result<FinishedRun, CliError> {
    let edits = ModelEdits { inline_functions: true, ..ModelEdits::default() };
    let toolkit = Toolkit::clone(&console.toolkit).edit_models(edits);
    let file = load(input, args.from, ReadOptions::default(), &toolkit)?;
    let front_end = match &file.program {
        Loaded::Ir(program) => Some(program.clone()),
        Loaded::Ptir(_) => None,
    };
    let is_onnx = file.format == FileFormat::Onnx;
    if matches!(file.format, FileFormat::Ptir | FileFormat::Json) {
        console.message(&file.notes);
    }
    let mut program = file.into_ptir(&console.toolkit)?;
    if is_onnx && !args.exact {
        // The fast kernels are those of core ops.
        for f in program.functions_mut() {
            sapwood_onnx::lower_function(f, sapwood_onnx::LowerLevel::Kernels);
        }
    }
    let f = entry_function(args.function.as_deref(), &program, input)?;
    let mut inputs = function_inputs(args, f)?;
    // In the front-end IR a parameter may be a dim of another one; the lowered function does not connect them.
    if let Some(function) = front_end.as_ref().and_then(|p| p.get_function(f.name().as_str())) {
        if args.random.is_some() {
            sapwood_lower::bind_extent_arguments(function, &mut inputs);
        }
        sapwood_lower::check_extent_arguments(function, &inputs)
            .map_err(|why| CliError::new(format!("{input}: @{}: {why}", f.name())))?;
    }
    let function = f.name();
    if let Some(backend) = &args.backend {
        Progress::enter_phase("run");
        let results = run_on_backend(backend, &program, f, &inputs, console);
        return Ok(FinishedRun { function, results, trace: None, profile: None });
    }
    let kernels = (!args.exact).then(|| Arc::new(FastKernels) as Arc<dyn Kernels>);
    let options = RunOptions {
        // StableHLO's test programs contain checks as custom calls.
        kernels: Some(sapwood_stablehlo::check_call_kernels(kernels)),
        threads: console.jobs,
        max_steps: args.max_steps,
        time_limit,
        profile: (args.profile || args.report.is_some()).then(Arc::default),
        ..RunOptions::default()
    };
    let profile = options.profile.clone();
    let backend = CpuBackend::new(if args.exact { "cpu-exact" } else { "cpu" }, options);
    let trace = TraceFolder::open(args.dump_dir.as_deref(), false)?;
    let guard = trace.as_ref().map(|trace| install_global_sink(trace.sink().clone()));
    Progress::enter_phase("run");
    let results = backend.run_program(&program, &RunRequest::new(function.as_str()), &inputs);
    drop(guard);
    let profile = profile.map(|profile| {
        let found = backend.cache().find(&program, function);
        let prepared = found.get_or_compile(|| Err(())).ok();
        let profile = profile.lock().unwrap_or_else(PoisonError::into_inner);
        RunReport::new(&profile, prepared.as_deref())
    });
    Ok(FinishedRun { function, results: results.map_err(|why| why.to_string()), trace, profile })
}

// Runs a function on a backend of the toolkit.
fn run_on_backend(
    name: &str,
    program: &Program,
    f: &Function,
    inputs: &[Value],
    console: &Console,
) -> Result<Vec<Value>, String> {
    let literals = inputs.iter().map(Value::to_literal).collect::<Option<Vec<_>>>();
    let literals = literals.ok_or("a backend takes tensors only")?;
    let results = console.toolkit.run(name, program, f.name().as_str(), &literals);
    let results = results.map_err(|why| why.to_string())?;
    Ok(results.into_iter().map(Value::from).collect())
}

// Checks before the run that results can be saved to a folder.
fn check_output_folder(folder: &Path) -> Result<(), CliError> {
    let path = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(CliError::new(format!("{path}: is a file, expected a directory")));
    }
    if !folder.exists() && folder.extension().is_some() && !ends_in_separator(folder) {
        return Err(CliError::new(format!(
            "`-o {path}` names a file, but results are saved to a directory; give a directory (`{path}/` creates one)"
        )));
    }
    // The folder is removed at once, and created again when there are results.
    CreatedFolder::create(folder).map(drop)
}

fn parse_time_limit(seconds: f64) -> Result<Duration, CliError> {
    match seconds > 0.0 && seconds <= MAX_TIME_LIMIT {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(CliError::new(format!(
            "--time-limit {seconds}: expected seconds, more than 0 and at most {MAX_TIME_LIMIT}"
        ))),
    }
}

// Prints results, or saves all of them or none.
fn write_output(
    args: &Args,
    console: &Console,
    function: &str,
    results: &[Value],
    profile: Option<&RunReport>,
) -> Result<(), CliError> {
    if let (Some(profile), Some(path)) = (profile, &args.report) {
        let input = Input::new(&args.file);
        let page = profile.page(&input.to_string());
        write_file(&companion_path(path, &input, "html"), page)?;
    }
    if let Some(profile) = profile
        && args.profile
        && !console.json
    {
        console.message(&profile.text());
    }
    let mut saved = Vec::new();
    if let Some(folder) = &args.output {
        let files = write_results(folder, results)?;
        saved = files.iter().map(|path| path.display().to_string()).collect();
    }
    if console.json {
        let list: Vec<_> = results
            .iter()
            .map(|value| {
                json!({ "type": value.ty().to_string(), "value": to_json(value, MAX_JSON_ELEMENTS) })
            })
            .collect();
        let mut output = json!({ "function": function, "results": list, "saved": saved });
        if let Some(profile) = profile.filter(|_| args.profile) {
            output["profile"] = profile.json();
        }
        return console.write_json(&output);
    }
    if args.output.is_some() {
        return Ok(());
    }
    let text: String = results.iter().map(|value| abridged(value) + "\n").collect();
    console.write(&text)?;
    if results.iter().any(is_abridged) {
        let name = command_name();
        console.message(&format!(
            "{name}: large results are shown in part; -o DIRECTORY saves them\n"
        ));
    }
    Ok(())
}

// Returns the inputs of the function: random ones, or those of `--in`.
fn function_inputs(args: &Args, f: &Function) -> Result<Vec<Value>, CliError> {
    if let Some(seed) = args.random {
        return InputGenerator::default()
            .inputs(f, seed)
            .map_err(|why| CliError::new(format!("@{}: {why}; give them with --in", f.name())));
    }
    read_arguments(&args.inputs, f, ", or pass --random SEED")
}
