//! The exceptions of functions that a user gave to an op, as causes of later exceptions.
//!
//! Such a function runs deep inside native code, possibly on another thread. The native code passes the message of its exception on, as
//! part of a longer one; the exception itself is kept here until an exception with that message is created by the same call, or until
//! that call ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

/// The most exceptions that are kept for one call.
const MAX_KEPT_PER_CALL: usize = 16;

/// A kept exception.
struct KeptCause {
    /// The call during which it was raised; 0 outside of calls.
    call: u64,
    thread: ThreadId,
    message: String,
    error: PyErr,
}

struct Kept {
    /// The calls that have not ended.
    calls: Vec<u64>,
    causes: Vec<KeptCause>,
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { calls: Vec::new(), causes: Vec::new() });
static HAS_KEPT: AtomicBool = AtomicBool::new(false);
static LAST_CALL: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static CURRENT_CALL: Cell<u64> = const { Cell::new(0) };
}

fn lock() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    /// Removes the causes that a test accepts. They are dropped without the lock, because that may run Python code.
    fn remove(&mut self, test: impl Fn(&KeptCause) -> bool) -> Vec<KeptCause> {
        let (removed, left) = std::mem::take(&mut self.causes).into_iter().partition(test);
        self.causes = left;
        HAS_KEPT.store(!self.causes.is_empty(), Ordering::Relaxed);
        removed
    }
}

/// A call into native code that may run functions of the user. At its end, the exceptions that it kept are dropped.
pub(crate) struct NativeCall {
    call: u64,
    outer: u64,
}

impl NativeCall {
    pub(crate) fn enter() -> Self {
        let call = LAST_CALL.fetch_add(1, Ordering::Relaxed) + 1;
        lock().calls.push(call);
        Self { call, outer: CURRENT_CALL.replace(call) }
    }

    /// Returns an error if a function of the user raised Ctrl-C or the end of the program, which must not become part of a report.
    pub(crate) fn check_exits(&self, py: Python<'_>) -> PyResult<()> {
        let kept = lock().remove(|cause| cause.call == self.call);
        let is_exit = |cause: &KeptCause| !cause.error.is_instance_of::<PyException>(py);
        let (exits, others): (Vec<_>, Vec<_>) = kept.into_iter().partition(is_exit);
        HAS_KEPT.fetch_or(!others.is_empty(), Ordering::Relaxed);
        lock().causes.extend(others);
        exits.into_iter().next().map_or(Ok(()), |cause| Err(cause.error))
    }
}

impl Drop for NativeCall {
    fn drop(&mut self) {
        CURRENT_CALL.set(self.outer);
        let mut kept = lock();
        kept.calls.retain(|&call| call != self.call);
        let (call, here) = (self.call, std::thread::current().id());
        let is_last = kept.calls.is_empty();
        let removed = kept.remove(|cause| {
            cause.call == call || (cause.call == 0 && (is_last || cause.thread == here))
        });
        drop(kept);
        drop(removed);
    }
}

/// Returns the call that runs on this thread, for another thread that works for it.
pub(crate) fn current_call() -> u64 {
    CURRENT_CALL.get()
}

/// Makes the rest of this thread a part of a call.
pub(crate) fn join_call(call: u64) {
    CURRENT_CALL.set(call);
}

/// Keeps an exception as the cause of an exception of this call whose message contains this one.
pub(crate) fn keep(message: &str, error: PyErr) {
    let (call, thread) = (current_call(), std::thread::current().id());
    let mut kept = lock();
    if call != 0 && !kept.calls.contains(&call) {
        // The call ended before its work, for example by Ctrl-C.
        drop(kept);
        return drop(error);
    }
    let of_call = |cause: &KeptCause| cause.call == call && (call != 0 || cause.thread == thread);
    let count = kept.causes.iter().filter(|cause| of_call(cause)).count();
    // Outside of a call, only the last one counts.
    let most = if call == 0 { 1 } else { MAX_KEPT_PER_CALL };
    let former = match kept.causes.iter().position(of_call) {
        Some(first) if count >= most => Some(kept.causes.remove(first)),
        _ => None,
    };
    kept.causes.push(KeptCause { call, thread, message: message.to_owned(), error });
    HAS_KEPT.store(true, Ordering::Relaxed);
    drop(kept);
    drop(former);
}

/// Adds the cause to an exception with this message, if this call kept one. Ctrl-C and the end of the program replace the exception.
pub(crate) fn add(py: Python<'_>, message: &str, raised: PyErr) -> PyErr {
    if !HAS_KEPT.load(Ordering::Relaxed) {
        return raised;
    }
    let (call, here) = (current_call(), std::thread::current().id());
    let mut kept = lock();
    let fits = |cause: &KeptCause| {
        // A worker thread of a run belongs to no call; its exceptions go to a call that waits for it.
        let is_ours = match cause.call {
            0 => cause.thread == here || call != 0,
            other => other == call,
        };
        is_ours && message.contains(cause.message.as_str())
    };
    let best = kept.causes.iter().rposition(|cause| fits(cause) && cause.call == call);
    let best = best.or_else(|| kept.causes.iter().rposition(fits));
    let taken = best.map(|index| kept.causes.remove(index));
    HAS_KEPT.store(!kept.causes.is_empty(), Ordering::Relaxed);
    drop(kept);
    let Some(KeptCause { error: cause, .. }) = taken else { return raised };
    if !cause.is_instance_of::<PyException>(py) {
        return cause;
    }
    raised.set_cause(py, Some(cause));
    raised
}
