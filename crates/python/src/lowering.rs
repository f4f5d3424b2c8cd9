//! Lowering of the front-end IR to PTIR, and rewriting with selected patterns.

use pyo3::prelude::*;
use sapwood::Source;
use sapwood::ptir::Name;
use sapwood::rewrite::{
    FloatMode, GreedyConfig, PatternSet, apply_patterns_and_fold_greedily, canonicalize,
};

use crate::errors::{self, ErrorKind};
use crate::ir::program;
use crate::items::Items;
use crate::ptir::own_ops;
use crate::ptir::program::PyProgram;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(lower_program, module)?)?;
    module.add_function(wrap_pyfunction!(apply_shipped, module)?)
}

/// Lowers a front-end program to PTIR. Diagnostics show the lines of `source`, which is a file name and its text.
#[pyfunction]
#[pyo3(signature = (node, source = None))]
fn lower_program(
    py: Python<'_>,
    node: &Bound<'_, PyAny>,
    source: Option<(String, String)>,
) -> PyResult<PyProgram> {
    let before = program(node)?;
    let lowered = py.detach(|| sapwood::lower::lower_with(&before, &own_ops::registry()));
    let lowered = lowered.map_err(|problems| {
        let source = source.map(|(name, text)| Source::new(&name, text));
        errors::diagnostics_error(py, ErrorKind::Verify, &problems, source.as_ref())
    })?;
    Ok(PyProgram::from_program(lowered))
}

/// Applies only the shipped patterns with these names to one function until none fires. Returns the new program and how often each
/// pattern fired.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]
fn apply_shipped(
    py: Python<'_>,
    program: &Bound<'_, PyProgram>,
    names: Items<'_>,
    function: &str,
    float: &str,
) -> PyResult<(PyProgram, Vec<(String, u64)>)> {
    let mut set = PatternSet::new();
    canonicalize::populate_canonicalization(&mut set);
    let names = names.strings()?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    set.only(&names).map_err(|message| errors::value_error(py, message))?;
    let floats: FloatMode = float.parse().map_err(|why| errors::value_error(py, why))?;
    let config = GreedyConfig { enable_constant_fold: false, floats, ..GreedyConfig::default() };
    let mut changed = (**program.get().get()).clone();
    let Some(function) = changed.function_mut(Name::new(function)) else {
        return Err(errors::value_error(py, format!("unknown function {function}")));
    };
    let set = set.freeze();
    let done = py.detach(|| apply_patterns_and_fold_greedily(function, &set, &config));
    let stats =
        done.map_err(|error| errors::new_error(py, ErrorKind::Rewrite, error.to_string()))?;
    let fired = stats.patterns.iter().map(|one| (one.name.to_owned(), one.applied as u64));
    Ok((program.get().with_program(changed), fired.collect()))
}
