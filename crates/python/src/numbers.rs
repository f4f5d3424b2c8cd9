//! Conversion of numbers and nested lists of numbers to arrays.
//!
//! NumPy trusts the address in an object's `__array_interface__`, even if the object is an item of a list. So it only receives lists of our
//! own, which contain numbers and arrays and nothing else.

use hashbrown::HashSet;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString};
use rustc_hash::FxBuildHasher;
use sapwood_types::DataType;

use crate::arrays;
use crate::errors;
use crate::items::{self, CopyMemo};

/// The most dims that an array has.
const MAX_LIST_NESTING: usize = 64;

/// Returns the array of an object, which is an array already or consists of numbers; `dtype` is the element type for numbers.
pub(crate) fn numbers_to_array<'py>(
    object: &Bound<'py, PyAny>,
    dtype: Option<DataType>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    if let Some(array) = arrays::as_array(object)? {
        return Ok(array);
    }
    let copied = ListCopier::default().copy(object)?;
    let keywords = PyDict::new(py);
    if let Some(dtype) = dtype {
        keywords.set_item(intern!(py, "dtype"), arrays::dtype_to_numpy(py, dtype)?)?;
    }
    let made = arrays::numpy(py)?.getattr("asarray")?.call((copied,), Some(&keywords));
    made.map_err(|error| {
        if error.is_instance_of::<PyException>(py) {
            errors::argument_error(py, error.value(py).to_string())
        } else {
            error
        }
    })
}

#[derive(Default)]
struct ListCopier<'py> {
    /// The addresses of the lists around the current item.
    open: HashSet<usize, FxBuildHasher>,
    copies: CopyMemo<'py, Bound<'py, PyAny>>,
}

impl<'py> ListCopier<'py> {
    fn copy(&mut self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        if let Some(number) = as_plain_number(object)? {
            return Ok(number);
        }
        if let Some(array) = arrays::as_array(object)? {
            return Ok(array);
        }
        let listed = object.hasattr(intern!(py, "__getitem__"))?
            && object.hasattr(intern!(py, "__len__"))?
            && !object.is_instance_of::<PyDict>();
        if !listed {
            return convert_to_number(object);
        }
        if let Some((copy, items)) = self.copies.get(object) {
            self.charge(py, items)?;
            return Ok(copy);
        }
        let begun = self.copies.charged();
        let address = object.as_ptr().addr();
        if !self.open.insert(address) {
            return Err(errors::argument_error(py, "the list contains itself"));
        }
        if self.open.len() > MAX_LIST_NESTING {
            let message = format!(
                "lists nest deeper than {MAX_LIST_NESTING} levels, the most that an array has"
            );
            return Err(errors::argument_error(py, message));
        }
        let items = items::items(object)?;
        self.charge(py, items.len())?;
        let items = items.iter().map(|item| self.copy(item)).collect::<PyResult<Vec<_>>>()?;
        self.open.remove(&address);
        let copy = PyList::new(py, items)?.into_any();
        self.copies.add(object, &copy, begun);
        Ok(copy)
    }

    fn charge(&mut self, py: Python<'_>, items: usize) -> PyResult<()> {
        self.copies.charge(items).ok_or_else(|| {
            let most = CopyMemo::<()>::MAX_ITEMS;
            errors::argument_error(
                py,
                format!("lists hold more than {most} numbers; pass an array instead"),
            )
        })
    }
}

/// Returns the plain number, str or bytes of an object that NumPy can safely read.
fn as_plain_number<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    let plain = object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<pyo3::types::PyBool>()
        || object.is_exact_instance_of::<PyComplex>()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyBytes>();
    if plain {
        return Ok(Some(object.clone()));
    }
    if object.hasattr(intern!(py, "__array__"))? {
        return Ok(None);
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(Some(PyFloat::new(py, float.value()).into_any()));
    }
    if object.is_instance_of::<PyInt>() {
        // The value that `int` itself sees, whatever a subclass overrides.
        let same = py.get_type::<PyInt>().getattr(intern!(py, "__pos__"))?;
        return same.call1((object,)).map(Some);
    }
    Ok(None)
}

/// Converts an object to a number with its `__index__` or `__float__`.
fn convert_to_number<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    if object.hasattr(intern!(py, "__index__"))? {
        py.get_type::<PyInt>().call1((object,))
    } else if object.hasattr(intern!(py, "__float__"))? {
        py.get_type::<PyFloat>().call1((object,))
    } else {
        let found = errors::type_name(object);
        Err(errors::argument_error(
            py,
            format!("expected numbers or lists of numbers, found {found}"),
        ))
    }
}
