//! Inputs that are the same for the same seed.

use sapwood_ptir::eval::{Tensor, Value, bf16, f16};
use sapwood_ptir::{Dim, Function, Name, TensorLiteral, TensorType, ValueType};
use sapwood_types::DataType;

/// What stands for a dim that is not known.
const EXTENT: u64 = 3;
/// How many bytes are made up for one function.
const MOST_BYTES: u64 = 1 << 30;

/// What kind of inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Kind {
    /// Infinities, NaN and the ends of integer types among them, which spread: what is computed beside them is hardly
    /// seen.
    pub(super) special: bool,
    /// Every dim `?` has an extent of its own, and every name; otherwise all have the same.
    pub(super) own_extents: bool,
    /// Every other element is one of the special ones in turn, from this one on: few elements meet them too seldom by
    /// chance.
    pub(super) edge: Option<usize>,
}

/// How many special elements of a type there are.
pub(super) const EDGES: usize = 5;
const FLOAT_EDGES: [f64; EDGES] = [-0.0, f64::INFINITY, f64::NAN, f64::NEG_INFINITY, 0.0];
/// Fewer elements than these are few.
const FEW: u64 = 64;

/// Whether the parameters of a function have elements, but few.
pub(super) fn is_small(f: &Function) -> bool {
    let counts = f.params().iter().map(|&p| elements(f.value_type(p)));
    (1..FEW).contains(&counts.fold(0, u64::saturating_add))
}

// Types nest at most 64 deep.
fn elements(ty: &ValueType) -> u64 {
    match ty {
        ValueType::Tensor(ty) => {
            let extents = ty.dims.iter().map(|dim| match dim {
                Dim::Known(extent) => *extent,
                _ => EXTENT,
            });
            extents.fold(1, u64::saturating_mul)
        }
        ValueType::Tuple(types) => types.iter().map(elements).fold(0, u64::saturating_add),
        ValueType::Token => 0,
    }
}

/// One value per parameter; why not, if one takes more than can be made up.
pub(super) fn random_inputs(f: &Function, seed: u64, kind: Kind) -> Result<Vec<Value>, String> {
    let mut made = Made { random: Random::new(seed), kind, names: Vec::new(), bytes: 0, at: 0 };
    f.params().iter().map(|&p| made.value(f.value_type(p))).collect()
}

struct Random(u64);

impl Random {
    // Neighbouring seeds give numbers that have nothing to do with each other.
    fn new(seed: u64) -> Self {
        Self(mixed(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }
}

// The finaliser of a well-known generator (splitmix64).
fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

struct Made {
    random: Random,
    kind: Kind,
    names: Vec<(Name, u64)>,
    bytes: u64,
    // Where in its tensor the next number stands.
    at: usize,
}

impl Made {
    // Types nest at most 64 deep.
    fn value(&mut self, ty: &ValueType) -> Result<Value, String> {
        match ty {
            ValueType::Tensor(ty) => self.tensor(ty).map(Value::Tensor),
            ValueType::Tuple(types) => {
                let elements: Result<Vec<Value>, String> =
                    types.iter().map(|ty| self.value(ty)).collect();
                Ok(Value::Tuple(elements?.into()))
            }
            ValueType::Token => Ok(Value::Token),
        }
    }

    fn tensor(&mut self, ty: &TensorType) -> Result<Tensor, String> {
        let shape: Vec<u64> = ty.dims.iter().map(|&dim| self.extent(dim)).collect();
        let width = ty.dtype.byte_size() as u64;
        let count = shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent));
        let total = count.and_then(|n| n.checked_mul(width)?.checked_add(self.bytes));
        let (Some(count), Some(total)) = (count, total.filter(|&total| total <= MOST_BYTES)) else {
            return Err(format!(
                "its inputs take more than the {MOST_BYTES} bytes that are made up at most"
            ));
        };
        self.bytes = total;
        self.at = 0;
        let mut bytes = Vec::with_capacity((count * width) as usize);
        for _ in 0..count {
            self.element(ty.dtype, &mut bytes)
                .ok_or_else(|| format!("there are no random elements of {}", ty.dtype))?;
        }
        TensorLiteral::new(ty.dtype, &shape, &bytes)
            .and_then(|literal| Tensor::from_literal(&literal))
            .map_err(|why| why.to_string())
    }

    fn extent(&mut self, dim: Dim) -> u64 {
        match dim {
            Dim::Known(extent) => extent,
            _ if !self.kind.own_extents => EXTENT,
            Dim::Named(name) => {
                if let Some(&(_, extent)) = self.names.iter().find(|(known, _)| *known == name) {
                    return extent;
                }
                let extent = 1 + self.random.next() % 5;
                self.names.push((name, extent));
                extent
            }
            Dim::Unknown => 1 + self.random.next() % 5,
        }
    }

