//! Kernels for the checks in test programs: `check.expect_eq` and its variants.

use std::sync::Arc;

use sapwood_ptir::eval::{
    EvalCx, EvalResult, Evaluate, Fault, Kernels, PredictMemory, Results, ScheduledStep, Tensor,
    Value,
};
use sapwood_ptir::{BodyId, Function, OpKey, TensorLiteral};
use sapwood_types::DataType;

/// The largest distance between floats that `check.expect_close` accepts, in units of the last place.
const MAX_ULPS: u64 = 3;
/// The largest error that `check.expect_almost_eq` accepts: absolute, or relative for numbers above one.
const MAX_ERROR: f64 = 1e-3;

/// Kernels that evaluate `check.expect_eq`, `check.expect_close` and `check.expect_almost_eq`.
///
/// A failed check is an error of the run. All other ops and custom calls go to the other kernels.
pub struct CheckCallKernels {
    others: Option<Arc<dyn Kernels>>,
}

/// Returns kernels that evaluate `check.expect_…` calls and pass everything else to `others`.
///
/// ```
/// use sapwood_ptir::eval::{self, RunOptions};
/// use sapwood_types::Source;
///
/// let text = "func.func @main() {
///   %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
///   %b = stablehlo.constant dense<[1.0, 2.5]> : tensor<2xf32>
///   stablehlo.custom_call @check.expect_eq(%a, %b) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
///   return
/// }";
/// let module = sapwood_stablehlo::read(&Source::new("a.mlir", text)).unwrap();
/// let options = RunOptions { kernels: Some(sapwood_stablehlo::check_call_kernels(None)), ..RunOptions::default() };
/// let error = eval::run(&module.program, "main", &[], &options).unwrap_err();
/// assert!(error.to_string().contains("1 of 2 elements differ, first element 1: 2.0, expected 2.5"));
/// ```
#[must_use]
pub fn check_call_kernels(others: Option<Arc<dyn Kernels>>) -> Arc<dyn Kernels> {
    Arc::new(CheckCallKernels { others })
}

