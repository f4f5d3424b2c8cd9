//! `sapwood lower`.

use serde_json::json;

use crate::command::cli_error::CliError;
use crate::command::console::Console;
use crate::command::io::batch::{self, BatchArgs, FileResult};
use crate::command::io::files::Input;
use crate::command::io::load::{FileFormat, ReadOptions, load};
use crate::command::io::print::print_ptir;
use crate::command::io::target::Target;
use crate::command::status::Status;
use crate::formats::FormatExtras;
use crate::toolkit::Toolkit;

/// Convert front-end IR to PTIR
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    /// Format of the input; the default is that of its extension, or front-end IR for standard input
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
    /// Format of the output; the default is that of its extension, or else PTIR text
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FileFormat>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let extension = args.to.unwrap_or(FileFormat::Ptir).extension();
    let inputs = args.batch.inputs(console, |_| Some(extension))?;
    batch::run(&inputs, console, |input| lower_file(args, input, &console.toolkit))
}

fn lower_file(args: &Args, input: &Input, toolkit: &Toolkit) -> Result<FileResult, CliError> {
    let from = match (args.from, input) {
        (None, Input::Stdin) => Some(FileFormat::Py),
        (from, _) => from,
    };
    let file = load(input, from, ReadOptions::default(), toolkit)?;
    let program = file.into_ptir(toolkit)?;
    let (target, to) =
        Target::with_format(args.batch.output.as_deref(), input, args.to, FileFormat::Ptir);
    let text = print_ptir(&program, &FormatExtras::default(), to, &input.to_string())?;
    FileResult::new(Status::Success, format!("{input}: lowered"), json!({})).write(&target, text)
}