    // Floats between -2 and 2 in steps of 1/1024, integers between -4 and 4; now and then a special one.
    fn element(&mut self, dtype: DataType, bytes: &mut Vec<u8>) -> Option<()> {
        if let Some(part) = dtype.complex_part() {
            self.element(part, bytes)?;
            return self.element(part, bytes);
        }
        let (random, special) = (self.random.next(), self.kind.special);
        let edge = self.kind.edge.filter(|_| self.at.is_multiple_of(2));
        let edge = edge.map(|first| first.wrapping_add(self.at) % EDGES);
        self.at = self.at.wrapping_add(1);
        if dtype.is_float() {
            if let Some(edge) = edge {
                return float(dtype, FLOAT_EDGES[edge], bytes);
            }
            let number = match random % 64 {
                0 => 0.0,
                1 => -0.0,
                2 if special => f64::INFINITY,
                3 if special => f64::NAN,
                _ => (random >> 8 & 0xfff) as f64 / 1024.0 - 2.0,
            };
            return float(dtype, number, bytes);
        }
        if dtype.is_bool() {
            bytes.push((random & 1) as u8);
            return Some(());
        }
        let (smallest, largest) = dtype.integer_range()?;
        // The largest comes last: as a number of rounds it takes longest.
        let edges = [0, 1, if smallest == 0 { 2 } else { -1 }, smallest, largest];
        let number = match random >> 8 & 0xf {
            _ if edge.is_some() => edge.map_or(0, |edge| edges[edge]),
            0 if special => smallest,
            1 if special => largest,
            _ if smallest == 0 => i128::from(random % 9),
            _ => i128::from(random % 9) - 4,
        };
        bytes.extend_from_slice(&number.to_le_bytes()[..dtype.byte_size()]);
        Some(())
    }
}

fn float(dtype: DataType, number: f64, bytes: &mut Vec<u8>) -> Option<()> {
    match dtype {
        DataType::F32 => bytes.extend_from_slice(&(number as f32).to_le_bytes()),
        DataType::F64 => bytes.extend_from_slice(&number.to_le_bytes()),
        DataType::F16 => bytes.extend_from_slice(&f16::from_f64(number).to_le_bytes()),
        DataType::Bf16 => bytes.extend_from_slice(&bf16::from_f64(number).to_le_bytes()),
        // Some have no infinity, or no NaN.
        _ => {
            let made = TensorLiteral::filled(dtype, &[], number)
                .or_else(|_| TensorLiteral::filled(dtype, &[], 1.0))
                .ok()?;
            bytes.extend_from_slice(made.stored_bytes());
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(params: &str, seed: u64, kind: Kind) -> Vec<Value> {
        let text = format!("ptir 1 func @f({params}) {{ return }}");
        let program = sapwood_ptir::parse(&text).unwrap();
        random_inputs(&program.functions()[0], seed, kind).unwrap()
    }

    fn numbers(seed: u64) -> Vec<f32> {
        let made = inputs("%x: f32[64]", seed, Kind::default());
        made[0].as_tensor().unwrap().elements::<f32>().unwrap().to_vec()
    }

    #[test]
    fn seeds_share_no_run_of_numbers() {
        for other in 2..6 {
            let (a, b) = (numbers(1), numbers(other));
            assert!((0..60).all(|at| b.windows(4).all(|w| w != &a[at..at + 4])), "{other}");
        }
        assert_eq!(numbers(1), numbers(1));
    }

    #[test]
    fn extents_are_one_or_their_own() {
        let params = "%a: f32[?], %b: f32[?], %c: f32[?], %d: f32[?], %e: f32[?n], %f: f32[?n, 2]";
        let extents = |kind| -> Vec<usize> {
            let made = inputs(params, 1, kind);
            made.iter().map(|v| v.as_tensor().unwrap().shape()[0]).collect()
        };
        assert_eq!(extents(Kind::default()), [3; 6]);
        let own = extents(Kind { own_extents: true, ..Kind::default() });
        assert!(own[..4].iter().any(|&extent| extent != own[0]), "{own:?}");
        assert_eq!(own[4], own[5]);
    }

    #[test]
    fn edges_come_in_turn() {
        let of = |params: &str, edge| {
            let kind = Kind { special: true, edge: Some(edge), ..Kind::default() };
            let made = inputs(params, 1, kind);
            super::super::show::numbers(&made[0], 1000).to_string()
        };
        let floats: Vec<String> = (0..EDGES).map(|edge| of("%x: f32[]", edge)).collect();
        assert!(floats[0].contains("-0.0"), "{floats:?}");
        assert!(floats[1].contains("inf"), "{floats:?}");
        assert!(floats[2].contains("nan"), "{floats:?}");
        assert!(of("%x: i32[]", EDGES - 1).contains("2147483647"));
        for dtype in DataType::ALL {
            let params = format!("%x: {}[3]", dtype.short_name());
            (0..EDGES).for_each(|edge| assert!(!of(&params, edge).is_empty(), "{dtype}"));
        }
    }

    #[test]
    fn every_type_has_elements_and_special_ones() {
        let special = Kind { special: true, ..Kind::default() };
        for dtype in DataType::ALL {
            let params = format!("%x: tuple<{}[200], token>", dtype.short_name());
            for kind in [Kind::default(), special] {
                let made = inputs(&params, 1, kind);
                let Value::Tuple(parts) = &made[0] else { panic!("{:?}", made[0]) };
                let text = super::super::show::numbers(&parts[0], 1000).to_string();
                let float = dtype.is_float() || dtype.is_complex();
                assert_eq!(text.contains("nan"), kind.special && float, "{text}");
            }
        }
    }
}
