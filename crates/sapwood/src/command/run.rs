//! `sapwood run`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sapwood_check::InputGenerator;
use sapwood_check::show::{abridged, is_abridged, to_json};
use sapwood_ptir::eval::{Kernels, RunOptions, Value};
use sapwood_ptir::{Function, Program};
use sapwood_runtime::{Backend as _, Call, CpuBackend, FastKernels};
use sapwood_trace::install_global_sink;
use sapwood_types::counted;
use serde_json::json;

use super::answer::{Answer, Trouble};
use super::console::Console;
use super::dump;
use super::files::{Input, create_directory};
use super::graph::find;
use super::load::{FileFormat, Reading, load};
use super::npy;

/// Run a function of a program
///
/// Inputs are NumPy files, one --in per parameter, or random. Results are printed, or saved with -o as NumPy files.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A program; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The function; `main`, or the only one, otherwise
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// An input as .npy, `-` for standard input; one for each parameter, in order
    #[arg(long = "in", value_name = "FILE", conflicts_with = "random")]
    inputs: Vec<PathBuf>,
    /// Random inputs with this seed
    #[arg(long, value_name = "SEED")]
    random: Option<u64>,
    /// Use the fixed-order kernels: the same bytes on every machine
    #[arg(long)]
    exact: bool,
    /// Save results to this directory, as result0.npy and so on; it is made if it is not there
    #[arg(short, long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
    /// How many instructions may run
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
    /// How many seconds it may take
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Write the program, how it ran and how it ended to this directory
    #[arg(long, value_name = "DIRECTORY")]
    dump_dir: Option<PathBuf>,
    /// Format of the program, whatever its name says
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
}

/// Results of more elements are not written as JSON.
const MOST_IN_JSON: usize = 1 << 20;
/// No limit is longer, in seconds.
const LONGEST: f64 = 1e9;

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    let input = Input::new(&args.file);
    let limit = args.time_limit.map(time_limit).transpose()?;
    let streams = std::iter::once(&args.file).chain(&args.inputs);
    if streams.filter(|path| Input::new(path) == Input::Stdin).count() > 1 {
        return Err(Trouble::new("only one of the program and its inputs can be standard input"));
    }
    // Before anything is run for nothing.
    if let Some(folder) = args.output.as_ref().filter(|folder| !folder.is_dir()) {
        if folder.exists() {
            return Err(Trouble::new(format!("{}: not a directory", folder.display())));
        }
        create_directory(folder)?;
    }
    let read = load(&input, Reading { from: args.from, ..Reading::default() })?;
    let program = read.into_ptir()?;
    let f = entry_function(args.function.as_deref(), &program, &input)?;
    let inputs = inputs(args, f)?;
    let kernels = (!args.exact).then(|| Arc::new(FastKernels) as Arc<dyn Kernels>);
    let options = RunOptions {
        // The checks of StableHLO's test programs.
        kernels: Some(sapwood_stablehlo::checks(kernels)),
        threads: console.jobs,
        max_steps: args.max_steps,
        time_limit: limit,
        ..RunOptions::default()
    };
    let backend = CpuBackend::new(if args.exact { "cpu-exact" } else { "cpu" }, options);
    let dump = dump::open(args.dump_dir.as_deref(), false)?;
    let guard = dump.clone().map(|sink| install_global_sink(sink));
    let name = f.name();
    let results = backend.run_program(&program, &Call::new(name.as_str()), &inputs);
    drop(guard);
    // What was computed is told or kept, whatever becomes of the trace.
    let told = results
        .map_err(|why| Trouble::new(format!("{input}: {why}")))
        .and_then(|results| tell(args, console, name.as_str(), &results));
    match (told, dump::close(dump.as_deref())) {
        (Ok(()), Ok(())) => Ok(Answer::Yes),
        (Err(trouble), Ok(())) | (Ok(()), Err(trouble)) => Err(trouble),
        (Err(first), Err(second)) => {
            console.message(&second.text(console.color));
            Err(first)
        }
    }
}

fn time_limit(seconds: f64) -> Result<Duration, Trouble> {
    match seconds > 0.0 && seconds <= LONGEST {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(Trouble::new(format!(
            "--time-limit {seconds}: expected seconds, more than 0 and at most {LONGEST}"
        ))),
    }
}

// Prints results, or saves all of them or none.
fn tell(args: &Args, console: &Console, function: &str, results: &[Value]) -> Result<(), Trouble> {
    let mut saved = Vec::new();
    if let Some(folder) = &args.output {
        let files: Vec<(PathBuf, &Value)> = results
            .iter()
            .enumerate()
            .map(|(n, value)| (folder.join(format!("result{n}.npy")), value))
            .collect();
        npy::write_all(&files)?;
        saved = files.iter().map(|(path, _)| path.display().to_string()).collect();
    }
    if console.json {
        let list: Vec<_> = results
            .iter()
            .map(|value| {
                json!({ "type": value.ty().to_string(), "value": to_json(value, MOST_IN_JSON) })
            })
            .collect();
        return console
            .write_json(&json!({ "function": function, "results": list, "saved": saved }));
    }
    if args.output.is_some() {
        return Ok(());
    }
    let text: String = results.iter().map(|value| abridged(value) + "\n").collect();
    console.write(&text)?;
    if results.iter().any(is_abridged) {
        console.message("sapwood: large results are shown in part; -o DIRECTORY saves them\n");
    }
    Ok(())
}

/// Finds the function to run: the one of this name, `main`, or the only one.
pub(super) fn entry_function<'a>(
    name: Option<&str>,
    program: &'a Program,
    input: &Input,
) -> Result<&'a Function, Trouble> {
    if let Some(name) = name {
        return find(program, name);
    }
    match (program.function("main"), program.functions()) {
        (Some(main), _) => Ok(main),
        (None, [only]) => Ok(only),
        (None, []) => Err(Trouble::new(format!("{input}: there is no function to run"))),
        (None, several) => {
            let names: Vec<String> = several.iter().map(|f| format!("@{}", f.name())).collect();
            let names = names.join(", ");
            Err(Trouble::new(format!("{input}: say which with --function: {names}")))
        }
    }
}

fn inputs(args: &Args, f: &Function) -> Result<Vec<Value>, Trouble> {
    if let Some(seed) = args.random {
        return InputGenerator::default()
            .inputs(f, seed)
            .map_err(|why| Trouble::new(format!("@{}: {why}; give them with --in", f.name())));
    }
    read_inputs(&args.inputs, f, ", or say --random SEED")
}

/// Reads one NumPy file per parameter of a function. `otherwise` ends the message about a wrong number of files.
pub(super) fn read_inputs(
    files: &[PathBuf],
    f: &Function,
    otherwise: &str,
) -> Result<Vec<Value>, Trouble> {
    if files.len() != f.params().len() {
        return Err(Trouble::new(format!(
            "@{} takes {}, found {}; give them with --in{otherwise}",
            f.name(),
            counted(f.params().len(), "input"),
            files.len()
        )));
    }
    let read = |(path, &param): (&PathBuf, _)| npy::read(&Input::new(path), f.value_type(param));
    files.iter().zip(f.params()).map(read).collect()
}
