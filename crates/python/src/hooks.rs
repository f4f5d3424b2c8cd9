//! `__s_equal__` and `__s_hash__`: comparison and hash as a class writes them.

use std::cell::{Cell, RefCell};

use pyo3::exceptions::PyRecursionError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyType};
use sapwood_structural::{EqualHook, Error, HashHook, NodePath, NodeRef};

use crate::compare;
use crate::convert::Given;
use crate::errors::{self, Family};
use crate::handles::Running;
use crate::instance;
use crate::lend::{LentEqual, LentHash};
use crate::node::wrap;

/// Below this much machine stack a hook is not called: Python must never run on a stack that is not its own.
const LEAST_STACK: usize = 512 * 1024;

/// The equality hook of a class: its `__s_equal__`.
pub(crate) fn equal(cls: &Bound<'_, PyType>) -> PyResult<EqualHook> {
    let function = cls.getattr(intern!(cls.py(), "__s_equal__"))?.unbind();
    Ok(Box::new(move |left, right, context| {
        Python::attach(|py| {
            let mut call = || -> PyResult<bool> {
                enough_stack()?;
                let _running = Running::begin();
                let answer = THREAD.with(|thread| {
                    let [first, second] = thread.given.take();
                    let (left, right) = (handle(py, first, left)?, handle(py, second, right)?);
                    thread.equal.lend(py, |callback, method| {
                        let call = || instance::call(function.bind(py), [&left, &right, method]);
                        callback.0.lend(context, call)
                    })
                })?;
                match answer.cast::<PyBool>() {
                    Ok(answer) => Ok(answer.is_true()),
                    Err(_) => Err(wrong_answer(py, "__s_equal__", "a bool", &answer)),
                }
            };
            call().map_err(|error| failed(left, error))
        })
    }))
}

/// The hash hook of a class: its `__s_hash__`.
pub(crate) fn hash(cls: &Bound<'_, PyType>) -> PyResult<HashHook> {
    let function = cls.getattr(intern!(cls.py(), "__s_hash__"))?.unbind();
    Ok(Box::new(move |node, init, context| {
        Python::attach(|py| {
            let mut call = || -> PyResult<u64> {
                enough_stack()?;
                let _running = Running::begin();
                let init = init.into_pyobject(py)?.into_any();
                let answer = THREAD.with(|thread| {
                    let [first, _] = thread.given.take();
                    let node = handle(py, first, node)?;
                    thread.hash.lend(py, |callback, method| {
                        let call = || instance::call(function.bind(py), [&node, &init, method]);
                        callback.0.lend(context, call)
                    })
                })?;
                hash_from(&answer, "__s_hash__ must return")
            };
            call().map_err(|error| failed(node, error))
        })
    }))
}

/// What a thread has for its hooks.
struct Thread {
    /// The handles that a callback was just called with: a hook that is asked about their nodes gets the same.
    given: Cell<[Option<Py<PyAny>>; 2]>,
    equal: Spare<EqualCallback>,
    hash: Spare<HashCallback>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread { given: Cell::new([None, None]), equal: Spare::new(), hash: Spare::new() }
    };
}

/// Runs a callback that was called with these handles.
fn giving<R>(handles: [Option<&Bound<'_, PyAny>>; 2], callback: impl FnOnce() -> R) -> R {
    THREAD.with(|thread| {
        drop(thread.given.replace(handles.map(|handle| Some(handle?.clone().unbind()))));
        let result = callback();
        drop(thread.given.take());
        result
    })
}

/// The handle of a node: the one that was given, if it is one.
fn handle<'py>(
    py: Python<'py>,
    given: Option<Py<PyAny>>,
    node: NodeRef<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(given) = given {
        let given = given.into_bound(py);
        if instance::as_node(&given).is_some_and(|given| given.any.node().id() == node.id()) {
            return Ok(given);
        }
    }
    wrap(py, node.to_owned())
}

/// A callback: what holds the context while a hook runs, and the method of it that the hook is given. Calling a method of
/// native code makes no tuple of its arguments; calling an object does.
struct Callback<T> {
    holder: Py<T>,
    method: Py<PyAny>,
}

/// Callbacks that their hooks did not keep, to be used for the next ones on the same thread. Hooks below hooks need one each.
struct Spare<T>(RefCell<Vec<Callback<T>>>);

/// How many are kept.
const SPARE: usize = 64;

impl<T> Spare<T> {
    const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }
}

