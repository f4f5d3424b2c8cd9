//! Canonicalizations of `complex`, `real`, `imag`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::{Cast, Complex, Imag, Real};

use super::numeric_constants::{is_complex, is_float};
use crate::pattern::Rewrite;

crate::patterns! { "complex":
    real_of_complex when 0 in [Complex],
    imag_of_complex when 0 in [Complex],
    real_of_float of [Float],
    imag_of_float of [Float],
    complex_of_parts when 0 in [Real] and 1 in [Imag],
    imag_of_real_cast when 0 in [Cast],
}

/// `real(complex(x, y)) = x`.
///
/// Floats: exact.
fn real_of_complex(op: Real, rw: &mut Rewrite<'_>) -> Option<Value> {
    Some(rw.def::<Complex>(op.input)?.lhs)
}

/// `imag(complex(x, y)) = y`.
///
/// Floats: exact.
fn imag_of_complex(op: Imag, rw: &mut Rewrite<'_>) -> Option<Value> {
    Some(rw.def::<Complex>(op.input)?.rhs)
}

/// `real(x) = x` for floats.
///
/// Floats: exact.
fn real_of_float(op: Real, rw: &mut Rewrite<'_>) -> Option<Value> {
    is_float(rw, op.input).then_some(op.input)
}

/// `imag(x) = 0` for floats.
///
/// Floats: exact.
fn imag_of_float(op: Imag, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_float(rw, op.input) {
        return None;
    }
    rw.filled_like_result(0.0)
}

/// `complex(real(z), imag(z)) = z`.
///
/// Floats: exact.
fn complex_of_parts(op: Complex, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (real, imag) = (rw.def::<Real>(op.lhs)?, rw.def::<Imag>(op.rhs)?);
    (real.input == imag.input && is_complex(rw, real.input)).then_some(real.input)
}

/// `imag(cast(x)) = 0` where `x` is not complex.
///
/// Floats: exact.
fn imag_of_real_cast(op: Imag, rw: &mut Rewrite<'_>) -> Option<Value> {
    let cast = rw.def::<Cast>(op.input)?;
    if is_complex(rw, cast.input) {
        return None;
    }
    rw.filled_like_result(0.0)
}
