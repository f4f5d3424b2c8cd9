//! Work in pieces, on several threads if there is enough of it.

use std::sync::OnceLock;

use rayon::prelude::*;

/// Pieces of this many elements: small enough for the second cache, large enough to be worth handing out.
pub(super) const PIECE: usize = 1 << 14;

/// How many of `threads` there are. A process that was forked has none but its own: the pool's stayed with its parent.
pub(super) fn usable(threads: usize) -> usize {
    static OWNER: OnceLock<u32> = OnceLock::new();
    let here = std::process::id();
    if threads < 2 || *OWNER.get_or_init(|| here) != here {
        return 1;
    }
    threads.min(rayon::current_num_threads())
}

/// Runs `work` on pieces of `out` of `len` elements (the last may be shorter), with the position of their first.
pub(super) fn pieces<T: Send>(
    threads: usize,
    out: &mut [T],
    len: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    let operations = out.len();
    pieces_of_work(threads, operations, out, len, work);
}

/// As [`pieces`], where the work is more than the elements of `out`: so many operations in all.
pub(super) fn pieces_of_work<T: Send>(
    threads: usize,
    operations: usize,
    out: &mut [T],
    len: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    let len = len.max(1);
    let one_by_one = |start: usize, share: &mut [T]| {
        for (number, piece) in share.chunks_mut(len).enumerate() {
            work(start + number * len, piece);
        }
    };
    let threads = if operations <= 2 * PIECE { 1 } else { usable(threads) };
    if threads < 2 {
        one_by_one(0, out);
    } else if threads >= rayon::current_num_threads() {
        out.par_chunks_mut(len).enumerate().for_each(|(number, piece)| work(number * len, piece));
    } else {
        // The pool has more threads than may be used: one share for each of ours.
        let share = out.len().div_ceil(len).div_ceil(threads).max(1) * len;
        let shares = out.par_chunks_mut(share).enumerate();
        shares.for_each(|(number, all)| one_by_one(number * share, all));
    }
}

/// A length of pieces that are whole rows of `row` elements and not much shorter than [`PIECE`].
pub(super) fn whole_rows(row: usize) -> usize {
    row.max(1) * (PIECE / row.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use super::*;

    // Every element is its position, and the threads that wrote them.
    fn positions(threads: usize, len: usize, piece: usize) -> usize {
        let seen = Mutex::new(BTreeSet::new());
        let mut out = vec![usize::MAX; len];
        pieces_of_work(threads, usize::MAX, &mut out, piece, |at, piece| {
            if let (Some(thread), Ok(mut seen)) = (rayon::current_thread_index(), seen.lock()) {
                seen.insert(thread);
            }
            piece.iter_mut().enumerate().for_each(|(i, x)| *x = at + i);
        });
        assert!(out.iter().enumerate().all(|(i, &x)| i == x), "{threads}, {len}, {piece}");
        seen.into_inner().map_or(0, |seen| seen.len())
    }

    #[test]
    fn shares_cover_everything_on_no_more_threads_than_allowed() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(6).build().unwrap();
        for threads in [1, 2, 3, 5, 6, 7] {
            for (len, piece) in [(0, 3), (1, 1), (100, 7), (1000, 1), (1001, 2000), (12, 0)] {
                let used = pool.install(|| positions(threads, len, piece));
                assert!(used <= threads.min(6), "{used} threads, {threads} are allowed");
            }
        }
    }
}
