//! Shape values: small integer tensors whose elements are expressions over the symbols of a function.
//!
//! Programs compute shapes with ordinary ops on small integer tensors. Here such ops are evaluated on expressions instead of numbers. Bools are
//! the numbers 0 and 1. Arithmetic is assumed to fit its integer type.

use smallvec::SmallVec;

use super::budget::Budget;
use super::fold::evaluate_kernel;
use super::options::RunOptions;
use super::tensor::{Tensor, Value};
use crate::attr::Attr;
use crate::dims::{DimExpr, Facts, Verdict};
use crate::func::Function;
use crate::ids::{InstId, ValueId};
use crate::literal::TensorLiteral;
use crate::ops::{Compare, Direction, GetDimensionSize, Iota};
use crate::types::{TensorType, ValueType};
use sapwood_types::DataType;

/// The most elements of a shape value.
pub const MAX_SHAPE_VALUE: u64 = 64;

/// The ops that have a rule here. Each one is in a golden file of the patterns that evaluate shape values; a test requires it.
pub const SHAPE_VALUE_OPS: &[&str] = &[
    "abs",
    "add",
    "and",
    "broadcast_in_dim",
    "broadcast_to",
    "cast",
    "clamp",
    "compare",
    "concat",
    "constant",
    "dims",
    "div",
    "gather",
    "get_dimension_size",
    "iota",
    "max",
    "min",
    "mul",
    "neg",
    "not",
    "or",
    "reduce_max",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "refine",
    "rem",
    "reshape",
    "reverse",
    "select",
    "sign",
    "slice",
    "sub",
    "transpose",
];

/// The elements of a small integer tensor, in row-major order.
pub type ShapeValue = SmallVec<[DimExpr; 4]>;

/// Returns the number of elements, if a tensor of this type can be a shape value.
#[must_use]
pub fn shape_value_len(ty: &ValueType) -> Option<usize> {
    let ty = ty.as_tensor()?;
    let is_integer =
        matches!(ty.dtype, DataType::I32 | DataType::I64 | DataType::U32 | DataType::U64);
    if !is_integer && !ty.dtype.is_bool() {
        return None;
    }
    let mut count = 1u64;
    for dim in &ty.dims {
        count = count.checked_mul(dim.known()?).filter(|&n| n <= MAX_SHAPE_VALUE)?;
    }
    Some(count as usize)
}

