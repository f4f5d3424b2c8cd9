//! Work in pieces, on several threads if there is enough of it.

use rayon::prelude::*;

/// Pieces of this many elements: small enough for the second cache, large enough to be worth handing out.
pub(super) const PIECE: usize = 1 << 14;

/// Runs `work` on pieces of `out` of `len` elements (the last may be shorter), with the position of their first.
pub(super) fn pieces<T: Send>(
    threads: usize,
    out: &mut [T],
    len: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    let len = len.max(1);
    if threads < 2 || out.len() <= 2 * PIECE {
        for (number, piece) in out.chunks_mut(len).enumerate() {
            work(number * len, piece);
        }
    } else {
        out.par_chunks_mut(len).enumerate().for_each(|(number, piece)| work(number * len, piece));
    }
}

/// A length of pieces that are whole rows of `row` elements and not much shorter than [`PIECE`].
pub(super) fn whole_rows(row: usize) -> usize {
    row.max(1) * (PIECE / row.max(1)).max(1)
}
