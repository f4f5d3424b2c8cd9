//! `sapwood hash`.

use std::path::PathBuf;

use sapwood_ptir as ptir;
use sapwood_structural as structural;
use serde_json::json;

use crate::command::cli_error::CliError;
use crate::command::console::Console;
use crate::command::io::batch::{self, BatchInputs, FileResult};
use crate::command::io::files::Input;
use crate::command::io::load::{InputFormatArgs, Loaded, ReadOptions, load};
use crate::command::io::program_pair::comparison_mode;
use crate::command::status::Status;
use crate::toolkit::Toolkit;

/// Print the structural hash of programs
///
/// Equal programs have equal hashes. Names of values do not matter. In PTIR the order of independent instructions does not
/// matter either; in the front-end IR (.py) it does. Hashes are the same on every machine.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Programs, or directories of programs; `-` means standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Hash instructions in the order of the text
    #[arg(long)]
    ordered: bool,
    #[command(flatten)]
    input_format: InputFormatArgs,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    batch::run(&BatchInputs::new(&args.files)?, console, |input| {
        hash_file(args, input, &console.toolkit)
    })
}

fn hash_file(args: &Args, input: &Input, toolkit: &Toolkit) -> Result<FileResult, CliError> {
    let file = load(input, args.input_format.from, ReadOptions::default(), toolkit)?;
    let hash = match &file.program {
        Loaded::Ptir(program) => {
            ptir::structural::hash(program, comparison_mode(args.ordered)).to_string()
        }
        Loaded::Ir(program) => structural::hash(program)
            .map(|hash| hash.to_string())
            .map_err(|error| CliError::new(format!("{input}: {error}")))?,
    };
    let line = format!("{hash}  {input}");
    Ok(FileResult {
        status: Status::Success,
        text: line.clone() + "\n",
        line,
        message: String::new(),
        json: json!({ "hash": hash }),
    })
}
