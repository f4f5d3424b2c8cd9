//! The exceptions of functions that a user gave to an op, as causes of later exceptions.
//!
//! Such a function runs deep inside native code, possibly on another thread. The native code passes the message of its exception on, as
//! part of a longer one; the exception itself is kept here until an exception with that message is created.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

static KEPT: Mutex<Option<(String, PyErr)>> = Mutex::new(None);
static HAS_KEPT: AtomicBool = AtomicBool::new(false);

/// Keeps an exception as the cause of the next exception whose message contains this one. Only the last is kept.
pub(crate) fn keep(message: &str, error: PyErr) {
    let kept = Some((message.to_owned(), error));
    let former = std::mem::replace(&mut *KEPT.lock().unwrap_or_else(PoisonError::into_inner), kept);
    HAS_KEPT.store(true, Ordering::Relaxed);
    // Dropped without the lock, because this may run Python code.
    drop(former);
}

/// Adds the cause to an exception with this message, if one is kept. Ctrl-C and the end of the program replace the exception.
pub(crate) fn add(py: Python<'_>, message: &str, raised: PyErr) -> PyErr {
    if !HAS_KEPT.load(Ordering::Relaxed) {
        return raised;
    }
    let taken = {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((text, _)) if message.contains(text.as_str()) => kept.take(),
            _ => None,
        }
    };
    let Some((_, cause)) = taken else { return raised };
    HAS_KEPT.store(false, Ordering::Relaxed);
    if !cause.is_instance_of::<PyException>(py) {
        return cause;
    }
    raised.set_cause(py, Some(cause));
    raised
}
