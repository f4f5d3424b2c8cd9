//! Conversion between tensors and NumPy arrays.
//!
//! NumPy is imported only when an array is converted, so the package works without it.

use pyo3::exceptions::{PyImportError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use sapwood_structural::{Bytes, Tensor, Value};
use sapwood_types::DataType;

use crate::errors::{self, ErrorKind};

/// Returns the NumPy module, or an error that says how to install it.
pub(crate) fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static NUMPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = NUMPY.get_or_try_init(py, || {
        let import = py.import("numpy").map(Bound::unbind);
        import.map_err(|error| {
            if error.is_instance_of::<PyImportError>(py) {
                errors::new_error(py, ErrorKind::Missing, "arrays need NumPy: pip install numpy")
            } else {
                error
            }
        })
    })?;
    Ok(module.bind(py))
}

/// Returns the NumPy dtype of a data type; `ml_dtypes` supplies those that NumPy lacks.
pub(crate) fn dtype_to_numpy(py: Python<'_>, dtype: DataType) -> PyResult<Bound<'_, PyAny>> {
    let (module, name) = match dtype {
        DataType::Bool => ("numpy", "bool_"),
        DataType::I8 => ("numpy", "int8"),
        DataType::I16 => ("numpy", "int16"),
        DataType::I32 => ("numpy", "int32"),
        DataType::I64 | DataType::Index => ("numpy", "int64"),
        DataType::U8 => ("numpy", "uint8"),
        DataType::U16 => ("numpy", "uint16"),
        DataType::U32 => ("numpy", "uint32"),
        DataType::U64 => ("numpy", "uint64"),
        DataType::F16 => ("numpy", "float16"),
        DataType::F32 => ("numpy", "float32"),
        DataType::F64 => ("numpy", "float64"),
        DataType::C64 => ("numpy", "complex64"),
        DataType::C128 => ("numpy", "complex128"),
        DataType::I4 => ("ml_dtypes", "int4"),
        DataType::U4 => ("ml_dtypes", "uint4"),
        DataType::Bf16 => ("ml_dtypes", "bfloat16"),
        DataType::F8E4M3Fn => ("ml_dtypes", "float8_e4m3fn"),
        DataType::F8E5M2 => ("ml_dtypes", "float8_e5m2"),
        DataType::F8E4M3Fnuz => ("ml_dtypes", "float8_e4m3fnuz"),
        DataType::F8E5M2Fnuz => ("ml_dtypes", "float8_e5m2fnuz"),
        DataType::F8E8M0Fnu => ("ml_dtypes", "float8_e8m0fnu"),
        DataType::F4E2M1Fn => ("ml_dtypes", "float4_e2m1fn"),
        DataType::I2 => ("ml_dtypes", "int2"),
        DataType::U2 => ("ml_dtypes", "uint2"),
    };
    let numpy = numpy(py)?;
    let scalar = py.import(module).and_then(|module| module.getattr(name)).map_err(|error| {
        if error.is_instance_of::<PyImportError>(py) {
            let message = format!("NumPy has no {dtype}: pip install ml_dtypes");
            errors::new_error(py, ErrorKind::Missing, message)
        } else {
            error
        }
    })?;
    numpy.getattr("dtype")?.call1((scalar,))
}

/// Returns a tensor as a read-only array with its own copy of the elements.
pub(crate) fn to_array<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    array_from_bytes(py, tensor.dtype(), tensor.shape(), tensor.content().as_slice())
}

/// Returns a read-only array with these bytes as elements.
pub(crate) fn array_from_bytes<'py>(
    py: Python<'py>,
    dtype: DataType,
    shape: &[u64],
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = numpy(py)?;
    let dtype = dtype_to_numpy(py, dtype)?;
    let shape = PyTuple::new(py, shape)?;
    if bytes.is_empty() {
        let empty = numpy.getattr("empty")?.call1((shape, dtype))?;
        empty.call_method1("setflags", (false,))?;
        return Ok(empty);
    }
    let flat = numpy.getattr("frombuffer")?.call1((PyBytes::new(py, bytes), dtype))?;
    flat.call_method1("reshape", (shape,))
}

/// The content of an array in row-major order: data type, shape, and bytes in native byte order.
pub(crate) struct ArrayContent<'py> {
    /// The data type.
    pub(crate) dtype: DataType,
    /// The extent of each dim.
    pub(crate) shape: Vec<u64>,
    /// The bytes of the elements.
    pub(crate) bytes: Bound<'py, PyBytes>,
}

