//! Pickling of nodes: the JSON graph form, which is flat, and the classes it names.

use std::ops::ControlFlow;

use hashbrown::HashSet;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use rustc_hash::FxBuildHasher;
use sapwood_ir::{ExprRef, IterArg, Stmt};
use sapwood_structural::{
    AnyRef, ConstructError, Error, JsonReadError, NodeWalk, TypeRegistry, Value, WalkAction,
    read_json, write_json,
};

use crate::classes::{self, Constructor};
use crate::compare;
use crate::convert::{DataTypeValue, SpanValue, to_python, to_value};
use crate::errors::{self, ErrorKind};
use crate::items::Items;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(restore, module)?)?;
    module.add_function(wrap_pyfunction!(graph_to_json, module)?)
}

/// Returns the arguments from which pickle rebuilds a node, for `__reduce__`.
pub(crate) fn reduce<'py>(py: Python<'py>, any: &AnyRef) -> PyResult<Bound<'py, PyAny>> {
    let restore = py.import("sapwood._native")?.getattr("restore")?;
    let (text, classes) = write_graph(py, &Value::Node(any.clone()))?;
    Ok((restore, (text, classes)).into_pyobject(py)?.into_any())
}

/// Returns the JSON graph form of a value and the user-defined classes in it.
#[pyfunction]
fn graph_to_json<'py>(
    value: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyString>, Bound<'py, PyTuple>)> {
    write_graph(value.py(), &to_value(value)?)
}

fn write_graph<'py>(
    py: Python<'py>,
    value: &Value,
) -> PyResult<(Bound<'py, PyString>, Bound<'py, PyTuple>)> {
    let text = py.detach(|| write_json(value));
    let text = text.map_err(|error| errors::value_error(py, error.to_string()))?;
    let mut seen = HashSet::<usize, FxBuildHasher>::default();
    let mut classes = Vec::new();
    let _: ControlFlow<()> = NodeWalk::of(value).pre_order(|at| {
        let info = at.node().info();
        if seen.insert(std::ptr::from_ref(info).addr())
            && let Some(class) = classes::find_by_type(info)
            && matches!(class.constructor, Constructor::Fields(_))
        {
            classes.push(class.class.bind(py));
        }
        ControlFlow::Continue(WalkAction::Into)
    });
    Ok((PyString::new(py, &text), PyTuple::new(py, classes)?))
}

/// Reads a value from its JSON graph form; `classes` are the user-defined classes in it.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]
fn restore<'py>(py: Python<'py>, text: &str, classes: Items<'py>) -> PyResult<Bound<'py, PyAny>> {
    let classes = classes.cast_each::<PyType>("a class")?;
    let mut registry =
        base_registry().map_err(|error| errors::value_error(py, error.to_string()))?;
    for class in &classes {
        let Some(known) = classes::find_by_class(class) else {
            let message = format!("{} is not a node class", class.name()?);
            return Err(errors::argument_error(py, message));
        };
        registry.add(known.info).map_err(|error| errors::value_error(py, error.to_string()))?;
    }
    // Reading builds maps, and the keys of maps may have hooks, so the interpreter lock is not released.
    let value: Value = read_json(text, &registry).map_err(|error| match error {
        JsonReadError::Build {
            location,
            error: ConstructError::Fields(error @ Error::Hook { .. }),
        } => compare::build_error_at(py, error, &location),
        other => errors::new_error(py, ErrorKind::Parse, other.to_string()),
    })?;
    check_loops(py, &value)?;
    to_python(py, value.view())
}

fn base_registry() -> Result<TypeRegistry, sapwood_structural::TypeError> {
    sapwood_ir::registry()?.with::<DataTypeValue>()?.with::<SpanValue>()
}

/// Checks that the initial values of loops match their iteration arguments, as the constructors ensure.
fn check_loops(py: Python<'_>, value: &Value) -> PyResult<()> {
    let agree = |iter_args: &[IterArg], init_values: &[ExprRef]| {
        iter_args.len() == init_values.len()
            && iter_args.iter().zip(init_values).all(|(arg, init)| arg.init_value().same(init))
    };
    let found = NodeWalk::of(value).pre_order(|at| {
        let node = at.node();
        let fine = match node.downcast::<Stmt>() {
            Some(
                Stmt::For { iter_args, init_values, .. }
                | Stmt::While { iter_args, init_values, .. },
            ) => agree(iter_args, init_values),
            _ => true,
        };
        if !fine {
            let message =
                "the initial values of a loop differ from those of its iteration arguments";
            return ControlFlow::Break(errors::new_error(py, ErrorKind::Parse, message));
        }
        ControlFlow::Continue(WalkAction::Into)
    });
    match found {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}
