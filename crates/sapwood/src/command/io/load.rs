//! Loading programs from files of any format.

use sapwood_ptir as ptir;
use sapwood_types::{Progress, Source};

use super::files::Input;
use crate::command::cli_error::CliError;
use crate::formats::{FormatExtras, OnnxReadError, ReadProgram, read_onnx, read_program};
use crate::toolkit::Toolkit;

pub(crate) use crate::formats::{AnyProgram as Loaded, FileFormat, ReadOptions};

/// The argument `--from` of the verbs that read programs.
#[derive(clap::Args)]
pub(crate) struct InputFormatArgs {
    /// Format of the input; the default is that of its extension, or PTIR text for standard input
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) from: Option<FileFormat>,
}

/// A program with the text that it was read from.
pub(crate) struct LoadedFile {
    pub(crate) source: Source,
    pub(crate) format: FileFormat,
    pub(crate) program: Loaded,
    /// The parts of the file that PTIR does not represent.
    pub(crate) extras: FormatExtras,
    /// Messages about parts of the file that were dropped, one per line.
    pub(crate) notes: String,
}

impl LoadedFile {
    /// Returns the program as PTIR, with the parts of the file that PTIR does not represent.
    pub(crate) fn into_ptir_and_extras(
        mut self,
        toolkit: &Toolkit,
    ) -> Result<(ptir::Program, FormatExtras), CliError> {
        let extras = std::mem::take(&mut self.extras);
        Ok((self.into_ptir(toolkit)?, extras))
    }

    /// Returns the program as PTIR; front-end IR is lowered.
    pub(crate) fn into_ptir(self, toolkit: &Toolkit) -> Result<ptir::Program, CliError> {
        let is_lowered = matches!(self.program, Loaded::Ir(_));
        let problems = self.program.into_ptir(toolkit.registry());
        let mut program =
            problems.map_err(|problems| CliError::in_program(problems, &self.source))?;
        if is_lowered {
            bind_symbols(&mut program, toolkit, &self.source)?;
        }
        Ok(program)
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
            let expected = "expected .ptir, .json, .py, .mlir or .onnx (or pass --from)";
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

/// Returns the format that a verb writes by default after it changed a program: StableHLO stays StableHLO, ONNX stays ONNX,
/// everything else becomes PTIR text.
pub(crate) fn default_output_format(input: &Input, from: Option<FileFormat>) -> FileFormat {
    match format_of(input, from) {
        Ok(format @ (FileFormat::Mlir | FileFormat::Onnx)) => format,
        _ => FileFormat::Ptir,
    }
}

/// Returns the extension of the output that a verb writes in the format `to`, or by default in that of [`default_output_format`].
pub(crate) fn output_extension(
    input: &Input,
    from: Option<FileFormat>,
    to: Option<FileFormat>,
) -> Option<&'static str> {
    Some(to.unwrap_or_else(|| default_output_format(input, from)).extension())
}

/// Reads a program from a file or from standard input. The default of `from` is the format of the extension, or PTIR text for
/// standard input.
pub(crate) fn load(
    input: &Input,
    from: Option<FileFormat>,
    options: ReadOptions,
    toolkit: &Toolkit,
) -> Result<LoadedFile, CliError> {
    let format = format_of(input, from)?;
    Progress::enter_phase("read");
    let source = read_text(input, format)?;
    load_source(input, source, format, options, toolkit)
}

/// Returns the text of an input, which is empty for formats that are not text.
pub(crate) fn read_text(input: &Input, format: FileFormat) -> Result<Source, CliError> {
    match format {
        FileFormat::Onnx => Ok(Source::new(&input.to_string(), "")),
        _ => Ok(input.read_source()?),
    }
}

/// Reads a program from an input with this text.
pub(crate) fn load_source(
    input: &Input,
    source: Source,
    format: FileFormat,
    options: ReadOptions,
    toolkit: &Toolkit,
) -> Result<LoadedFile, CliError> {
    let (registry, edits) = (toolkit.registry(), toolkit.model_edits());
    let read = match (format, input) {
        (FileFormat::Onnx, Input::File(path)) => read_onnx(Ok(path), registry, edits),
        (FileFormat::Onnx, Input::Stdin) => read_onnx(Err(input.read_bytes()?), registry, edits),
        _ if !edits.is_empty() => {
            let options = "--input-shape, --inputs, --outputs and --keep-op";
            return Err(CliError::new(format!("{input}: {options} edit ONNX models only")));
        }
        _ => read_program(&source, format, registry, options).map_err(OnnxReadError::Model),
    };
    match read {
        Ok(ReadProgram { mut program, mut extras, notes }) => {
            extras.set_opset(toolkit.opset());
            if let Loaded::Ptir(program) = &mut program {
                bind_symbols(program, toolkit, &source)?;
            }
            Ok(LoadedFile { source, format, program, extras, notes })
        }
        Err(OnnxReadError::Model(problems)) => Err(CliError::in_program(problems, &source)),
        Err(OnnxReadError::File(error)) => Err(CliError::new(error)),
    }
}

// Makes the symbols of `--bind` known numbers.
fn bind_symbols(
    program: &mut ptir::Program,
    toolkit: &Toolkit,
    source: &Source,
) -> Result<(), CliError> {
    if toolkit.bindings().is_empty() {
        return Ok(());
    }
    let name = source.name();
    program
        .bind_symbols(toolkit.bindings())
        .map_err(|error| CliError::new(format!("{name}: --bind: {error}")))?;
    ptir::verify(program).map_err(|problems| CliError::in_program(problems, source))
}