/// Returns the array that an object is or converts to, or `None` for other objects. Addresses in `__array_interface__` are never trusted.
pub(crate) fn as_array<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    let (described, method) = (intern!(py, "__array_interface__"), intern!(py, "__array__"));
    // Arrays have both attributes. The lookup imports nothing, because an array cannot exist without NumPy.
    let gives = object.hasattr(method)?;
    if !gives && !object.hasattr(described)? {
        return Ok(None);
    }
    let numpy = numpy(py)?;
    let (plain, scalar) = (numpy.getattr("ndarray")?, numpy.getattr("generic")?);
    let given = if object.is_instance(&plain)? || object.is_instance(&scalar)? {
        object.clone()
    } else if gives {
        let given = object.call_method0(method)?;
        if !given.is_instance(&plain)? {
            let (ours, found) = (errors::type_name(object), errors::type_name(&given));
            let message = format!("{ours}.__array__() must return an array, it returned {found}");
            return Err(errors::argument_error(py, message));
        }
        given
    } else {
        // Only NumPy could find out whether the stated address is valid, and it would crash.
        let found = errors::type_name(object);
        let message =
            format!("{found} has no __array__(); pass a NumPy array, for example numpy.asarray(…)");
        return Err(errors::argument_error(py, message));
    };
    let made = numpy.getattr("asarray")?.call1((given,));
    made.map(Some).map_err(|error| {
        if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyTypeError>(py) {
            let found = errors::type_name(object);
            errors::argument_error(
                py,
                format!("{found} cannot be converted to an array: {}", error.value(py)),
            )
        } else {
            error
        }
    })
}

/// Returns the content of a NumPy array or scalar; `None` if the object is neither.
pub(crate) fn array_content<'py>(
    object: &Bound<'py, PyAny>,
) -> PyResult<Option<ArrayContent<'py>>> {
    let py = object.py();
    let Some(array) = as_array(object)? else { return Ok(None) };
    let described = array.getattr("dtype")?;
    let name: String = described.getattr("name")?.extract()?;
    let Ok(dtype) = name.parse::<DataType>() else {
        let all: Vec<&str> = DataType::ALL.iter().map(|dtype| dtype.short_name()).collect();
        return Err(errors::argument_error(
            py,
            format!("arrays of {name} are not supported; the data types are {}", all.join(", ")),
        ));
    };
    let shape: Vec<u64> = array.getattr("shape")?.extract()?;
    // The copy is in native byte order and row-major, whatever the order of the source.
    let native = described.call_method1("newbyteorder", ("=",))?;
    let keywords = PyDict::new(py);
    keywords.set_item("copy", false)?;
    let copied =
        || array.call_method("astype", (native,), Some(&keywords))?.call_method0("tobytes");
    let bytes = copied().map_err(|error| {
        if error.is_instance_of::<PyMemoryError>(py) {
            let message = format!("not enough memory to copy an array of shape {shape:?}");
            errors::value_error(py, message)
        } else {
            error
        }
    })?;
    let bytes = bytes.cast_into::<PyBytes>()?;
    Ok(Some(ArrayContent { dtype, shape, bytes: canonical_elements(py, dtype, bytes) }))
}

/// Rewrites elements to their canonical bytes: NumPy only tests whether a bool is zero, and reads only the low bits of a narrow element.
fn canonical_elements<'py>(
    py: Python<'py>,
    dtype: DataType,
    bytes: Bound<'py, PyBytes>,
) -> Bound<'py, PyBytes> {
    let canonical: fn(u8) -> u8 = match dtype {
        DataType::Bool => |byte| u8::from(byte != 0),
        DataType::U4 | DataType::F4E2M1Fn => |byte| byte & 0xf,
        DataType::U2 => |byte| byte & 3,
        DataType::I2 => |byte| (((byte << 6) as i8) >> 6) as u8,
        DataType::I4 => |byte| (((byte << 4) as i8) >> 4) as u8,
        _ => return bytes,
    };
    let given = bytes.as_bytes();
    if given.iter().all(|&byte| canonical(byte) == byte) {
        return bytes;
    }
    PyBytes::new(py, &given.iter().map(|&byte| canonical(byte)).collect::<Vec<u8>>())
}

/// Returns the value of a NumPy array or scalar; `None` if the object is neither.
pub(crate) fn to_value(object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    let Some(ArrayContent { dtype, shape, bytes }) = array_content(object)? else {
        return Ok(None);
    };
    let tensor = Tensor::new(dtype, &shape, Bytes::new(bytes.as_bytes()));
    let tensor = tensor.map_err(|error| errors::value_error(object.py(), error.to_string()))?;
    Ok(Some(Value::from(tensor)))
}
