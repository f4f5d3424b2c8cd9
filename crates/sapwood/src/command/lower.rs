//! `sapwood lower`.

use std::path::PathBuf;

use serde_json::json;

use super::answer::{Answer, Trouble};
use super::console::Console;
use super::files::Input;
use super::fmt::{Target, print_ptir};
use super::load::{FileFormat, Reading, load};
use super::many::{self, Inputs, Outcome};

/// Make PTIR of front-end IR
#[derive(clap::Args)]
pub(super) struct Args {
    /// Programs, or directories of them; `-` is standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Write to this file, or for several files into this directory
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of the input; front-end IR unless its name says otherwise
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
    /// Format of the output
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FileFormat>,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    let extension = args.to.unwrap_or(FileFormat::Ptir).extension();
    let inputs =
        Inputs::with_output(&args.files, args.output.as_deref(), console, |_| Some(extension))?;
    many::run(&inputs, console, |input| one(args, input))
}

fn one(args: &Args, input: &Input) -> Result<Outcome, Trouble> {
    let from = match (args.from, input) {
        (None, Input::Stdin) => Some(FileFormat::Py),
        (from, _) => from,
    };
    let read = load(input, Reading { from, ..Reading::default() })?;
    let program = read.into_ptir()?;
    let (target, to) = Target::in_format(args.output.as_deref(), input, args.to, FileFormat::Ptir);
    let text = print_ptir(&program, to, &input.to_string())?;
    Outcome::new(Answer::Yes, format!("{input}: lowered"), json!({})).write(&target, text)
}
