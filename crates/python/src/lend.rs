//! Lending a hook's context to Python for the time of a call.
//!
//! A callback is a Python object, and Python may keep it for ever; the context of a comparison lives as long as the call
//! of the hook. Rust cannot know when Python drops an object, so the pointer is put in when the hook begins and taken
//! out when it ends. What this relies on:
//!
//! * `lend` holds the only borrow of the context while `during` runs, and ends before the borrow does; its guard empties the
//!   slot also when `during` panics.
//! * `with` runs on the thread that lends, so it runs inside `during` and has ended when `lend` goes on. While it runs
//!   the slot is empty: a second `with` inside the first finds nothing.

#![allow(unsafe_code, reason = "see the module documentation")]

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use sapwood::rewrite::Rewrite;
use sapwood_structural::{EqualCx, HashCx};

thread_local! {
    static HERE: u8 = const { 0 };
}

/// Which thread this is: where something of its own stands. A thread that lends lives, so no other has the same.
fn here() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

macro_rules! lent {
    ($(#[$doc:meta])* $name:ident, $context:ident) => {
        $(#[$doc])*
        pub(crate) struct $name {
            pointer: AtomicPtr<$context<'static>>,
            owner: AtomicUsize,
        }

        impl $name {
            /// Nothing is lent yet.
            pub(crate) fn new() -> Self {
                Self { pointer: AtomicPtr::new(null_mut()), owner: AtomicUsize::new(0) }
            }

            /// Lends `context` while `during` runs.
            pub(crate) fn lend<R>(&self, context: &mut $context<'_>, during: impl FnOnce() -> R) -> R {
                struct Taken<'a>(&'a $name);
                impl Drop for Taken<'_> {
                    fn drop(&mut self) {
                        self.0.pointer.store(null_mut(), Ordering::Release);
                    }
                }
                let pointer = std::ptr::from_mut(context).cast::<$context<'static>>();
                self.owner.store(here(), Ordering::Relaxed);
                self.pointer.store(pointer, Ordering::Release);
                let _taken = Taken(self);
                during()
            }

            /// Uses what is lent; nothing if nothing is, or in another thread.
            pub(crate) fn with<R>(&self, f: impl FnOnce(&mut $context<'_>) -> R) -> Option<R> {
                if self.owner.load(Ordering::Relaxed) != here() {
                    return None;
                }
                let pointer = self.pointer.load(Ordering::Acquire);
                if pointer.is_null() {
                    return None;
                }
                // Only the thread that lends writes here, and it is this one.
                self.pointer.store(null_mut(), Ordering::Release);
                // SAFETY: on the thread of `lend`, a pointer in the slot means that `lend` has not
                // ended, and the empty slot that nobody else uses it. The lifetimes inside are longer
                // than said only for `f`, which must take any.
                let result = f(unsafe { &mut *pointer });
                self.pointer.store(pointer, Ordering::Release);
                Some(result)
            }
        }
    };
}

lent!(
    /// The context of an equality hook, while the hook runs.
    LentEqual,
    EqualCx
);
lent!(
    /// The context of a hash hook, while the hook runs.
    LentHash,
    HashCx
);
lent!(
    /// A pattern that is tried, while its function runs.
    LentRewrite,
    Rewrite
);
