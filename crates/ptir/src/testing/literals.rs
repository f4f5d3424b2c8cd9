//! Random literals and attributes.

use sapwood_types::DataType;

use crate::attr::Attr;
use crate::eval::stored;
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::types::TensorType;
use sapwood_types::Rng;

/// Generates a literal of a type with known dims: small and extreme numbers (zeros of both signs, infinities, NaN,
/// denormals) and random bits, including NaNs with payloads; often a splat. Returns `None` if the type has 65,536
/// elements or more.
#[must_use]
pub fn random_literal(rng: &mut Rng, ty: &TensorType) -> Option<TensorLiteral> {
    let shape = ty.known_shape()?;
    let size = ty.dtype.byte_size();
    let count = usize::try_from(ty.num_elements()?).ok().filter(|&n| n < 1 << 16)?;
    let element = |rng: &mut Rng| -> Vec<u8> {
        let bits = rng.bits().to_le_bytes();
        let more = rng.bits().to_le_bytes();
        let mut bytes: Vec<u8> = bits.iter().chain(&more).copied().take(size).collect();
        let part = ty.dtype.complex_part().unwrap_or(ty.dtype);
        match rng.below(8) {
            0 => bytes.fill(0),
            1 => bytes.fill(0xff),
            2..=4 if part.is_float() => {
                for chunk in bytes.chunks_exact_mut(part.byte_size()) {
                    special_float(rng, part, chunk);
                }
            }
            2..=3 => {
                // 1, 2, 3, …, or one of the limits.
                bytes.fill(0);
                bytes[0] = 1 + rng.below(3) as u8;
                if rng.one_in(4) {
                    bytes.fill(if rng.one_in(2) { 0xff } else { 0 });
                    bytes[size - 1] ^= 0x80;
                }
            }
            _ => {}
        }
        match ty.dtype {
            DataType::Bool => bytes[0] &= 1,
            DataType::U4 => bytes[0] &= 15,
            DataType::I4 => bytes[0] = (((bytes[0] << 4) as i8) >> 4) as u8,
            dtype if dtype.is_storage_only() => bytes[0] = stored::canonical(dtype, bytes[0]),
            _ => {}
        }
        bytes
    };
    if rng.one_in(3) {
        return TensorLiteral::splat(ty.dtype, &shape, &element(rng)).ok();
    }
    let bytes: Vec<u8> = (0..count).flat_map(|_| element(rng)).collect();
    TensorLiteral::new(ty.dtype, &shape, &bytes).ok()
}

// Writes a number for which algebraic laws have special cases, or leaves the bits unchanged.
fn special_float(rng: &mut Rng, dtype: DataType, bytes: &mut [u8]) {
    let number = match rng.below(12) {
        0 => 0.0,
        1 => -0.0,
        2 => 1.0,
        3 => -1.0,
        4 => f64::INFINITY,
        5 => f64::NEG_INFINITY,
        6 => f64::NAN,
        // The smallest positive number, and roughly the largest subnormal number.
        7 | 8 => {
            let mut small = vec![0; bytes.len()];
            small[0] = 1;
            if rng.one_in(2) && bytes.len() > 1 {
                small[..bytes.len() - 2].fill(0xff);
            }
            return bytes.copy_from_slice(&small);
        }
        _ => (rng.below(200) as f64 - 100.0) / 8.0,
    };
    if let Some(one) = crate::literal::float_element(dtype, number) {
        bytes.copy_from_slice(&one);
    }
}

/// Generates any attribute, for unregistered ops.
pub(super) fn random_attr(rng: &mut Rng, depth: usize) -> Attr {
    match rng.below(if depth > 3 { 9 } else { 12 }) {
        0 => Attr::Bool(rng.one_in(2)),
        1 => Attr::Int(rng.bits() as i64),
        2 => Attr::float(f64::from_bits(rng.bits())),
        3 => {
            Attr::float([0.0, -0.0, 1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN][rng.below(6)])
        }
        4 => Attr::Str(["", "plain", "a \"quoted\"\n\\line\t\u{1}", "größe"][rng.below(4)].into()),
        5 => Attr::word(["lt", "none", "f32", "two words", "true"][rng.below(5)]),
        6 => Attr::Func(Name::new(["f", "odd name"][rng.below(2)])),
        7 => Attr::Type(DataType::ALL[rng.below(DataType::ALL.len())]),
        8 => Attr::Ints((0..rng.below(4)).map(|_| rng.bits() as i64 >> 40).collect()),
        9 => Attr::list((0..rng.below(4)).map(|_| random_attr(rng, depth + 1)).collect()),
        10 => {
            let keys = ["a", "b", "with space", "c.d"];
            Attr::dict(
                (0..rng.below(4))
                    .map(|i| (Name::new(keys[i]), random_attr(rng, depth + 1)))
                    .collect(),
            )
        }
        _ => {
            let ty = TensorType::new(
                DataType::ALL[rng.below(DataType::ALL.len())],
                [rng.below(4) as u64],
            );
            random_literal(rng, &ty).map_or(Attr::Unit, Attr::Literal)
        }
    }
}
