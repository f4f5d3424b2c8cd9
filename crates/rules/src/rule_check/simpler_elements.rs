//! Simplification of single elements, for shrinking inputs.

use sapwood_ptir::TensorLiteral;
use sapwood_types::DataType;

use crate::graph::Number;

/// Returns elements that are simpler than this one, simplest first.
pub(super) fn simpler_elements(dtype: DataType, element: &[u8]) -> Vec<Vec<u8>> {
    let mut numbers = vec![Number::Int(0), Number::Int(1)];
    if let Some(n) = integer_of(dtype, element) {
        // Towards zero, in large steps first.
        numbers.retain(|simple| matches!(simple, Number::Int(s) if *s < n.abs()));
        if n < 0 {
            numbers.push(Number::Int(n.saturating_neg()));
        }
        let steps = [n / 2, n / 4, n / 16, n / 256, 16 * n.signum(), n.signum()];
        numbers.extend(steps.map(|step| Number::Int(n - step)));
        numbers.retain(|simple| matches!(simple, Number::Int(s) if s.abs() <= n.abs()));
    } else if let Some(x) = float_of(dtype, element) {
        numbers.extend([x.trunc(), (x * 2.0).trunc() / 2.0].map(Number::Float));
        let rank = |x: f64| [0.0, 1.0].iter().position(|&s| s == x && s.is_sign_positive());
        if let Some(own) = rank(x) {
            numbers.truncate(own);
        } else if x.fract() == 0.0 {
            numbers.truncate(2);
        } else if (x * 2.0).fract() == 0.0 {
            numbers.truncate(3);
        }
    }
    let bytes = |n: Number| Some(n.filled(dtype, &[])?.stored_bytes().to_vec());
    numbers.into_iter().filter_map(bytes).filter(|bytes| bytes != element).collect()
}

fn integer_of(dtype: DataType, element: &[u8]) -> Option<i128> {
    let negative = dtype.is_signed_integer() && element.last().is_some_and(|b| b >> 7 == 1);
    let mut wide = if negative { [0xff; 16] } else { [0; 16] };
    wide[..element.len()].copy_from_slice(element);
    dtype.is_integer().then_some(i128::from_le_bytes(wide))
}

fn float_of(dtype: DataType, element: &[u8]) -> Option<f64> {
    let literal = TensorLiteral::splat(dtype, &[], element).ok()?;
    let tensor = sapwood_ptir::eval::Tensor::from_literal(&literal).ok()?;
    let number = sapwood_check::elements_as_f64(&tensor);
    number.first().copied().filter(|x| x.is_finite() && dtype.is_float())
}
