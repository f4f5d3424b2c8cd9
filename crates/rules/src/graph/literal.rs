//! Constants in patterns: matched by value, whatever their position and shape.

use sapwood_ptir::eval::{Tensor, Value, bf16, f16};
use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo};
use sapwood_ptir::{Function, InstId, Op, TensorLiteral, ValueId};
use sapwood_types::DataType;

/// A number as it is written: integers are exact in every element type, others are rounded to it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    /// A number without a point or exponent.
    Int(i128),
    /// A number with a point or exponent.
    Float(f64),
}

impl Number {
    /// Parses a number.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.parse() {
            Ok(n) => Some(Self::Int(n)),
            // An integer that only fits float types.
            Err(_) => text.parse().ok().map(Self::Float),
        }
    }

    /// Returns a literal of this shape filled with the number. `None` if the number does not fit the element type, or is an integer
    /// that the type cannot represent.
    pub(crate) fn filled(self, dtype: DataType, shape: &[u64]) -> Option<TensorLiteral> {
        match self {
            Self::Int(n) if dtype.is_integer() => {
                let (least, most) = dtype.integer_range()?;
                let bytes = n.to_le_bytes();
                let element = bytes.get(..dtype.byte_size())?;
                (least..=most)
                    .contains(&n)
                    .then(|| TensorLiteral::splat(dtype, shape, element).ok())?
            }
            Self::Int(n) => {
                // Bools have 0 and 1, floats all small integers, complex numbers those of their parts.
                let part = dtype.complex_part().unwrap_or(dtype);
                let one = TensorLiteral::filled(part, &[], n as f64).ok()?;
                let exact = n.unsigned_abs() <= 1 || float_of(&one).is_some_and(|x| x as i128 == n);
                exact.then(|| TensorLiteral::filled(dtype, shape, n as f64).ok())?
            }
            Self::Float(x) => TensorLiteral::filled(dtype, shape, x).ok(),
        }
    }
}

impl Number {
    /// Returns the nearest float.
    pub(crate) fn as_float(self) -> f64 {
        match self {
            Self::Int(n) => n as f64,
            Self::Float(x) => x,
        }
    }

    /// Compares two numbers, integers exactly; `None` if one is not a number.
    pub(crate) fn compare(self, other: Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(&b)),
            (a, b) => a.as_float().partial_cmp(&b.as_float()),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(n) => n.fmt(f),
            Self::Float(x) => x.fmt(f),
        }
    }
}

/// A constant of a pattern.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Literal {
    /// All elements are this number, in any shape and element type.
    Number(Number),
    /// This literal. A splat matches any shape, and the same number in other element types, unless matching is typed. Bools are
    /// not numbers.
    Tensor(TensorLiteral),
    /// Any constant: `const c`.
    Any,
}

impl Literal {
    /// Returns whether a value is this constant or a broadcast of it. In typed matching the type of the value is checked elsewhere,
    /// and only the elements are compared here.
    pub(crate) fn fits(&self, f: &Function, value: ValueId, typed: bool) -> bool {
        constant_behind(f, value).is_some_and(|(found, _)| self.fits_constant(found, typed))
    }

    /// Returns whether a literal of the program is this constant.
    pub(crate) fn fits_constant(&self, found: &TensorLiteral, typed: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Number(number) => is_number(found, *number),
            Self::Tensor(literal) => match (literal.as_splat(), found.as_splat()) {
                (Some(a), Some(b)) if literal.dtype() == found.dtype() => a == b,
                (Some(_), Some(_)) => {
                    !typed
                        && !found.dtype().is_bool()
                        && number_of(literal).is_some_and(|n| is_number(found, n))
                }
                _ => literal == found,
            },
        }
    }

    /// Returns the text for messages.
    pub(crate) fn show(&self) -> String {
        match self {
            Self::Any => "a constant".into(),
            Self::Number(number) => number.to_string(),
            Self::Tensor(literal) => match (literal.as_splat(), number_of(literal)) {
                (Some(&[byte]), None) if literal.dtype().is_bool() => {
                    format!("a constant {}", byte != 0)
                }
                (Some(_), Some(number)) => format!("a constant {number}"),
                _ => format!("a constant of type {}", literal.ty()),
            },
        }
    }
}

/// Returns whether two values are the same constant; splats may differ in shape.
pub(crate) fn same_constant(f: &Function, a: ValueId, b: ValueId) -> bool {
    let (Some((a, _)), Some((b, _))) = (constant_behind(f, a), constant_behind(f, b)) else {
        return false;
    };
    same_literal(a, b)
}

/// Returns whether two literals are the same constant; splats may differ in shape.
pub(crate) fn same_literal(a: &TensorLiteral, b: &TensorLiteral) -> bool {
    match (a.as_splat(), b.as_splat()) {
        (Some(x), Some(y)) => a.dtype() == b.dtype() && x == y,
        _ => a == b,
    }
}

