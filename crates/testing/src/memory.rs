//! Measurement of peak memory and of the number of allocations.
//!
//! A test target installs the counting allocator and measures:
//!
//! ```
//! use sapwood_testing::memory::{Counting, peak_during};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//!
//! let (length, peak) = peak_during(|| vec![0_u8; 1 << 20].len());
//! assert_eq!(length, 1 << 20);
//! assert!(peak >= 1 << 20);
//! ```
//!
//! Counts are of the whole process: keep such tests in a target of their own, or in one test.
#![allow(unsafe_code)] // an allocator cannot be written without

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator with counters.
pub struct Counting;

fn grown(bytes: usize) {
    CALLS.fetch_add(1, Relaxed);
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that `System` asks for.
        let pointer = unsafe { System.alloc(layout) };
        if !pointer.is_null() {
            grown(layout.size());
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; the pointer came from `System`.
        unsafe { System.dealloc(pointer, layout) };
        LIVE.fetch_sub(layout.size(), Relaxed);
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as above; the pointer came from `System`.
        let moved = unsafe { System.realloc(pointer, layout, new_size) };
        if !moved.is_null() {
            grown(new_size);
            LIVE.fetch_sub(layout.size(), Relaxed);
        }
        moved
    }
}

/// Runs `work`. Returns its result and the largest number of live bytes while it ran, beyond those before.
///
/// Always 0 where [`Counting`] is not the global allocator.
pub fn peak_during<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = work();
    (result, PEAK.load(Relaxed).saturating_sub(before))
}

/// Runs `work`. Returns its result and the number of allocations and reallocations.
///
/// Always 0 where [`Counting`] is not the global allocator.
pub fn allocations_during<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = CALLS.load(Relaxed);
    let result = work();
    (result, CALLS.load(Relaxed) - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_live_memory_and_its_peak() {
        let small = Layout::array::<u64>(8).unwrap();
        let large = Layout::array::<u64>(64).unwrap();
        let ((), peak) = peak_during(|| {
            // SAFETY: the layouts are not empty, each pointer is checked, stays inside its block,
            // and is freed once with the layout it has then.
            unsafe {
                let block = Counting.alloc(small);
                assert!(!block.is_null());
                block.cast::<u64>().write(42);
                let block = Counting.realloc(block, small, large.size());
                assert!(!block.is_null());
                assert_eq!(block.cast::<u64>().read(), 42);
                Counting.dealloc(block, large);
            }
        });
        // Both blocks may be live while one is moved to the other.
        assert_eq!(peak, small.size() + large.size());
        assert_eq!(LIVE.load(Relaxed), 0);
    }
}
