//! The kernels of `triangular_solve` and `cholesky`. Floats narrower than f32 are computed as f32.

use num_complex::Complex;
use sapwood_types::DataType;

use super::cast::cast;
use super::elementwise::no_kernel;
use super::gemm::{Lane, dense};
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::{Native, Num};
use crate::eval::tensor::Tensor;

/// The operations that the algorithms need beyond arithmetic.
trait Field: Lane {
    fn conjugate(self) -> Self;
    // Returns the square root of a positive real number, NaN for others. Imaginary parts are ignored.
    fn positive_root(self) -> Self;
    fn nan() -> Self;
    // Returns `acc + a * b`, rounded once for real numbers.
    fn fused(acc: Self, a: Self, b: Self) -> Self;
    fn is_finite(self) -> bool;
    // Returns the sum of the absolute values of the parts.
    fn size(self) -> f64;
    const EPSILON: f64;
}

/// The largest system that is solved with the inverse of its matrix, where that is as accurate as substitution.
const MAX_INVERTED_SIZE: usize = 128;

/// The tolerated residual of a row, in multiples of the rounding error of one operation per term.
const RESIDUAL_FACTOR: f64 = 8.0;

macro_rules! field {
    ($($ty:ident),*) => {$(
        impl Field for $ty {
            fn conjugate(self) -> Self { self }
            fn positive_root(self) -> Self { if self > 0.0 { self.sqrt() } else { $ty::NAN } }
            fn nan() -> Self { $ty::NAN }
            fn fused(acc: Self, a: Self, b: Self) -> Self { a.mul_add(b, acc) }
            fn is_finite(self) -> bool { $ty::is_finite(self) }
            fn size(self) -> f64 { f64::from(self.abs()) }
            const EPSILON: f64 = $ty::EPSILON as f64;
        }
        impl Field for Complex<$ty> {
            fn conjugate(self) -> Self { Self::new(self.re, -self.im) }
            fn positive_root(self) -> Self { Self::new(self.re.positive_root(), 0.0) }
            fn nan() -> Self { Self::new($ty::NAN, $ty::NAN) }
            fn fused(acc: Self, a: Self, b: Self) -> Self { Lane::step(acc, a, b) }
            fn is_finite(self) -> bool { self.re.is_finite() && self.im.is_finite() }
            fn size(self) -> f64 { self.re.size() + self.im.size() }
            const EPSILON: f64 = <$ty as Field>::EPSILON;
        }
    )*};
}
field!(f32, f64);

fn working_type(dtype: DataType) -> DataType {
    if dtype.is_float() && dtype != DataType::F64 { DataType::F32 } else { dtype }
}

macro_rules! with_field {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            DataType::F32 => {
                type $T = f32;
                $body
            }
            DataType::F64 => {
                type $T = f64;
                $body
            }
            DataType::C64 => {
                type $T = Complex<f32>;
                $body
            }
            DataType::C128 => {
                type $T = Complex<f64>;
                $body
            }
            other => return no_kernel(other),
        }
    };
}

/// Evaluates `triangular_solve`.
pub(crate) fn triangular_solve(cx: &mut EvalCx<'_>) -> EvalResult {
    let (a, b) = (cx.take_tensor(0)?, cx.take_tensor(1)?);
    let dtype = a.dtype();
    let work = working_type(dtype);
    let (a, b) = (cast(cx, a, work)?, cast(cx, b, work)?);
    let x = with_field!(work, T => solve::<T>(cx, &a, &b)?);
    one(cast(cx, x, dtype)?)
}

fn solve<T: Field + Native>(cx: &EvalCx<'_>, a: &Tensor, b: &Tensor) -> Result<Tensor, Fault> {
    let (left, unit) = (cx.bool("left_side")?, cx.bool("unit_diagonal")?);
    let how = cx.word("transpose")?;
    let (matrix, rhs) = (dense::<T>(cx, a)?, dense::<T>(cx, b)?);
    let mut out = cx.alloc(rhs.len())?;
    out.extend_from_slice(&rhs);
    let rank = b.shape().len();
    let (rows, columns) = (b.shape()[rank - 2], b.shape()[rank - 1]);
    let n = if left { rows } else { columns };
    if out.is_empty() {
        return Ok(Tensor::new(b.dtype(), b.shape(), out));
    }
    // The system `x op(a) = b` is `op(a)^T x^T = b^T`, so the matrix is transposed once more.
    let turned = (how != "none") == left;
    let lower = cx.bool("lower")? != turned;
    let adjoint = how == "adjoint";
    // The remaining right-hand sides, one of them, and its solution: buffers that all of them share.
    let (mut left_over, mut side, mut found) = (Vec::new(), Vec::<T>::new(), Vec::<T>::new());
    for (a, x) in matrix.chunks_exact(n * n).zip(out.chunks_exact_mut(rows * columns)) {
        let entry = |i: usize, j: usize| {
            let e = if turned { a[j * n + i] } else { a[i * n + j] };
            if adjoint { e.conjugate() } else { e }
        };
        // The unknowns of one right-hand side are `step` apart.
        let (others, step, next) = if left { (columns, columns, 1) } else { (rows, 1, columns) };
        left_over.clear();
        left_over.extend(0..others);
        if (2..=MAX_INVERTED_SIZE).contains(&n) {
            cx.work((n * n * n) as u64 / 6 + (others as u64).saturating_mul(2 * (n * n) as u64))?;
            if let Some(inverse) = inverse(a, n, cx.bool("lower")?, unit) {
                let inverse = |i: usize, k: usize| {
                    let e = if turned { inverse[k * n + i] } else { inverse[i * n + k] };
                    if adjoint { e.conjugate() } else { e }
                };
                let known = |i: usize| if lower { 0..i + 1 } else { i..n };
                left_over.retain(|other| {
                    let at = |i: usize| other * next + i * step;
                    side.clear();
                    side.extend((0..n).map(|i| x[at(i)]));
                    found.clear();
                    found.extend((0..n).map(|i| product(known(i), |k| inverse(i, k), &side)));
                    let good = (0..n).all(|i| {
                        let row = |k| if unit && k == i { T::ONE } else { entry(i, k) };
                        solves(known(i), row, &found, side[i])
                    });
                    if good {
                        found.iter().enumerate().for_each(|(i, &value)| x[at(i)] = value);
                    }
                    !good
                });
            }
        }
        for k in 0..n {
            let i = if lower { k } else { n - 1 - k };
            let known = if lower { 0..i } else { i + 1..n };
            cx.work((left_over.len() as u64).saturating_mul(known.len() as u64 + 1))?;
            for &other in &left_over {
                let at = |i: usize| other * next + i * step;
                let mut value = x[at(i)];
                for j in known.clone() {
                    value = Num::sub(value, Num::mul(entry(i, j), x[at(j)]));
                }
                x[at(i)] = if unit { value.canonical() } else { Num::div(value, entry(i, i)) };
            }
        }
    }
    Ok(Tensor::new(b.dtype(), b.shape(), out))
}

