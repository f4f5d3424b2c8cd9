//! Handling of Ctrl-C while native code runs.
//!
//! Python handles signals only between two bytecode instructions of its main thread. Long-running native work checks for them itself.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::intern;
use pyo3::prelude::*;

use crate::callback_cause;

/// The longest time between two checks for signals.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The number of instructions from which work on a program may take long enough for the user to press Ctrl-C.
const MIN_INTERRUPTIBLE_INSTS: usize = 1000;

/// The stack size of worker threads: that of the main thread on most systems.
const WORKER_STACK_BYTES: usize = 8 << 20;

/// A poller with which a run learns that a signal handler raised an exception.
pub(crate) struct Signals {
    last_poll: Mutex<Instant>,
    raised: Mutex<Option<PyErr>>,
}

impl Signals {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { last_poll: Mutex::new(Instant::now()), raised: Mutex::new(None) })
    }

    /// Returns whether a signal handler raised an exception. It may be called often; it checks at most once per `POLL_INTERVAL`.
    pub(crate) fn poll(&self) -> bool {
        {
            let mut last_poll = self.last_poll.lock().unwrap_or_else(PoisonError::into_inner);
            if last_poll.elapsed() < POLL_INTERVAL {
                return false;
            }
            *last_poll = Instant::now();
        }
        let look = Python::attach(|py| py.check_signals().err());
        let Some(error) = look else { return false };
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        true
    }

    /// Takes the exception that the handler raised.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Runs work that cannot be stopped on its own thread. If a signal handler raises meanwhile, returns that exception and lets
/// the work finish unobserved. On other threads than the main thread there are no signals, so the work runs in place.
pub(crate) fn interruptible<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    if !is_main_thread(py)? {
        return Ok(py.detach(work));
    }
    let (send, mut receive) = mpsc::sync_channel(1);
    let call = callback_cause::current_call();
    let working = std::thread::Builder::new().stack_size(WORKER_STACK_BYTES).spawn(move || {
        callback_cause::join_call(call);
        // The receiver may be gone.
        let _ = send.send(work());
    })?;
    loop {
        let (back, got) = py.detach(move || {
            let got = receive.recv_timeout(POLL_INTERVAL);
            (receive, got)
        });
        receive = back;
        match got {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match py.detach(|| working.join()) {
        Err(panic) => std::panic::resume_unwind(panic),
        Ok(()) => Err(pyo3::exceptions::PyRuntimeError::new_err(
            "the worker thread ended without a result",
        )),
    }
}

/// Runs work on a program of `size` instructions without the interpreter lock; Ctrl-C interrupts it if the program is large.
pub(crate) fn interruptible_if_large<R: Send + 'static>(
    py: Python<'_>,
    size: usize,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    if size < MIN_INTERRUPTIBLE_INSTS { Ok(py.detach(work)) } else { interruptible(py, work) }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(intern!(py, "threading"))?;
    let here = threading.call_method0(intern!(py, "current_thread"))?;
    Ok(here.is(&threading.call_method0(intern!(py, "main_thread"))?))
}
