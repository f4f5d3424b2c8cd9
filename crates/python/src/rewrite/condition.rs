//! Conditions of rules that are written in Python.
//!
//! A condition runs on the thread that called into this module, while a rule or a pattern is matched. It reads the program through
//! handles that are valid for one call, and has no way to change it. The first exception of a condition ends the matching: all later
//! conditions fail, and the caller raises the exception with [`take_exception`].

use std::cell::RefCell;
use std::sync::Arc;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sapwood::rules::{Argument, ArgumentKind, Vocabulary, WordArguments};
use sapwood::{Diagnostic, Diagnostics};

use super::pattern::CallScope;
use super::time_limit::TimeLimit;
use crate::errors::{self, ErrorKind};
use crate::ptir::attrs;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Returns the built-in predicates, and the conditions of a dictionary: from names to pairs of a function and its number of parameters.
pub(super) fn vocabulary(
    conditions: Option<&Bound<'_, PyDict>>,
    seconds: f64,
) -> PyResult<Vocabulary> {
    let mut words = Vocabulary::builtin();
    let Some(conditions) = conditions else { return Ok(words) };
    let limit = Arc::new(TimeLimit::new(conditions.py(), seconds)?);
    for (name, pair) in conditions {
        let name: String = name.extract()?;
        let (function, count): (Py<PyAny>, usize) = pair.extract()?;
        let (limit, own_name) = (limit.clone(), name.clone());
        let params = vec![ArgumentKind::Any; count];
        words.predicate(&name, &params, "a condition in Python", move |arguments| {
            if RAISED.with_borrow(Option::is_some) {
                return None;
            }
            Python::attach(|py| match call(py, &function, arguments, &limit) {
                Ok(holds) => Some(holds),
                Err(error) => {
                    let error = at_place(py, &own_name, arguments, error);
                    RAISED.set(Some(error));
                    None
                }
            })
        });
    }
    Ok(words)
}

/// Takes the first exception of a condition since the last call, on this thread.
pub(super) fn take_exception() -> PyResult<()> {
    RAISED.take().map_or(Ok(()), Err)
}

fn call(
    py: Python<'_>,
    function: &Py<PyAny>,
    arguments: &WordArguments<'_>,
    limit: &TimeLimit,
) -> PyResult<bool> {
    let found = CallScope::reading(arguments.function, |scope| {
        let handles = arguments.arguments.iter().map(|argument| match argument {
            Argument::Value(value) => Ok(Bound::new(py, scope.operand(*value))?.into_any()),
            Argument::Values(values) => {
                let handles = values.iter().map(|&value| Bound::new(py, scope.operand(value)));
                let handles = handles.collect::<PyResult<Vec<_>>>()?;
                Ok(PyTuple::new(py, handles)?.into_any())
            }
            Argument::Attr(attr) => attrs::attr_to_python(py, attr),
        });
        let handles = PyTuple::new(py, handles.collect::<PyResult<Vec<_>>>()?)?;
        limit.call(function.bind(py), &handles)
    })?;
    found.extract::<bool>().map_err(|_| {
        let found = errors::type_name(&found);
        errors::argument_error(py, format!("a condition must return True or False, found {found}"))
    })
}

// Returns the exception with the place of the rule. Ctrl-C and the end of the program stay as they are.
fn at_place(py: Python<'_>, name: &str, arguments: &WordArguments<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let (kind, place) = (error.get_type(py), arguments.place);
    let kind = kind.name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    let message = match error.value(py).to_string() {
        text if text.is_empty() => kind,
        text => format!("{kind}: {text}"),
    };
    let message = format!("the condition `{name}` of `{}` failed: {message}", place.rule);
    let mut problems = Diagnostics::new();
    problems.push(Diagnostic::error(place.span, message));
    let raised = errors::diagnostics_error(py, ErrorKind::Rewrite, &problems, None);
    raised.set_cause(py, Some(error));
    raised
}
