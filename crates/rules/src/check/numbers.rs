//! Random elements.

use sapwood_ptir::{TensorLiteral, TensorType};
use sapwood_types::DataType;

use super::instance::Random;
use crate::graph::Number;

const SPECIAL: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    2.0,
    0.5,
    3e38,
    0.1,
    1e10,
    16_777_217.0,
    1e-30,
];

/// Floats at which laws often end.
const COMMON: [f64; 5] = [0.0, 1.0, -1.0, 2.0, 0.5];

/// Which floats there are among random elements.
#[derive(Clone, Copy)]
pub(super) enum Floats<'a> {
    /// All: zeros of both signs, infinities and NaN too.
    All,
    /// Those from -4 to 4.
    Plain,
    /// Those, common numbers, these, and some from -8 to 8, or to 256 if they may be large.
    Wide { known: &'a [f64], large: bool },
}

/// Random elements of a type, its dims as given.
pub(super) fn random_literal(
    random: &mut Random,
    ty: &TensorType,
    shape: &[u64],
    floats: Floats<'_>,
) -> Option<TensorLiteral> {
    let count = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).filter(|&n| n <= 1 << 16)?;
    let mut bytes = Vec::new();
    for _ in 0..count {
        match ty.dtype.complex_part() {
            Some(part) => {
                element(random, part, floats, &mut bytes)?;
                element(random, part, floats, &mut bytes)?;
            }
            None => element(random, ty.dtype, floats, &mut bytes)?,
        }
    }
    TensorLiteral::new(ty.dtype, shape, &bytes).ok()
}

fn element(
    random: &mut Random,
    dtype: DataType,
    floats: Floats<'_>,
    bytes: &mut Vec<u8>,
) -> Option<()> {
    let number = if dtype.is_bool() {
        Number::Int(i128::from(random.below(2)))
    } else if dtype.is_float() {
        Number::Float(float(random, floats))
    } else {
        Number::Int(integer(random, dtype)?)
    };
    let made = number.filled(dtype, &[]).or_else(|| Number::Int(1).filled(dtype, &[]))?;
    bytes.extend_from_slice(made.stored_bytes());
    Some(())
}

fn float(random: &mut Random, floats: Floats<'_>) -> f64 {
    let plain = |random: &mut Random| random.below(4097) as f64 / 512.0 - 4.0;
    match (random.below(8), floats) {
        (0, Floats::All) => SPECIAL[random.below(SPECIAL.len() as u64) as usize],
        (0 | 1, Floats::Wide { known, .. }) => {
            let at = random.below((COMMON.len() + known.len()) as u64) as usize;
            COMMON.iter().chain(known).nth(at).copied().unwrap_or(0.0)
        }
        (2 | 3, Floats::Wide { large, .. }) => {
            let twice = if large { 1 + random.below(6) } else { 1 };
            plain(random) * (1u64 << twice) as f64
        }
        _ => plain(random),
    }
}

// Small ones mostly; the ends of the range, powers of two and their neighbours, and any bits at all.
fn integer(random: &mut Random, dtype: DataType) -> Option<i128> {
    let (least, most) = dtype.integer_range()?;
    let near = |random: &mut Random| i128::from(random.below(3)) - 1;
    let number = match random.below(8) {
        0 => [least, most][random.below(2) as usize] + near(random),
        1 => (1i128 << random.below(u64::from(dtype.bit_width()))) + near(random),
        2 | 3 => {
            let span = most - least + 1;
            least + i128::from(random.below(u64::MAX)).rem_euclid(span)
        }
        _ if least < 0 => i128::from(random.below(9)) - 4,
        _ => i128::from(random.below(16)),
    };
    Some(number.clamp(least, most))
}

/// Elements that are simpler than this one, simplest first.
pub(super) fn simpler(dtype: DataType, element: &[u8]) -> Vec<Vec<u8>> {
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
    let number = super::close::numbers(&tensor)?;
    if number.len() == 1 { number.first().copied().filter(|x| x.is_finite()) } else { None }
}
