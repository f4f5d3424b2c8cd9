//! Slots through which Python objects reach a borrowed context while one call runs.
//!
//! Python may keep a callback object for as long as it likes, but the context of a comparison or of a rewrite lives only as long as
//! one call. Rust cannot know when Python drops an object. So `scope` stores a pointer to the context when the call begins
//! and clears it when the call ends. This is sound for these reasons:
//!
//! * `scope` holds the only borrow of the context while `body` runs and returns before that borrow ends. Its guard clears the
//!   slot even if `body` panics.
//! * `with` runs on the thread that called `scope`, so it runs inside `body` and has ended when `scope` continues. While it runs,
//!   the slot is empty: a nested `with` finds no context.

#![allow(unsafe_code, reason = "see the module documentation")]

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use sapwood::ptir::Function;
use sapwood::rewrite::Rewrite;
use sapwood_structural::{EqualCx, HashCx};

thread_local! {
    static THREAD_MARKER: u8 = const { 0 };
}

/// Returns a number that identifies the current thread: the address of a thread-local variable. A thread inside `scope` is alive,
/// so no other thread has its number.
fn thread_number() -> usize {
    THREAD_MARKER.with(|marker| std::ptr::from_ref(marker).addr())
}

macro_rules! scoped_borrow {
    ($(#[$doc:meta])* $name:ident, $context:ident) => {
        $(#[$doc])*
        pub(crate) struct $name {
            pointer: AtomicPtr<$context<'static>>,
            owner: AtomicUsize,
        }

        impl $name {
            /// Returns an empty slot.
            pub(crate) fn new() -> Self {
                Self { pointer: AtomicPtr::new(null_mut()), owner: AtomicUsize::new(0) }
            }

            /// Makes `context` available to [`Self::with`] while `body` runs.
            pub(crate) fn scope<R>(&self, context: &mut $context<'_>, body: impl FnOnce() -> R) -> R {
                struct ClearOnDrop<'a>(&'a $name);
                impl Drop for ClearOnDrop<'_> {
                    fn drop(&mut self) {
                        self.0.pointer.store(null_mut(), Ordering::Release);
                    }
                }
                let pointer = std::ptr::from_mut(context).cast::<$context<'static>>();
                self.owner.store(thread_number(), Ordering::Relaxed);
                self.pointer.store(pointer, Ordering::Release);
                let _clear = ClearOnDrop(self);
                body()
            }

            /// Calls `f` with the context; returns `None` outside of `scope` and on other threads.
            pub(crate) fn with<R>(&self, f: impl FnOnce(&mut $context<'_>) -> R) -> Option<R> {
                if self.owner.load(Ordering::Relaxed) != thread_number() {
                    return None;
                }
                let pointer = self.pointer.load(Ordering::Acquire);
                if pointer.is_null() {
                    return None;
                }
                // Only the thread that called `scope` writes here, and that is the current thread.
                self.pointer.store(null_mut(), Ordering::Release);
                // SAFETY: on the thread of `scope`, a pointer in the slot means that `scope` has not ended. The slot is empty
                // while `f` runs, so no other caller uses the pointer. The lifetime inside the context is extended only for
                // `f`, which must accept any lifetime.
                let result = f(unsafe { &mut *pointer });
                self.pointer.store(pointer, Ordering::Release);
                Some(result)
            }
        }
    };
}

/// A function that a condition of a rule reads.
pub(crate) struct FunctionView<'a>(pub(crate) &'a Function);

scoped_borrow!(
    /// The context of an equality hook, available while the hook runs.
    ScopedEqualCx,
    EqualCx
);
scoped_borrow!(
    /// The context of a hash hook, available while the hook runs.
    ScopedHashCx,
    HashCx
);
scoped_borrow!(
    /// The rewrite that a pattern attempts, available while the pattern's function runs.
    ScopedRewrite,
    Rewrite
);
scoped_borrow!(
    /// The function that a condition of a rule reads, available while the condition runs.
    ScopedFunction,
    FunctionView
);
