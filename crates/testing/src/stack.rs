//! Runs on a small stack.

use std::panic::resume_unwind;
use std::thread::Builder;

/// Two mebibytes: the stack of a new thread in Rust, and a quarter of that of most main threads.
pub const SMALL_STACK: usize = 2 << 20;

/// Runs `work` on a thread with a stack of [`SMALL_STACK`] bytes and returns its result; a panic is propagated.
///
/// ```
/// assert_eq!(sapwood_testing::on_small_stack(|| 6 * 7), 42);
/// ```
///
/// # Panics
/// If `work` panics, with the same payload, or if there can be no new thread.
pub fn on_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let name = std::thread::current().name().unwrap_or("small stack").to_owned();
        let thread = Builder::new().name(name).stack_size(SMALL_STACK).spawn_scoped(scope, work);
        thread.expect("a new thread").join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borrows_and_returns() {
        let text = String::from("borrowed");
        assert_eq!(on_small_stack(|| text.len()), 8);
    }

    #[test]
    #[should_panic(expected = "from within")]
    fn a_panic_comes_through() {
        on_small_stack(|| panic!("from within"));
    }
}