impl<T: Called> Spare<T> {
    fn take(&self, py: Python<'_>) -> PyResult<Callback<T>> {
        if let Some(spare) = self.0.borrow_mut().pop() {
            return Ok(spare);
        }
        let holder = Bound::new(py, T::new())?;
        let method = holder.as_any().getattr(T::METHOD)?.unbind();
        Ok(Callback { holder: holder.unbind(), method })
    }

    fn give(&self, py: Python<'_>, callback: Callback<T>) {
        // The method owns the holder, too.
        let unknown = instance::owners(callback.method.bind(py)) == 1
            && instance::owners(callback.holder.bind(py).as_any()) == 2;
        let mut spare = self.0.borrow_mut();
        if unknown && spare.len() < SPARE {
            spare.push(callback);
        }
    }

    /// Calls a hook with a callback and its method; both are kept for the next hook, if this one did not keep them.
    fn lend<'py>(
        &self,
        py: Python<'py>,
        call: impl FnOnce(&T, &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let callback = self.take(py)?;
        let answer = call(callback.holder.bind(py).get(), callback.method.bind(py))?;
        self.give(py, callback);
        Ok(answer)
    }
}

/// What a callback is made of.
trait Called:
    pyo3::PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Into<PyClassInitializer<Self>> + Sync
{
    const METHOD: &'static str;
    fn new() -> Self;
}

fn enough_stack() -> PyResult<()> {
    match stacker::remaining_stack() {
        Some(left) if left < LEAST_STACK => {
            Err(PyRecursionError::new_err("hooks call each other too deeply"))
        }
        _ => Ok(()),
    }
}

fn failed(node: NodeRef<'_>, error: PyErr) -> Error {
    Error::Hook { key: node.info().key(), path: NodePath::root(), error: Box::new(error) }
}

fn wrong_answer(py: Python<'_>, who: &str, wanted: &str, answer: &Bound<'_, PyAny>) -> PyErr {
    let found = errors::type_name(answer);
    errors::argument(py, format!("{who} must return {wanted}, it returned {found}"))
}

/// The low 64 bits of an int.
fn hash_from(object: &Bound<'_, PyAny>, who: &str) -> PyResult<u64> {
    match object.cast::<PyInt>() {
        Ok(int) if !object.is_instance_of::<PyBool>() => Ok(instance::low_bits(int)),
        _ => {
            let found = errors::type_name(object);
            Err(errors::argument(object.py(), format!("{who} an int, found {found}")))
        }
    }
}

fn over(py: Python<'_>) -> PyErr {
    errors::error(
        py,
        Family::Callback,
        "this callback can only be called inside the hook it was given to, on the same thread",
    )
}

/// What `__s_equal__` compares parts with.
#[pyclass(frozen, module = "sapwood._native")]
struct EqualCallback(LentEqual);

impl Called for EqualCallback {
    const METHOD: &'static str = "eq_cb";

    fn new() -> Self {
        Self(LentEqual::new())
    }
}

#[pymethods]
impl EqualCallback {
    #[pyo3(signature = (lhs, rhs, def_region = false, field_name = ""))]
    fn eq_cb(
        &self,
        lhs: &Bound<'_, PyAny>,
        rhs: &Bound<'_, PyAny>,
        def_region: bool,
        field_name: &str,
    ) -> PyResult<bool> {
        let py = lhs.py();
        let (left, right) = (Given::new(lhs)?, Given::new(rhs)?);
        let answer = self.0.with(|context| {
            let (left, right) = (left.view(), right.view());
            let compare = || context.equal_views(left, right, def_region, field_name);
            giving([Some(lhs), Some(rhs)], compare)
        });
        answer.ok_or_else(|| over(py))?.map_err(|error| compare::error(py, error))
    }
}

/// What `__s_hash__` hashes parts with.
#[pyclass(frozen, module = "sapwood._native")]
struct HashCallback(LentHash);

impl Called for HashCallback {
    const METHOD: &'static str = "hash_cb";

    fn new() -> Self {
        Self(LentHash::new())
    }
}

#[pymethods]
impl HashCallback {
    #[pyo3(signature = (value, init_hash, def_region = false))]
    fn hash_cb(
        &self,
        value: &Bound<'_, PyAny>,
        init_hash: &Bound<'_, PyAny>,
        def_region: bool,
    ) -> PyResult<u64> {
        let py = value.py();
        let part = Given::new(value)?;
        let init = hash_from(init_hash, "init_hash is")?;
        let answer = self.0.with(|context| {
            giving([Some(value), None], || context.hash_view(part.view(), init, def_region))
        });
        answer.ok_or_else(|| over(py))?.map_err(|error| compare::error(py, error))
    }
}
