//! Ctrl-C while Python waits for us.
//!
//! Python sees signals between two steps of its own, and on its main thread only. What may take long looks for them itself.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::intern;
use pyo3::prelude::*;

/// So long a signal waits at most.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Programs of so many instructions may take long enough for somebody to press Ctrl-C.
const MIN_INTERRUPTIBLE_INSTS: usize = 1000;

/// What a thread that works has, as the main thread of most systems.
const WORKER_STACK_BYTES: usize = 8 << 20;

/// Asked by a run whether it is to end.
pub(crate) struct Signals {
    last_poll: Mutex<Instant>,
    raised: Mutex<Option<PyErr>>,
}

impl Signals {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { last_poll: Mutex::new(Instant::now()), raised: Mutex::new(None) })
    }

    /// Whether the handler of a signal raised; often asked and seldom last_poll at.
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

    /// What the handler raised.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Does work that cannot be stopped on a thread of its own: if the handler of a signal raises meanwhile, that is what comes out, and
/// the work ends unseen. On other threads than the main one there are no signals.
pub(crate) fn interruptible<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    if !is_main_thread(py)? {
        return Ok(py.detach(work));
    }
    let (send, mut receive) = mpsc::sync_channel(1);
    let working = std::thread::Builder::new().stack_size(WORKER_STACK_BYTES).spawn(move || {
        // Nobody may be waiting any more.
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
        Ok(()) => Err(pyo3::exceptions::PyRuntimeError::new_err("the work left no result")),
    }
}

/// Does work on a program of `size` instructions: others run meanwhile, and Ctrl-C ends it where it may take long.
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
