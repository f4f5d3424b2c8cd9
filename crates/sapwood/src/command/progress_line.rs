//! The line that shows the progress of a single file on a terminal: phase, percent, time.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use sapwood_types::Progress;

use super::console::Console;

/// The time after which the line appears. Short work shows nothing.
const DELAY: Duration = Duration::from_millis(500);
/// The time between two updates.
const INTERVAL: Duration = Duration::from_millis(200);

/// Runs `work` and shows its progress, if the console shows progress. The line is gone when this function returns.
pub(crate) fn with_progress_line<T>(console: &Console, work: impl FnOnce() -> T) -> T {
    if !console.progress {
        return work();
    }
    let progress = Progress::new();
    let shown = progress.clone();
    let phase = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
        let percent = shown.percent().map(|percent| format!(" {percent} %")).unwrap_or_default();
        // A failed write to the line is not worth an error.
        let _ = write!(out, "{}{percent}", shown.phase());
    };
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {phase} {elapsed}") {
        bar.set_style(style.with_key("phase", phase));
    }
    let (finished, waiting) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut delay = DELAY;
            while waiting.recv_timeout(delay) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
                delay = INTERVAL;
            }
            if delay == INTERVAL {
                bar.finish_and_clear();
            }
        });
        // Dropped when the work ends or panics, which ends the thread.
        let _finished = finished;
        progress.observe(work)
    })
}
