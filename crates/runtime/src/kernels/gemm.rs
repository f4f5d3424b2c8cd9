//! Matrix products with the crate `gemm`. This is the only file of this crate with unsafe code.
#![allow(
    clippy::needless_range_loop,
    reason = "the steps of joined iterators are not always inlined"
)]
#![allow(unsafe_code)]

use std::ops::{AddAssign, Mul};

use gemm_common::Parallelism;

use super::parallel;
use super::vectors::vectorized;

/// A float type that matrix products are compiled for.
///
/// The crates of the two types are used directly: `gemm`, which chooses among them at run time, compiles complex products as well.
pub(crate) trait GemmElement:
    Copy + Send + Sync + Default + AddAssign + Mul<Output = Self>
{
    const ONE: Self;

    /// Returns the product for the instruction set of this machine.
    fn gemm_function() -> GemmFunction<Self>;
}

/// `dst = alpha dst + beta lhs rhs`: sizes m, n and k; `dst` and whether it is read, `lhs` and `rhs`, each with its column and row stride;
/// alpha, beta; which of the three are conjugated; the threads.
type GemmFunction<T> = unsafe fn(
    usize,
    usize,
    usize,
    *mut T,
    isize,
    isize,
    bool,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    T,
    bool,
    bool,
    bool,
    Parallelism,
);

impl GemmElement for f32 {
    const ONE: f32 = 1.0;

    fn gemm_function() -> GemmFunction<f32> {
        gemm_f32::gemm::f32::get_gemm_fn()
    }
}

impl GemmElement for f64 {
    const ONE: f64 = 1.0;

    fn gemm_function() -> GemmFunction<f64> {
        gemm_f64::gemm::f64::get_gemm_fn()
    }
}

/// A matrix in a slice: its element at row `i` and column `j` is at index `i * row + j * column`.
#[derive(Clone, Copy)]
pub(crate) struct MatrixStrides {
    pub(crate) row: usize,
    pub(crate) column: usize,
}

impl MatrixStrides {
    // Returns the largest index that a matrix of this size reads; `None` on overflow.
    fn last_offset(self, rows: usize, columns: usize) -> Option<usize> {
        let (i, j) = (rows.checked_sub(1)?, columns.checked_sub(1)?);
        i.checked_mul(self.row)?.checked_add(j.checked_mul(self.column)?)
    }

    fn transposed(self) -> MatrixStrides {
        MatrixStrides { row: self.column, column: self.row }
    }

    fn fits(self, rows: usize, columns: usize, len: usize) -> bool {
        rows == 0
            || columns == 0
            || self
                .last_offset(rows, columns)
                .is_some_and(|last| last < len && last < isize::MAX as usize)
    }
}

/// The most multiplications of a product that is computed without packing its operands; larger ones are faster with packing.
const MAX_DIRECT_PRODUCTS: usize = 1 << 11;

// Computes a small product whose right matrix has contiguous rows.
fn multiply_directly<T: GemmElement>(
    [m, k, n]: [usize; 3],
    (a, at): (&[T], MatrixStrides),
    (b, row): (&[T], usize),
    out: &mut [T],
) {
    vectorized(
        #[inline(always)]
        || {
            for (i, result) in out.chunks_exact_mut(n).enumerate().take(m) {
                result.fill(T::default());
                for j in 0..k {
                    let x = a[i * at.row + j * at.column];
                    let (from, result) = (&b[j * row..][..n], &mut result[..n]);
                    for c in 0..n {
                        result[c] += x * from[c];
                    }
                }
            }
        },
    );
}

/// The least number of multiplications that are divided among threads: about 0.1 ms of work.
const MIN_SHARED_PRODUCTS: usize = 1 << 21;

/// Computes `out = a b`, row-major, for `a` with m rows and k columns and `b` with k rows and n columns.
///
/// # Panics
/// If a matrix is not within its slice.
pub(crate) fn multiply_matrices<T: GemmElement>(
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
    if m * n * k <= MAX_DIRECT_PRODUCTS && bt.column == 1 {
        multiply_directly([m, k, n], (a, at), (b, bt.row), out);
        return;
    }
    // Small products run on one thread, because distributing them costs more than it saves.
    let threads =
        if m * n * k < MIN_SHARED_PRODUCTS { 1 } else { parallel::usable_threads(threads) };
    let parallelism = if threads < 2 { Parallelism::None } else { Parallelism::Rayon(threads) };
    // The kernels prefer a result whose columns are contiguous. A row-major result is that of the transposed product: (a b)ᵀ = bᵀ aᵀ.
    let transposed = n > 1;
    let (rows, columns, out_strides) = if transposed {
        (n, m, MatrixStrides { row: 1, column: n })
    } else {
        (m, n, MatrixStrides { row: n, column: 1 })
    };
    let ((lhs, lt), (rhs, rt)) =
        if transposed { ((b, bt.transposed()), (a, at.transposed())) } else { ((a, at), (b, bt)) };
    // SAFETY: all positions `i * row + j * column` that `gemm` reads of `a` (i < m, j < k) and `b` (i < k, j < n) lie within their
    // slices, and those it writes of `out` (i < m, j < n, row-major) are exactly its elements: asserted above; transposing both
    // operands and the result reads and writes the same positions. `out` is borrowed exclusively, so it overlaps neither.
    // `read_dst` is false, so only `a` and `b` are read.
    unsafe {
        T::gemm_function()(
            rows,
            columns,
            k,
            out.as_mut_ptr(),
            out_strides.column as isize,
            out_strides.row as isize,
            false,
            lhs.as_ptr(),
            lt.column as isize,
            lt.row as isize,
            rhs.as_ptr(),
            rt.column as isize,
            rt.row as isize,
            T::default(),
            T::ONE,
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
        for [m, k, n] in
            [[1, 1, 1], [2, 3, 4], [5, 1, 7], [3, 0, 2], [0, 2, 3], [17, 33, 9], [3, 5, 70]]
        {
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
