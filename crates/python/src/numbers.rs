//! Numbers and lists of them, where an array is wanted.
//!
//! NumPy believes an object that states an address, also where it is the item of a list. It is given lists of our own, with numbers
//! and arrays in them and nothing else.

use hashbrown::HashSet;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString};
use rustc_hash::FxBuildHasher;
use sapwood_types::DataType;

use crate::arrays;
use crate::errors;
use crate::items::{self, Copies};

/// Arrays have at most so many dims.
const DEEPEST: usize = 64;

/// The array of an object: its own, or one of the numbers in it, with elements of `dtype` if it is given.
pub(crate) fn to_array<'py>(
    object: &Bound<'py, PyAny>,
    dtype: Option<DataType>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    if let Some(array) = arrays::array(object)? {
        return Ok(array);
    }
    let copied = Copying::default().copy(object)?;
    let keywords = PyDict::new(py);
    if let Some(dtype) = dtype {
        keywords.set_item(intern!(py, "dtype"), arrays::dtype_to_numpy(py, dtype)?)?;
    }
    let made = arrays::numpy(py)?.getattr("asarray")?.call((copied,), Some(&keywords));
    made.map_err(|error| {
        if error.is_instance_of::<PyException>(py) {
            errors::argument(py, error.value(py).to_string())
        } else {
            error
        }
    })
}

#[derive(Default)]
struct Copying<'py> {
    /// The lists that the one being copied is in.
    open: HashSet<usize, FxBuildHasher>,
    copies: Copies<'py, Bound<'py, PyAny>>,
}

impl<'py> Copying<'py> {
    fn copy(&mut self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        if let Some(number) = number(object)? {
            return Ok(number);
        }
        if let Some(array) = arrays::array(object)? {
            return Ok(array);
        }
        let listed = object.hasattr(intern!(py, "__getitem__"))?
            && object.hasattr(intern!(py, "__len__"))?
            && !object.is_instance_of::<PyDict>();
        if !listed {
            return converted(object);
        }
        if let Some((copy, items)) = self.copies.get(object) {
            self.take(py, items)?;
            return Ok(copy);
        }
        let begun = self.copies.taken();
        let address = object.as_ptr().addr();
        if !self.open.insert(address) {
            return Err(errors::argument(py, "this list contains itself"));
        }
        if self.open.len() > DEEPEST {
            let message = format!("lists nest deeper than {DEEPEST}, which no array does");
            return Err(errors::argument(py, message));
        }
        let items = items::items(object)?;
        self.take(py, items.len())?;
        let items = items.iter().map(|item| self.copy(item)).collect::<PyResult<Vec<_>>>()?;
        self.open.remove(&address);
        let copy = PyList::new(py, items)?.into_any();
        self.copies.add(object, &copy, begun);
        Ok(copy)
    }

    fn take(&mut self, py: Python<'_>, items: usize) -> PyResult<()> {
        self.copies.take(items).ok_or_else(|| {
            let most = Copies::<()>::MOST;
            errors::argument(py, format!("lists hold more than {most} numbers; give an array"))
        })
    }
}

/// What NumPy can be given as it is.
fn number<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
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
        // As `int` has it, whatever a subclass says.
        let same = py.get_type::<PyInt>().getattr(intern!(py, "__pos__"))?;
        return same.call1((object,)).map(Some);
    }
    Ok(None)
}

/// The number that an object says it is.
fn converted<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    if object.hasattr(intern!(py, "__index__"))? {
        py.get_type::<PyInt>().call1((object,))
    } else if object.hasattr(intern!(py, "__float__"))? {
        py.get_type::<PyFloat>().call1((object,))
    } else {
        let found = errors::type_name(object);
        Err(errors::argument(py, format!("expected numbers or lists of them, found {found}")))
    }
}
