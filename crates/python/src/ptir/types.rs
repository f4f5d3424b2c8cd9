//! The Python class `Type`: the types of PTIR values.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use sapwood::ptir::{Dim, Dims, Name, TensorType, ValueType};

use super::dims::PyDim;
use crate::data_type::{self, PyDataType};
use crate::errors;
use crate::items::Items;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyType>()
}

/// The type of a value: `Type("f32[4, ?n]")`, `Type.tensor("f32", [4, "n", None])`.
#[pyclass(frozen, eq, name = "Type", module = "sapwood.ptir")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyType(pub(crate) ValueType);

impl PyType {
    /// Reads a `Type` object or the text of a type.
    pub(crate) fn read(object: &Bound<'_, PyAny>) -> PyResult<ValueType> {
        let py = object.py();
        if let Ok(already) = object.cast::<Self>() {
            return Ok(already.get().0.clone());
        }
        let Ok(text) = object.cast::<PyString>() else {
            let found = errors::type_name(object);
            return Err(errors::argument_error(
                py,
                format!("a type is a Type or its text such as \"f32[4]\", not {found}"),
            ));
        };
        let text = text.to_cow()?;
        let ty: ValueType = text.parse().map_err(|why: String| {
            errors::value_error(py, format!("{text:?} is not a type: {why}"))
        })?;
        checked(py, ty)
    }
}

fn checked(py: Python<'_>, ty: ValueType) -> PyResult<ValueType> {
    match ty.check_limits() {
        Ok(()) => Ok(ty),
        Err(why) => Err(errors::value_error(py, why)),
    }
}

fn dim(object: &Bound<'_, PyAny>) -> PyResult<Dim> {
    let py = object.py();
    if object.is_none() {
        return Ok(Dim::Unknown);
    }
    if let Ok(name) = object.cast::<PyString>() {
        let name = name.to_cow()?;
        if name.is_empty() {
            return Err(errors::value_error(py, "empty dim name; use None for an unknown dim"));
        }
        // A name alone is a symbol; an expression has symbols with their `?`.
        if name.contains('?') {
            return PyDim::read_extent(object);
        }
        return Ok(Dim::symbol(Name::new(&name)));
    }
    if object.cast::<PyDim>().is_ok() {
        return PyDim::read_extent(object);
    }
    match object.extract::<u64>() {
        Ok(n) if !object.is_instance_of::<pyo3::types::PyBool>() => Ok(Dim::Known(n)),
        _ => Err(errors::argument_error(
            py,
            format!("a dim is an extent, a Dim, a name or None, not {}", object.repr()?),
        )),
    }
}

#[pymethods]
impl PyType {
    #[new]
    fn new(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::read(text).map(Self)
    }

    /// Returns the type of a tensor. A dim is an extent, a name, a `Dim`, or `None` if it is unknown.
    #[staticmethod]
    #[pyo3(signature = (dtype, shape = None))]
    fn tensor(dtype: &Bound<'_, PyAny>, shape: Option<Items<'_>>) -> PyResult<Self> {
        let py = dtype.py();
        let dtype = data_type::read_data_type(dtype)?;
        let shape = shape.map_or_else(Vec::new, |shape| shape.0);
        let dims = shape.iter().map(dim).collect::<PyResult<Dims>>()?;
        checked(py, ValueType::Tensor(TensorType { dtype, dims })).map(Self)
    }

    /// Returns the type of a tuple.
    #[staticmethod]
    fn tuple(py: Python<'_>, elements: Items<'_>) -> PyResult<Self> {
        let elements = elements.0.iter().map(Self::read).collect::<PyResult<Vec<_>>>()?;
        checked(py, ValueType::Tuple(elements.into())).map(Self)
    }

    /// Returns the type of a token, which has no content and only orders side effects.
    #[staticmethod]
    fn token() -> Self {
        Self(ValueType::Token)
    }

    /// The element type; `None` unless this is a tensor type.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<&Bound<'py, PyDataType>>> {
        self.0.as_tensor().map(|t| PyDataType::object(py, t.dtype)).transpose()
    }

    /// The dims: an extent, a name, a `Dim` for other expressions, or `None` where a dim is unknown. `None` unless this is a tensor
    /// type.
    #[getter]
    pub(super) fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(tensor) = self.0.as_tensor() else { return Ok(None) };
        let dims = tensor.dims.iter().map(|dim| match dim {
            Dim::Known(n) => n.into_pyobject(py).map(Bound::into_any).map_err(PyErr::from),
            Dim::Expr(expr) => match expr.as_symbol() {
                Some(name) => Ok(PyString::new(py, name.as_str()).into_any()),
                None => Bound::new(py, PyDim(*expr)).map(Bound::into_any),
            },
            Dim::Unknown => Ok(py.None().into_bound(py)),
        });
        PyTuple::new(py, dims.collect::<PyResult<Vec<_>>>()?).map(Some)
    }

    /// The types of the elements; `None` unless this is a tuple type.
    #[getter]
    fn elements<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(elements) = self.0.as_tuple() else { return Ok(None) };
        let elements = elements.iter().map(|ty| Bound::new(py, Self(ty.clone())));
        PyTuple::new(py, elements.collect::<PyResult<Vec<_>>>()?).map(Some)
    }

    /// Returns true for tensors.
    fn is_tensor(&self) -> bool {
        self.0.as_tensor().is_some()
    }

    /// Returns true for tuples.
    fn is_tuple(&self) -> bool {
        self.0.as_tuple().is_some()
    }

    /// Returns true for the token that orders effects.
    fn is_token(&self) -> bool {
        matches!(self.0, ValueType::Token)
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
        format!("Type({:?})", self.0.to_string())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, pyo3::types::PyType>, (String,)) {
        (slf.get_type(), (slf.get().0.to_string(),))
    }
}
