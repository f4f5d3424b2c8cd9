//! `sapwood verify`.

use std::path::PathBuf;

use sapwood_ir as ir;
use sapwood_ptir as ptir;
use sapwood_types::{Diagnostics, Source, counted};
use serde_json::json;

use super::answer::{Answer, Trouble, diagnostics_json, render};
use super::console::Console;
use super::files::Input;
use super::load::{FileFormat, Loaded, Program, Reading, format_of, load_text};
use super::many::{self, Inputs, Outcome};

/// Report all that is wrong with programs
///
/// Exit code 1 if a program is not well-formed: its text has a syntax error, an op or a value that does not exist, a wrong
/// type, or something that is not supported. Exit code 2 if a file cannot be read, or if neither its name nor
/// --from says its format.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Programs, or directories of them; `-` is standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Format of the input, whatever its name says
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
    /// For the front-end IR: every variable has one definition
    #[arg(long)]
    ssa: bool,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    many::run(&Inputs::new(&args.files)?, console, |input| one(args, input, console.color))
}

fn one(args: &Args, input: &Input, color: bool) -> Result<Outcome, Trouble> {
    let reading = Reading { from: args.from, ..Reading::default() };
    let format = format_of(input, args.from)?;
    let source = Source::new(&input.to_string(), input.read()?);
    match load_text(source.clone(), format, reading) {
        Ok(program) => Ok(outcome(args, input, &program, color)),
        // Whatever is wrong with the text, the file itself was read.
        Err(Trouble::Program { diagnostics, .. }) => {
            Ok(answer(input, &diagnostics, &source, color))
        }
        Err(trouble) => Err(trouble),
    }
}

fn outcome(args: &Args, input: &Input, program: &Program, color: bool) -> Outcome {
    let mut problems = match &program.loaded {
        Loaded::Ptir(program) => ptir::verify(program).err().unwrap_or_default(),
        Loaded::Ir(program) => {
            let level = if args.ssa { ir::VerifyLevel::Ssa } else { ir::VerifyLevel::WellFormed };
            ir::verify(program, level)
        }
    };
    problems.sort();
    answer(input, &problems, &program.source, color)
}

fn answer(input: &Input, problems: &Diagnostics, source: &Source, color: bool) -> Outcome {
    let count = problems.len() + problems.dropped();
    let (answer, line) = match count {
        0 => (Answer::Yes, format!("{input}: ok")),
        n => (Answer::No, format!("{input}: {}", counted(n, "problem"))),
    };
    Outcome {
        answer,
        text: line.clone() + "\n",
        line,
        message: render(problems, std::slice::from_ref(source), color),
        json: json!({ "ok": count == 0, "diagnostics": diagnostics_json(problems) }),
    }
}
