//! Progress of long work, which another thread may show.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    static CURRENT: RefCell<Option<Arc<Progress>>> = const { RefCell::new(None) };
}

/// The progress of work in phases: the name of the phase, and how much of it is done.
///
/// Readers, passes and runs report to the progress of their thread, if it has one.
///
/// ```
/// use sapwood_types::Progress;
///
/// let progress = Progress::new();
/// progress.start_phase("count");
/// progress.observe(|| {
///     let mut counter = Progress::counter(4);
///     counter.tick();
///     assert_eq!(progress.percent(), Some(25));
/// });
/// assert_eq!((progress.phase().as_str(), progress.percent()), ("count", Some(100)));
/// ```
#[derive(Debug, Default)]
pub struct Progress {
    phase: Mutex<String>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Creates a progress without a phase.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Runs `work`, whose parts on this thread report to this progress.
    pub fn observe<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> T {
        with_current(Some(self.clone()), work)
    }

    /// Runs `work`, which reports nothing: for work that is a part of a larger one.
    pub fn unobserved<T>(work: impl FnOnce() -> T) -> T {
        with_current(None, work)
    }

    /// Returns the progress of this thread. Work that starts threads observes it in them.
    #[must_use]
    pub fn current() -> Option<Arc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Starts a phase of the progress of this thread, if it has one.
    pub fn enter_phase(name: &str) {
        if let Some(progress) = Self::current() {
            progress.start_phase(name);
        }
    }

    /// Adds to the work of the current phase of this thread, if it has a progress.
    pub fn expect(units: u64) {
        if let Some(progress) = Self::current() {
            progress.total.fetch_add(units, Ordering::Relaxed);
        }
    }

    /// Creates a counter for work of this many units, which are added to the current phase.
    #[must_use]
    pub fn counter(units: u64) -> ProgressCounter {
        Self::expect(units);
        Self::expected_counter(units)
    }

    /// Creates a counter for units that were added to the current phase before.
    #[must_use]
    pub fn expected_counter(units: u64) -> ProgressCounter {
        match Self::current() {
            None => ProgressCounter::default(),
            progress => ProgressCounter { progress, units, done: 0, reported: 0, next: 1 },
        }
    }

    /// Starts a phase. Nothing of it is done, and its amount of work is not known yet.
    pub fn start_phase(&self, name: &str) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        name.clone_into(&mut phase);
        self.total.store(0, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }

    /// Returns the name of the phase.
    #[must_use]
    pub fn phase(&self) -> String {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the part of the phase that is done, in percent; `None` if its amount of work is not known.
    #[must_use]
    pub fn percent(&self) -> Option<u64> {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        (total > 0).then(|| (u128::from(done.min(total)) * 100 / u128::from(total)) as u64)
    }
}

// Runs `work` with this progress, and restores the one before, also after a panic.
fn with_current<T>(progress: Option<Arc<Progress>>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Arc<Progress>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(progress));
    work()
}

/// A counter of the units of a piece of work. It reports them in steps, and the rest when it is dropped. The default one reports
/// nothing.
#[derive(Debug)]
pub struct ProgressCounter {
    progress: Option<Arc<Progress>>,
    units: u64,
    done: u64,
    reported: u64,
    // The next number of units to report; never reached without a progress.
    next: u64,
}

impl ProgressCounter {
    /// Counts one more unit.
    #[inline]
    pub fn tick(&mut self) {
        self.reach(self.done + 1);
    }

    /// Sets the number of units that are done.
    #[inline]
    pub fn reach(&mut self, done: u64) {
        self.done = done;
        if done >= self.next {
            self.report();
        }
    }

    /// Adds units to the work.
    pub fn expect(&mut self, units: u64) {
        if let Some(progress) = &self.progress {
            progress.total.fetch_add(units, Ordering::Relaxed);
            self.units += units;
        }
    }

    #[cold]
    fn report(&mut self) {
        if let Some(progress) = &self.progress {
            let done = self.done.min(self.units);
            progress.done.fetch_add(done.saturating_sub(self.reported), Ordering::Relaxed);
            self.reported = self.reported.max(done);
            self.next = self.done + (self.units / 256).clamp(1, 1 << 16);
        }
    }
}

impl Default for ProgressCounter {
    fn default() -> Self {
        Self { progress: None, units: 0, done: 0, reported: 0, next: u64::MAX }
    }
}

impl Drop for ProgressCounter {
    fn drop(&mut self) {
        self.done = self.units;
        self.report();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_reported_without_a_progress() {
        let mut counter = Progress::counter(10);
        counter.tick();
        drop(counter);
        assert!(Progress::current().is_none());
    }

    #[test]
    fn the_rest_is_done_when_a_counter_is_dropped() {
        let progress = Progress::new();
        progress.observe(|| {
            Progress::expect(1000);
            let mut first = Progress::expected_counter(500);
            assert_eq!(progress.percent(), Some(0));
            first.reach(250);
            assert_eq!(progress.percent(), Some(25));
            drop(first);
            assert_eq!(progress.percent(), Some(50));
            let mut second = Progress::expected_counter(500);
            second.expect(1000);
            assert_eq!(progress.percent(), Some(25));
            // More than expected counts as all.
            second.reach(9000);
            assert_eq!(progress.percent(), Some(100));
        });
    }

    #[test]
    fn a_phase_starts_from_nothing() {
        let progress = Progress::new();
        progress.observe(|| drop(Progress::counter(3)));
        assert_eq!(progress.percent(), Some(100));
        progress.observe(|| Progress::enter_phase("simplify"));
        assert_eq!((progress.phase().as_str(), progress.percent()), ("simplify", None));
    }

    #[test]
    fn inner_work_can_be_unobserved_and_panics_restore() {
        let progress = Progress::new();
        progress.observe(|| {
            Progress::unobserved(|| assert!(Progress::current().is_none()));
            let panicked =
                std::panic::catch_unwind(|| Progress::unobserved(|| panic!("on purpose")));
            assert!(panicked.is_err() && Progress::current().is_some());
        });
        assert!(Progress::current().is_none());
    }
}
