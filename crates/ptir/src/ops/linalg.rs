//! Linear algebra and transforms.

use super::support::{Class, one, same_dtype};
use crate::attr::Axes;
use crate::eval::kernels;
use crate::op::{InferCx, InferResult, OpError, Value, meet};
use crate::types::{Dim, TensorType};
use sapwood_types::{DataType, counted};

crate::attr_enum! {
    /// How the matrix of `triangular_solve` is used.
    pub enum TransposeKind {
        /// As it is.
        None = "none",
        /// Transposed.
        Transpose = "transpose",
        /// Transposed and conjugated.
        Adjoint = "adjoint",
    }
}

crate::attr_enum! {
    /// Which Fourier transform.
    pub enum FftKind {
        /// Complex to complex, forward.
        Fft = "fft",
        /// Complex to complex, inverse, divided by the number of points.
        Ifft = "ifft",
        /// Real to complex, the non-redundant half.
        Rfft = "rfft",
        /// The inverse of `rfft`.
        Irfft = "irfft",
    }
}

crate::ops! {
    family "linalg", table linalg_ops, values LinalgValueOps, graph LinalgGraphOps;

    /// Solves `a x = b` (or `x a = b`) for `x`, where `a` is triangular; leading axes are batches. Entries of the other
    /// triangle are not read. A zero on the diagonal divides by zero as floats do. Up to 128 rows by the inverse of `a`, as
    /// XLA does; above, and for right sides which that does not solve up to rounding, by substitution, sums in order of the
    /// index. Floats narrower than f32 are computed as f32 and rounded at the end.
    op triangular_solve TriangularSolve "triangular_solve" (a: Value, b: Value) {
        /// `a x = b` if true, `x a = b` otherwise.
        left_side: bool = true,
        /// Which triangle is read.
        lower: bool = true,
        /// Whether the diagonal is taken as ones and not read.
        unit_diagonal: bool = false,
        /// How `a` is used.
        transpose: TransposeKind = TransposeKind::None,
    } -> one [] = triangular_solve, eval = kernels::linalg::triangular_solve;

    /// The triangular `l` with `l l* = a` (or `l* l`), leading axes are batches; the other triangle of `a` is not read and
    /// is zero in the result. Imaginary parts of the diagonal are not read. If `a` is not positive definite, the triangle is NaN
    /// from the first bad column on (row, if it is the upper one). Floats narrower than f32 are computed as f32.
    op cholesky Cholesky "cholesky" (a: Value) {
        /// Which triangle is read and written.
        lower: bool = true,
    } -> one [] = cholesky, eval = kernels::linalg::cholesky;

    /// A discrete Fourier transform over the last axes, one to three of them. An empty axis gives an empty result. Computed in
    /// 64 bits and rounded at the end; `irfft` does not read the imaginary parts of elements that are their own mirror image.
    op fft Fft "fft" (input: Value) {
        /// Which transform.
        kind: FftKind,
        /// Number of points per transformed axis.
        lengths: Axes,
    } -> one [] = fft, eval = kernels::fft::fft;
}

fn square(what: &str, t: &TensorType) -> Result<(), OpError> {
    Class::FLOAT_COMPLEX.check(what, t.dtype)?;
    let rank = t.rank();
    if rank < 2 {
        return Err(OpError::new(format!("{what} has rank {rank}, expected at least 2")));
    }
    meet(format_args!("the last two axes of {what}"), t.dims[rank - 2], t.dims[rank - 1])?;
    Ok(())
}

fn triangular_solve(cx: &InferCx<'_>) -> InferResult {
    let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
    square("`a`", a)?;
    same_dtype(0, a, 1, b)?;
    if a.rank() != b.rank() {
        return Err(OpError::new(format!("`a` has rank {}, `b` has rank {}", a.rank(), b.rank())));
    }
    let rank = a.rank();
    let mut dims = b.dims.clone();
    for axis in 0..rank - 2 {
        dims[axis] = meet(format_args!("batch axis {axis}"), a.dims[axis], b.dims[axis])?;
    }
    let axis = if cx.bool("left_side")? { rank - 2 } else { rank - 1 };
    dims[axis] = meet(format_args!("axis {axis}"), b.dims[axis], a.dims[rank - 1])?;
    one(TensorType { dtype: a.dtype, dims })
}

fn cholesky(cx: &InferCx<'_>) -> InferResult {
    square("`a`", cx.tensor(0)?)?;
    cx.same_as(0)
}

fn fft(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    let lengths = cx.ints("lengths")?;
    let (n, rank) = (lengths.len(), input.rank());
    if !(1..=3).contains(&n) || n > rank {
        return Err(OpError::new(format!(
            "`lengths` has {}, expected 1 to 3 and at most the rank {rank}",
            counted(n, "entry")
        )));
    }
    super::support::check_least("lengths", lengths, 0)?;
    let kind = cx.word("kind")?;
    let (from, to) = match (kind, input.dtype) {
        ("fft" | "ifft", d) if d.is_complex() => (d, d),
        ("rfft", DataType::F32) => (DataType::F32, DataType::C64),
        ("rfft", DataType::F64) => (DataType::F64, DataType::C128),
        ("irfft", DataType::C64) => (DataType::C64, DataType::F32),
        ("irfft", DataType::C128) => (DataType::C128, DataType::F64),
        (_, d) => {
            let expected = if kind == "rfft" { "f32 or f64" } else { "c64 or c128" };
            return Err(OpError::new(format!("{kind} of {d}, expected {expected}")));
        }
    };
    let _ = from;
    let mut dims = input.dims.clone();
    for (i, &length) in lengths.iter().enumerate() {
        let axis = rank - n + i;
        let last = i + 1 == n;
        let half = Dim::Known(if length == 0 { 0 } else { length as u64 / 2 + 1 });
        let expected = if kind == "irfft" && last { half } else { Dim::Known(length as u64) };
        if !dims[axis].compatible(expected) {
            return Err(OpError::new(format!(
                "axis {axis} is {}, but `lengths` asks for {expected}",
                dims[axis]
            )));
        }
        dims[axis] = if kind == "rfft" && last { half } else { Dim::Known(length as u64) };
    }
    one(TensorType { dtype: to, dims })
}
