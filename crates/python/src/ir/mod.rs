//! The front-end IR: the Python classes of its nodes and the getters of their fields.

mod arguments;
mod constructors;
mod run;
mod text;

pub(crate) use text::program;

use std::sync::LazyLock;

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use sapwood_ir::Program;
use sapwood_structural::{TypeInfo, TypeRegistry, View};

use crate::classes::{self, Constructor};
use crate::convert::to_python;
use crate::data_type::PyDataType;
use crate::errors;
use crate::fields::{FieldGetter, read_field};
use crate::node::{Node, wrap};
use crate::span::PySpan;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(register_ir_class, module)?)?;
    module.add_function(wrap_pyfunction!(program_functions, module)?)?;
    constructors::register(module)?;
    text::register(module)?;
    run::register(module)
}

/// Returns the descriptor of the node type called `name`.
fn descriptor_of(name: &str) -> Option<&'static TypeInfo> {
    static TYPES: LazyLock<Option<TypeRegistry>> = LazyLock::new(|| sapwood_ir::registry().ok());
    TYPES.as_ref()?.get(&format!("ir.{name}")).ok()
}

/// Registers `cls` as the class of the IR node with the same name, and adds the getters of its fields.
#[pyfunction]
fn register_ir_class(cls: &Bound<'_, PyType>) -> PyResult<()> {
    let py = cls.py();
    let name: String = cls.getattr("__name__")?.extract()?;
    let unknown = || errors::value_error(py, format!("unknown IR node {name}"));
    let info = descriptor_of(&name).ok_or_else(unknown)?;
    let constructor = constructors::constructor_of(&name).ok_or_else(unknown)?;
    for (index, field) in info.fields().iter().enumerate() {
        let name = field.name;
        match name {
            "span" => cls.setattr(name, Bound::new(py, SpanGetter { index })?)?,
            "dtype" => cls.setattr(name, Bound::new(py, DataTypeGetter { index })?)?,
            // The first is a mapping built in Python; the second is derived from the iteration arguments.
            "functions" | "init_values" => {}
            _ => cls.setattr(name, Bound::new(py, FieldGetter { index, name })?)?,
        }
    }
    classes::insert(cls, info, Constructor::Native(constructor))?;
    Ok(())
}

/// Returns the functions of a program, each with its global variable, sorted by name.
#[pyfunction]
fn program_functions<'py>(program: &Bound<'py, Node>) -> PyResult<Bound<'py, PyTuple>> {
    let py = program.py();
    let node = program.get().any.node();
    let Some(found) = node.downcast::<Program>() else {
        return Err(errors::argument_error(py, "expected a Program"));
    };
    let pairs = found.functions().filter_map(|function| {
        let callee = found.get_global_var(&function.name)?;
        let (callee, function) = (callee.as_any().clone(), function.as_any().clone());
        Some(wrap(py, callee).and_then(|callee| Ok((callee, wrap(py, function)?))))
    });
    PyTuple::new(py, pairs.collect::<PyResult<Vec<_>>>()?)
}

macro_rules! field_getter {
    ($(#[$doc:meta])* $name:ident, $field:literal, |$py:ident, $view:ident| $read:expr) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "sapwood._native")]
        struct $name {
            index: usize,
        }

        #[pymethods]
        impl $name {
            fn __get__<'py>(
                slf: &Bound<'py, Self>,
                instance: &Bound<'py, PyAny>,
                _owner: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, PyAny>> {
                if instance.is_none() {
                    return Ok(slf.clone().into_any());
                }
                let ($py, $view) = (slf.py(), read_field(instance, slf.get().index, $field)?);
                $read
            }

            fn __set__(&self, instance: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
                let class = errors::type_name(instance);
                let message = format!(concat!("{} objects are immutable: ", $field, " cannot be changed"), class);
                Err(PyAttributeError::new_err(message))
            }
        }
    };
}

field_getter!(
    /// A Python descriptor that reads the span of a node.
    SpanGetter,
    "span",
    |py, view| {
        let span = <sapwood_types::Span as sapwood_structural::Field>::from_value(
            sapwood_structural::Value::of(view),
        );
        let span = span.map_err(|error| errors::value_error(py, error.to_string()))?;
        Ok(Bound::new(py, PySpan(span))?.into_any())
    }
);
field_getter!(
    /// A Python descriptor that reads the data type of a type.
    DataTypeGetter,
    "dtype",
    |py, view| match view {
        View::Str(name) => {
            let dtype = name.parse().map_err(|error| errors::value_error(py, format!("{error}")))?;
            Ok(PyDataType::object(py, dtype)?.clone().into_any())
        }
        other => to_python(py, other),
    }
);
