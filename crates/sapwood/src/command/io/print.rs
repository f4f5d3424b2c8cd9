//! Programs in the form of a file format.

use sapwood_ir as ir;
use sapwood_ptir as ptir;

use super::load::{FileFormat, Loaded, LoadedFile};
use crate::command::cli_error::CliError;
use crate::command::command_name;
use crate::formats::{FormatExtras, PrintedProgram, print_program};

/// Returns a loaded program in a format.
pub(crate) fn print_loaded(file: &LoadedFile, to: FileFormat) -> Result<PrintedProgram, CliError> {
    let name = file.source.name();
    match (&file.program, to) {
        (Loaded::Ptir(program), to) => print_ptir(program, &file.extras, to, name),
        (Loaded::Ir(program), FileFormat::Py) => {
            let text = ir::print_program(program);
            text.map(PrintedProgram::Text)
                .map_err(|error| CliError::new(format!("{name}: {error}")))
        }
        (Loaded::Ir(_), _) => Err(CliError::new(format!(
            "{name}: front-end IR can only be written as .py; `{} lower` converts it to PTIR",
            command_name()
        ))),
    }
}

/// Returns a PTIR program in a format. `extras` are the parts of the file that PTIR does not represent.
pub(crate) fn print_ptir(
    program: &ptir::Program,
    extras: &FormatExtras,
    to: FileFormat,
    name: &str,
) -> Result<PrintedProgram, CliError> {
    print_program(program, extras, to).map_err(|why| CliError::new(format!("{name}: {why}")))
}
