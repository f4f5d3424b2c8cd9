//! `sapwood verify`.

use std::path::PathBuf;

use sapwood_ir as ir;
use sapwood_ptir as ptir;
use sapwood_types::{Diagnostics, Progress, Source, counted};
use serde_json::json;

use crate::command::cli_error::CliError;
use crate::command::console::Console;
use crate::command::diagnostics::{diagnostics_json, render_diagnostics};
use crate::command::io::batch::{self, BatchInputs, FileResult};
use crate::command::io::files::Input;
use crate::command::io::load::{
    FileFormat, InputFormatArgs, Loaded, ReadOptions, format_of, load_source, read_text,
};
use crate::command::status::Status;

/// Report all errors in programs
///
/// Exit code 1 if a program is not well-formed: it has a syntax error, an unknown op or value, a wrong type, or an unsupported
/// construct. Exit code 2 if a file cannot be read, or if its format is unknown.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Programs, or directories of programs; `-` means standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    input_format: InputFormatArgs,
    /// For the front-end IR: also require that every variable has one definition
    #[arg(long)]
    ssa: bool,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    batch::run(&BatchInputs::new(&args.files)?, console, |input| verify_file(args, input, console))
}

fn verify_file(args: &Args, input: &Input, console: &Console) -> Result<FileResult, CliError> {
    let color = console.color;
    let format = format_of(input, args.input_format.from)?;
    Progress::enter_phase("read");
    let source = read_text(input, format)?;
    match load_source(input, source.clone(), format, ReadOptions::default(), &console.toolkit) {
        Ok(file) => {
            let problems = problems_after_reading(args, format, &file.program);
            let mut result = verify_result(input, &problems, &file.source, color);
            result.message.insert_str(0, &file.notes);
            Ok(result)
        }
        // The file was read, but its text is not well-formed.
        Err(CliError::Program { diagnostics, .. }) => {
            Ok(verify_result(input, &diagnostics, &source, color))
        }
        Err(error) => Err(error),
    }
}

// Returns the problems of a program that reading does not report. Reading verifies, but the readers of StableHLO and
// ONNX check instructions only as they append them.
fn problems_after_reading(args: &Args, format: FileFormat, program: &Loaded) -> Diagnostics {
    Progress::enter_phase("verify");
    let mut problems = match program {
        Loaded::Ptir(program) if matches!(format, FileFormat::Mlir | FileFormat::Onnx) => {
            ptir::verify(program).err().unwrap_or_default()
        }
        Loaded::Ir(program) if args.ssa => ir::verify(program, ir::VerifyLevel::Ssa),
        Loaded::Ptir(_) | Loaded::Ir(_) => Diagnostics::new(),
    };
    problems.sort();
    problems
}

fn verify_result(
    input: &Input,
    problems: &Diagnostics,
    source: &Source,
    color: bool,
) -> FileResult {
    let count = problems.len() + problems.dropped();
    let (status, line) = match count {
        0 => (Status::Success, format!("{input}: ok")),
        n => (Status::Negative, format!("{input}: {}", counted(n, "problem"))),
    };
    FileResult {
        status,
        text: line.clone() + "\n",
        line,
        message: render_diagnostics(problems, std::slice::from_ref(source), color),
        json: json!({ "ok": count == 0, "diagnostics": diagnostics_json(problems) }),
    }
}
