//! Which Python class stands for which type of node.

use std::cell::Cell;
use std::sync::{PoisonError, RwLock};

use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use rustc_hash::FxBuildHasher;
use sapwood_structural::{AnyRef, TypeInfo};

use crate::errors;
use crate::fields::Fields;
use crate::instance;
use crate::node::Node;

/// Makes a node from the arguments of a constructor.
pub(crate) type MakeNode =
    for<'py> fn(&Bound<'py, PyTuple>, Option<&Bound<'py, PyDict>>) -> PyResult<AnyRef>;

/// How instances of a class are made.
pub(crate) enum Make {
    /// From its fields, as `py_class` found them.
    Fields(Fields),
    /// By a function of ours.
    Native(MakeNode),
}

/// A Python class whose instances are nodes. Like the descriptors of types, it lives as long as the process.
pub(crate) struct Class {
    /// The class.
    pub(crate) class: Py<PyType>,
    /// The type of its nodes.
    pub(crate) info: &'static TypeInfo,
    /// How its nodes are made.
    pub(crate) make: Make,
    /// Whether its handles may be used again.
    pub(crate) reused: bool,
}

#[derive(Default)]
struct Tables {
    by_class: HashMap<usize, &'static Class, FxBuildHasher>,
    by_type: HashMap<usize, &'static Class, FxBuildHasher>,
}

static TABLES: RwLock<Option<Tables>> = RwLock::new(None);

/// Remembers that `class` stands for nodes of type `info`.
pub(crate) fn add(
    class: &Bound<'_, PyType>,
    info: &'static TypeInfo,
    make: Make,
) -> PyResult<&'static Class> {
    if !class.is_subclass_of::<Node>()? {
        let message = format!("{} is no subclass of Node", class.name()?);
        return Err(errors::argument(class.py(), message));
    }
    let reused = instance::can_be_reused(class)?;
    let entry: &'static Class =
        Box::leak(Box::new(Class { class: class.clone().unbind(), info, make, reused }));
    instance::remember(class);
    let mut tables = TABLES.write().unwrap_or_else(PoisonError::into_inner);
    let tables = tables.get_or_insert_default();
    tables.by_class.insert(class.as_ptr().addr(), entry);
    tables.by_type.insert(std::ptr::from_ref(info).addr(), entry);
    Ok(entry)
}

/// What is known of a Python class.
pub(crate) fn of_class(class: &Bound<'_, PyType>) -> Option<&'static Class> {
    let tables = TABLES.read().unwrap_or_else(PoisonError::into_inner);
    tables.as_ref()?.by_class.get(&class.as_ptr().addr()).copied()
}

/// How many types a thread remembers.
const REMEMBERED: usize = 64;

type Remembered = Cell<Option<(&'static TypeInfo, &'static Class)>>;

thread_local! {
    /// The classes asked for last, by where the descriptor of their type stands.
    static RECENT: [Remembered; REMEMBERED] = const { [const { Cell::new(None) }; REMEMBERED] };
}

/// The Python class for a type of nodes.
pub(crate) fn of_type(info: &'static TypeInfo) -> Option<&'static Class> {
    let address = std::ptr::from_ref(info).addr();
    RECENT.with(|recent| {
        let slot = &recent[address / size_of::<TypeInfo>() % REMEMBERED];
        if let Some((known, class)) = slot.get()
            && std::ptr::eq(known, info)
        {
            return Some(class);
        }
        let class = {
            let tables = TABLES.read().unwrap_or_else(PoisonError::into_inner);
            tables.as_ref()?.by_type.get(&address).copied()?
        };
        slot.set(Some((info, class)));
        Some(class)
    })
}
