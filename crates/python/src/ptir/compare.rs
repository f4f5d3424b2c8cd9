//! Structural comparison of PTIR programs and functions.

use pyo3::prelude::*;
use sapwood::ptir::structural::{self, Change, Mode};

use super::function::PyFunction;
use super::program::PyProgram;
use crate::errors;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ptir_equal, module)?)?;
    module.add_function(wrap_pyfunction!(ptir_hash, module)?)?;
    module.add_function(wrap_pyfunction!(ptir_first_mismatch, module)?)?;
    module.add_function(wrap_pyfunction!(ptir_diff, module)?)
}

fn mode(ordered: bool) -> Mode {
    if ordered { Mode::Ordered } else { Mode::DataFlow }
}

/// The operands of a comparison: two programs or two functions.
enum Pair<'a, 'py> {
    Programs(&'a Bound<'py, PyProgram>, &'a Bound<'py, PyProgram>),
    Functions(&'a Bound<'py, PyFunction>, &'a Bound<'py, PyFunction>),
}

fn pair<'a, 'py>(
    left: &'a Bound<'py, PyAny>,
    right: &'a Bound<'py, PyAny>,
) -> PyResult<Pair<'a, 'py>> {
    if let (Ok(left), Ok(right)) = (left.cast(), right.cast()) {
        return Ok(Pair::Programs(left, right));
    }
    if let (Ok(left), Ok(right)) = (left.cast(), right.cast()) {
        return Ok(Pair::Functions(left, right));
    }
    Err(errors::argument_error(
        left.py(),
        format!(
            "expected two programs or two functions, found {} and {}",
            errors::type_name(left),
            errors::type_name(right)
        ),
    ))
}

/// Returns whether two programs or functions are equal up to names, and up to the order of independent instructions unless
/// `ordered` is set.
#[pyfunction]
#[pyo3(signature = (left, right, ordered = false))]
fn ptir_equal(left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>, ordered: bool) -> PyResult<bool> {
    let py = left.py();
    Ok(match pair(left, right)? {
        Pair::Programs(a, b) => {
            let (a, b) = (a.get().get(), b.get().get());
            py.detach(|| structural::equal(a, b, mode(ordered)))
        }
        Pair::Functions(a, b) => {
            let (a, b) = (a.get().shared(), b.get().shared());
            py.detach(|| structural::equal_functions(a, b, mode(ordered)))
        }
    })
}

/// Returns the 128-bit structural hash, which equal programs or functions share in every process.
#[pyfunction]
#[pyo3(signature = (value, ordered = false))]
fn ptir_hash(value: &Bound<'_, PyAny>, ordered: bool) -> PyResult<u128> {
    let py = value.py();
    if let Ok(program) = value.cast::<PyProgram>() {
        let program = program.get().get();
        return Ok(py.detach(|| structural::hash(program, mode(ordered))).as_u128());
    }
    if let Ok(function) = value.cast::<PyFunction>() {
        let f = function.get().shared();
        return Ok(py.detach(|| structural::hash_function(f, mode(ordered))).as_u128());
    }
    let found = errors::type_name(value);
    Err(errors::argument_error(py, format!("expected a program or a function, found {found}")))
}

/// Returns the first mismatch of two programs or functions as `(left, right, reason, text)`; `None` if they are equal.
#[pyfunction]
#[pyo3(signature = (left, right, ordered = false))]
fn ptir_first_mismatch(
    left: &Bound<'_, PyAny>,
    right: &Bound<'_, PyAny>,
    ordered: bool,
) -> PyResult<Option<(String, String, String, String)>> {
    let py = left.py();
    let found = match pair(left, right)? {
        Pair::Programs(a, b) => {
            let (a, b) = (a.get().get(), b.get().get());
            py.detach(|| structural::first_mismatch(a, b, mode(ordered)))
        }
        Pair::Functions(a, b) => {
            let (a, b) = (a.get().shared(), b.get().shared());
            py.detach(|| structural::first_mismatch_functions(a, b, mode(ordered)))
        }
    };
    Ok(found.map(|it| {
        let text = it.to_string();
        (it.left.to_string(), it.right.to_string(), it.reason.to_string(), text)
    }))
}

/// A row of a diff: function, change, before, after, text.
type Row = (String, &'static str, String, String, String);

/// Returns all differences, one row for each.
#[pyfunction]
#[pyo3(signature = (left, right, ordered = false))]
fn ptir_diff(
    left: &Bound<'_, PyAny>,
    right: &Bound<'_, PyAny>,
    ordered: bool,
) -> PyResult<Vec<Row>> {
    let py = left.py();
    let found = match pair(left, right)? {
        Pair::Programs(a, b) => {
            let (a, b) = (a.get().get(), b.get().get());
            py.detach(|| structural::diff(a, b, mode(ordered)))
        }
        Pair::Functions(a, b) => {
            let (a, b) = (a.get().shared(), b.get().shared());
            py.detach(|| structural::diff_functions(a, b, mode(ordered)))
        }
    };
    let rows = found.into_iter().map(|it| {
        let text = it.to_string();
        (it.function.to_string(), change(&it.change), it.before, it.after, text)
    });
    Ok(rows.collect())
}

fn change(change: &Change) -> &'static str {
    match change {
        Change::Inserted => "inserted",
        Change::Erased => "erased",
        Change::Replaced => "replaced",
        Change::Attribute(_) => "attribute",
        Change::Operand(_) => "operand",
        Change::Type => "type",
        Change::Region(_) => "region",
        Change::Moved => "moved",
        Change::Signature => "signature",
        Change::Sharing => "sharing",
    }
}