impl Kernels for CheckCallKernels {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        self.others.as_ref().and_then(|k| k.kernel(op))
    }

    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        match target {
            "check.expect_eq" => {
                Some(Arc::new(|cx: &mut EvalCx<'_>| compare_operands(cx, values_equal)))
            }
            "check.expect_close" => {
                Some(Arc::new(|cx: &mut EvalCx<'_>| compare_operands(cx, within_ulps)))
            }
            "check.expect_almost_eq" => {
                Some(Arc::new(|cx: &mut EvalCx<'_>| compare_operands(cx, within_tolerance)))
            }
            _ => self.others.as_ref().and_then(|k| k.custom_call(target)),
        }
    }

    fn memory(&self, op: OpKey) -> Option<PredictMemory> {
        self.others.as_ref().and_then(|k| k.memory(op))
    }

    fn may_restructure(&self) -> bool {
        self.others.as_ref().is_some_and(|k| k.may_restructure())
    }

    fn schedule(&self, function: &Function, body: BodyId) -> Option<Vec<ScheduledStep>> {
        self.others.as_ref().and_then(|k| k.schedule(function, body))
    }
}

/// Compares the bits of two elements of a type.
type ElementPredicate = fn(DataType, u64, u64) -> bool;

fn compare_operands(cx: &mut EvalCx<'_>, same: ElementPredicate) -> EvalResult {
    let literal = |t: &Tensor| t.to_literal().map_err(|e| Fault::op(e.to_string()));
    let (found, expected) = (literal(cx.tensor(0)?)?, literal(cx.tensor(1)?)?);
    if found.ty() != expected.ty() {
        let (found, expected) = (found.ty(), expected.ty());
        return Err(Fault::op(format!("the value is {found}, expected {expected}")));
    }
    match first_mismatch(&found, &expected, same) {
        None => Ok(Results::new()),
        Some(message) => Err(Fault::op(message)),
    }
}

fn first_mismatch(
    found: &TensorLiteral,
    expected: &TensorLiteral,
    same: ElementPredicate,
) -> Option<String> {
    let dtype = found.dtype();
    let part = dtype.complex_part().unwrap_or(dtype);
    let size = part.byte_size();
    let (mut count, mut first) = (0u64, None);
    for i in 0..found.num_elements() {
        let (Some(a), Some(b)) = (found.element(i), expected.element(i)) else { continue };
        let differ = a
            .chunks_exact(size)
            .zip(b.chunks_exact(size))
            .any(|(a, b)| !same(part, to_bits(a), to_bits(b)));
        if differ {
            count += 1;
            first.get_or_insert((i, element_text(dtype, a), element_text(dtype, b)));
        }
    }
    let (i, a, b) = first?;
    let n = found.num_elements();
    Some(format!("{count} of {n} elements differ, first element {i}: {a}, expected {b}"))
}

fn to_bits(bytes: &[u8]) -> u64 {
    let mut wide = [0u8; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(wide)
}

fn element_text(dtype: DataType, bytes: &[u8]) -> String {
    match TensorLiteral::splat(dtype, &[], bytes).map(|l| Tensor::from_literal(&l)) {
        Ok(Ok(tensor)) => {
            Value::from(tensor).to_string().split(" : ").next().unwrap_or("").to_owned()
        }
        _ => format!("{bytes:02x?}"),
    }
}

// Returns the number of fraction bits and of all bits of a float type.
fn float_layout(dtype: DataType) -> Option<(u32, u32)> {
    match dtype {
        DataType::F64 => Some((52, 64)),
        DataType::F32 => Some((23, 32)),
        DataType::Bf16 => Some((7, 16)),
        DataType::F16 => Some((10, 16)),
        _ => None,
    }
}

fn is_nan(dtype: DataType, bits: u64) -> bool {
    float_layout(dtype).is_some_and(|(fraction, width)| {
        let exponent = ((1u64 << (width - 1 - fraction)) - 1) << fraction;
        bits & ((1u64 << (width - 1)) - 1) > exponent
    })
}

// Returns the position of a float in the order of all floats of its type; both zeros have one position.
fn ordinal(dtype: DataType, bits: u64) -> i64 {
    let width = float_layout(dtype).map_or(64, |(_, w)| w);
    let magnitude = (bits & ((1u64 << (width - 1)) - 1)) as i64;
    if bits >> (width - 1) & 1 == 1 { -magnitude } else { magnitude }
}

fn values_equal(dtype: DataType, a: u64, b: u64) -> bool {
    a == b
        || (is_nan(dtype, a) && is_nan(dtype, b))
        || (float_layout(dtype).is_some() && ordinal(dtype, a) == ordinal(dtype, b))
}

fn within_ulps(dtype: DataType, a: u64, b: u64) -> bool {
    if values_equal(dtype, a, b) || float_layout(dtype).is_none() {
        return values_equal(dtype, a, b);
    }
    if is_nan(dtype, a) || is_nan(dtype, b) {
        return false;
    }
    ordinal(dtype, a).abs_diff(ordinal(dtype, b)) <= MAX_ULPS
}

fn within_tolerance(dtype: DataType, a: u64, b: u64) -> bool {
    if values_equal(dtype, a, b) {
        return true;
    }
    let (Some(x), Some(y)) = (to_f64(dtype, a), to_f64(dtype, b)) else { return false };
    (x - y).abs() <= MAX_ERROR * y.abs().max(1.0)
}

fn to_f64(dtype: DataType, bits: u64) -> Option<f64> {
    match dtype {
        DataType::F64 => Some(f64::from_bits(bits)),
        DataType::F32 => Some(f64::from(f32::from_bits(bits as u32))),
        DataType::Bf16 => Some(f64::from(f32::from_bits((bits as u32) << 16))),
        DataType::F16 => crate::literal::narrow_float_value(dtype, bits),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closeness_counts_units_of_the_last_place() {
        let f = |x: f32| u64::from(x.to_bits());
        let one = f(1.0);
        assert!(within_ulps(DataType::F32, one, one + 3));
        assert!(!within_ulps(DataType::F32, one, one + 4));
        assert!(within_ulps(DataType::F32, f(0.0), f(-0.0)));
        assert!(within_ulps(DataType::F32, f(f32::NAN), f(-f32::NAN)));
        assert!(!within_ulps(DataType::F32, f(f32::NAN), one));
        assert!(within_ulps(DataType::F32, 1, f(-0.0) + 1));
        assert!(within_tolerance(DataType::F32, f(1000.0), f(1000.9)));
        assert!(!within_tolerance(DataType::F32, f(0.1), f(0.102)));
        assert!(!within_tolerance(DataType::I32, 1, 2));
    }
}
