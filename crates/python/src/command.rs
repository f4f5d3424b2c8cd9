//! The entry point of the `sapwood` command that the package installs.

use std::ffi::OsString;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_command, module)?)
}

/// Runs the command with these arguments, of which the first is the program name, and returns its exit code.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| sapwood::command::exit_code(arguments))
}
