//! Constants in patterns: matched by value, whatever their position and shape.

use sapwood_ptir::eval::{Float, Int, Native, Tensor, Value};
use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo};
use sapwood_ptir::{Function, InstId, Op, TensorLiteral, ValueId, with_float, with_int};
use sapwood_types::DataType;

/// The number of elements up to which messages show a constant.
const MAX_SHOWN_ELEMENTS: u64 = 8;

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
                _ => match short_text(literal) {
                    Some(elements) => format!("a constant {elements}"),
                    None => format!("a constant of type {}", literal.ty()),
                },
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
    element_number(literal.dtype(), literal.as_splat()?).map(Number::as_float)
}

/// The numbers that an argument of a condition stands for. The elements of a constant are read where they are.
#[derive(Clone, Copy)]
pub(crate) enum Numbers<'a> {
    /// A number as it is written.
    One(Number),
    /// The elements of a constant; those of a splat are one number.
    Elements(&'a TensorLiteral),
}

impl<'a> Numbers<'a> {
    /// Returns the elements of a constant; `None` for bools and complex numbers.
    pub(crate) fn of_constant(literal: &'a TensorLiteral) -> Option<Self> {
        let dtype = literal.dtype();
        (dtype.is_integer() || dtype.is_float()).then_some(Self::Elements(literal))
    }

    /// Returns whether all pairs of numbers satisfy a test; one number is compared with all of the other argument. `None` if both
    /// have several elements and different shapes, or if the test is not decided for a pair and holds for all others.
    ///
    /// A written number is rounded to the element type of a constant that it is compared with: `c == 0.1` holds for an f32 constant.
    pub(crate) fn all(
        self,
        other: Self,
        test: impl Fn(Number, Number) -> Option<bool>,
    ) -> Option<bool> {
        let (a, b) = (self.rounded_like(other), other.rounded_like(self));
        let count = match (a, b) {
            _ if a.count() == 1 || b.count() == 1 => a.count().max(b.count()),
            // Elements are compared by position.
            (Self::Elements(x), Self::Elements(y)) if x.shape() == y.shape() => a.count(),
            _ => return None,
        };
        let mut decided = Some(true);
        for n in 0..count {
            match test(a.get(n)?, b.get(n)?) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => decided = None,
            }
        }
        decided
    }

    /// Returns the number, if it is one.
    pub(crate) fn single(self) -> Option<Number> {
        if self.count() == 1 { self.get(0) } else { None }
    }

    fn count(self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Elements(literal) => literal.stored_bytes().len() / literal.dtype().byte_size(),
        }
    }

    // Returns the n-th number, or the only one.
    fn get(self, n: usize) -> Option<Number> {
        match self {
            Self::One(number) => Some(number),
            Self::Elements(literal) => {
                let (bytes, size) = (literal.stored_bytes(), literal.dtype().byte_size());
                let at = if bytes.len() == size { 0 } else { n * size };
                element_number(literal.dtype(), bytes.get(at..at + size)?)
            }
        }
    }

    // Returns a written number as the element type of a float constant can represent it.
    fn rounded_like(self, other: Self) -> Self {
        let (Self::One(number), Self::Elements(literal)) = (self, other) else { return self };
        let dtype = literal.dtype();
        if !dtype.is_float() {
            return self;
        }
        let rounded = TensorLiteral::filled(dtype, &[], number.as_float()).ok();
        let rounded = rounded.and_then(|one| element_number(dtype, one.as_splat()?));
        Self::One(rounded.unwrap_or(number))
    }
}

// Returns the number that an element is; `None` for bools and complex numbers.
fn element_number(dtype: DataType, bytes: &[u8]) -> Option<Number> {
    if dtype.is_float() {
        return with_float!(dtype, T => Some(Number::Float(T::from_bytes(bytes).number())), _ => None);
    }
    with_int!(dtype, T => Some(Number::Int(T::from_bytes(bytes).to_i128())), _ => None)
}

// Returns the text of a constant with few elements: `[1, -2, 3]`.
fn short_text(literal: &TensorLiteral) -> Option<String> {
    let count = literal.shape().iter().product::<u64>();
    let tensor = (count <= MAX_SHOWN_ELEMENTS).then(|| Tensor::from_literal(literal).ok())?;
    let text = Value::Tensor(tensor?).to_string();
    // `[1, -2, 3] : i8[3]`
    text.split(" : ").next().map(str::to_owned)
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
    fn conditions_read_the_elements_of_every_type() {
        let i8s = TensorLiteral::from_slice(&[3], &[-1i8, 2, 100]).unwrap();
        let less = |a: Numbers<'_>, b: i128| {
            a.all(Numbers::One(Number::Int(b)), |x, y| Some(x.compare(y)?.is_lt()))
        };
        fn of(literal: &TensorLiteral) -> Numbers<'_> {
            Numbers::of_constant(literal).unwrap()
        }
        assert_eq!((less(of(&i8s), 101), less(of(&i8s), 100)), (Some(true), Some(false)));
        for dtype in DataType::ALL.iter().copied().filter(|t| t.is_integer() || t.is_float()) {
            let minus = if dtype.is_signed() { -3.0 } else { 3.0 };
            let splat = TensorLiteral::filled(dtype, &[4], minus).unwrap();
            assert_eq!(of(&splat).single().map(Number::as_float), Some(minus), "{dtype}");
        }
        let bools = TensorLiteral::filled(DataType::Bool, &[4], 1.0).unwrap();
        assert!(Numbers::of_constant(&bools).is_none());
    }

    #[test]
    fn written_numbers_are_rounded_to_the_element_type() {
        let tenths = TensorLiteral::from_slice(&[2], &[0.1f32, 0.1]).unwrap();
        let mixed = TensorLiteral::from_slice(&[2], &[0.1f32, f32::NAN]).unwrap();
        let equal = |literal, x| {
            let constant = Numbers::of_constant(literal).unwrap();
            constant.all(Numbers::One(Number::Float(x)), |a, b| Some(a.compare(b)?.is_eq()))
        };
        assert_eq!((equal(&tenths, 0.1), equal(&tenths, 0.2)), (Some(true), Some(false)));
        assert_eq!((equal(&mixed, 0.1), equal(&mixed, 0.2)), (None, Some(false)));
    }

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
