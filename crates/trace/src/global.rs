//! The sink of the process.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::event::ExecutionTraceSink;

type Sink = Arc<dyn ExecutionTraceSink>;

// Sinks in the order in which they were installed; the last is told.
static INSTALLED: RwLock<Vec<(u64, Sink)>> = RwLock::new(Vec::new());
// How many there are: all that is looked at when there is none.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Makes a sink the one that is told, until the guard is dropped; then the one before is told again. If guards are
/// dropped in another order than the reverse, the last sink that is still installed is told.
#[must_use = "the sink is told only as long as the guard lives"]
pub fn install_global_sink(sink: Arc<dyn ExecutionTraceSink>) -> SinkGuard {
    let id = next_number();
    let mut installed = INSTALLED.write().unwrap_or_else(PoisonError::into_inner);
    installed.push((id, sink));
    COUNT.store(installed.len(), Ordering::Release);
    SinkGuard { id }
}

/// The sink that is told, if there is one. Allocates nothing.
#[inline]
#[must_use]
pub fn current() -> Option<Arc<dyn ExecutionTraceSink>> {
    if COUNT.load(Ordering::Acquire) == 0 {
        return None;
    }
    last()
}

#[cold]
fn last() -> Option<Sink> {
    let installed = INSTALLED.read().unwrap_or_else(PoisonError::into_inner);
    installed.last().map(|(_, sink)| sink.clone())
}

/// A number that no other run of this process has, for [`Execution::id`](crate::Execution::id) and
/// [`PassEvent::run`](crate::PassEvent::run).
#[must_use]
pub fn next_number() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Keeps a sink installed.
#[derive(Debug)]
pub struct SinkGuard {
    id: u64,
}

impl Drop for SinkGuard {
    fn drop(&mut self) {
        let mut installed = INSTALLED.write().unwrap_or_else(PoisonError::into_inner);
        let removed = installed.iter().position(|(id, _)| *id == self.id);
        let removed = removed.map(|at| installed.remove(at));
        COUNT.store(installed.len(), Ordering::Release);
        // What the sink does when it goes may look at sinks.
        drop(installed);
        drop(removed);
    }
}
