//! The hooks `__s_equal__` and `__s_hash__`, with which a class defines its own comparison and hash.

use std::cell::{Cell, RefCell};

use pyo3::exceptions::PyRecursionError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyType};
use sapwood_structural::{EqualHook, Error, HashHook, NodePath, NodeRef};

use crate::compare;
use crate::convert::ValueArg;
use crate::errors::{self, ErrorKind};
use crate::handle_pool::HookScope;
use crate::instance;
use crate::node::wrap;
use crate::scoped_borrow::{ScopedEqualCx, ScopedHashCx};

/// The least machine stack with which a hook is called: Python must never run on a stack segment that it does not know.
const MIN_STACK_BYTES: usize = 512 * 1024;

/// Returns the equality hook of a class, which calls its `__s_equal__`.
pub(crate) fn equal_hook(cls: &Bound<'_, PyType>) -> PyResult<EqualHook> {
    let function = cls.getattr(intern!(cls.py(), "__s_equal__"))?.unbind();
    Ok(Box::new(move |left, right, context| {
        Python::attach(|py| {
            let mut call = || -> PyResult<bool> {
                check_stack()?;
                let _running = HookScope::begin();
                let answer = HOOK_STATE.with(|state| {
                    let [first, second] = state.caller_handles.take();
                    let (left, right) =
                        (handle_for(py, first, left)?, handle_for(py, second, right)?);
                    state.equal.with_callback(py, |callback, method| {
                        let call = || {
                            instance::call_with_three(function.bind(py), [&left, &right, method])
                        };
                        callback.0.scope(context, call)
                    })
                })?;
                match answer.cast::<PyBool>() {
                    Ok(answer) => Ok(answer.is_true()),
                    Err(_) => Err(wrong_return_type(py, "__s_equal__", "a bool", &answer)),
                }
            };
            call().map_err(|error| hook_error(left, error))
        })
    }))
}

/// Returns the hash hook of a class, which calls its `__s_hash__`.
pub(crate) fn hash_hook(cls: &Bound<'_, PyType>) -> PyResult<HashHook> {
    let function = cls.getattr(intern!(cls.py(), "__s_hash__"))?.unbind();
    Ok(Box::new(move |node, init, context| {
        Python::attach(|py| {
            let mut call = || -> PyResult<u64> {
                check_stack()?;
                let _running = HookScope::begin();
                let init = init.into_pyobject(py)?.into_any();
                let answer = HOOK_STATE.with(|state| {
                    let [first, _] = state.caller_handles.take();
                    let node = handle_for(py, first, node)?;
                    state.hash.with_callback(py, |callback, method| {
                        let call =
                            || instance::call_with_three(function.bind(py), [&node, &init, method]);
                        callback.0.scope(context, call)
                    })
                })?;
                hash_from_int(&answer, "__s_hash__ must return")
            };
            call().map_err(|error| hook_error(node, error))
        })
    }))
}

/// The hook state of one thread.
struct HookState {
    /// The handles with which a hook just called its callback; a nested hook on the same nodes receives them again.
    caller_handles: Cell<[Option<Py<PyAny>>; 2]>,
    equal: CallbackPool<EqualCallback>,
    hash: CallbackPool<HashCallback>,
}

thread_local! {
    static HOOK_STATE: HookState = const {
        HookState { caller_handles: Cell::new([None, None]), equal: CallbackPool::new(), hash: CallbackPool::new() }
    };
}

/// Runs a callback with the handles of its caller recorded.
fn with_hook_caller_handles<R>(
    handles: [Option<&Bound<'_, PyAny>>; 2],
    callback: impl FnOnce() -> R,
) -> R {
    HOOK_STATE.with(|state| {
        drop(state.caller_handles.replace(handles.map(|handle| Some(handle?.clone().unbind()))));
        let result = callback();
        drop(state.caller_handles.take());
        result
    })
}

/// Returns a handle of a node: `given` if it is a handle of this node, otherwise a new one.
fn handle_for<'py>(
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

/// A callback: the object that holds the context while a hook runs, and its bound method, which the hook receives. A call of a native
/// method needs no argument tuple; a call of an object does.
struct Callback<T> {
    holder: Py<T>,
    method: Py<PyAny>,
}

/// A pool of callbacks that their hooks did not keep, for the next hooks on the same thread. Each level of nested hooks needs one.
struct CallbackPool<T>(RefCell<Vec<Callback<T>>>);

/// The most callbacks in a pool.
const MAX_POOLED_CALLBACKS: usize = 64;

impl<T> CallbackPool<T> {
    const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }
}

