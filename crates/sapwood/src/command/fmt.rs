//! `sapwood fmt`.

use std::path::{Path, PathBuf};

use sapwood_ir as ir;
use sapwood_ptir as ptir;
use sapwood_stablehlo::Extras;
use serde_json::json;

use super::answer::{Answer, Trouble};
use super::console::Console;
use super::files::Input;
use super::load::{FileFormat, Loaded, Program, Reading, load};
use super::many::{self, Inputs, Outcome};

/// Print programs canonically
///
/// One file goes to standard output or to -o; several need --in-place, --check, or -o with a directory.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Programs, or directories of them; `-` is standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Write to this file, or for several files into this directory
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Rewrite the files themselves
    #[arg(short, long)]
    in_place: bool,
    /// Only say which files are not canonical; exit code 1 if some are not
    #[arg(long, conflicts_with_all = ["in_place", "output"])]
    check: bool,
    /// Format of the input, whatever its name says
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
    /// Format of the output; that of the output's name or of the input otherwise
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FileFormat>,
}

pub(super) fn run(args: &Args, console: &Console) -> Result<Answer, Trouble> {
    let inputs = match args.check || args.in_place {
        true => Inputs::new(&args.files)?,
        false => {
            let extension = args.to.map(FileFormat::extension);
            Inputs::with_output(&args.files, args.output.as_deref(), console, |_| extension)?
        }
    };
    many::run(&inputs, console, |input| one(args, input))
}

fn one(args: &Args, input: &Input) -> Result<Outcome, Trouble> {
    let reading = Reading { from: args.from, verify: false, comments: true, ..Reading::default() };
    let target = Target::of(args, input)?;
    let program = load(input, reading)?;
    let (target, to) = match args.check || args.in_place {
        true => (target, args.to.unwrap_or(program.format)),
        false => Target::in_format(args.output.as_deref(), input, args.to, program.format),
    };
    let text = print(&program, to)?;
    let notes = program.notes.clone();
    let canonical = text == program.source.text();
    let json = json!({ "canonical": canonical });
    let outcome = |answer, how: &str| {
        let outcome = Outcome::new(answer, format!("{input}: {how}"), json.clone());
        Outcome { message: notes.clone(), ..outcome }
    };
    match &target {
        Target::Check => {
            let (answer, how) = match canonical {
                true => (Answer::Yes, "canonical"),
                false => (Answer::No, "not canonical"),
            };
            let mut outcome = outcome(answer, how);
            outcome.text = outcome.line.clone() + "\n";
            Ok(outcome)
        }
        Target::File(path) if canonical && args.in_place => {
            let mut outcome = outcome(Answer::Yes, "unchanged");
            outcome.json["output"] = json!(path.display().to_string());
            Ok(outcome)
        }
        target => {
            let how = if canonical { "unchanged" } else { "formatted" };
            outcome(Answer::Yes, how).write(target, text)
        }
    }
}

/// Where a result goes.
pub(super) enum Target {
    Check,
    Stdout,
    File(PathBuf),
}

impl Target {
    fn of(args: &Args, input: &Input) -> Result<Self, Trouble> {
        match input {
            _ if args.check => Ok(Self::Check),
            Input::File(path) if args.in_place => Ok(Self::File(path.clone())),
            Input::Stdin if args.in_place => {
                Err(Trouble::new("--in-place needs a file, not standard input"))
            }
            _ => Ok(Self::output(args.output.as_deref(), input)),
        }
    }

    /// From `-o`: a file, a directory, or standard output.
    pub(super) fn output(output: Option<&Path>, input: &Input) -> Self {
        match (output, input) {
            (None, _) => Self::Stdout,
            (Some(path), _) if path.as_os_str() == "-" => Self::Stdout,
            (Some(path), Input::File(file)) if path.is_dir() => {
                Self::File(path.join(file.file_name().unwrap_or(file.as_os_str())))
            }
            (Some(path), Input::Stdin) if path.is_dir() => Self::File(path.join("stdin")),
            (Some(path), _) => Self::File(path.to_owned()),
        }
    }

    /// The same, and the format to write: as asked for, as the name of the file says, or another. Files in a directory
    /// get the extension of their format.
    pub(super) fn in_format(
        output: Option<&Path>,
        input: &Input,
        asked: Option<FileFormat>,
        otherwise: FileFormat,
    ) -> (Self, FileFormat) {
        let into = output.is_some_and(Path::is_dir);
        let to = match Self::output(output, input) {
            Self::File(path) if !into => asked.or(FileFormat::of(&path)).unwrap_or(otherwise),
            _ => asked.unwrap_or(otherwise),
        };
        let extension = if into { Some(to.extension()) } else { None };
        (Self::output_as(output, input, extension), to)
    }

    /// As [`output`](Self::output), with another extension if a directory is written to.
    pub(super) fn output_as(output: Option<&Path>, input: &Input, extension: Option<&str>) -> Self {
        match (Self::output(output, input), extension) {
            (Self::File(path), Some(extension)) if output.is_some_and(Path::is_dir) => {
                Self::File(path.with_extension(extension))
            }
            (target, _) => target,
        }
    }
}

/// A program as text of a format.
pub(super) fn print(program: &Program, to: FileFormat) -> Result<String, Trouble> {
    let name = program.source.name();
    match (&program.loaded, to) {
        (Loaded::Ptir(ptir), to) => print_with(ptir, &program.extras, to, name),
        (Loaded::Ir(program), FileFormat::Py) => {
            ir::print_program(program).map_err(|error| Trouble::new(format!("{name}: {error}")))
        }
        (Loaded::Ir(_), _) => Err(Trouble::new(format!(
            "{name}: the front-end IR is written as .py; `sapwood lower` makes PTIR of it"
        ))),
    }
}

/// PTIR as text of a format.
pub(super) fn print_ptir(
    program: &ptir::Program,
    to: FileFormat,
    name: &str,
) -> Result<String, Trouble> {
    print_with(program, &Extras::new(), to, name)
}

/// PTIR as text of a format, with what StableHLO says beside it.
pub(super) fn print_with(
    program: &ptir::Program,
    extras: &Extras,
    to: FileFormat,
    name: &str,
) -> Result<String, Trouble> {
    match to {
        FileFormat::Mlir => sapwood_stablehlo::write_program(program, extras)
            .map_err(|why| Trouble::new(format!("{name}: {why}"))),
        FileFormat::Ptir => Ok(ptir::print(program)),
        FileFormat::Json => Ok(ptir::to_json(program) + "\n"),
        FileFormat::Py => {
            Err(Trouble::new(format!("{name}: PTIR cannot be written as front-end IR")))
        }
    }
}
