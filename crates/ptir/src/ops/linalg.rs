//! Linear algebra and Fourier transforms.

use super::support::{DtypeClass, check_same_dtype, one_result};
use crate::attr::Axes;
use crate::cost::op_flops as cost;
use crate::eval::kernels;
use crate::op::{InferCx, InferResult, OpError, Value, unify_dims};
use crate::types::{Dim, TensorType};
use sapwood_types::{DataType, counted};

crate::attr_enum! {
    /// The form in which `triangular_solve` uses its matrix.
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
    /// The kind of a Fourier transform.
    pub enum FftKind {
        /// Complex to complex, forward.
        Fft = "fft",
        /// Complex to complex, inverse, divided by the number of points.
        Ifft = "ifft",
        /// Real to complex; gives the non-redundant half.
        Rfft = "rfft",
        /// The inverse of `rfft`.
        Irfft = "irfft",
    }
}

crate::ops! {
    family "linalg", table linalg_ops, values LinalgValueOps, graph LinalgGraphOps;

    /// Solves `a x = b` (or `x a = b`) for `x`, where `a` is triangular; leading axes are batches. The other triangle
    /// of `a` is not read. A zero on the diagonal divides by zero as floats do. Systems of up to 128 rows are solved
    /// with the inverse of `a`, as in XLA; larger systems, and right sides that the inverse does not solve up to
    /// rounding, by substitution, with sums in order of the index. Floats narrower than f32 are computed as f32 and
    /// rounded at the end.
    op triangular_solve TriangularSolve "triangular_solve" (a: Value, b: Value) {
        /// True to solve `a x = b`; otherwise `x a = b`.
        left_side: bool = true,
        /// True if the lower triangle is read; otherwise the upper one.
        lower: bool = true,
        /// True if the diagonal is assumed to be ones and not read.
        unit_diagonal: bool = false,
        /// The form in which `a` is used.
        transpose: TransposeKind = TransposeKind::None,
    } -> one [flops(cost::triangular_solve)] = infer_triangular_solve, eval = kernels::linalg::triangular_solve;

    /// Computes the triangular `l` with `l l* = a` (or `l* l = a`); leading axes are batches. The other triangle of
    /// `a` is not read and is zero in the result. Imaginary parts of the diagonal are not read. If `a` is not
    /// positive definite, the triangle is NaN from the first failing column on (from the first failing row for an
    /// upper triangle). Floats narrower than f32 are computed as f32.
    op cholesky Cholesky "cholesky" (a: Value) {
        /// True if the lower triangle is read and written; otherwise the upper one.
        lower: bool = true,
    } -> one [flops(cost::cholesky)] = infer_cholesky, eval = kernels::linalg::cholesky;

    /// Computes a discrete Fourier transform over the last one to three axes. An empty axis gives an empty result.
    /// Results are computed in 64 bits and rounded at the end. `irfft` does not read the imaginary parts of elements
    /// that are their own mirror image.
    op fft Fft "fft" (input: Value) {
        /// The kind of transform.
        kind: FftKind,
        /// Number of points per transformed axis.
        lengths: Axes,
    } -> one [flops(cost::fft)] = infer_fft, eval = kernels::fft::fft;
}

fn check_square(what: &str, t: &TensorType) -> Result<(), OpError> {
    DtypeClass::FLOAT_COMPLEX.check(what, t.dtype)?;
    let rank = t.rank();
    if rank < 2 {
        return Err(OpError::new(format!("{what} has rank {rank}, expected at least 2")));
    }
    unify_dims(format_args!("the last two axes of {what}"), t.dims[rank - 2], t.dims[rank - 1])?;
    Ok(())
}

fn infer_triangular_solve(cx: &InferCx<'_>) -> InferResult {
    let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
    check_square("`a`", a)?;
    check_same_dtype(0, a, 1, b)?;
    if a.rank() != b.rank() {
        return Err(OpError::new(format!("`a` has rank {}, `b` has rank {}", a.rank(), b.rank())));
    }
    let rank = a.rank();
    let mut dims = b.dims.clone();
    for axis in 0..rank - 2 {
        dims[axis] = unify_dims(format_args!("batch axis {axis}"), a.dims[axis], b.dims[axis])?;
    }
    let axis = if cx.bool("left_side")? { rank - 2 } else { rank - 1 };
    dims[axis] = unify_dims(format_args!("axis {axis}"), b.dims[axis], a.dims[rank - 1])?;
    one_result(TensorType { dtype: a.dtype, dims })
}

fn infer_cholesky(cx: &InferCx<'_>) -> InferResult {
    check_square("`a`", cx.tensor(0)?)?;
    cx.same_as(0)
}

fn infer_fft(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    let lengths = cx.ints("lengths")?;
    let (n, rank) = (lengths.len(), input.rank());
    if !(1..=3).contains(&n) || n > rank {
        return Err(OpError::new(format!(
            "`lengths` has {}, expected 1 to 3 and at most the rank {rank}",
            counted(n, "entry")
        )));
    }
    super::support::check_at_least("lengths", lengths, 0)?;
    let kind = cx.word("kind")?;
    let (from, to) = match (kind, input.dtype) {
        ("fft" | "ifft", d) if d.is_complex() => (d, d),
        ("rfft", DataType::F32) => (DataType::F32, DataType::C64),
        ("rfft", DataType::F64) => (DataType::F64, DataType::C128),
        ("irfft", DataType::C64) => (DataType::C64, DataType::F32),
        ("irfft", DataType::C128) => (DataType::C128, DataType::F64),
        (_, d) => {
            let expected = if kind == "rfft" { "f32 or f64" } else { "c64 or c128" };
            return Err(OpError::new(format!("{kind} takes {expected}, found {d}")));
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
    one_result(TensorType { dtype: to, dims })
}