impl<T: CallbackClass> CallbackPool<T> {
    fn take(&self, py: Python<'_>) -> PyResult<Callback<T>> {
        if let Some(pool) = self.0.borrow_mut().pop() {
            return Ok(pool);
        }
        let holder = Bound::new(py, T::new())?;
        let method = holder.as_any().getattr(T::METHOD)?.unbind();
        Ok(Callback { holder: holder.unbind(), method })
    }

    fn recycle(&self, py: Python<'_>, callback: Callback<T>) {
        // The method owns the holder, too.
        let unshared = instance::reference_count(callback.method.bind(py)) == 1
            && instance::reference_count(callback.holder.bind(py).as_any()) == 2;
        let mut pool = self.0.borrow_mut();
        if unshared && pool.len() < MAX_POOLED_CALLBACKS {
            pool.push(callback);
        }
    }

    /// Calls a hook with a callback and its method, and returns both to the pool unless the hook kept them.
    fn with_callback<'py>(
        &self,
        py: Python<'py>,
        call: impl FnOnce(&T, &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let callback = self.take(py)?;
        let answer = call(callback.holder.bind(py).get(), callback.method.bind(py))?;
        self.recycle(py, callback);
        Ok(answer)
    }
}

/// A Python class whose bound method is a callback.
trait CallbackClass:
    pyo3::PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Into<PyClassInitializer<Self>> + Sync
{
    const METHOD: &'static str;
    fn new() -> Self;
}

fn check_stack() -> PyResult<()> {
    match stacker::remaining_stack() {
        Some(left) if left < MIN_STACK_BYTES => {
            Err(PyRecursionError::new_err("hooks call each other too deeply"))
        }
        _ => Ok(()),
    }
}

fn hook_error(node: NodeRef<'_>, error: PyErr) -> Error {
    Error::Hook { key: node.info().key(), path: NodePath::root(), error: Box::new(error) }
}

fn wrong_return_type(py: Python<'_>, who: &str, wanted: &str, answer: &Bound<'_, PyAny>) -> PyErr {
    let found = errors::type_name(answer);
    errors::argument_error(py, format!("{who} must return {wanted}, it returned {found}"))
}

/// Returns the low 64 bits of an int; fails for other objects.
fn hash_from_int(object: &Bound<'_, PyAny>, who: &str) -> PyResult<u64> {
    match object.cast::<PyInt>() {
        Ok(int) if !object.is_instance_of::<PyBool>() => Ok(instance::low_64_bits(int)),
        _ => {
            let found = errors::type_name(object);
            Err(errors::argument_error(object.py(), format!("{who} an int, found {found}")))
        }
    }
}

fn callback_expired(py: Python<'_>) -> PyErr {
    errors::new_error(
        py,
        ErrorKind::Callback,
        "the callback was called after its hook returned or on another thread; call it inside the hook",
    )
}

/// The callback with which `__s_equal__` compares parts.
#[pyclass(frozen, module = "sapwood._native")]
struct EqualCallback(ScopedEqualCx);

impl CallbackClass for EqualCallback {
    const METHOD: &'static str = "eq_cb";

    fn new() -> Self {
        Self(ScopedEqualCx::new())
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
        let (left, right) = (ValueArg::new(lhs)?, ValueArg::new(rhs)?);
        let answer = self.0.with(|context| {
            let (left, right) = (left.view(), right.view());
            let compare = || context.equal(left, right, def_region, field_name);
            with_hook_caller_handles([Some(lhs), Some(rhs)], compare)
        });
        answer
            .ok_or_else(|| callback_expired(py))?
            .map_err(|error| compare::compare_error(py, error))
    }
}

/// The callback with which `__s_hash__` hashes parts.
#[pyclass(frozen, module = "sapwood._native")]
struct HashCallback(ScopedHashCx);

impl CallbackClass for HashCallback {
    const METHOD: &'static str = "hash_cb";

    fn new() -> Self {
        Self(ScopedHashCx::new())
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
        let part = ValueArg::new(value)?;
        let init = hash_from_int(init_hash, "init_hash is")?;
        let answer = self.0.with(|context| {
            with_hook_caller_handles([Some(value), None], || {
                context.hash(part.view(), init, def_region)
            })
        });
        answer
            .ok_or_else(|| callback_expired(py))?
            .map_err(|error| compare::compare_error(py, error))
    }
}
