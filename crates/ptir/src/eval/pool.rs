//! Memory that runs of a prepared function use again, so that large tensors cause no page faults after the first run.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::native::Native;

/// The smallest vector that is kept, in bytes. The allocator serves smaller ones from memory that it keeps itself.
const MIN_POOLED_BYTES: usize = 32 << 10;
/// The most vectors that are kept, because they are searched one by one.
const MAX_POOLED_VECTORS: usize = 64;

/// Vectors of released tensors.
#[derive(Default, Debug)]
pub(crate) struct BufferPool {
    spare: Mutex<Spare>,
    // The most bytes that one run used at a time. The pool keeps no more.
    peak: AtomicU64,
}

#[derive(Default, Debug)]
struct Spare {
    vectors: Vec<SpareVector>,
    bytes: u64,
}

#[derive(Debug)]
struct SpareVector {
    bytes: usize,
    data: Box<dyn Any + Send>,
}

impl BufferPool {
    /// Records the bytes that a run uses.
    pub(crate) fn record_use(&self, bytes: u64) {
        if bytes > self.peak() {
            self.peak.fetch_max(bytes, Ordering::Relaxed);
        }
    }

    /// Returns whether vectors of this length are kept.
    pub(crate) fn keeps<T>(len: usize) -> bool {
        len.saturating_mul(size_of::<T>()) >= MIN_POOLED_BYTES
    }

    /// Returns the most bytes that one run used at a time.
    pub(crate) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// Returns the bytes that are kept.
    pub(crate) fn spare_bytes(&self) -> u64 {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    /// Releases all vectors.
    pub(crate) fn clear(&self) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        *spare = Spare::default();
    }

    /// Returns a vector with capacity for `len` elements, with the elements that it had. It is at most twice as large.
    pub(crate) fn take<T: Native>(&self, len: usize) -> Option<Vec<T>> {
        let needed = len.checked_mul(size_of::<T>())?;
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |v: &SpareVector| {
            v.bytes >= needed && v.bytes / 2 <= needed && v.data.downcast_ref::<Vec<T>>().is_some()
        };
        let (at, _) = spare
            .vectors
            .iter()
            .enumerate()
            .filter(|(_, v)| fits(v))
            .min_by_key(|(_, v)| v.bytes)?;
        let vector = spare.vectors.swap_remove(at);
        spare.bytes -= vector.bytes as u64;
        vector.data.downcast::<Vec<T>>().ok().map(|data| *data)
    }

    /// Keeps a vector.
    pub(crate) fn put<T: Native>(&self, data: Vec<T>) {
        let bytes = data.capacity() * size_of::<T>();
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.bytes + bytes as u64 > self.peak() || spare.vectors.len() >= MAX_POOLED_VECTORS {
            return;
        }
        spare.bytes += bytes as u64;
        spare.vectors.push(SpareVector { bytes, data: Box::new(data) });
    }
}