// Returns the inverse of a triangular matrix, or `None` if it is not finite. Columns are scaled to a unit diagonal, each row is computed from
// those before it, with sums in index order and one rounding per term, and the result is scaled back.
fn inverse<T: Field>(a: &[T], n: usize, lower: bool, unit: bool) -> Option<Vec<T>> {
    let diagonal = |i: usize| if unit { T::ONE } else { a[i * n + i] };
    let mut out = vec![T::ZERO; n * n];
    for step in 0..n {
        let i = if lower { step } else { n - 1 - step };
        for column in if lower { 0..i } else { i + 1..n } {
            let between = if lower { column..i } else { i + 1..column + 1 };
            let sum = between.fold(T::ZERO, |sum, k| {
                T::fused(sum, Num::div(a[i * n + k], diagonal(k)), out[k * n + column])
            });
            out[i * n + column] = Num::neg(sum);
        }
        out[i * n + i] = T::ONE;
    }
    for (i, row) in out.chunks_exact_mut(n).enumerate() {
        row.iter_mut().for_each(|e| *e = Num::div(*e, diagonal(i)));
    }
    out.iter().all(|e| e.is_finite()).then_some(out)
}

// Returns whether a row times the solution equals the right-hand side up to rounding. NaN never does.
fn solves<T: Field>(
    known: std::ops::Range<usize>,
    row: impl Fn(usize) -> T,
    found: &[T],
    b: T,
) -> bool {
    let terms = known.len() as f64;
    let (rest, size) = known.fold((b, 0.0), |(rest, size), k| {
        let e = row(k);
        (T::fused(rest, Num::neg(e), found[k]), size + e.size() * found[k].size())
    });
    rest.size() <= RESIDUAL_FACTOR * terms * T::EPSILON * size
}

// Returns the sum of products, with even and odd indices summed separately.
fn product<T: Field>(known: std::ops::Range<usize>, entry: impl Fn(usize) -> T, b: &[T]) -> T {
    let mut sums = [T::ZERO; 2];
    for k in known {
        sums[k % 2] = T::fused(sums[k % 2], entry(k), b[k]);
    }
    Num::add(sums[0], sums[1]).canonical()
}

/// Evaluates `cholesky`.
pub(crate) fn cholesky(cx: &mut EvalCx<'_>) -> EvalResult {
    let a = cx.take_tensor(0)?;
    let dtype = a.dtype();
    let work = working_type(dtype);
    let a = cast(cx, a, work)?;
    let l = with_field!(work, T => factor::<T>(cx, &a)?);
    one(cast(cx, l, dtype)?)
}

fn factor<T: Field + Native>(cx: &EvalCx<'_>, a: &Tensor) -> Result<Tensor, Fault> {
    let elements = dense::<T>(cx, a)?;
    let mut out = cx.alloc(elements.len())?;
    out.resize(elements.len(), T::ZERO);
    let n = *a.shape().last().unwrap_or(&0);
    if elements.is_empty() {
        return Ok(Tensor::new(a.dtype(), a.shape(), out));
    }
    let lower = cx.bool("lower")?;
    for (a, out) in elements.chunks_exact(n * n).zip(out.chunks_exact_mut(n * n)) {
        for j in 0..n {
            cx.work(((n - j) * (j + 1)) as u64)?;
            column(n, j, lower, a, out);
        }
    }
    Ok(Tensor::new(a.dtype(), a.shape(), out))
}

// Computes column `j` of the lower factor, or row `j` of the upper factor, which is its adjoint.
fn column<T: Field>(n: usize, j: usize, lower: bool, a: &[T], out: &mut [T]) {
    let place = |i: usize, j: usize| if lower { i * n + j } else { j * n + i };
    let own = |x: T| if lower { x } else { x.conjugate() };
    let rest = |out: &[T], i: usize| {
        (0..j).fold(own(a[place(i, j)]), |value, k| {
            let (x, y) = (own(out[place(i, k)]), own(out[place(j, k)]));
            Num::sub(value, Num::mul(x, y.conjugate()))
        })
    };
    let pivot = rest(out, j).positive_root();
    out[place(j, j)] = pivot;
    for i in j + 1..n {
        out[place(i, j)] = own(Num::div(rest(out, i), pivot)).canonical();
    }
    // The matrix is not positive definite: this column and all that follow become NaN.
    #[allow(clippy::eq_op)]
    if pivot != pivot {
        for column in j..n {
            for i in column..n {
                out[place(i, column)] = T::nan();
            }
        }
    }
}
