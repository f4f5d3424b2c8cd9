//! The global sink of the process.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::event::ExecutionTraceSink;

type Sink = Arc<dyn ExecutionTraceSink>;

// The sinks in the order in which they were installed; the last one gets the events.
static INSTALLED: RwLock<Vec<(u64, Sink)>> = RwLock::new(Vec::new());
// The number of installed sinks: nothing else is read if it is zero.
static INSTALLED_COUNT: AtomicUsize = AtomicUsize::new(0);
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Installs a sink for the process until the guard is dropped; then the previous one is active again. If guards are not
/// dropped in reverse order, the last sink that is still installed is active.
#[must_use = "the sink gets events only while the guard lives"]
pub fn install_global_sink(sink: Arc<dyn ExecutionTraceSink>) -> SinkGuard {
    let id = next_run_id();
    let mut installed = INSTALLED.write().unwrap_or_else(PoisonError::into_inner);
    installed.push((id, sink));
    INSTALLED_COUNT.store(installed.len(), Ordering::Release);
    SinkGuard { id }
}

/// Returns the global sink, if there is one. Allocates nothing.
#[inline]
#[must_use]
pub fn global_sink() -> Option<Arc<dyn ExecutionTraceSink>> {
    if INSTALLED_COUNT.load(Ordering::Acquire) == 0 {
        return None;
    }
    last_installed()
}

#[cold]
fn last_installed() -> Option<Sink> {
    let installed = INSTALLED.read().unwrap_or_else(PoisonError::into_inner);
    installed.last().map(|(_, sink)| sink.clone())
}

/// Returns a number that is unique in this process, for [`Execution::id`](crate::Execution::id) and
/// [`PassEvent::run`](crate::PassEvent::run).
#[must_use]
pub fn next_run_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// A guard that keeps a sink installed.
#[derive(Debug)]
pub struct SinkGuard {
    id: u64,
}

impl Drop for SinkGuard {
    fn drop(&mut self) {
        let mut installed = INSTALLED.write().unwrap_or_else(PoisonError::into_inner);
        let removed = installed.iter().position(|(id, _)| *id == self.id);
        let removed = removed.map(|at| installed.remove(at));
        INSTALLED_COUNT.store(installed.len(), Ordering::Release);
        // The destructor of the sink may look for sinks.
        drop(installed);
        drop(removed);
    }
}
