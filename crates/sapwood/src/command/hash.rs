//! `sapwood hash`.

use std::path::PathBuf;

use sapwood_ptir as ptir;
use sapwood_structural as structural;
use serde_json::json;

use super::answer::{Answer, Trouble};
use super::console::Console;
use super::eq::mode;
use super::files::Input;
use super::load::{FileFormat, Loaded, Reading, load};
use super::many::{self, Inputs, Outcome};

/// Print the structural hash of programs
///
/// Equal programs have the same hash: names of values do not count, and in PTIR neither does the order of independent
/// instructions; in the front-end IR (.py) it does. Hashes are the same on every machine.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Programs, or directories of them; `-` is standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Take lists of instructions as they stand
    #[arg(long)]
    ordered: bool,
    /// Format of the input, whatever its name says
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    many::run(&Inputs::new(&args.files)?, console, |input| one(args, input))
}

fn one(args: &Args, input: &Input) -> Result<Outcome, Trouble> {
    let program = load(input, Reading { from: args.from, ..Reading::default() })?;
    let hash = match &program.loaded {
        Loaded::Ptir(program) => ptir::structural::hash(program, mode(args.ordered)).to_string(),
        Loaded::Ir(program) => structural::hash_128(structural::Field::view(program))
            .map(|hash| hash.to_string())
            .map_err(|error| Trouble::new(format!("{input}: {error}")))?,
    };
    let line = format!("{hash}  {input}");
    Ok(Outcome {
        answer: Answer::Yes,
        text: line.clone() + "\n",
        line,
        message: String::new(),
        json: json!({ "hash": hash }),
    })
}
