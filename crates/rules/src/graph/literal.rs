//! Constants in patterns: matched by what they are, wherever and in whatever shape they stand.

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo};
use sapwood_ptir::{Function, InstId, Op, TensorLiteral, ValueId};

/// A constant of a pattern.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// All elements are this number, whatever shape and element type.
    Number(f64),
    /// This literal. A splat stands for any shape, and for the same number in other element types, unless types count.
    Tensor(TensorLiteral),
}

impl Literal {
    /// Whether a value is this constant. Broadcasts of constants count as constants.
    pub(crate) fn fits(&self, f: &Function, value: ValueId, typed: bool) -> bool {
        let Some((found, _)) = constant_behind(f, value) else { return false };
        match self {
            Self::Number(number) => is_number(found, *number),
            Self::Tensor(literal) if typed => {
                found == literal && f.value_type(value).as_tensor() == Some(&literal.ty())
            }
            Self::Tensor(literal) => match (literal.as_splat(), found.as_splat()) {
                (Some(a), Some(b)) if literal.dtype() == found.dtype() => a == b,
                (Some(_), Some(_)) => number_of(literal).is_some_and(|n| is_number(found, n)),
                _ => literal == found,
            },
        }
    }

    /// As messages show it.
    pub(crate) fn show(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Tensor(literal) => match (literal.as_splat(), number_of(literal)) {
                (Some(_), Some(number)) => format!("a constant {number}"),
                _ => format!("a constant of type {}", literal.ty()),
            },
        }
    }
}

/// The constant a value is or is a broadcast of, and the instructions from the value to it.
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

// Whether all elements are this number.
fn is_number(literal: &TensorLiteral, number: f64) -> bool {
    let Some(element) = literal.as_splat() else { return false };
    TensorLiteral::filled(literal.dtype(), &[], number)
        .is_ok_and(|same| same.as_splat() == Some(element))
}

// The number all elements are, if `f64` has it.
fn number_of(literal: &TensorLiteral) -> Option<f64> {
    let element = TensorLiteral::splat(literal.dtype(), &[], literal.as_splat()?).ok()?;
    let tensor = sapwood_ptir::eval::Tensor::from_literal(&element).ok()?;
    let text = sapwood_ptir::eval::Value::Tensor(tensor).to_string();
    // `1.5 : f32[]`
    let number = text.split(" : ").next()?;
    match number {
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => number.parse().ok(),
    }
}
