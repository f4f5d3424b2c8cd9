//! Products of matrices by `gemm`: the only file of this crate that is not safe Rust by itself.
#![allow(unsafe_code)]

use gemm::Parallelism;

use super::parallel;

/// A matrix in a slice: its element at row `i` and column `j` stands at `i * row + j * column`.
#[derive(Clone, Copy)]
pub(super) struct Strides {
    pub(super) row: usize,
    pub(super) column: usize,
}

impl Strides {
    // The largest position that a matrix of this size reads; `None` if it cannot be counted.
    fn last(self, rows: usize, columns: usize) -> Option<usize> {
        let (i, j) = (rows.checked_sub(1)?, columns.checked_sub(1)?);
        i.checked_mul(self.row)?.checked_add(j.checked_mul(self.column)?)
    }

    fn fits(self, rows: usize, columns: usize, len: usize) -> bool {
        rows == 0
            || columns == 0
            || self.last(rows, columns).is_some_and(|last| last < len && last < isize::MAX as usize)
    }
}

/// `out = a b`, row-major, with `a` of m rows and k columns and `b` of k rows and n columns.
///
/// # Panics
/// If a matrix does not lie within its slice.
pub(super) fn multiply<T: Copy + Send + Sync + Default + From<u8> + 'static>(
    [m, k, n]: [usize; 3],
    (a, at): (&[T], Strides),
    (b, bt): (&[T], Strides),
    out: &mut [T],
    threads: usize,
) {
    assert!(at.fits(m, k, a.len()), "the left matrix does not lie within its elements");
    assert!(bt.fits(k, n, b.len()), "the right matrix does not lie within its elements");
    assert_eq!(m.checked_mul(n), Some(out.len()), "the product has another size");
    if out.is_empty() {
        return;
    }
    if k == 0 {
        out.fill(T::default());
        return;
    }
    // Work for more threads than there are only costs.
    let threads = if m * n * k < 1 << 18 { 1 } else { parallel::usable(threads) };
    let parallelism = if threads < 2 { Parallelism::None } else { Parallelism::Rayon(threads) };
    // SAFETY: all positions `i * row + j * column` that `gemm` reads of `a` (i < m, j < k) and `b` (i < k, j < n) lie within their
    // slices, and those it writes of `out` (i < m, j < n, row-major) are exactly its elements: asserted above. `out` is
    // borrowed exclusively, so it overlaps neither. `read_dst` is false, so nothing but `a` and `b` is read.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            n as isize,
            false,
            a.as_ptr(),
            at.column as isize,
            at.row as isize,
            b.as_ptr(),
            bt.column as isize,
            bt.row as isize,
            T::from(0),
            T::from(1),
            false,
            false,
            false,
            parallelism,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_products_are_those_of_the_definition() {
        for [m, k, n] in [[1, 1, 1], [2, 3, 4], [5, 1, 7], [3, 0, 2], [0, 2, 3], [17, 33, 9]] {
            let a: Vec<f64> = (0..m * k).map(|i| i as f64 - 3.0).collect();
            let b: Vec<f64> = (0..k * n).map(|i| 2.0 - i as f64).collect();
            for turned in [false, true] {
                // The left matrix by rows, or the same elements by columns.
                let at = match turned {
                    false => Strides { row: k, column: 1 },
                    true => Strides { row: 1, column: m },
                };
                let mut out = vec![1.0; m * n];
                multiply([m, k, n], (&a, at), (&b, Strides { row: n, column: 1 }), &mut out, 1);
                for i in 0..m {
                    for j in 0..n {
                        let sum: f64 =
                            (0..k).map(|l| a[i * at.row + l * at.column] * b[l * n + j]).sum();
                        assert_eq!(out[i * n + j], sum);
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "the left matrix does not lie within its elements")]
    fn a_matrix_beyond_its_slice_is_refused() {
        let strides = Strides { row: 4, column: 1 };
        multiply([2, 4, 1], (&[1f32; 7], strides), (&[1f32; 4], strides), &mut [0.0; 2], 1);
    }
}
