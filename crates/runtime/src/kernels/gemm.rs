//! Matrix products with the crate `gemm`. This is the only file of this crate with unsafe code.
#![allow(unsafe_code)]

use ::gemm::Parallelism;

use super::parallel;

/// The layout of a matrix in a slice: its element at row `i` and column `j` is at `i * row + j * column`.
#[derive(Clone, Copy)]
pub(super) struct MatrixStrides {
    pub(super) row: usize,
    pub(super) column: usize,
}

impl MatrixStrides {
    // Returns the largest index that a matrix of this size reads; `None` on overflow.
    fn last_offset(self, rows: usize, columns: usize) -> Option<usize> {
        let (i, j) = (rows.checked_sub(1)?, columns.checked_sub(1)?);
        i.checked_mul(self.row)?.checked_add(j.checked_mul(self.column)?)
    }

    fn fits(self, rows: usize, columns: usize, len: usize) -> bool {
        rows == 0
            || columns == 0
            || self
                .last_offset(rows, columns)
                .is_some_and(|last| last < len && last < isize::MAX as usize)
    }
}

/// Computes `out = a b`, row-major, for `a` with m rows and k columns and `b` with k rows and n columns.
///
/// # Panics
/// If a matrix is not within its slice.
pub(super) fn multiply_matrices<T: Copy + Send + Sync + Default + From<u8> + 'static>(
    [m, k, n]: [usize; 3],
    (a, at): (&[T], MatrixStrides),
    (b, bt): (&[T], MatrixStrides),
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
    // Small products run on one thread, because distributing them costs more than it saves.
    let threads = if m * n * k < 1 << 18 { 1 } else { parallel::usable_threads(threads) };
    let parallelism = if threads < 2 { Parallelism::None } else { Parallelism::Rayon(threads) };
    // SAFETY: all positions `i * row + j * column` that `gemm` reads of `a` (i < m, j < k) and `b` (i < k, j < n) lie within their
    // slices, and those it writes of `out` (i < m, j < n, row-major) are exactly its elements: asserted above. `out` is
    // borrowed exclusively, so it overlaps neither. `read_dst` is false, so nothing but `a` and `b` is read.
    unsafe {
        ::gemm::gemm(
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
                // The left matrix in row-major or column-major order.
                let at = match turned {
                    false => MatrixStrides { row: k, column: 1 },
                    true => MatrixStrides { row: 1, column: m },
                };
                let mut out = vec![1.0; m * n];
                multiply_matrices(
                    [m, k, n],
                    (&a, at),
                    (&b, MatrixStrides { row: n, column: 1 }),
                    &mut out,
                    1,
                );
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
        let strides = MatrixStrides { row: 4, column: 1 };
        multiply_matrices(
            [2, 4, 1],
            (&[1f32; 7], strides),
            (&[1f32; 4], strides),
            &mut [0.0; 2],
            1,
        );
    }
}
