//! What is called most often, without what PyO3 does for everybody: making instances of Python classes of nodes and letting them stand
//! for other nodes, calling hooks, counting references, bits of ints.
//!
//! Every read of a field that holds a node makes a handle, so this is what most calls spend their time with. `tp_new_impl` is not on
//! PyO3's pages, which have no way to make an instance of a Python subclass but to call it. So the version of PyO3 is an exact one.

#![allow(
    unsafe_code,
    reason = "PyO3 makes instances of its own classes, and not of classes that Python derives from them; its calls make tuples"
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

/// The node that a handle holds. Only [`retarget`] changes it, and only where nobody can look.
pub(crate) struct NodeCell(UnsafeCell<AnyRef>);

// SAFETY: it is changed only by `retarget`, when there is no other reference to it.
unsafe impl Sync for NodeCell {}

impl NodeCell {
    /// Of a node.
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

/// The handle of a node; `class` is a subclass of `Node`.
pub(crate) fn new_instance<'py>(
    class: &Bound<'py, PyType>,
    any: AnyRef,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let node = Node::from(any);
    // SAFETY: this is what PyO3 does with what a `#[new]` gives, for the type it is called on. `classes::insert` has made sure
    // that `class` is a subclass of `Node`. It gives a new reference.
    unsafe {
        let node = PyClassInitializer::from(node);
        let made = tp_new_impl::<_, Node>(py, node, class.as_type_ptr())?;
        Ok(Bound::from_owned_ptr(py, made))
    }
}

/// Classes of nodes, by where they are. They live as long as the process.
static NODE_CLASS_CACHE: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

fn node_class_slot(class: usize) -> &'static AtomicUsize {
    &NODE_CLASS_CACHE[class / 64 % NODE_CLASS_CACHE.len()]
}

/// Remembers a class that is a subclass of `Node` and is never let go.
pub(crate) fn cache_node_class(class: &Bound<'_, PyType>) {
    let class = class.as_ptr().addr();
    node_class_slot(class).store(class, Ordering::Relaxed);
}

/// The handle that an object is; nothing if it is none. This is what `cast` says, sooner.
#[inline]
pub(crate) fn as_node<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Node> {
    let class = object.get_type_ptr().addr();
    if node_class_slot(class).load(Ordering::Relaxed) == class {
        // SAFETY: the type of the object is one that `cache_node_class` was given.
        return Some(unsafe { object.cast_unchecked::<Node>() }.get());
    }
    object.cast::<Node>().ok().map(Bound::get)
}

/// Whether handles of a class may be used again: there is nothing to them but the node, and nothing happens when they die.
pub(crate) fn is_poolable(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let number = |name| class.getattr(name)?.extract::<isize>();
    Ok(number("__dictoffset__")? == 0
        && number("__weakrefoffset__")? == WEAKREF_OFFSET
        && number("__basicsize__")? == size_of::<NodeObjectLayout>() as isize
        && !class.hasattr("__del__")?)
}

/// The instances of `Node`, as PyO3 lays them out: header, value, weak references.
#[repr(C)]
#[allow(dead_code, reason = "what stands before")]
struct NodeObjectLayout {
    header: ffi::PyObject,
    node: Node,
    weak_references: *mut ffi::PyObject,
}

const WEAKREF_OFFSET: isize = std::mem::offset_of!(NodeObjectLayout, weak_references) as isize;

/// Lets a handle stand for another node, and gives the one it stood for. Gives back the other node if anybody but the caller holds the
/// handle, be it weakly. The class of the handle is one that [`is_poolable`].
pub(crate) fn retarget(handle: &Bound<'_, PyAny>, any: AnyRef) -> Result<AnyRef, AnyRef> {
    if reference_count(handle) != 1 {
        return Err(any);
    }
    // SAFETY: `is_poolable` has made sure that this is where Python keeps weak references.
    let weak = unsafe { (*handle.as_ptr().cast::<NodeObjectLayout>()).weak_references };
    let Some(node) = as_node(handle).filter(|_| weak.is_null()) else { return Err(any) };
    // SAFETY: there is one reference to the object, which is the caller's, and all who look at the node hold one of their own. The
    // thread is attached, so no other is made meanwhile.
    Ok(unsafe { std::ptr::replace(node.any.0.get(), any) })
}

/// Calls with three arguments; no tuple is made of them.
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

/// The low 64 bits of an int, in two's complement.
pub(crate) fn low_64_bits(int: &Bound<'_, PyInt>) -> u64 {
    // SAFETY: a `Bound` is a reference to a living object, and its thread is attached. For an int this call cannot fail.
    unsafe { ffi::PyLong_AsUnsignedLongLongMask(int.as_ptr()) }
}

/// How many references to an object there are.
pub(crate) fn reference_count(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a `Bound` is a reference to a living object, and its thread is attached.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}
