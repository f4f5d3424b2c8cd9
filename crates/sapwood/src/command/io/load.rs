//! Loading programs from files of any format.

use std::path::Path;

use clap::ValueEnum;
use sapwood_ir as ir;
use sapwood_ptir as ptir;
use sapwood_stablehlo::{self as stablehlo, Extras};
use sapwood_types::{Diagnostics, Progress, Source};

use super::files::Input;
use crate::command::cli_error::CliError;

/// A format of program files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// PTIR text
    Ptir,
    /// PTIR as JSON
    Json,
    /// The front-end IR's Python-like text
    Py,
    /// StableHLO text
    Mlir,
}

impl FileFormat {
    /// The extensions of all formats.
    pub(crate) const EXTENSIONS: [&'static str; 4] = [".ptir", ".json", ".py", ".mlir"];

    /// Returns the extension of files in this format, without a dot.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Ptir => "ptir",
            Self::Json => "json",
            Self::Py => "py",
            Self::Mlir => "mlir",
        }
    }

    /// Returns the format that the extension of a path stands for.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "ptir" => Some(Self::Ptir),
            "json" => Some(Self::Json),
            "py" => Some(Self::Py),
            "mlir" => Some(Self::Mlir),
            _ => None,
        }
    }
}

/// A program of one of the two IRs.
pub(crate) enum Loaded {
    Ptir(ptir::Program),
    Ir(ir::ProgramRef),
}

/// A program with the text that it was read from.
pub(crate) struct LoadedFile {
    pub(crate) source: Source,
    pub(crate) format: FileFormat,
    pub(crate) program: Loaded,
    /// The parts of a StableHLO module that PTIR does not represent.
    pub(crate) extras: Extras,
    /// Messages about parts of the file that were dropped, one per line.
    pub(crate) notes: String,
}

impl LoadedFile {
    /// Returns the program as PTIR, with the parts of a StableHLO module that PTIR does not represent.
    pub(crate) fn into_ptir_and_extras(mut self) -> Result<(ptir::Program, Extras), CliError> {
        let extras = std::mem::take(&mut self.extras);
        Ok((self.into_ptir()?, extras))
    }

    /// Returns the program as PTIR; front-end IR is lowered.
    pub(crate) fn into_ptir(self) -> Result<ptir::Program, CliError> {
        match self.program {
            Loaded::Ptir(program) => Ok(program),
            Loaded::Ir(program) => sapwood_lower::lower(&program)
                .map_err(|problems| CliError::in_program(problems, &self.source)),
        }
    }
}

/// The options of loading a program.
#[derive(Clone, Copy)]
pub(crate) struct LoadOptions {
    /// The format; the default is that of the extension, or PTIR text for standard input.
    pub(crate) from: Option<FileFormat>,
    /// Requires a well-formed program.
    pub(crate) verify: bool,
    /// Keeps comments.
    pub(crate) comments: bool,
    /// Keeps names and numbers of values, and StableHLO statements, as they are written, for messages about single
    /// instructions.
    pub(crate) source_names: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { from: None, verify: true, comments: false, source_names: false }
    }
}

/// Returns the format of an input: `from`, or that of its extension; standard input is PTIR text by default.
pub(crate) fn format_of(input: &Input, from: Option<FileFormat>) -> Result<FileFormat, CliError> {
    match (from, input) {
        (Some(format), _) => Ok(format),
        (None, Input::Stdin) => Ok(FileFormat::Ptir),
        (None, Input::File(path)) => FileFormat::of(path).ok_or_else(|| {
            if path.is_dir() {
                return CliError::new(format!("{input}: is a directory, expected a file"));
            }
            if !path.exists() {
                return CliError::new(format!("{input}: no such file"));
            }
            let expected = "expected .ptir, .json, .py or .mlir (or pass --from)";
            CliError::new(match path.extension() {
                Some(extension) => {
                    let extension = extension.display();
                    format!("{input}: unknown extension `.{extension}`; {expected}")
                }
                None => format!("{input}: no extension; {expected}"),
            })
        }),
    }
}

/// Returns the format that a verb writes by default after it changed a program: StableHLO stays StableHLO, everything else
/// becomes PTIR text.
pub(crate) fn default_output_format(input: &Input, from: Option<FileFormat>) -> FileFormat {
    match format_of(input, from) {
        Ok(FileFormat::Mlir) => FileFormat::Mlir,
        _ => FileFormat::Ptir,
    }
}

/// Reads a program from a file or from standard input.
pub(crate) fn load(input: &Input, options: LoadOptions) -> Result<LoadedFile, CliError> {
    let format = format_of(input, options.from)?;
    Progress::enter_phase("read");
    let source = input.read_source()?;
    load_source(source, format, options)
}

/// Reads a program from a text of this format.
pub(crate) fn load_source(
    source: Source,
    format: FileFormat,
    options: LoadOptions,
) -> Result<LoadedFile, CliError> {
    let (text, name) = (source.text(), source.name());
    let (mut extras, mut notes) = (Extras::new(), String::new());
    let program = match format {
        FileFormat::Ptir => {
            let options = ptir::ParseOptions::new()
                .file(name)
                .verify(options.verify)
                .comments(options.comments)
                .numbers(options.source_names);
            ptir::parse_with(text, &options).map(Loaded::Ptir)
        }
        FileFormat::Json => ptir::from_json(text).and_then(|program| {
            if options.verify {
                ptir::verify(&program)?;
            }
            Ok(Loaded::Ptir(program))
        }),
        FileFormat::Mlir => stablehlo::read(&source).map(|module| {
            extras = module.extras;
            notes = module.notes.iter().map(|note| format!("{note}\n")).collect();
            let mut program = module.program;
            if options.source_names {
                program.set_quoted_source(&source);
            }
            Loaded::Ptir(program)
        }),
        FileFormat::Py => ir::parse_program(&source).and_then(|program| {
            let problems = match options.verify {
                true => ir::verify(&program, ir::VerifyLevel::WellFormed),
                false => Diagnostics::new(),
            };
            problems.into_result(Loaded::Ir(program))
        }),
    };
    match program {
        Ok(program) => Ok(LoadedFile { source, format, program, extras, notes }),
        // The JSON reader does not know the file name.
        Err(problems) => Err(CliError::in_program(problems.in_file(name), &source)),
    }
}
