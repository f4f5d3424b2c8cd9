//! Processes that are forked while threads of ours run: the tables of the process are kept as they are for that moment, or the child
//! would find them locked by threads it does not have.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sapwood::ptir::{TablesHeld, hold_tables};

thread_local! {
    static HELD: Cell<Option<TablesHeld>> = const { Cell::new(None) };
}

/// Has Python tell when it forks, where it can.
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
    // No thread that has a table locked waits for this one.
    HELD.set(Some(hold_tables()));
}

#[pyfunction]
fn after_fork() {
    HELD.set(None);
}
