//! Programs as text of a file format.

use sapwood_ir as ir;
use sapwood_ptir as ptir;

use super::load::{FileFormat, Loaded, LoadedFile};
use crate::command::cli_error::CliError;
use crate::formats::{FormatExtras, print_program};

/// Returns a loaded program as text of a format.
pub(crate) fn print_loaded(file: &LoadedFile, to: FileFormat) -> Result<String, CliError> {
    let name = file.source.name();
    match (&file.program, to) {
        (Loaded::Ptir(program), to) => print_ptir(program, &file.extras, to, name),
        (Loaded::Ir(program), FileFormat::Py) => {
            ir::print_program(program).map_err(|error| CliError::new(format!("{name}: {error}")))
        }
        (Loaded::Ir(_), _) => Err(CliError::new(format!(
            "{name}: front-end IR can only be written as .py; `sapwood lower` converts it to PTIR"
        ))),
    }
}

/// Returns a PTIR program as text of a format. `extras` are the parts of the file that PTIR does not represent.
pub(crate) fn print_ptir(
    program: &ptir::Program,
    extras: &FormatExtras,
    to: FileFormat,
    name: &str,
) -> Result<String, CliError> {
    print_program(program, extras, to).map_err(|why| CliError::new(format!("{name}: {why}")))
}
