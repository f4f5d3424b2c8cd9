//! Hooks around `fork`. They hold the locks of the process-wide tables during a fork, because the child would otherwise find them locked
//! by threads that it does not have.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sapwood::ptir::{InternerLockGuard, lock_interners};

use crate::ptir::own_ops::{self, OwnOpsLock};

thread_local! {
    static HELD: Cell<Option<(OwnOpsLock, InternerLockGuard)>> = const { Cell::new(None) };
}

/// Registers the hooks with `os.register_at_fork`, where it exists.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let Some(register) = py.import("os")?.getattr_opt("register_at_fork")? else { return Ok(()) };
    let after = wrap_pyfunction!(after_fork, module)?;
    let hooks = PyDict::new(py);
    hooks.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
    hooks.set_item("after_in_parent", &after)?;
    hooks.set_item("after_in_child", after)?;
    register.call((), Some(&hooks)).map(drop)
}

#[pyfunction]
fn before_fork() {
    // This cannot deadlock: no thread that holds one of these locks waits for this thread.
    HELD.set(Some((own_ops::lock_table(), lock_interners())));
}

#[pyfunction]
fn after_fork() {
    HELD.set(None);
}
