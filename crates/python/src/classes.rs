//! Which Python class stands for which type of node.

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

/// Makes a node from the arguments of a constructor.
pub(crate) type NativeConstructor =
    for<'py> fn(&Bound<'py, PyTuple>, Option<&Bound<'py, PyDict>>) -> PyResult<AnyRef>;

/// How instances of a class are made.
pub(crate) enum Constructor {
    /// From its fields, as `py_class` found them.
    Fields(ClassFields),
    /// By a function of ours.
    Native(NativeConstructor),
}

/// A Python class whose instances are nodes. Like the descriptors of types, it lives as long as the process.
pub(crate) struct NodeClass {
    /// The class.
    pub(crate) class: Py<PyType>,
    /// The type of its nodes.
    pub(crate) info: &'static TypeInfo,
    /// How its nodes are made.
    pub(crate) constructor: Constructor,
    /// Whether its handles may be used again.
    pub(crate) poolable: bool,
}

#[derive(Default)]
struct ClassTables {
    by_class: HashMap<usize, &'static NodeClass, FxBuildHasher>,
    by_type: HashMap<usize, &'static NodeClass, FxBuildHasher>,
}

static CLASS_TABLES: RwLock<Option<ClassTables>> = RwLock::new(None);

/// Remembers that `class` stands for nodes of type `info`.
pub(crate) fn insert(
    class: &Bound<'_, PyType>,
    info: &'static TypeInfo,
    constructor: Constructor,
) -> PyResult<&'static NodeClass> {
    if !class.is_subclass_of::<Node>()? {
        let message = format!("{} is no subclass of Node", class.name()?);
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

/// What is known of a Python class.
pub(crate) fn find_by_class(class: &Bound<'_, PyType>) -> Option<&'static NodeClass> {
    let tables = CLASS_TABLES.read().unwrap_or_else(PoisonError::into_inner);
    tables.as_ref()?.by_class.get(&class.as_ptr().addr()).copied()
}

/// How many types a thread remembers.
const CACHE_SLOTS: usize = 64;

type CacheSlot = Cell<Option<(&'static TypeInfo, &'static NodeClass)>>;

thread_local! {
    /// The classes asked for last, by where the descriptor of their type stands.
    static RECENT: [CacheSlot; CACHE_SLOTS] = const { [const { Cell::new(None) }; CACHE_SLOTS] };
}

/// The Python class for a type of nodes.
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