/// Returns the elements of a literal.
#[must_use]
pub fn shape_value_of_literal(literal: &TensorLiteral) -> Option<ShapeValue> {
    let count = shape_value_len(&literal.ty().into())? as u64;
    let number = |bytes: &[u8]| {
        let mut wide = [0u8; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let n = u64::from_le_bytes(wide);
        match literal.dtype() {
            DataType::I32 => Some((n as i32).into()),
            DataType::I64 => Some(n as i64),
            _ => i64::try_from(n).ok(),
        }
    };
    (0..count).map(|i| DimExpr::constant(number(literal.element(i)?)?)).collect()
}

/// Returns the literal of a shape value, if all its elements are numbers that fit the type.
#[must_use]
pub fn shape_value_as_literal(values: &[DimExpr], ty: &TensorType) -> Option<TensorLiteral> {
    let shape = ty.known_shape()?;
    let mut bytes = Vec::new();
    for value in values {
        let n = value.as_constant()?;
        match ty.dtype {
            DataType::I64 => bytes.extend(n.to_le_bytes()),
            DataType::I32 => bytes.extend(i32::try_from(n).ok()?.to_le_bytes()),
            DataType::U64 => bytes.extend(u64::try_from(n).ok()?.to_le_bytes()),
            DataType::U32 => bytes.extend(u32::try_from(n).ok()?.to_le_bytes()),
            dtype if dtype.is_bool() && (0..=1).contains(&n) => bytes.push(n as u8),
            _ => return None,
        }
    }
    TensorLiteral::new(ty.dtype, &shape, &bytes).ok()
}

/// Evaluates an instruction whose operands have shape values. Returns `None` if one has none, or if the op has no rule here.
pub fn evaluate_shape_value(
    f: &Function,
    inst: InstId,
    facts: &Facts,
    operand: &mut dyn FnMut(ValueId) -> Option<ShapeValue>,
) -> Option<ShapeValue> {
    let result = f.value_type(f.value_of(inst)?);
    let count = shape_value_len(result)?;
    if !SHAPE_VALUE_OPS.contains(&f.op_name(inst)) {
        return None;
    }
    let value = match f.op_name(inst) {
        "constant" => return shape_value_of_literal(f.constant_of(f.value_of(inst)?)?),
        "dims" => f.attr(inst, "values")?.as_dim_exprs()?,
        "get_dimension_size" => {
            let op = f.view::<GetDimensionSize>(inst)?;
            let dims = &f.value_type(op.input).as_tensor()?.dims;
            SmallVec::from_iter([dims.get(op.axis.0 as usize)?.to_expr()?])
        }
        "iota" => {
            let axis = usize::try_from(f.view::<Iota>(inst)?.axis.0).ok()?;
            let shape = result.as_tensor()?.known_shape()?;
            let extent = *shape.get(axis)?;
            let step: u64 = shape[axis + 1..].iter().product();
            let element = |n: u64| DimExpr::constant((n / step % extent) as i64);
            (0..count as u64).map(element).collect::<Option<_>>()?
        }
        "reshape" | "transpose" | "slice" | "concat" | "broadcast_to" | "broadcast_in_dim"
        | "reverse" | "gather" => return move_elements(f, inst, operand),
        "reduce_sum" | "reduce_prod" | "reduce_max" | "reduce_min" => {
            reduce(f, inst, count, operand)?
        }
        name => {
            let operands = f.operands(inst).iter().map(|&v| operand(v));
            let operands = operands.collect::<Option<SmallVec<[ShapeValue; 3]>>>()?;
            let direction = f.view::<Compare>(inst).map(|op| op.direction);
            let from_bool = f.operands(inst).first().is_some_and(|&v| is_bool(f.value_type(v)));
            let to_bool = is_bool(result);
            let rule = Elementwise { name, direction, is_bool: from_bool, to_bool, facts };
            (0..count)
                .map(|i| {
                    let at =
                        |list: &ShapeValue| list.get(i.min(list.len().checked_sub(1)?)).copied();
                    let args = operands.iter().map(at);
                    rule.apply(&args.collect::<Option<SmallVec<[DimExpr; 3]>>>()?)
                })
                .collect::<Option<_>>()?
        }
    };
    if facts.is_empty() {
        return Some(value);
    }
    value.into_iter().map(|expr| facts.simplify(expr)).collect()
}

fn is_bool(ty: &ValueType) -> bool {
    ty.as_tensor().is_some_and(|ty| ty.dtype.is_bool())
}

// Evaluates an op that only moves elements: its kernel runs on the numbers of the elements.
fn move_elements(
    f: &Function,
    inst: InstId,
    operand: &mut dyn FnMut(ValueId) -> Option<ShapeValue>,
) -> Option<ShapeValue> {
    if f.attrs(inst).iter().any(Attr::has_symbols) {
        return None;
    }
    let (mut all, mut args) = (ShapeValue::new(), Vec::new());
    let gathers = f.op_name(inst) == "gather";
    for (n, &value) in f.operands(inst).iter().enumerate() {
        let elements = operand(value)?;
        let shape = f.value_type(value).as_tensor()?.known_shape()?;
        let shape: SmallVec<[usize; 4]> = shape.iter().map(|&n| n as usize).collect();
        let numbers: Vec<i64> = if gathers && n == 1 {
            elements.iter().map(|e| e.as_constant()).collect::<Option<_>>()?
        } else {
            let start = all.len() as i64;
            all.extend(elements.iter().copied());
            (start..all.len() as i64).collect()
        };
        args.push(Value::Tensor(Tensor::new(DataType::I64, shape, numbers)));
    }
    let ty = f.value_type(f.value_of(inst)?).as_tensor()?.with_dtype(DataType::I64);
    let budget = Budget::new(&RunOptions::default());
    let def = f.op_def(inst)?;
    let moved = evaluate_kernel(f, inst, def, args, vec![ty.into()], &budget).ok()?;
    let moved = moved.first()?.as_tensor()?;
    let element = |&n: &i64| all.get(usize::try_from(n).ok()?).copied();
    moved.elements::<i64>()?.iter().map(element).collect()
}

fn reduce(
    f: &Function,
    inst: InstId,
    count: usize,
    operand: &mut dyn FnMut(ValueId) -> Option<ShapeValue>,
) -> Option<ShapeValue> {
    let &input = f.operands(inst).first()?;
    let elements = operand(input)?;
    let axes = f.attr(inst, "axes")?.as_ints()?;
    let shape = f.value_type(input).as_tensor()?.known_shape()?;
    if is_bool(f.value_type(input)) {
        return None;
    }
    let mut groups: Vec<Option<DimExpr>> = vec![None; count];
    for (n, &element) in elements.iter().enumerate() {
        let (mut rest, mut group, mut step) = (n as u64, 0u64, 1u64);
        for (axis, &extent) in shape.iter().enumerate().rev() {
            if !axes.contains(&(axis as i64)) {
                group += rest % extent * step;
                step *= extent;
            }
            rest /= extent;
        }
        let group = groups.get_mut(group as usize)?;
        *group = Some(match *group {
            None => element,
            Some(so_far) => match f.op_name(inst) {
                "reduce_sum" => so_far.checked_add(element)?,
                "reduce_prod" => so_far.checked_mul(element)?,
                "reduce_max" => so_far.max(element)?,
                _ => so_far.min(element)?,
            },
        });
    }
    let empty = match f.op_name(inst) {
        "reduce_sum" => DimExpr::constant(0),
        "reduce_prod" => DimExpr::constant(1),
        _ => None,
    };
    groups.into_iter().map(|group| group.or(empty)).collect()
}

// An op that computes each element alone.
struct Elementwise<'a> {
    name: &'a str,
    direction: Option<Direction>,
    is_bool: bool,
    to_bool: bool,
    facts: &'a Facts,
}