/// Returns whether a value is a constant or a broadcast of one.
pub(crate) fn is_constant(f: &Function, value: ValueId) -> bool {
    let broadcast = |inst| {
        let key = f.op_key(inst);
        key == BroadcastTo::key() || key == BroadcastInDim::key()
    };
    f.constant_of(value).is_some()
        || f.inst_of(value).is_some_and(|inst| {
            let source = f.operands(inst).first();
            broadcast(inst) && source.is_some_and(|&source| f.constant_of(source).is_some())
        })
}

/// Returns the constant that a value is, or is a broadcast of if it is a splat, and the instructions between them.
pub(crate) fn constant_behind(
    f: &Function,
    value: ValueId,
) -> Option<(&TensorLiteral, [Option<InstId>; 2])> {
    let inst = f.inst_of(value)?;
    if let Some(literal) = f.constant_of(value) {
        return Some((literal, [Some(inst), None]));
    }
    let key = f.op_key(inst);
    if key != BroadcastTo::key() && key != BroadcastInDim::key() {
        return None;
    }
    let source = *f.operands(inst).first()?;
    let literal = f.constant_of(source)?;
    literal.as_splat()?;
    Some((literal, [Some(inst), f.inst_of(source)]))
}

// Returns whether all elements are this number.
fn is_number(literal: &TensorLiteral, number: Number) -> bool {
    let Some(element) = literal.as_splat() else { return false };
    number.filled(literal.dtype(), &[]).is_some_and(|same| same.as_splat() == Some(element))
}

// Returns the float that all elements are, by value and not by text.
fn float_of(literal: &TensorLiteral) -> Option<f64> {
    let tensor = Tensor::from_literal(literal).ok()?;
    match literal.dtype() {
        DataType::F64 => tensor.elements::<f64>()?.first().copied(),
        DataType::F32 => tensor.elements::<f32>()?.first().map(|&x| f64::from(x)),
        DataType::F16 => tensor.elements::<f16>()?.first().map(|&x| f64::from(x)),
        DataType::Bf16 => tensor.elements::<bf16>()?.first().map(|&x| f64::from(x)),
        // All 8-bit floats are printed exactly.
        _ => match number_of(literal)? {
            Number::Int(n) => Some(n as f64),
            Number::Float(x) => Some(x),
        },
    }
}

/// Returns the elements of a constant as numbers, a splat as one; `None` for bools and complex numbers.
pub(crate) fn numbers_of(literal: &TensorLiteral) -> Option<Vec<Number>> {
    if literal.as_splat().is_some() {
        return Some(vec![number_of(literal)?]);
    }
    let tensor = Tensor::from_literal(literal).ok()?;
    let floats = match literal.dtype() {
        DataType::F64 => tensor.elements::<f64>()?.to_vec(),
        DataType::F32 => tensor.elements::<f32>()?.iter().map(|&x| x.into()).collect(),
        DataType::F16 => tensor.elements::<f16>()?.iter().map(|&x| x.into()).collect(),
        DataType::Bf16 => tensor.elements::<bf16>()?.iter().map(|&x| x.into()).collect(),
        DataType::I64 => {
            let ints = tensor.elements::<i64>()?;
            return Some(ints.iter().map(|&n| Number::Int(n.into())).collect());
        }
        DataType::I32 => {
            let ints = tensor.elements::<i32>()?;
            return Some(ints.iter().map(|&n| Number::Int(n.into())).collect());
        }
        _ => return None,
    };
    Some(floats.into_iter().map(Number::Float).collect())
}

// Returns the number that all elements are. Bools and complex numbers are not numbers.
fn number_of(literal: &TensorLiteral) -> Option<Number> {
    if literal.dtype().is_bool() {
        return None;
    }
    let element = TensorLiteral::splat(literal.dtype(), &[], literal.as_splat()?).ok()?;
    let tensor = Tensor::from_literal(&element).ok()?;
    let text = Value::Tensor(tensor).to_string();
    // `1.5 : f32[]`
    Number::parse(text.split(" : ").next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact_in_every_type() {
        let large = Number::Int((1 << 53) + 1);
        let fits = |n: Number, dtype| n.filled(dtype, &[]).is_some();
        assert!(fits(large, DataType::I64) && fits(large, DataType::U64));
        for dtype in [DataType::F64, DataType::F32, DataType::I32, DataType::Bool] {
            assert!(!fits(large, dtype), "{dtype}");
        }
        assert!(fits(Number::Int(1 << 53), DataType::F32));
        assert!(!fits(Number::Int(-1), DataType::U8) && fits(Number::Int(-1), DataType::I4));
        assert!(fits(Number::Int(1), DataType::Bool) && !fits(Number::Int(2), DataType::Bool));
        assert!(fits(Number::Int(2), DataType::C64) && fits(Number::Float(0.1), DataType::Bf16));
        assert_eq!(Number::parse("9007199254740993"), Some(large));
    }
}
