//! What is called most often, without what PyO3 does for everybody: making instances of Python classes of nodes, calling hooks, counting
//! references, bits of ints.
//!
//! Every read of a field that holds a node makes a handle, so this is what most calls spend their time with. `tp_new_impl` is not on
//! PyO3's pages, which have no way to make an instance of a Python subclass but to call it. So the version of PyO3 is an exact one.

#![allow(
    unsafe_code,
    reason = "PyO3 makes instances of its own classes, and not of classes that Python derives from them; its calls make tuples"
)]

use pyo3::ffi;
use pyo3::impl_::pymethods::tp_new_impl;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyType};

use crate::node::Node;

/// The handle of a node; `class` is a subclass of `Node`.
pub(crate) fn new<'py>(class: &Bound<'py, PyType>, node: Node) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    // SAFETY: this is what PyO3 does with what a `#[new]` gives, for the type it is called on. `classes::add` has made sure
    // that `class` is a subclass of `Node`. It gives a new reference.
    unsafe {
        let node = PyClassInitializer::from(node);
        let made = tp_new_impl::<_, Node>(py, node, class.as_type_ptr())?;
        Ok(Bound::from_owned_ptr(py, made))
    }
}

/// Calls with three arguments; no tuple is made of them.
pub(crate) fn call<'py>(
    function: &Bound<'py, PyAny>,
    arguments: [&Bound<'py, PyAny>; 3],
) -> PyResult<Bound<'py, PyAny>> {
    let [a, b, c] = arguments.map(Bound::as_ptr);
    // SAFETY: these are living objects, the list of arguments ends with a null pointer, and the result is a new reference or null.
    unsafe {
        let end = std::ptr::null_mut::<ffi::PyObject>();
        let result = ffi::PyObject_CallFunctionObjArgs(function.as_ptr(), a, b, c, end);
        Bound::from_owned_ptr_or_err(function.py(), result)
    }
}

/// The low 64 bits of an int, in two's complement.
pub(crate) fn low_bits(int: &Bound<'_, PyInt>) -> u64 {
    // SAFETY: a `Bound` is a reference to a living object, and its thread is attached. For an int this call cannot fail.
    unsafe { ffi::PyLong_AsUnsignedLongLongMask(int.as_ptr()) }
}

/// How many references to an object there are.
pub(crate) fn owners(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a `Bound` is a reference to a living object, and its thread is attached.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}
