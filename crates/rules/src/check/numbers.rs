//! Random elements, and whether two results differ.

use sapwood_ptir::eval::{Complex, Tensor, Value, bf16, f16};
use sapwood_ptir::{TensorLiteral, TensorType};
use sapwood_rewrite::FloatMode;
use sapwood_types::DataType;

use super::instance::Random;

const SPECIAL: [f64; 10] =
    [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 2.0, 0.5, 3e38];

/// Random elements; special ones among them unless all must be moderate.
pub(super) fn random_literal(
    random: &mut Random,
    ty: &TensorType,
    moderate: bool,
) -> Option<TensorLiteral> {
    let shape = ty.known_shape()?;
    let count = ty.num_elements().filter(|&n| n <= 1 << 16)?;
    let mut bytes = Vec::new();
    for _ in 0..count {
        match ty.dtype.complex_part() {
            Some(part) => {
                element(random, part, moderate, &mut bytes)?;
                element(random, part, moderate, &mut bytes)?;
            }
            None => element(random, ty.dtype, moderate, &mut bytes)?,
        }
    }
    TensorLiteral::new(ty.dtype, &shape, &bytes).ok()
}

fn element(
    random: &mut Random,
    dtype: DataType,
    moderate: bool,
    bytes: &mut Vec<u8>,
) -> Option<()> {
    let number = if dtype.is_bool() {
        random.below(2) as f64
    } else if dtype.is_float() {
        match random.below(8) {
            0 if !moderate => SPECIAL[random.below(SPECIAL.len() as u64) as usize],
            _ => random.below(4097) as f64 / 512.0 - 4.0,
        }
    } else if dtype.is_signed() {
        match random.below(8) {
            0 => -(2f64.powi(i32::from(dtype.bit_width() as u8) - 1)),
            1 => 7.0,
            _ => random.below(9) as f64 - 4.0,
        }
    } else {
        random.below(16) as f64
    };
    let small = |_| TensorLiteral::filled(dtype, &[], 1.0);
    let made = TensorLiteral::filled(dtype, &[], number).or_else(small).ok()?;
    bytes.extend_from_slice(made.stored_bytes());
    Some(())
}

/// Whether two results differ by more than a float mode allows. Which NaN it is never counts.
pub(super) fn differs(a: &Value, b: &Value, floats: FloatMode) -> bool {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) => {
            a.ty() != b.ty()
                || match (numbers(a), numbers(b)) {
                    (Some(x), Some(y)) => {
                        x.len() != y.len() || x.iter().zip(&y).any(|(x, y)| !close(*x, *y, floats))
                    }
                    _ => a.to_literal().ok() != b.to_literal().ok(),
                }
        }
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() != b.len() || a.iter().zip(b.iter()).any(|(a, b)| differs(a, b, floats))
        }
        (Value::Token, Value::Token) => false,
        _ => true,
    }
}

fn close(x: f64, y: f64, floats: FloatMode) -> bool {
    if x.is_nan() || y.is_nan() {
        return x.is_nan() && y.is_nan();
    }
    match floats {
        FloatMode::Exact => x.to_bits() == y.to_bits(),
        FloatMode::Nsz => x == y,
        FloatMode::Fast => x == y || (x - y).abs() <= 1e-4 + 2e-2 * x.abs().max(y.abs()),
    }
}

// The floats as numbers, complex ones as two each; none for what has to be the same bit for bit.
fn numbers(t: &Tensor) -> Option<Vec<f64>> {
    Some(match t.dtype() {
        DataType::F64 => t.elements::<f64>()?.to_vec(),
        DataType::F32 => t.elements::<f32>()?.iter().map(|&x| f64::from(x)).collect(),
        DataType::F16 => t.elements::<f16>()?.iter().map(|&x| f64::from(x)).collect(),
        DataType::Bf16 => t.elements::<bf16>()?.iter().map(|&x| f64::from(x)).collect(),
        DataType::C64 => t
            .elements::<Complex<f32>>()?
            .iter()
            .flat_map(|z| [f64::from(z.re), f64::from(z.im)])
            .collect(),
        DataType::C128 => t.elements::<Complex<f64>>()?.iter().flat_map(|z| [z.re, z.im]).collect(),
        _ => return None,
    })
}
