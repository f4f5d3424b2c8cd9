//! Programs from files.

use std::path::Path;

use clap::ValueEnum;
use sapwood_ir as ir;
use sapwood_ptir as ptir;
use sapwood_stablehlo::{self as stablehlo, Extras};
use sapwood_types::{Diagnostics, Source};

use super::answer::Trouble;
use super::files::Input;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FileFormat {
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
    pub(super) const EXTENSIONS: [&'static str; 4] = [".ptir", ".json", ".py", ".mlir"];

    /// The extension of files that hold it.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Ptir => "ptir",
            Self::Json => "json",
            Self::Py => "py",
            Self::Mlir => "mlir",
        }
    }

    /// What the name of a file says.
    pub(super) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "ptir" => Some(Self::Ptir),
            "json" => Some(Self::Json),
            "py" => Some(Self::Py),
            "mlir" => Some(Self::Mlir),
            _ => None,
        }
    }
}

/// What a file says it is.
pub(super) enum Loaded {
    Ptir(ptir::Program),
    Ir(ir::ProgramRef),
}

/// A program with the text it was read from.
pub(super) struct Program {
    pub(super) source: Source,
    pub(super) format: FileFormat,
    pub(super) loaded: Loaded,
    /// What StableHLO says beside the program.
    pub(super) extras: Extras,
    /// What was left out of it, as lines.
    pub(super) notes: String,
}

impl Program {
    /// As PTIR, with what StableHLO says beside it.
    pub(super) fn into_parts(mut self) -> Result<(ptir::Program, Extras), Trouble> {
        let extras = std::mem::take(&mut self.extras);
        Ok((self.into_ptir()?, extras))
    }

    /// As PTIR: front-end IR is lowered.
    pub(super) fn into_ptir(self) -> Result<ptir::Program, Trouble> {
        match self.loaded {
            Loaded::Ptir(program) => Ok(program),
            Loaded::Ir(program) => sapwood_lower::lower(&program)
                .map_err(|problems| Trouble::in_program(problems, &self.source)),
        }
    }
}

/// How to read.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    /// The format, whatever the name says.
    pub(super) from: Option<FileFormat>,
    /// Whether what is read must be well-formed.
    pub(super) verify: bool,
    /// Whether comments are kept.
    pub(super) comments: bool,
    /// Whether messages about single instructions show names, numbers and, for StableHLO, statements as they are written.
    pub(super) names: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Self { from: None, verify: true, comments: false, names: false }
    }
}

/// The format of an input.
pub(super) fn format_of(input: &Input, from: Option<FileFormat>) -> Result<FileFormat, Trouble> {
    match (from, input) {
        (Some(format), _) => Ok(format),
        (None, Input::Stdin) => Ok(FileFormat::Ptir),
        (None, Input::File(path)) => FileFormat::of(path).ok_or_else(|| {
            if path.is_dir() {
                return Trouble::new(format!("{input}: a directory, not a file"));
            }
            if !path.exists() {
                return Trouble::new(format!("{input}: no such file"));
            }
            let known = FileFormat::EXTENSIONS.join(", ");
            Trouble::new(format!(
                "{input}: the extension says no format ({known}); say it with --from"
            ))
        }),
    }
}

/// What a verb that changes programs writes unless it is told: StableHLO stays StableHLO, everything else becomes PTIR.
pub(super) fn usual_output(input: &Input, from: Option<FileFormat>) -> FileFormat {
    match format_of(input, from) {
        Ok(FileFormat::Mlir) => FileFormat::Mlir,
        _ => FileFormat::Ptir,
    }
}

/// Reads a program.
pub(super) fn load(input: &Input, reading: Reading) -> Result<Program, Trouble> {
    let format = format_of(input, reading.from)?;
    let source = Source::new(&input.to_string(), input.read()?);
    load_text(source, format, reading)
}

/// Reads a program from a text of this format.
pub(super) fn load_text(
    source: Source,
    format: FileFormat,
    reading: Reading,
) -> Result<Program, Trouble> {
    let (text, name) = (source.text(), source.name());
    let (mut extras, mut notes) = (Extras::new(), String::new());
    let loaded = match format {
        FileFormat::Ptir => {
            let options = ptir::ParseOptions::new()
                .file(name)
                .verify(reading.verify)
                .comments(reading.comments)
                .numbers(reading.names);
            ptir::parse_with_options(text, &options).map(Loaded::Ptir)
        }
        FileFormat::Json => ptir::from_json(text).and_then(|program| {
            if reading.verify {
                ptir::verify(&program)?;
            }
            Ok(Loaded::Ptir(program))
        }),
        FileFormat::Mlir => stablehlo::read(&source).map(|module| {
            extras = module.extras;
            notes = module.notes.iter().map(|note| format!("{note}\n")).collect();
            let mut program = module.program;
            if reading.names {
                program.set_quoted_source(&source);
            }
            Loaded::Ptir(program)
        }),
        FileFormat::Py => ir::parse_program(&source).and_then(|program| {
            let problems = match reading.verify {
                true => ir::verify(&program, ir::Level::WellFormed),
                false => Diagnostics::new(),
            };
            problems.into_result(Loaded::Ir(program))
        }),
    };
    match loaded {
        Ok(loaded) => Ok(Program { source, format, loaded, extras, notes }),
        // The reader of JSON knows no names of files.
        Err(problems) => Err(Trouble::in_program(problems.in_file(name), &source)),
    }
}
