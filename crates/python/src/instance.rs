//! Fast paths for the most frequent operations, without the overhead of PyO3: creation and reuse of node handles, calls of hooks,
//! reference counts, and the low bits of ints.
//!
//! Every read of a field that holds a node creates a handle, so most calls spend their time here. `tp_new_impl` is undocumented, but PyO3
//! has no public way to create an instance of a Python subclass except to call the class. So the version of PyO3 is pinned exactly.

#![allow(
    unsafe_code,
    reason = "PyO3 cannot create instances of Python subclasses of its classes, and its calls allocate argument tuples"
)]

use std::cell::UnsafeCell;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::ffi;
use pyo3::impl_::pymethods::tp_new_impl;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyType};
use sapwood_structural::AnyRef;

use crate::node::Node;

/// The node of a handle. Only [`retarget`] changes it, and only when no other reference to the handle exists.
pub(crate) struct NodeCell(UnsafeCell<AnyRef>);

// SAFETY: it is changed only by `retarget`, when there is no other reference to it.
unsafe impl Sync for NodeCell {}

impl NodeCell {
    /// Returns a cell with this node.
    pub(crate) fn new(any: AnyRef) -> Self {
        Self(UnsafeCell::new(any))
    }
}

impl Deref for NodeCell {
    type Target = AnyRef;

    #[inline]
    fn deref(&self) -> &AnyRef {
        // SAFETY: as for `Sync`.
        unsafe { &*self.0.get() }
    }
}

/// Creates a handle of a node; `class` is a subclass of `Node`.
pub(crate) fn new_instance<'py>(
    class: &Bound<'py, PyType>,
    any: AnyRef,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let node = Node::from(any);
    // SAFETY: PyO3 does the same with the result of a `#[new]`, for the type on which it is called. `classes::insert` has checked that
    // `class` is a subclass of `Node`. The call returns a new reference.
    unsafe {
        let node = PyClassInitializer::from(node);
        let made = tp_new_impl::<_, Node>(py, node, class.as_type_ptr())?;
        Ok(Bound::from_owned_ptr(py, made))
    }
}

/// A cache of node classes, indexed by address. Node classes live as long as the process.
static NODE_CLASS_CACHE: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

fn node_class_slot(class: usize) -> &'static AtomicUsize {
    &NODE_CLASS_CACHE[class / 64 % NODE_CLASS_CACHE.len()]
}

/// Records a class that is a subclass of `Node` and is never freed.
pub(crate) fn cache_node_class(class: &Bound<'_, PyType>) {
    let class = class.as_ptr().addr();
    node_class_slot(class).store(class, Ordering::Relaxed);
}

/// Returns the node handle that an object is, like `cast` but faster; `None` for other objects.
#[inline]
pub(crate) fn as_node<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Node> {
    let class = object.get_type_ptr().addr();
    if node_class_slot(class).load(Ordering::Relaxed) == class {
        // SAFETY: the type of the object was recorded by `cache_node_class`.
        return Some(unsafe { object.cast_unchecked::<Node>() }.get());
    }
    object.cast::<Node>().ok().map(Bound::get)
}

/// Returns whether handles of a class may be pooled: they hold nothing but the node and have no finalizer.
pub(crate) fn is_poolable(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let number = |name| class.getattr(name)?.extract::<isize>();
    Ok(number("__dictoffset__")? == 0
        && number("__weakrefoffset__")? == WEAKREF_OFFSET
        && number("__basicsize__")? == size_of::<NodeObjectLayout>() as isize
        && !class.hasattr("__del__")?)
}

/// The memory layout of `Node` instances in PyO3: header, value, weak references.
#[repr(C)]
#[allow(dead_code, reason = "only the offset of the last field is used")]
struct NodeObjectLayout {
    header: ffi::PyObject,
    node: Node,
    weak_references: *mut ffi::PyObject,
}

const WEAKREF_OFFSET: isize = std::mem::offset_of!(NodeObjectLayout, weak_references) as isize;

/// Points a handle to another node and returns the previous node. Returns the new node as an error if the handle has another owner or a
/// weak reference. The class of the handle must be one that [`is_poolable`].
pub(crate) fn retarget(handle: &Bound<'_, PyAny>, any: AnyRef) -> Result<AnyRef, AnyRef> {
    if reference_count(handle) != 1 {
        return Err(any);
    }
    // SAFETY: `is_poolable` has made sure that this is where Python keeps weak references.
    let weak = unsafe { (*handle.as_ptr().cast::<NodeObjectLayout>()).weak_references };
    let Some(node) = as_node(handle).filter(|_| weak.is_null()) else { return Err(any) };
    // SAFETY: the caller owns the only reference to the object, and every reader of the node needs a reference of its own. The thread is
    // attached, so no other reference is created meanwhile.
    Ok(unsafe { std::ptr::replace(node.any.0.get(), any) })
}

/// Calls a function with three arguments, without an argument tuple.
pub(crate) fn call_with_three<'py>(
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

/// Returns the low 64 bits of an int in two's complement.
pub(crate) fn low_64_bits(int: &Bound<'_, PyInt>) -> u64 {
    // SAFETY: a `Bound` is a reference to a living object, and its thread is attached. For an int this call cannot fail.
    unsafe { ffi::PyLong_AsUnsignedLongLongMask(int.as_ptr()) }
}

/// Returns the number of references to an object.
pub(crate) fn reference_count(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a `Bound` is a reference to a living object, and its thread is attached.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}