impl Elementwise<'_> {
    fn apply(&self, args: &[DimExpr]) -> Option<DimExpr> {
        let constant = DimExpr::constant;
        let zero = constant(0)?;
        match (self.name, args) {
            ("add" | "mul" | "sub" | "div" | "rem" | "neg", _) if self.is_bool => None,
            ("add", &[a, b]) => a.checked_add(b),
            ("sub", &[a, b]) => a.checked_sub(b),
            ("mul", &[a, b]) => a.checked_mul(b),
            ("neg", &[a]) => zero.checked_sub(a),
            ("abs", &[a]) => a.max(zero.checked_sub(a)?),
            ("min", &[a, b]) => a.min(b),
            ("max", &[a, b]) => a.max(b),
            ("clamp", &[low, x, high]) => self.simplify(x.max(low)?)?.min(high),
            ("sign", &[a]) => self.simplify(a.max(constant(-1)?)?.min(constant(1)?)?),
            ("div", &[a, b]) => self.quotient(a, b),
            // rem(a, b) = a - b*div(a, b)
            ("rem", &[a, b]) => a.checked_sub(b.checked_mul(self.quotient(a, b)?)?),
            ("and" | "or", &[a, b]) if self.is_bool => {
                let neutral = i64::from(self.name == "and");
                match (a.as_constant(), b.as_constant()) {
                    (Some(n), _) => Some(if n == neutral { b } else { a }),
                    (_, Some(n)) => Some(if n == neutral { a } else { b }),
                    _ if self.name == "and" => a.min(b),
                    _ => a.max(b),
                }
            }
            ("not", &[a]) if self.is_bool => constant(1)?.checked_sub(a),
            ("compare", &[a, b]) => self.compare(a, b),
            ("select", &[p, a, b]) if p.as_constant().is_some() => {
                Some(if p.as_constant() == Some(0) { b } else { a })
            }
            ("select", &[_, a, b]) if a == b => Some(a),
            // select(p, a, b) = b + p*(a - b)
            ("select", &[p, a, b]) => b.checked_add(p.checked_mul(a.checked_sub(b)?)?),
            ("cast", &[a]) if self.to_bool && !self.is_bool => self.not_equal(a, zero),
            ("cast" | "refine", &[a]) => Some(a),
            _ => None,
        }
    }

    fn simplify(&self, expr: DimExpr) -> Option<DimExpr> {
        if self.facts.is_empty() { Some(expr) } else { self.facts.simplify(expr) }
    }

    // Returns the quotient rounded towards zero, for a divisor of at least one.
    fn quotient(&self, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
        let bounds = self.facts.bounds(a);
        let Some(divisor) = b.as_constant() else {
            let exact = self.facts.bounds(b).is_at_least(1).then(|| a.divide_exactly(b));
            return exact.flatten();
        };
        if divisor < 1 {
            return None;
        }
        if bounds.is_at_least(0) {
            return a.floordiv(divisor);
        }
        // div(-a, b) = -div(a, b)
        let zero = DimExpr::constant(0)?;
        let positive = bounds.is_at_most(0).then(|| zero.checked_sub(a)).flatten()?;
        zero.checked_sub(positive.floordiv(divisor)?)
    }

    // [a != b] = min(max(a - b, b - a), 1)
    fn not_equal(&self, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
        match self.facts.compare(a, b) {
            Verdict::Equal => DimExpr::constant(0),
            Verdict::Different => DimExpr::constant(1),
            Verdict::Unknown => {
                let distance = a.checked_sub(b)?.max(b.checked_sub(a)?)?;
                distance.min(DimExpr::constant(1)?)
            }
        }
    }

    // [a < b] = min(max(b - a, 0), 1)
    fn less(&self, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
        let (zero, one) = (DimExpr::constant(0)?, DimExpr::constant(1)?);
        let difference = b.checked_sub(a)?;
        let bounds = self.facts.bounds(difference);
        match (bounds.is_at_least(1), bounds.is_at_most(0)) {
            (true, _) => Some(one),
            (_, true) => Some(zero),
            _ => difference.max(zero)?.min(one),
        }
    }

    fn compare(&self, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
        let not = |p: DimExpr| DimExpr::constant(1)?.checked_sub(p);
        match self.direction? {
            Direction::Ne => self.not_equal(a, b),
            Direction::Eq => not(self.not_equal(a, b)?),
            Direction::Lt => self.less(a, b),
            Direction::Gt => self.less(b, a),
            Direction::Ge => not(self.less(a, b)?),
            Direction::Le => not(self.less(b, a)?),
        }
    }
}
