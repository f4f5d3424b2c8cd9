//! Making instances of Python classes of nodes without going through a call of Python's, and counting references.
//!
//! Every read of a field that holds a node makes a handle, so this is what most calls spend their time with.

#![allow(
    unsafe_code,
    reason = "PyO3 makes instances of its own classes, and not of classes that Python derives from them"
)]

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

use crate::node::Node;

/// `Node.__new__(class)`; `class` is a subclass of `Node`, `no_arguments` the empty tuple.
pub(crate) fn new<'py>(
    class: &Bound<'py, PyType>,
    no_arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    static NEW: PyOnceLock<ffi::newfunc> = PyOnceLock::new();
    let py = class.py();
    let new = NEW.get_or_try_init(py, || {
        // SAFETY: `Node` is a type object; the slot of that number holds a function of that type, or nothing.
        unsafe {
            let slot = ffi::PyType_GetSlot(py.get_type::<Node>().as_type_ptr(), ffi::Py_tp_new);
            let slot: Option<ffi::newfunc> = std::mem::transmute(slot);
            slot.ok_or_else(|| crate::errors::value(py, "Node has no __new__"))
        }
    })?;
    // SAFETY: this is what `Node.__new__` calls after it has made sure that `class` is a subclass of `Node`, which
    // `classes::add` has done. It gives a new reference, or none and an exception.
    unsafe {
        let made = new(class.as_type_ptr(), no_arguments.as_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// How many references to an object there are.
pub(crate) fn owners(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a `Bound` is a reference to a living object, and its thread is attached.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}
