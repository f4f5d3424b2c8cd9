//! The `sapwood` command, inside the package.

use std::ffi::OsString;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_command, module)?)
}

/// Runs the command with these arguments, the first being its own name, and gives its exit code.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| sapwood::command::exit_code(arguments))
}
