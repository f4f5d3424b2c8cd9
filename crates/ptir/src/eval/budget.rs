//! The budget of a run: steps, time and memory.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::error::Fault;
use super::native::Native;
use super::options::{RunOptions, StopCheck};
use super::pool::BufferPool;
use super::profile::RunProfile;

/// The number of element operations of a kernel that count as one step.
pub(crate) const WORK_PER_STEP: u64 = 4096;

/// The steps, time and memory that one run has used and may use.
pub(crate) struct Budget {
    steps: Cell<u64>,
    work: Cell<u64>,
    max_steps: u64,
    // The element operations that remain, independent of the step limit.
    work_left: Cell<u64>,
    // The number of steps at which the time limit and `stop` are checked next.
    next_check: Cell<u64>,
    deadline: Option<(Instant, Duration)>,
    stop: Option<StopCheck>,
    max_bytes: u64,
    meter: Arc<AtomicU64>,
    pool: Option<Arc<BufferPool>>,
    profile: Option<Arc<Mutex<RunProfile>>>,
}

const STEPS_PER_CHECK: u64 = 1024;

impl Budget {
    pub(crate) fn new(options: &RunOptions) -> Self {
        let deadline = options
            .time_limit
            .and_then(|limit| Instant::now().checked_add(limit).map(|end| (end, limit)));
        let max_steps = options.max_steps.unwrap_or(u64::MAX);
        Self {
            steps: Cell::new(0),
            work: Cell::new(0),
            max_steps,
            work_left: Cell::new(u64::MAX),
            next_check: Cell::new(if deadline.is_some() || options.stop.is_some() {
                STEPS_PER_CHECK.min(max_steps)
            } else {
                max_steps
            }),
            deadline,
            stop: options.stop.clone(),
            max_bytes: options.max_bytes,
            meter: Arc::new(AtomicU64::new(0)),
            pool: None,
            profile: options.profile.clone(),
        }
    }

    /// Takes memory from a pool and returns it there.
    pub(crate) fn with_pool(mut self, pool: Arc<BufferPool>) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Returns the profile of the run.
    #[inline]
    pub(crate) fn profile(&self) -> Option<&Arc<Mutex<RunProfile>>> {
        self.profile.as_ref()
    }

    /// Returns the pool of the run.
    pub(crate) fn pool(&self) -> Option<&Arc<BufferPool>> {
        self.pool.as_ref()
    }

    /// Limits the element operations, independent of the step limit.
    pub(crate) fn limit_work(self, operations: u64) -> Self {
        self.work_left.set(operations);
        self
    }

    /// Returns the number of element operations that remain.
    pub(crate) fn work_left(&self) -> u64 {
        self.work_left.get()
    }

    /// Returns the number of steps taken.
    pub(crate) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Counts one instruction.
    #[inline]
    pub(crate) fn step(&self) -> Result<(), Fault> {
        self.count_steps(1)
    }

    /// Counts several instructions.
    #[inline]
    pub(crate) fn count_steps(&self, number: u64) -> Result<(), Fault> {
        let steps = self.steps.get().saturating_add(number);
        self.steps.set(steps);
        if steps > self.next_check.get() { self.check_limits(steps) } else { Ok(()) }
    }

    /// Counts element operations.
    pub(crate) fn work(&self, operations: u64) -> Result<(), Fault> {
        let Some(left) = self.work_left.get().checked_sub(operations) else {
            self.work_left.set(0);
            return Err(Fault::Steps { limit: self.max_steps });
        };
        self.work_left.set(left);
        let work = self.work.get().saturating_add(operations);
        if work < WORK_PER_STEP {
            self.work.set(work);
            return Ok(());
        }
        self.work.set(work % WORK_PER_STEP);
        let steps = self.steps.get().saturating_add(work / WORK_PER_STEP);
        self.steps.set(steps);
        if steps > self.next_check.get() { self.check_limits(steps) } else { Ok(()) }
    }

    #[cold]
    fn check_limits(&self, steps: u64) -> Result<(), Fault> {
        if steps > self.max_steps {
            return Err(Fault::Steps { limit: self.max_steps });
        }
        if let Some((end, limit)) = self.deadline
            && Instant::now() >= end
        {
            return Err(Fault::Time { limit });
        }
        if self.stop.as_ref().is_some_and(|stop| stop()) {
            return Err(Fault::Stopped);
        }
        self.next_check.set(steps.saturating_add(STEPS_PER_CHECK).min(self.max_steps));
        Ok(())
    }

    /// Checks whether `needed` more bytes may be allocated.
    pub(crate) fn check_memory(&self, needed: u64) -> Result<(), Fault> {
        self.check_memory_beyond(0, needed)
    }

    /// Checks whether `needed` more bytes may be allocated, like [`Self::check_memory`], with `granted` bytes in use that the meter does not show.
    pub(crate) fn check_memory_beyond(&self, granted: u64, needed: u64) -> Result<(), Fault> {
        let used = self.meter.load(Ordering::Relaxed).saturating_add(granted);
        if used.saturating_add(needed) > self.max_bytes {
            return Err(Fault::Memory { limit: self.max_bytes, used, needed });
        }
        if let Some(pool) = &self.pool {
            pool.record_use(used.saturating_add(needed));
        }
        Ok(())
    }

    /// Returns a vector of the pool with capacity for `len` elements, which keeps the elements that it had. The pool is emptied if a new vector
    /// and those of the pool would take more memory than the limit.
    pub(crate) fn take_pooled<T: Native>(&self, granted: u64, len: usize) -> Option<Vec<T>> {
        let pool = self.pool.as_ref().filter(|_| BufferPool::keeps::<T>(len))?;
        if let Some(vector) = pool.take(len) {
            return Some(vector);
        }
        let used = self.meter.load(Ordering::Relaxed).saturating_add(granted);
        if used.saturating_add(pool.spare_bytes()) > self.max_bytes {
            pool.clear();
        }
        None
    }

    /// Reserves memory that does not belong to a tensor.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<(), Fault> {
        self.check_memory(bytes)?;
        self.meter.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Releases reserved memory.
    pub(crate) fn release(&self, bytes: u64) {
        self.meter.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn meter(&self) -> &Arc<AtomicU64> {
        &self.meter
    }
}
