//! A cache in front of the interners, one per thread: most look-ups find an entry that was used just before, and need no lock.

use std::cell::Cell;

// A program has few different extents at a time. Two caches of this size take 4 KiB per thread.
const MAX_RECENT_ENTRIES: usize = 256;

/// A cache of interned entries, one for each remainder of a hash.
pub(super) struct RecentEntries<T: 'static> {
    entries: [Cell<Option<&'static T>>; MAX_RECENT_ENTRIES],
}

impl<T: 'static> RecentEntries<T> {
    pub(super) const fn new() -> Self {
        Self { entries: [const { Cell::new(None) }; MAX_RECENT_ENTRIES] }
    }

    /// Returns the entry with a hash, from the cache or else from the interner.
    pub(super) fn find(
        &self,
        hash: u64,
        is_same: impl Fn(&T) -> bool,
        lookup: impl FnOnce() -> Option<&'static T>,
    ) -> Option<&'static T> {
        let entry = &self.entries[hash as usize % MAX_RECENT_ENTRIES];
        match entry.get() {
            Some(found) if is_same(found) => Some(found),
            _ => {
                let found = lookup()?;
                entry.set(Some(found));
                Some(found)
            }
        }
    }
}
