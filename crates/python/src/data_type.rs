//! The Python class `DataType`: the element types.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use sapwood::DataType;

use crate::{arrays, errors};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDataType>()?;
    let class = module.py().get_type::<PyDataType>();
    let all = PyList::empty(module.py());
    for dtype in DataType::ALL {
        let object = PyDataType::object(module.py(), dtype)?;
        all.append(object)?;
        let upper =
            dtype.aliases().iter().filter(|name| name.chars().all(|c| !c.is_ascii_lowercase()));
        for name in upper.copied().chain([dtype.document_name()]) {
            class.setattr(name, object)?;
        }
    }
    class.setattr("ALL", all.to_tuple())
}

/// The element type of a scalar or a tensor: `DataType.INT64`, `DataType("f32")`.
#[pyclass(frozen, eq, name = "DataType", module = "sapwood")]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct PyDataType(DataType);

impl PyDataType {
    /// Returns the data type.
    pub(crate) fn get(self) -> DataType {
        self.0
    }

    /// Returns the unique Python object of a data type.
    pub(crate) fn object(py: Python<'_>, dtype: DataType) -> PyResult<&Bound<'_, Self>> {
        static ALL: PyOnceLock<Vec<Py<PyDataType>>> = PyOnceLock::new();
        let make = || DataType::ALL.iter().map(|&dtype| Py::new(py, Self(dtype))).collect();
        let all = ALL.get_or_try_init(py, make)?;
        Ok(all[usize::from(dtype.code())].bind(py))
    }
}

/// Reads a `DataType` object or the name of one.
pub(crate) fn read_data_type(object: &Bound<'_, PyAny>) -> PyResult<DataType> {
    let py = object.py();
    if let Ok(already) = object.cast::<PyDataType>() {
        return Ok(already.get().0);
    }
    let Ok(name) = object.extract::<String>() else {
        let found = errors::type_name(object);
        return Err(errors::argument_error(
            py,
            format!("the name of a data type is a str, not {found}"),
        ));
    };
    name.parse().map_err(|error| errors::value_error(py, format!("{error}")))
}

#[pymethods]
impl PyDataType {
    /// The data type of this name: `"f32"`, `"FP32"`, `"float32"`.
    #[new]
    fn new(py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        if let Ok(already) = name.cast::<Self>() {
            return Ok(already.clone().unbind());
        }
        let dtype = read_data_type(name)?;
        Self::object(py, dtype).map(|object| object.clone().unbind())
    }

    /// The name in the front-end IR: `"FP32"`.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.document_name()
    }

    /// The name in PTIR text: `"f32"`.
    #[getter]
    fn short_name(&self) -> &'static str {
        self.0.short_name()
    }

    /// The number of bits in a value.
    #[getter]
    fn bits(&self) -> u32 {
        self.0.bit_width()
    }

    /// The number of bytes that an element takes in memory.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.byte_size()
    }

    /// Returns the NumPy type. bf16 and other types that NumPy lacks need `ml_dtypes`.
    #[allow(clippy::wrong_self_convention, reason = "methods of Python classes take a reference")]
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::dtype_to_numpy(py, self.0)
    }

    /// Returns true for `BOOL`.
    fn is_bool(&self) -> bool {
        self.0.is_bool()
    }

    /// Returns true for integers, signed or unsigned.
    fn is_integer(&self) -> bool {
        self.0.is_integer()
    }

    /// Returns true for floats.
    fn is_float(&self) -> bool {
        self.0.is_float()
    }

    /// Returns true for complex numbers.
    fn is_complex(&self) -> bool {
        self.0.is_complex()
    }

    /// Returns true for types with negative numbers.
    fn is_signed(&self) -> bool {
        self.0.is_signed()
    }

    fn __str__(&self) -> &'static str {
        self.0.document_name()
    }

    fn __repr__(&self) -> String {
        format!("DataType.{}", self.0.document_name())
    }

    fn __hash__(&self) -> u64 {
        u64::from(self.0.code())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (&'static str,)) {
        (slf.get_type().into_any(), (slf.get().0.document_name(),))
    }
}
