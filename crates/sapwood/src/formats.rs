//! The formats of program files: reading and printing programs.

use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "ir")]
use sapwood_ir as ir;
use sapwood_ptir::{self as ptir, Registry};
#[cfg(feature = "stablehlo")]
use sapwood_stablehlo::{self as stablehlo, Extras};
use sapwood_types::{Diagnostics, Source};

/// A format of program files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "command", derive(clap::ValueEnum))]
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
    #[cfg(feature = "command")]
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Ptir => "ptir",
            Self::Json => "json",
            Self::Py => "py",
            Self::Mlir => "mlir",
        }
    }

    /// Returns the format of a path, by its extension.
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
pub(crate) enum AnyProgram {
    Ptir(ptir::Program),
    #[cfg(feature = "ir")]
    Ir(ir::ProgramRef),
}

impl AnyProgram {
    /// Returns the program as PTIR; front-end IR is lowered.
    #[cfg_attr(not(feature = "ir"), allow(unused_variables, reason = "no ops are lowered"))]
    pub(crate) fn into_ptir(self, registry: &Arc<Registry>) -> Result<ptir::Program, Diagnostics> {
        match self {
            Self::Ptir(program) => Ok(program),
            #[cfg(feature = "ir")]
            Self::Ir(program) => sapwood_lower::lower_with(&program, registry),
        }
    }
}

/// A program as it was read.
pub(crate) struct ReadProgram {
    pub(crate) program: AnyProgram,
    /// The parts of the file that PTIR does not represent.
    pub(crate) extras: FormatExtras,
    /// Messages about parts of the file that were dropped, one per line.
    pub(crate) notes: String,
}

/// The parts of a file that a program cannot hold, for writing the program in the same format.
#[derive(Clone, Default)]
pub struct FormatExtras {
    #[cfg(feature = "stablehlo")]
    stablehlo: Extras,
}

/// The options of reading a program.
#[derive(Clone, Copy)]
pub(crate) struct ReadOptions {
    /// Requires a well-formed program.
    pub(crate) verify: bool,
    /// Keeps comments.
    pub(crate) comments: bool,
    /// Keeps names and numbers of values, and StableHLO statements, as they are written, for messages about single
    /// instructions.
    pub(crate) source_names: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { verify: true, comments: false, source_names: false }
    }
}

/// Reads a program of these ops from a text.
pub(crate) fn read_program(
    source: &Source,
    format: FileFormat,
    registry: &Arc<Registry>,
    options: ReadOptions,
) -> Result<ReadProgram, Diagnostics> {
    let (text, name) = (source.text(), source.name());
    #[cfg_attr(not(feature = "stablehlo"), allow(unused_mut, reason = "only StableHLO has extras"))]
    let (mut extras, mut notes) = (FormatExtras::default(), String::new());
    let program = match format {
        FileFormat::Ptir => {
            let options = ptir::ParseOptions::new()
                .file(name)
                .registry(registry)
                .verify(options.verify)
                .comments(options.comments)
                .numbers(options.source_names);
            ptir::parse_with(text, &options).map(AnyProgram::Ptir)
        }
        FileFormat::Json => ptir::from_json_with(text, registry).and_then(|program| {
            if options.verify {
                ptir::verify(&program)?;
            }
            Ok(AnyProgram::Ptir(program))
        }),
        #[cfg(feature = "stablehlo")]
        FileFormat::Mlir => stablehlo::read_with(source, registry).map(|module| {
            extras.stablehlo = module.extras;
            notes = module.notes.iter().map(|note| format!("{note}\n")).collect();
            let mut program = module.program;
            if options.source_names {
                program.set_quoted_source(source);
            }
            AnyProgram::Ptir(program)
        }),
        #[cfg(not(feature = "stablehlo"))]
        FileFormat::Mlir => Err(needs_feature("StableHLO", "stablehlo").into()),
        #[cfg(not(feature = "ir"))]
        FileFormat::Py => Err(needs_feature("the front-end IR", "ir").into()),
        #[cfg(feature = "ir")]
        FileFormat::Py => ir::parse_program(source).and_then(|program| {
            let problems = match options.verify {
                true => ir::verify(&program, ir::VerifyLevel::WellFormed),
                false => Diagnostics::new(),
            };
            problems.into_result(AnyProgram::Ir(program))
        }),
    };
    match program {
        Ok(program) => Ok(ReadProgram { program, extras, notes }),
        // The JSON reader does not know the file name.
        Err(problems) => Err(problems.in_file(name)),
    }
}

// Returns the error for a format that this build does not have.
#[cfg(not(all(feature = "ir", feature = "stablehlo")))]
fn needs_feature(format: &str, feature: &str) -> sapwood_types::Diagnostic {
    let message = format!("{format} needs the feature `{feature}` of the crate `sapwood`");
    sapwood_types::Diagnostic::error(sapwood_types::Span::unknown(), message)
}

/// Returns a PTIR program as text of a format. `extras` are the parts of the file that PTIR does not represent.
pub(crate) fn print_program(
    program: &ptir::Program,
    extras: &FormatExtras,
    to: FileFormat,
) -> Result<String, String> {
    match to {
        #[cfg(feature = "stablehlo")]
        FileFormat::Mlir => {
            stablehlo::write_program(program, &extras.stablehlo).map_err(|why| why.to_string())
        }
        #[cfg(not(feature = "stablehlo"))]
        FileFormat::Mlir => {
            let FormatExtras {} = extras;
            Err(needs_feature("StableHLO", "stablehlo").to_string())
        }
        FileFormat::Ptir => Ok(ptir::print(program)),
        FileFormat::Json => Ok(ptir::to_json(program) + "\n"),
        FileFormat::Py => Err("PTIR cannot be written as front-end IR".into()),
    }
}
