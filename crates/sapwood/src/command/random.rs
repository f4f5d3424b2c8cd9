//! Inputs that are the same for the same seed.

use sapwood_ptir::eval::{Tensor, Value};
use sapwood_ptir::{Function, TensorLiteral, TensorType};
use sapwood_types::DataType;

/// What stands for a dim that is not known.
const EXTENT: u64 = 3;

/// One tensor per parameter; `None` if one takes something else, or more elements than can be made up.
///
/// `special` mixes in infinities and NaN, which spread: what is computed beside them is hardly seen.
pub(super) fn random_inputs(f: &Function, seed: u64, special: bool) -> Option<Vec<Value>> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    f.params().iter().map(|&p| input(f.value_type(p).as_tensor()?, &mut state, special)).collect()
}

fn next(state: &mut u64) -> u64 {
    // The finaliser of a well-known generator (splitmix64).
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn input(ty: &TensorType, state: &mut u64, special: bool) -> Option<Value> {
    let shape: Vec<u64> = ty.dims.iter().map(|d| d.known().unwrap_or(EXTENT)).collect();
    let count = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).filter(|&n| n < 1 << 28)?;
    let mut bytes = Vec::new();
    for _ in 0..count {
        element(ty.dtype, state, special, &mut bytes)?;
    }
    let literal = TensorLiteral::new(ty.dtype, &shape, &bytes).ok()?;
    Tensor::from_literal(&literal).ok().map(Value::Tensor)
}

// Floats between -2 and 2 in steps of 1/1024, now and then a special one; integers between -4 and 4.
fn element(dtype: DataType, state: &mut u64, special: bool, bytes: &mut Vec<u8>) -> Option<()> {
    if let Some(part) = dtype.complex_part() {
        element(part, state, special, bytes)?;
        return element(part, state, special, bytes);
    }
    let random = next(state);
    let number = if dtype.is_bool() {
        (random & 1) as f64
    } else if dtype.is_float() {
        match random % 64 {
            0 => 0.0,
            1 => -0.0,
            2 if special => f64::INFINITY,
            3 if special => f64::NAN,
            _ => (random >> 8 & 0xfff) as f64 / 1024.0 - 2.0,
        }
    } else if dtype.is_signed() {
        (random % 9) as f64 - 4.0
    } else {
        (random % 9) as f64
    };
    let finite = if number.is_finite() { number } else { 1.0 };
    let made = TensorLiteral::filled(dtype, &[], number)
        .or_else(|_| TensorLiteral::filled(dtype, &[], finite))
        .ok()?;
    bytes.extend_from_slice(made.stored_bytes());
    Some(())
}
