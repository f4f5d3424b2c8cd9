//! `__s_equal__` and `__s_hash__`: comparison and hash as a class writes them.

use std::cell::Cell;

use pyo3::exceptions::PyRecursionError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyType};
use sapwood_structural::{EqualHook, Error, HashHook, NodeRef, Path};

use crate::compare;
use crate::convert::to_value;
use crate::errors::{self, Family};
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
                let (left, right) = (wrap(py, left.to_owned())?, wrap(py, right.to_owned())?);
                let callback = EQUAL.with(Spare::take).map_or_else(
                    || Bound::new(py, EqualCallback(LentEqual::new())),
                    |spare| Ok(spare.into_bound(py)),
                )?;
                let lent = &callback.get().0;
                let answer =
                    lent.lend(context, || function.bind(py).call1((left, right, &callback)))?;
                EQUAL.with(|spare| spare.give(callback));
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
                let node = wrap(py, node.to_owned())?;
                let callback = HASH.with(Spare::take).map_or_else(
                    || Bound::new(py, HashCallback(LentHash::new())),
                    |spare| Ok(spare.into_bound(py)),
                )?;
                let lent = &callback.get().0;
                let answer =
                    lent.lend(context, || function.bind(py).call1((node, init, &callback)))?;
                HASH.with(|spare| spare.give(callback));
                hash_from(&answer, "__s_hash__ must return")
            };
            call().map_err(|error| failed(node, error))
        })
    }))
}

/// A callback that its hook did not keep, to be used for the next one on the same thread.
struct Spare<T>(Cell<Option<Py<T>>>);

impl<T> Spare<T> {
    fn take(&self) -> Option<Py<T>> {
        self.0.take()
    }

    fn give(&self, callback: Bound<'_, T>) {
        if instance::owners(callback.as_any()) == 1 {
            self.0.set(Some(callback.unbind()));
        }
    }
}

thread_local! {
    static EQUAL: Spare<EqualCallback> = const { Spare(Cell::new(None)) };
    static HASH: Spare<HashCallback> = const { Spare(Cell::new(None)) };
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
    Error::Hook { key: node.info().key(), path: Path::root(), error: Box::new(error) }
}

fn wrong_answer(py: Python<'_>, who: &str, wanted: &str, answer: &Bound<'_, PyAny>) -> PyErr {
    let found = errors::type_name(answer);
    errors::argument(py, format!("{who} must return {wanted}, it returned {found}"))
}

/// The low 64 bits of an int.
fn hash_from(object: &Bound<'_, PyAny>, who: &str) -> PyResult<u64> {
    let py = object.py();
    if let Ok(hash) = object.extract::<u64>()
        && object.is_instance_of::<PyInt>()
    {
        return Ok(hash);
    }
    if !object.is_instance_of::<PyInt>() || object.is_instance_of::<PyBool>() {
        let found = errors::type_name(object);
        return Err(errors::argument(py, format!("{who} an int, found {found}")));
    }
    object.call_method1(intern!(py, "__and__"), (u64::MAX,))?.extract()
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

#[pymethods]
impl EqualCallback {
    #[pyo3(signature = (lhs, rhs, def_region = false, field_name = ""))]
    fn __call__(
        &self,
        lhs: &Bound<'_, PyAny>,
        rhs: &Bound<'_, PyAny>,
        def_region: bool,
        field_name: &str,
    ) -> PyResult<bool> {
        let py = lhs.py();
        let (left, right) = (to_value(lhs)?, to_value(rhs)?);
        let answer = self.0.with(|context| context.equal(&left, &right, def_region, field_name));
        answer.ok_or_else(|| over(py))?.map_err(|error| compare::error(py, error))
    }
}

/// What `__s_hash__` hashes parts with.
#[pyclass(frozen, module = "sapwood._native")]
struct HashCallback(LentHash);

#[pymethods]
impl HashCallback {
    #[pyo3(signature = (value, init_hash, def_region = false))]
    fn __call__(
        &self,
        value: &Bound<'_, PyAny>,
        init_hash: &Bound<'_, PyAny>,
        def_region: bool,
    ) -> PyResult<u64> {
        let py = value.py();
        let part = to_value(value)?;
        let init = hash_from(init_hash, "init_hash is")?;
        let answer = self.0.with(|context| context.hash(&part, init, def_region));
        answer.ok_or_else(|| over(py))?.map_err(|error| compare::error(py, error))
    }
}
