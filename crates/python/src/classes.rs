//! The table of Python classes and the node types they stand for.

use std::cell::Cell;
use std::sync::{PoisonError, RwLock};

use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use rustc_hash::FxBuildHasher;
use sapwood_structural::{AnyRef, TypeInfo};

use crate::errors;
use crate::fields::ClassFields;
use crate::instance;
use crate::node::Node;

/// A function that builds a node from the arguments of a constructor call.
pub(crate) type NativeConstructor =
    for<'py> fn(&Bound<'py, PyTuple>, Option<&Bound<'py, PyDict>>) -> PyResult<AnyRef>;

/// The way a class builds its instances.
pub(crate) enum Constructor {
    /// From the fields that `py_class` found.
    Fields(ClassFields),
    /// With a native function.
    Native(NativeConstructor),
}

/// A Python class whose instances are nodes. Like a type descriptor, it lives as long as the process.
pub(crate) struct NodeClass {
    /// The class.
    pub(crate) class: Py<PyType>,
    /// The type of its nodes.
    pub(crate) info: &'static TypeInfo,
    /// The way its nodes are built.
    pub(crate) constructor: Constructor,
    /// True if the handle pool may reuse its handles.
    pub(crate) poolable: bool,
}

#[derive(Default)]
struct ClassTables {
    by_class: HashMap<usize, &'static NodeClass, FxBuildHasher>,
    by_type: HashMap<usize, &'static NodeClass, FxBuildHasher>,
}

static CLASS_TABLES: RwLock<Option<ClassTables>> = RwLock::new(None);

/// Registers `class` as the Python class of nodes of type `info`.
pub(crate) fn insert(
    class: &Bound<'_, PyType>,
    info: &'static TypeInfo,
    constructor: Constructor,
) -> PyResult<&'static NodeClass> {
    if !class.is_subclass_of::<Node>()? {
        let message = format!("{} is not a subclass of Node", class.name()?);
        return Err(errors::argument_error(class.py(), message));
    }
    let poolable = instance::is_poolable(class)?;
    let entry: &'static NodeClass = Box::leak(Box::new(NodeClass {
        class: class.clone().unbind(),
        info,
        constructor,
        poolable,
    }));
    instance::cache_node_class(class);
    let mut tables = CLASS_TABLES.write().unwrap_or_else(PoisonError::into_inner);
    let tables = tables.get_or_insert_default();
    tables.by_class.insert(class.as_ptr().addr(), entry);
    tables.by_type.insert(std::ptr::from_ref(info).addr(), entry);
    Ok(entry)
}

/// Returns the entry of a Python class, if its instances are nodes.
pub(crate) fn find_by_class(class: &Bound<'_, PyType>) -> Option<&'static NodeClass> {
    let tables = CLASS_TABLES.read().unwrap_or_else(PoisonError::into_inner);
    tables.as_ref()?.by_class.get(&class.as_ptr().addr()).copied()
}

/// The size of each thread's cache of recent lookups by type.
const CACHE_SLOTS: usize = 64;

type CacheSlot = Cell<Option<(&'static TypeInfo, &'static NodeClass)>>;

thread_local! {
    /// The most recent lookups, indexed by the address of the type descriptor.
    static RECENT: [CacheSlot; CACHE_SLOTS] = const { [const { Cell::new(None) }; CACHE_SLOTS] };
}

/// Returns the Python class for a node type.
pub(crate) fn find_by_type(info: &'static TypeInfo) -> Option<&'static NodeClass> {
    let address = std::ptr::from_ref(info).addr();
    RECENT.with(|recent| {
        let slot = &recent[address / size_of::<TypeInfo>() % CACHE_SLOTS];
        if let Some((known, class)) = slot.get()
            && std::ptr::eq(known, info)
        {
            return Some(class);
        }
        let class = {
            let tables = CLASS_TABLES.read().unwrap_or_else(PoisonError::into_inner);
            tables.as_ref()?.by_type.get(&address).copied()?
        };
        slot.set(Some((info, class)));
        Some(class)
    })
}
