//! The Python class `Node`: the base class of all node classes.

use hashbrown::HashMap;
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyNotImplemented, PyTuple, PyType};
use rustc_hash::FxBuildHasher;
use sapwood_structural::{AnyRef, ChildLayout, NodeKind, View, abridged};

use crate::classes::{self, Constructor};
use crate::containers;
use crate::convert;
use crate::errors;
use crate::handle_pool;
use crate::instance::NodeCell;
use crate::pickle;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Node>()?;
    module.add_function(wrap_pyfunction!(get_singleton, module)?)
}

/// A handle to an immutable node. `==` and `hash` refer to the node, not to the handle: two handles of one
/// node are equal.
#[pyclass(frozen, subclass, weakref, module = "sapwood._native")]
pub(crate) struct Node {
    /// The node.
    pub(crate) any: NodeCell,
}

impl From<AnyRef> for Node {
    fn from(any: AnyRef) -> Self {
        Self { any: NodeCell::new(any) }
    }
}

/// Returns the Python object for a node.
pub(crate) fn wrap(py: Python<'_>, any: AnyRef) -> PyResult<Bound<'_, PyAny>> {
    let info = any.info();
    if info.layout() != ChildLayout::Record {
        return containers::wrap(py, any);
    }
    if info.kind() == NodeKind::Singleton
        && let Some(object) = singletons(py)?.lookup(py, &any)
    {
        return Ok(object);
    }
    let Some(class) = classes::find_by_type(info) else {
        return match convert::unwrap_data_type_or_span(py, any.node())? {
            Some(object) => Ok(object),
            None => Ok(Bound::new(py, Node::from(any))?.into_any()),
        };
    };
    handle_pool::new_handle(py, class, any)
}

#[pymethods]
impl Node {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*args, **kwargs))]
    fn new<'py>(
        cls: &Bound<'py, PyType>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Self> {
        let py = cls.py();
        let Some(class) = classes::find_by_class(cls) else {
            let name = cls.name()?;
            return Err(errors::argument_error(
                py,
                format!(
                    "{name} cannot be instantiated; decorate it with @py_class, or use one of its subclasses"
                ),
            ));
        };
        let any = match &class.constructor {
            Constructor::Fields(fields) => fields.construct_from_call(class, args, kwargs)?,
            Constructor::Native(make) => make(args, kwargs)?,
        };
        Ok(any.into())
    }

    fn __richcmp__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let same = match other.cast::<Self>() {
            Ok(other) => self.any.same(&other.get().any),
            Err(_) => return Ok(PyNotImplemented::get(py).to_owned().into_any()),
        };
        Ok(match op {
            CompareOp::Eq => same.into_pyobject(py)?.to_owned().into_any(),
            CompareOp::Ne => (!same).into_pyobject(py)?.to_owned().into_any(),
            _ => PyNotImplemented::get(py).to_owned().into_any(),
        })
    }

    /// Returns whether both are the same node.
    fn same_as(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.any.same(&other.get().any))
    }

    fn __hash__(&self) -> usize {
        // Addresses are multiples of sixteen.
        self.any.node().id().rotate_right(4)
    }

    fn __repr__(&self) -> String {
        abridged(View::Node(self.any.node())).to_string()
    }

    fn __setattr__(slf: &Bound<'_, Self>, name: &str, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(immutable_error(slf, name))
    }

    fn __delattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<()> {
        Err(immutable_error(slf, name))
    }

    fn __copy__(slf: &Bound<'_, Self>) -> Py<Self> {
        slf.clone().unbind()
    }

    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf.clone().unbind()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        pickle::reduce(slf.py(), &slf.get().any)
    }
}

fn immutable_error(object: &Bound<'_, Node>, name: &str) -> PyErr {
    let class = errors::type_name(object);
    pyo3::exceptions::PyAttributeError::new_err(format!(
        "{class} objects are immutable: {name} cannot be changed; create a new object, for example with replace()"
    ))
}

/// The handles of singletons that `get` created: one Python object for each.
#[derive(Default)]
struct Singletons(std::sync::Mutex<HashMap<usize, Py<PyAny>, FxBuildHasher>>);

impl Singletons {
    fn lookup<'py>(&self, py: Python<'py>, any: &AnyRef) -> Option<Bound<'py, PyAny>> {
        let table = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Some(table.get(&any.node().id())?.bind(py).clone())
    }

    fn insert(&self, any: &AnyRef, object: &Bound<'_, PyAny>) {
        let replaced = {
            let mut table = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            table.insert(any.node().id(), object.clone().unbind())
        };
        // Dropping an object may run Python code that comes back here.
        drop(replaced);
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the callers return PyResult")]
fn singletons(py: Python<'_>) -> PyResult<&'static Singletons> {
    static SINGLETONS: PyOnceLock<Singletons> = PyOnceLock::new();
    Ok(SINGLETONS.get_or_init(py, Singletons::default))
}

/// Returns the unique singleton of `cls` with these fields.
#[pyfunction]
#[pyo3(signature = (cls, *args, **kwargs))]
fn get_singleton<'py>(
    cls: &Bound<'py, PyType>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = cls.py();
    let Some(class) = classes::find_by_class(cls) else {
        return Err(errors::argument_error(py, format!("{} is not a node class", cls.name()?)));
    };
    let Constructor::Fields(fields) = &class.constructor else {
        return Err(errors::argument_error(py, format!("{} is not a singleton", cls.name()?)));
    };
    let values = fields.bind_values(class, args, kwargs)?;
    let any = class.info.get(values).map_err(|error| crate::compare::singleton_error(py, error))?;
    fields.post_init(py, &any)?;
    if let Some(object) = singletons(py)?.lookup(py, &any) {
        return Ok(object);
    }
    let object = wrap(py, any.clone())?;
    singletons(py)?.insert(&any, &object);
    Ok(object)
}
