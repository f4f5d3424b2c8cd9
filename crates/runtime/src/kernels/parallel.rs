//! Chunked loops, which run on several threads if there is enough work.

use std::sync::{Mutex, OnceLock};

use rayon::prelude::*;

/// The number of elements in a chunk: small enough for the L2 cache, large enough to be worth sending to a thread.
pub(crate) const CHUNK_ELEMENTS: usize = 1 << 14;

/// The least number of operations that are divided among threads: waking a thread takes as long as some ten thousand of them.
const MIN_SHARED_OPERATIONS: usize = 1 << 17;

/// Returns the number of usable threads, at most `threads`. A forked process has only one, because the pool's threads stay with its parent.
pub(crate) fn usable_threads(threads: usize) -> usize {
    static OWNER: OnceLock<u32> = OnceLock::new();
    let here = std::process::id();
    if threads < 2 || *OWNER.get_or_init(|| here) != here {
        return 1;
    }
    threads.min(rayon::current_num_threads())
}

/// The loop over one chunk, given the index of its first element.
type ChunkLoop<'a, T> = &'a (dyn Fn(usize, &mut [T]) + Sync);

/// Runs `work` on chunks of `out` of `len` elements (the last may be shorter), with the index of their first element.
pub(crate) fn for_each_chunk<T: Send>(
    threads: usize,
    out: &mut [T],
    len: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    share_chunks(threads, out.len(), out, len, &work);
}

/// Runs `work` on chunks like [`for_each_chunk`], for `operations` operations in total instead of one per element.
pub(crate) fn for_each_chunk_of_work<T: Send>(
    threads: usize,
    operations: usize,
    out: &mut [T],
    len: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    share_chunks(threads, operations, out, len, &work);
}

// Compiled once per element type instead of once per loop, of which there are hundreds: a chunk costs much more than a call.
fn share_chunks<T: Send>(
    threads: usize,
    operations: usize,
    out: &mut [T],
    len: usize,
    work: ChunkLoop<'_, T>,
) {
    let len = len.max(1);
    let threads = if operations < MIN_SHARED_OPERATIONS { 1 } else { usable_threads(threads) };
    if threads < 2 {
        return one_by_one(0, out, len, work);
    }
    // If the pool has more threads than the limit allows, each allowed thread gets one share.
    let share = match threads >= rayon::current_num_threads() {
        true => len,
        false => out.len().div_ceil(len).div_ceil(threads).max(1) * len,
    };
    let shares: Vec<_> = out.chunks_mut(share).map(|all| Mutex::new(Some(all))).collect();
    run_on_pool(shares.len(), &|number| {
        let taken = shares[number].lock().ok().and_then(|mut all| all.take());
        if let Some(all) = taken {
            one_by_one(number * share, all, len, work);
        }
    });
}

fn one_by_one<T>(start: usize, share: &mut [T], len: usize, work: ChunkLoop<'_, T>) {
    for (number, chunk) in share.chunks_mut(len).enumerate() {
        work(start + number * len, chunk);
    }
}

// The only use of the pool's machinery, which is compiled anew for each closure.
fn run_on_pool(count: usize, run: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(run);
}

/// Returns the length of chunks that consist of whole rows of `row` elements and are not much shorter than [`CHUNK_ELEMENTS`].
pub(crate) fn whole_row_chunk(row: usize) -> usize {
    row.max(1) * (CHUNK_ELEMENTS / row.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    // Writes its index to every element, and returns the number of threads that did so.
    fn positions(threads: usize, len: usize, chunk: usize) -> usize {
        let seen = Mutex::new(BTreeSet::new());
        let mut out = vec![usize::MAX; len];
        for_each_chunk_of_work(threads, usize::MAX, &mut out, chunk, |at, chunk| {
            if let (Some(thread), Ok(mut seen)) = (rayon::current_thread_index(), seen.lock()) {
                seen.insert(thread);
            }
            chunk.iter_mut().enumerate().for_each(|(i, x)| *x = at + i);
        });
        assert!(out.iter().enumerate().all(|(i, &x)| i == x), "{threads}, {len}, {chunk}");
        seen.into_inner().map_or(0, |seen| seen.len())
    }

    #[test]
    fn shares_cover_everything_on_no_more_threads_than_allowed() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(6).build().unwrap();
        for threads in [1, 2, 3, 5, 6, 7] {
            for (len, chunk) in [(0, 3), (1, 1), (100, 7), (1000, 1), (1001, 2000), (12, 0)] {
                let used = pool.install(|| positions(threads, len, chunk));
                assert!(used <= threads.min(6), "{used} threads, {threads} are allowed");
            }
        }
    }
}
