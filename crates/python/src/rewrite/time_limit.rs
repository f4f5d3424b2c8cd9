//! A time limit for calls of Python functions: a thread raises `TimeoutError` in a call that takes too long.
//!
//! The lock of the state is only taken for a moment. No Python code runs meanwhile, so that no thread waits for the interpreter while it holds
//! the lock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyTimeoutError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The longest time limit: larger ones are no limit.
const MAX_SECONDS: f64 = 1e6;

/// A time limit for calls. A thread watches them; it ends when it wakes up and no call runs.
pub(super) struct TimeLimit {
    limit: Option<Duration>,
    raiser: Arc<Raiser>,
    calls: Arc<Mutex<RunningCalls>>,
}

#[derive(Default)]
struct RunningCalls {
    next: u64,
    /// The end of each call that runs, and the thread that it runs on.
    running: BTreeMap<u64, (Instant, u64)>,
    watched: bool,
}

impl TimeLimit {
    /// Returns a limit of this number of seconds.
    pub(super) fn new(py: Python<'_>, seconds: f64) -> PyResult<Self> {
        if seconds.is_nan() || seconds <= 0.0 {
            let message = format!("a time limit must be positive, found {seconds}");
            return Err(crate::errors::value_error(py, message));
        }
        let limit = (seconds <= MAX_SECONDS).then(|| Duration::from_secs_f64(seconds));
        Ok(Self { limit, raiser: Arc::new(Raiser::new(py)?), calls: Arc::default() })
    }

    /// Calls a function. If the call takes longer than the limit, `TimeoutError` is raised in it.
    pub(super) fn call<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        arguments: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = function.py();
        let Some(limit) = self.limit else { return function.call1(arguments) };
        let threading = py.import(intern!(py, "threading"))?;
        let thread: u64 = threading.call_method0(intern!(py, "get_ident"))?.extract()?;
        let call = self.start(Instant::now() + limit, thread);
        let result = function.call1(arguments);
        if !self.end(call) {
            // The exception may have come too late for the call.
            self.raiser.raise(py, thread, false)?;
            let message = format!("it took longer than {} seconds", limit.as_secs_f64());
            return Err(PyTimeoutError::new_err(message));
        }
        result
    }

    fn start(&self, end: Instant, thread: u64) -> u64 {
        let mut calls = lock(&self.calls);
        let call = calls.next;
        calls.next += 1;
        calls.running.insert(call, (end, thread));
        if !calls.watched {
            calls.watched = true;
            let (watched, raiser) = (self.calls.clone(), self.raiser.clone());
            // Later calls end later, so that the thread need not know of them before it wakes up.
            std::thread::spawn(move || watch(&watched, &raiser));
        }
        call
    }

    // Returns whether the call ended in time.
    fn end(&self, call: u64) -> bool {
        lock(&self.calls).running.remove(&call).is_some()
    }
}

fn lock(calls: &Mutex<RunningCalls>) -> MutexGuard<'_, RunningCalls> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

// Raises an exception in calls whose time is over.
fn watch(watched: &Mutex<RunningCalls>, raiser: &Raiser) {
    loop {
        let end = {
            let mut calls = lock(watched);
            let Some(&(end, _)) = calls.running.values().min() else {
                calls.watched = false;
                return;
            };
            end
        };
        let left = end.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            std::thread::sleep(left);
            continue;
        }
        Python::attach(|py| {
            let mut calls = lock(watched);
            let is_over = |(_, (other, _)): &(&u64, &(Instant, u64))| *other <= end;
            let over: Vec<u64> = calls.running.iter().filter(is_over).map(|(&n, _)| n).collect();
            for call in over {
                if let Some((_, thread)) = calls.running.remove(&call) {
                    // If this fails, the call still ends with Ctrl-C.
                    let _ = raiser.raise(py, thread, true);
                }
            }
        });
    }
}

/// The objects that raise an exception in a thread. They are looked up once, so that raising runs no Python code.
struct Raiser {
    thread_id: Py<PyAny>,
    exception: Py<PyAny>,
    set_exception: Py<PyAny>,
}

impl Raiser {
    fn new(py: Python<'_>) -> PyResult<Self> {
        let ctypes = py.import(intern!(py, "ctypes"))?;
        let class = py.get_type::<PyTimeoutError>();
        let api = ctypes.getattr(intern!(py, "pythonapi"))?;
        Ok(Self {
            thread_id: ctypes.getattr(intern!(py, "c_ulong"))?.unbind(),
            exception: ctypes.call_method1(intern!(py, "py_object"), (class,))?.unbind(),
            set_exception: api.getattr(intern!(py, "PyThreadState_SetAsyncExc"))?.unbind(),
        })
    }

    // Raises `TimeoutError` in a thread at its next instruction, or removes one that was not raised yet.
    fn raise(&self, py: Python<'_>, thread: u64, raise: bool) -> PyResult<()> {
        let thread = self.thread_id.call1(py, (thread,))?;
        let exception = if raise { self.exception.clone_ref(py) } else { py.None() };
        self.set_exception.call1(py, (thread, exception))?;
        Ok(())
    }
}
