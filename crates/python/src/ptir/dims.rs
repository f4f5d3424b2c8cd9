//! The Python class `Dim`: extents of tensors as expressions over symbols.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use pyo3::exceptions::PyZeroDivisionError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use sapwood::ptir::dims::DimExpr;
use sapwood::ptir::{Dim, Name};

use crate::errors;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDim>()
}

/// An extent as an expression over symbols: `Dim("2*?S + 1")`. Supports `+`, `-`, `*`, `//` and `%`, and is in a normal form: equal
/// expressions are equal objects.
#[pyclass(frozen, eq, name = "Dim", module = "sapwood.ptir")]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct PyDim(pub(crate) DimExpr);

impl PyDim {
    /// Reads a `Dim`, an integer, or the text of an expression.
    pub(crate) fn read(object: &Bound<'_, PyAny>) -> PyResult<DimExpr> {
        let py = object.py();
        if let Ok(already) = object.cast::<Self>() {
            return Ok(already.get().0);
        }
        if let Ok(text) = object.cast::<PyString>() {
            let text = text.to_cow()?;
            return text.parse().map_err(|error| {
                errors::value_error(py, format!("{text:?} is not a dim: {error}"))
            });
        }
        match object.extract::<i64>() {
            Ok(n) if !object.is_instance_of::<pyo3::types::PyBool>() => {
                DimExpr::constant(n).ok_or_else(|| too_large(py))
            }
            _ => Err(errors::argument_error(
                py,
                format!("expected a Dim, an integer or a text, not {}", errors::type_name(object)),
            )),
        }
    }

    /// Reads the extent of a type: a `Dim`, or the text of an expression.
    pub(super) fn read_extent(object: &Bound<'_, PyAny>) -> PyResult<Dim> {
        let expr = Self::read(object)?;
        match (Dim::from_expr(expr), expr.as_constant()) {
            (Dim::Unknown, Some(n)) => {
                Err(errors::value_error(object.py(), format!("{n} is not an extent")))
            }
            (dim, _) => Ok(dim),
        }
    }
}

fn too_large(py: Python<'_>) -> PyErr {
    errors::value_error(py, "the expression is too large, or a number does not fit 64 bits")
}

// Applies an operation to an expression and any object that `PyDim::read` accepts.
fn combine(
    left: DimExpr,
    right: &Bound<'_, PyAny>,
    operation: impl Fn(DimExpr, DimExpr) -> Option<DimExpr>,
) -> PyResult<PyDim> {
    operation(left, PyDim::read(right)?).map(PyDim).ok_or_else(|| too_large(right.py()))
}

fn divisor(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    match object.extract::<i64>() {
        Ok(0) => Err(PyZeroDivisionError::new_err("a dim is not divided by zero")),
        Ok(n) if n > 0 => Ok(n),
        _ => Err(errors::argument_error(object.py(), "a dim is divided by integers of at least 1")),
    }
}

#[pymethods]
impl PyDim {
    #[new]
    fn new(expression: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::read(expression).map(Self)
    }

    /// The names of the symbols, sorted.
    #[getter]
    fn symbols(&self) -> Vec<&'static str> {
        self.0.symbols().iter().map(|name| name.as_str()).collect()
    }

    /// Returns the extent for these values of the symbols: `Dim("2*?S").evaluate(S=3)`.
    #[pyo3(signature = (**symbols))]
    fn evaluate(&self, py: Python<'_>, symbols: Option<&Bound<'_, PyDict>>) -> PyResult<i64> {
        let mut values: Vec<(Name, i64)> = Vec::new();
        for (name, value) in symbols.into_iter().flatten() {
            values.push((Name::new(&name.extract::<String>()?), value.extract()?));
        }
        let value = |name: Name| values.iter().find(|(n, _)| *n == name).map(|&(_, value)| value);
        if let Some(name) = self.0.symbols().iter().copied().find(|&name| value(name).is_none()) {
            return Err(errors::argument_error(py, format!("?{name} has no value")));
        }
        self.0.evaluate(&value).ok_or_else(|| too_large(py))
    }

    /// Returns the larger of two dims.
    fn max(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        combine(self.0, other, DimExpr::max)
    }

    /// Returns the smaller of two dims.
    fn min(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        combine(self.0, other, DimExpr::min)
    }

    fn __add__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        combine(self.0, other, DimExpr::checked_add)
    }

    fn __radd__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        combine(self.0, other, DimExpr::checked_add)
    }

    fn __sub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        combine(self.0, other, DimExpr::checked_sub)
    }

    fn __rsub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        combine(self.0, other, |right, left| left.checked_sub(right))
    }

    fn __mul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        combine(self.0, other, DimExpr::checked_mul)
    }

    fn __rmul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        combine(self.0, other, DimExpr::checked_mul)
    }

    fn __floordiv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        let divisor = divisor(other)?;
        self.0.floordiv(divisor).map(Self).ok_or_else(|| too_large(other.py()))
    }

    fn __mod__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        let divisor = divisor(other)?;
        self.0.modulo(divisor).map(Self).ok_or_else(|| too_large(other.py()))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Dim({:?})", self.0.to_string())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, pyo3::types::PyType>, (String,)) {
        (slf.get_type(), (slf.get().0.to_string(),))
    }
}
