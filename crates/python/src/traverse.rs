//! Walks and maps over graphs, and substitution of variables.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use sapwood_structural::{
    AnyRef, MapError, NodeWalk, SubstituteError, Value, WalkAction, free_variables, substitute,
    try_map,
};

use crate::compare;
use crate::convert::{to_python, to_value};
use crate::errors;
use crate::node::wrap;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(walk, module)?)?;
    module.add_function(wrap_pyfunction!(map_nodes, module)?)?;
    module.add_function(wrap_pyfunction!(replace_variables, module)?)?;
    module.add_function(wrap_pyfunction!(variables_of, module)?)
}

/// Calls `visit(node, in_def_region)` for each node. It returns `None` to continue, `"skip"` to continue outside of this
/// node, or `"stop"`.
#[pyfunction]
#[pyo3(signature = (value, visit, post_order, every_occurrence, compared_only))]
fn walk(
    py: Python<'_>,
    value: &Bound<'_, PyAny>,
    visit: &Bound<'_, PyAny>,
    post_order: bool,
    every_occurrence: bool,
    compared_only: bool,
) -> PyResult<()> {
    let value = to_value(value)?;
    let mut walk = NodeWalk::of(&value);
    if every_occurrence {
        walk = walk.every_occurrence();
    }
    if compared_only {
        walk = walk.compared_only();
    }
    let call =
        |at: &sapwood_structural::WalkedNode<'_, '_>| -> ControlFlow<PyResult<()>, WalkAction> {
            let answer = || -> PyResult<ControlFlow<PyResult<()>, WalkAction>> {
                let answer = visit.call1((wrap(py, at.node().to_owned())?, at.in_def_region()))?;
                if answer.is_none() {
                    return Ok(ControlFlow::Continue(WalkAction::Into));
                }
                match answer.cast::<PyString>().ok().and_then(|word| word.to_str().ok()) {
                    Some("skip") => Ok(ControlFlow::Continue(WalkAction::Skip)),
                    Some("stop") => Ok(ControlFlow::Break(Ok(()))),
                    _ => Err(errors::argument_error(
                        py,
                        format!(
                            "a visitor returns None, \"skip\" or \"stop\", it returned {answer}"
                        ),
                    )),
                }
            };
            answer().unwrap_or_else(|error| ControlFlow::Break(Err(error)))
        };
    let ended = if post_order {
        walk.post_order(|at| match call(at) {
            ControlFlow::Continue(_) => ControlFlow::Continue(()),
            ControlFlow::Break(result) => ControlFlow::Break(result),
        })
    } else {
        walk.pre_order(call)
    };
    match ended {
        ControlFlow::Break(result) => result,
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Replaces nodes from the leaves up: `f(node)` returns the replacement of the node, or `None` to keep it.
#[pyfunction]
fn map_nodes<'py>(value: &Bound<'py, PyAny>, f: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let root = to_value(value)?;
    let mapped = try_map(&root, |node| -> PyResult<Option<Value>> {
        let answer = f.call1((wrap(py, node.clone())?,))?;
        if answer.is_none() { Ok(None) } else { to_value(&answer).map(Some) }
    });
    let mapped: Value = mapped.map_err(|error| match error {
        MapError::Callback { error, .. } => error,
        MapError::Build { path, error } => compare::build_error_at(py, error, &path),
        other => errors::value_error(py, other.to_string()),
    })?;
    to_python(py, mapped.view())
}

/// Replaces free variables by values, all at once and without capture.
#[pyfunction]
fn replace_variables<'py>(
    value: &Bound<'py, PyAny>,
    replacements: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let root = to_value(value)?;
    let mut pairs = Vec::with_capacity(replacements.len());
    for (variable, by) in replacements {
        let Value::Node(variable) = to_value(&variable)? else {
            let message = format!("{variable} is not a variable; only variables can be replaced");
            return Err(errors::argument_error(py, message));
        };
        pairs.push((variable, to_value(&by)?));
    }
    let replaced: Value = substitute(&root, pairs).map_err(|error| match error {
        SubstituteError::Build { path, error } => compare::build_error_at(py, error, &path),
        other => errors::argument_error(py, other.to_string()),
    })?;
    to_python(py, replaced.view())
}

/// Returns the free variables in the order of their first occurrence.
#[pyfunction]
fn variables_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let py = value.py();
    let value = to_value(value)?;
    let node = value.as_node().map(AnyRef::node);
    let found = compare::run_engine(py, [node], || free_variables(&value));
    let found = found.into_iter().map(|variable| wrap(py, variable));
    PyList::new(py, found.collect::<PyResult<Vec<_>>>()?)
}
