//! Signals while a file is half written: it is taken away first.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What signals do and have done.
#[derive(Default)]
struct Signals {
    /// Whether nothing is half written, so that the process may end at once.
    idle: Arc<AtomicBool>,
    /// The one that came meanwhile, or 0.
    caught: Arc<AtomicUsize>,
    /// How many files are half written.
    open: Mutex<usize>,
}

static SIGNALS: LazyLock<Signals> = LazyLock::new(|| {
    let signals = Signals::default();
    signals.idle.store(true, Ordering::SeqCst);
    signals
});

/// From here on an interrupted process leaves no half-written file, and a file that becomes larger than it may be is an
/// error of writing. Without it signals do what they do anyway.
#[cfg(unix)]
pub(super) fn install() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag;
    // Whoever does not let us has its reasons, and its own way to end the process.
    let _ = flag::register(SIGXFSZ, Arc::default());
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        let number = usize::try_from(signal).unwrap_or(0);
        if flag::register_usize(signal, SIGNALS.caught.clone(), number).is_ok() {
            let _ = flag::register_conditional_default(signal, SIGNALS.idle.clone());
        }
    }
}

#[cfg(not(unix))]
pub(super) fn install() {}

// Whether it was to be ignored when the process began, as `nohup` does. Where nobody says, those that people send count.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        None => signal == signal_hook::consts::SIGHUP,
    }
}

/// Writes a file that is half written meanwhile. `write` asks [`check`] now and then, and leaves nothing behind if it
/// fails.
pub(super) fn while_writing<T>(write: impl FnOnce() -> T) -> T {
    SIGNALS.begin();
    let written = write();
    SIGNALS.end();
    written
}

/// Whether to go on writing.
pub(super) fn check() -> io::Result<()> {
    match SIGNALS.caught.load(Ordering::SeqCst) {
        0 => Ok(()),
        _ => Err(io::ErrorKind::Interrupted.into()),
    }
}

impl Signals {
    fn open(&self) -> MutexGuard<'_, usize> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) {
        loop {
            let mut open = self.open();
            if self.caught.load(Ordering::SeqCst) == 0 {
                *open += 1;
                self.idle.store(false, Ordering::SeqCst);
                return;
            }
            // The process ends as soon as the others are done.
            self.end_process(*open);
            drop(open);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn end(&self) {
        let mut open = self.open();
        *open -= 1;
        if *open == 0 {
            self.idle.store(true, Ordering::SeqCst);
        }
        self.end_process(*open);
    }

    // Ends as the signal would have ended it.
    #[cfg(unix)]
    fn end_process(&self, open: usize) {
        let caught = self.caught.load(Ordering::SeqCst);
        if open == 0
            && let Ok(signal @ 1..) = i32::try_from(caught)
        {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }

    #[cfg(not(unix))]
    fn end_process(&self, _: usize) {}
}
