//! Panics of functions that a user gave, as messages.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a function of a user. If it panics, returns the message of the panic.
///
/// The caller must not use anything that the function may have left half changed.
///
/// # Errors
/// If the function panics.
///
/// ```
/// # std::panic::set_hook(Box::new(|_| {}));
/// assert_eq!(sapwood_types::catch_panic(|| 1), Ok(1));
/// let failed = sapwood_types::catch_panic(|| panic!("no row {}", 3));
/// assert_eq!(failed, Err::<(), _>("no row 3".to_owned()));
/// ```
pub fn catch_panic<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| panic_message(&*panic))
}

/// Returns the message of a panic.
#[must_use]
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
