//! `sapwood fmt`.

use std::path::PathBuf;

use serde_json::json;

use crate::command::cli_error::CliError;
use crate::command::console::Console;
use crate::command::io::batch::{self, BatchInputs, FileResult};
use crate::command::io::files::Input;
use crate::command::io::load::{FileFormat, InputFormatArgs, ReadOptions, load};
use crate::command::io::model_edits::ModelEditArgs;
use crate::command::io::print::print_loaded;
use crate::command::io::target::Target;
use crate::command::status::Status;
use crate::formats::PrintedProgram;
use crate::toolkit::Toolkit;

/// Print programs in canonical form
///
/// One file is written to standard output or to -o. Several files need --in-place, --check, or -o with a directory.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Programs, or directories of programs; `-` means standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Write to this file, or to this directory if there are several inputs; the default is standard output
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Overwrite the input files
    #[arg(short, long)]
    in_place: bool,
    /// Only list the files that are not in canonical form; exit code 1 if there are any
    #[arg(long, conflicts_with_all = ["in_place", "output"])]
    check: bool,
    #[command(flatten)]
    edits: ModelEditArgs,
    #[command(flatten)]
    input_format: InputFormatArgs,
    /// Format of the output; the default is that of its extension, or else that of the input
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FileFormat>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let console = &args.edits.console(console, false);
    let inputs = match args.check || args.in_place {
        true => BatchInputs::new(&args.files)?,
        false => {
            let extension = args.to.map(FileFormat::extension);
            BatchInputs::with_output(&args.files, args.output.as_deref(), console, |_| extension)?
        }
    };
    batch::run(&inputs, console, |input| format_file(args, input, &console.toolkit))
}

fn format_file(args: &Args, input: &Input, toolkit: &Toolkit) -> Result<FileResult, CliError> {
    let options = ReadOptions { verify: false, comments: true, ..ReadOptions::default() };
    let target = target_of(args, input)?;
    let file = load(input, args.input_format.from, options, toolkit)?;
    let (target, to) = match args.check || args.in_place {
        true => (target, args.to.unwrap_or(file.format)),
        false => Target::with_format(args.output.as_deref(), input, args.to, file.format),
    };
    let text = print_loaded(&file, to)?;
    let notes = file.notes.clone();
    let canonical = match &text {
        PrintedProgram::Text(text) => text == file.source.text(),
        PrintedProgram::Model(model, _) => {
            file.extras.onnx().is_some_and(|source| *source.model() == **model)
        }
    };
    let json = json!({ "canonical": canonical });
    let result_with = |status, outcome: &str| {
        let result = FileResult::new(status, format!("{input}: {outcome}"), json.clone());
        FileResult { message: notes.clone(), ..result }
    };
    match &target {
        Target::Check => {
            let (status, outcome) = match canonical {
                true => (Status::Success, "canonical"),
                false => (Status::Negative, "not canonical"),
            };
            let mut result = result_with(status, outcome);
            result.text = result.line.clone() + "\n";
            Ok(result)
        }
        Target::File(path) if canonical && args.in_place => {
            let mut result = result_with(Status::Success, "unchanged");
            result.json["output"] = json!(path.display().to_string());
            Ok(result)
        }
        target => {
            let outcome = if canonical { "unchanged" } else { "formatted" };
            result_with(Status::Success, outcome).write(target, text)
        }
    }
}

// Returns the place where the formatted program goes.
fn target_of(args: &Args, input: &Input) -> Result<Target, CliError> {
    match input {
        _ if args.check => Ok(Target::Check),
        Input::File(path) if args.in_place => Ok(Target::File(path.clone())),
        Input::Stdin if args.in_place => {
            Err(CliError::new("--in-place needs a file, found standard input"))
        }
        _ => Ok(Target::from_output(args.output.as_deref(), input)),
    }
}
