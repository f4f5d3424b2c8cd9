//! Signal handling: a process that a signal ends removes its half-written files first.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The state that the signal handlers and the writers of files share.
#[derive(Default)]
struct SignalState {
    /// True while no file is half written, so that a signal may end the process at once.
    idle: Arc<AtomicBool>,
    /// The number of the signal that arrived while a file was half written, or 0.
    caught: Arc<AtomicUsize>,
    /// The number of half-written files.
    open_writes: Mutex<usize>,
}

static SIGNALS: LazyLock<SignalState> = LazyLock::new(|| {
    let signals = SignalState::default();
    signals.idle.store(true, Ordering::SeqCst);
    signals
});

/// Installs the handlers. From then on an interrupted process leaves no half-written file, and exceeding the file size
/// limit is an error of writing instead of a deadly signal.
#[cfg(unix)]
pub(crate) fn install_handlers() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag;
    // If a handler cannot be installed, the default action of the signal remains.
    let _ = flag::register(SIGXFSZ, Arc::default());
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        let number = usize::try_from(signal).unwrap_or(0);
        if flag::register_usize(signal, SIGNALS.caught.clone(), number).is_ok() {
            let _ = flag::register_conditional_default(signal, SIGNALS.idle.clone());
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn install_handlers() {}

// Returns true if the process was started with this signal ignored, as `nohup` does. Without /proc, only SIGHUP is taken
// to be ignored: the other signals are sent by people on purpose.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        None => signal == signal_hook::consts::SIGHUP,
    }
}

/// Runs `write` and delays signals until it returns. `write` calls [`check_interrupted`] regularly, and leaves nothing
/// behind if it fails.
pub(crate) fn while_writing<T>(write: impl FnOnce() -> T) -> T {
    SIGNALS.begin_write();
    let written = write();
    SIGNALS.end_write();
    written
}

/// Returns an error if a signal has arrived, so that writing stops.
pub(crate) fn check_interrupted() -> io::Result<()> {
    match SIGNALS.caught.load(Ordering::SeqCst) {
        0 => Ok(()),
        _ => Err(io::ErrorKind::Interrupted.into()),
    }
}

impl SignalState {
    fn lock_open_writes(&self) -> MutexGuard<'_, usize> {
        self.open_writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_write(&self) {
        loop {
            let mut open = self.lock_open_writes();
            if self.caught.load(Ordering::SeqCst) == 0 {
                *open += 1;
                self.idle.store(false, Ordering::SeqCst);
                return;
            }
            // The process ends as soon as the other writers are done.
            self.end_process_if_idle(*open);
            drop(open);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn end_write(&self) {
        let mut open = self.lock_open_writes();
        *open -= 1;
        if *open == 0 {
            self.idle.store(true, Ordering::SeqCst);
        }
        self.end_process_if_idle(*open);
    }

    // Ends the process as the caught signal would have done, if no other write is open.
    #[cfg(unix)]
    fn end_process_if_idle(&self, open: usize) {
        let caught = self.caught.load(Ordering::SeqCst);
        if open == 0
            && let Ok(signal @ 1..) = i32::try_from(caught)
        {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }

    #[cfg(not(unix))]
    fn end_process_if_idle(&self, _: usize) {}
}
