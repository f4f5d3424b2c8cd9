//! Canonicalizations of `select`.

use sapwood_ptir::ops::{
    Abs, Add, And, Cast, Compare, CompareOrder, Direction, Max, Min, Mul, Neg, Not, Or, Select, Sub,
};
use sapwood_ptir::{Op, OpParts, Value, Values};

use super::numeric_constants::{
    either_order, int_like, is_any_zero, is_bool, is_complex, is_constant, is_highest,
};
use super::tensor_views::ElementwiseView;
use crate::FloatMode;
use crate::pattern::{Binary, Rewrite, Unary};

crate::patterns! { "select":
    select_by_constant when 0 in constants,
    select_of_equals when equal,
    select_by_not when 0 in [Not],
    select_is_predicate when 1 in constants and 2 in constants,
    select_is_logic when 1 in constants or 2 in constants,
    select_by_itself when equal,
    select_is_cast when 1 in constants and 2 in constants,
    select_of_select when 1 in [Select] or 2 in [Select],
    select_by_equality when 0 in [Compare],
    select_is_min_max when 0 in [Compare],
    select_is_abs when 0 in [Compare],
    select_of_unaries when 1 in [Unary] and 2 in [Unary],
    select_of_binaries when 1 in [Binary] and 2 in [Binary],
    unary_of_constant_select when 0 in [Select],
    elementwise_of_constant_select when any in [Select],
    mul_by_bool when any in [Cast] floats fast,
    sum_of_opposite_selects on [Add, Sub] when 0 in [Select] and 1 in [Select],
    capped_increment when 1 in [Add] and 2 in constants of [Bool],
}

/// `select(true, x, y) = x` and `select(false, x, y) = y`.
///
/// Floats: exact.
fn select_by_constant(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    if rw.is_one(op.pred) {
        return Some(op.on_true);
    }
    rw.is_zero(op.pred).then_some(op.on_false)
}

/// `select(p, x, x) = x`.
///
/// Floats: exact.
fn select_of_equals(op: Select, _: &mut Rewrite<'_>) -> Option<Value> {
    (op.on_true == op.on_false).then_some(op.on_true)
}

/// `select(~p, x, y) = select(p, y, x)`.
///
/// Floats: exact.
fn select_by_not(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    let not = rw.def::<Not>(op.pred)?;
    rw.emit(Select { pred: not.input, on_true: op.on_false, on_false: op.on_true })
}

/// `select(p, true, false) = p` and `select(p, false, true) = ~p`.
///
/// Floats: never.
fn select_is_predicate(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_bool(rw, op.on_true) || rw.ty(op.pred) != rw.result_type() {
        return None;
    }
    if rw.is_one(op.on_true) && rw.is_zero(op.on_false) {
        return Some(op.pred);
    }
    if rw.is_zero(op.on_true) && rw.is_one(op.on_false) {
        return rw.emit(Not { input: op.pred });
    }
    None
}

/// `select(p, x, false) = p & x` and `select(p, true, x) = p | x`.
///
/// Floats: never.
fn select_is_logic(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_bool(rw, op.on_true) || rw.ty(op.pred) != rw.result_type() {
        return None;
    }
    if rw.is_zero(op.on_false) {
        return rw.emit(And { lhs: op.pred, rhs: op.on_true });
    }
    if rw.is_one(op.on_true) {
        return rw.emit(Or { lhs: op.pred, rhs: op.on_false });
    }
    None
}

/// `select(p, p, x) = p | x` and `select(p, x, p) = p & x`.
///
/// Floats: never.
fn select_by_itself(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.on_true == op.pred {
        return rw.emit(Or { lhs: op.pred, rhs: op.on_false });
    }
    if op.on_false == op.pred {
        return rw.emit(And { lhs: op.pred, rhs: op.on_true });
    }
    None
}

/// `select(p, 1, 0) = cast(p)`, for numbers.
///
/// Floats: exact.
fn select_is_cast(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (pred, ty) = (rw.tensor(op.pred)?, rw.result_tensor()?);
    if ty.dtype.is_bool() || pred.dims != ty.dims {
        return None;
    }
    if !rw.is_one(op.on_true) || !rw.is_zero(op.on_false) {
        return None;
    }
    rw.emit(Cast { input: op.pred, ty: ty.clone().into() })
}

/// `select(p, select(p, x, y), z) = select(p, x, z)` and `select(p, x, select(p, y, z)) = select(p, x, z)`.
///
/// Floats: exact.
fn select_of_select(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = |rw: &mut Rewrite<'_>, arm| rw.def::<Select>(arm).filter(|s| s.pred == op.pred);
    let (yes, no) = (inner(rw, op.on_true), inner(rw, op.on_false));
    if yes.is_none() && no.is_none() {
        return None;
    }
    let on_true = yes.map_or(op.on_true, |s| s.on_true);
    let on_false = no.map_or(op.on_false, |s| s.on_false);
    rw.emit(Select { pred: op.pred, on_true, on_false })
}

/// `select(x == y, x, y) = y` and `select(x != y, x, y) = x`, the comparison in any order.
///
/// Floats: nsz. 0 and -0 are equal.
fn select_by_equality(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    let compare = rw.def::<Compare>(op.pred)?;
    let (x, y) = (compare.lhs, compare.rhs);
    let arms = (op.on_true, op.on_false);
    if arms != (x, y) && arms != (y, x) || !rw.allows(FloatMode::Nsz, x) {
        return None;
    }
    match compare.direction {
        Direction::Eq => Some(op.on_false),
        Direction::Ne => Some(op.on_true),
        _ => None,
    }
}

/// `select(x < y, x, y) = min(x, y)` and `select(x > y, x, y) = max(x, y)`, likewise for `le`, `ge` and the other order.
///
/// Floats: fast. With NaN the left side is `y`.
fn select_is_min_max(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    let compare = rw.def::<Compare>(op.pred)?;
    let (lhs, rhs) = (compare.lhs, compare.rhs);
    if !rw.allows(FloatMode::Fast, lhs) || is_complex(rw, lhs) {
        return None;
    }
    let straight = match (op.on_true, op.on_false) {
        arms if arms == (lhs, rhs) => true,
        arms if arms == (rhs, lhs) => false,
        _ => return None,
    };
    let less = match compare.direction {
        Direction::Lt | Direction::Le => true,
        Direction::Gt | Direction::Ge => false,
        Direction::Eq | Direction::Ne => return None,
    };
    if less == straight { rw.emit(Min { lhs, rhs }) } else { rw.emit(Max { lhs, rhs }) }
}

/// `select(x < 0, -x, x) = |x|` and `select(x > 0, x, -x) = |x|`, likewise for `le`, `ge`.
///
/// Floats: nsz. For -0 the left side may be -0.
fn select_is_abs(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    let compare = rw.def::<Compare>(op.pred)?;
    let x = compare.lhs;
    let partial = compare.order == CompareOrder::Partial;
    if !partial || !is_any_zero(rw, compare.rhs) || !rw.allows(FloatMode::Nsz, x) {
        return None;
    }
    let (negative, positive) = match compare.direction {
        Direction::Lt | Direction::Le => (op.on_true, op.on_false),
        Direction::Gt | Direction::Ge => (op.on_false, op.on_true),
        Direction::Eq | Direction::Ne => return None,
    };
    let unsigned = rw.dtype(x)?.is_unsigned_integer();
    if unsigned || positive != x || rw.def::<Neg>(negative)?.input != x {
        return None;
    }
    rw.emit(Abs { input: x })
}

/// `select(p, f(x), f(y)) = f(select(p, x, y))`, if the arms have no other use. Not for constants `x` and `y`.
///
/// Floats: exact.
fn select_of_unaries(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.on_true == op.on_false || !rw.one_use(op.on_true) || !rw.one_use(op.on_false) {
        return None;
    }
    let (f, g) = (rw.def::<Unary>(op.on_true)?, rw.def::<Unary>(op.on_false)?);
    let constants = is_constant(rw, f.input) && is_constant(rw, g.input);
    if f.key != g.key || f.attrs != g.attrs || rw.ty(f.input) != rw.ty(g.input) || constants {
        return None;
    }
    let input = rw.emit(Select { pred: op.pred, on_true: f.input, on_false: g.input })?;
    rw.emit_parts(&f.with(input))
}

/// `select(p, x ∘ y, x ∘ z) = x ∘ select(p, y, z)` and `select(p, x ∘ z, y ∘ z) = select(p, x, y) ∘ z`, if the arms have no other use.
///
/// For all elementwise ops of two operands that are not all constants.
///
/// Floats: exact.
fn select_of_binaries(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.on_true == op.on_false || !rw.one_use(op.on_true) || !rw.one_use(op.on_false) {
        return None;
    }
    let (f, g) = (rw.def::<Binary>(op.on_true)?, rw.def::<Binary>(op.on_false)?);
    let constants = [f.lhs, f.rhs, g.lhs, g.rhs].into_iter().all(|v| is_constant(rw, v));
    if f.key != g.key || f.attrs != g.attrs || constants {
        return None;
    }
    if f.lhs == g.lhs && rw.ty(f.rhs) == rw.ty(g.rhs) {
        let rhs = rw.emit(Select { pred: op.pred, on_true: f.rhs, on_false: g.rhs })?;
        return rw.emit_parts(&f.with(f.lhs, rhs));
    }
    if f.rhs == g.rhs && rw.ty(f.lhs) == rw.ty(g.lhs) {
        let lhs = rw.emit(Select { pred: op.pred, on_true: f.lhs, on_false: g.lhs })?;
        return rw.emit_parts(&f.with(lhs, f.rhs));
    }
    None
}

// Returns the predicate and the arms of a selection between two constants, each of equal elements, that has no other use.
fn constant_select(rw: &mut Rewrite<'_>, value: Value) -> Option<Select> {
    let select = rw.def::<Select>(value)?;
    let constants = rw.splat_of(select.on_true).is_some() && rw.splat_of(select.on_false).is_some();
    (constants && rw.one_use(value)).then_some(select)
}

/// `f(select(p, c1, c2)) = select(p, f(c1), f(c2))` for elementwise `f` of one operand and constants `c1`, `c2` of equal elements.
///
/// Only if nothing else uses the selection. The ops on constants are folded.
///
/// Floats: exact.
fn unary_of_constant_select(op: Unary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let Select { pred, on_true, on_false } = constant_select(rw, op.input)?;
    let on_true = rw.emit_parts(&op.with(on_true))?;
    let on_false = rw.emit_parts(&op.with(on_false))?;
    rw.emit(Select { pred, on_true, on_false })
}

/// `f(select(p, c1, c2), c) = select(p, f(c1, c), f(c2, c))` for other elementwise `f` and constants of equal elements, in any order.
///
/// Only if nothing else uses the selection. The ops on constants are folded.
///
/// Floats: exact.
fn elementwise_of_constant_select(op: ElementwiseView, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let (mut found, mut yes, mut no) = (None, Values::new(), Values::new());
    for &operand in f.operands(op.root) {
        if rw.splat_of(operand).is_some() {
            yes.push(operand);
            no.push(operand);
        } else if found.is_none() {
            let select = constant_select(rw, operand)?;
            yes.push(select.on_true);
            no.push(select.on_false);
            found = Some(select.pred);
        } else {
            return None;
        }
    }
    let pred = found?;
    let mut parts = OpParts::new(f.op_key(op.root));
    parts.attrs = f.attrs(op.root).iter().cloned().collect();
    parts.result_types.push(rw.result_type()?.clone());
    let with = |operands: Values| OpParts { operands, ..parts.clone() };
    let (yes, no) = (with(yes), with(no));
    let (on_true, on_false) = (rw.emit_parts(&yes)?, rw.emit_parts(&no)?);
    rw.emit(Select { pred, on_true, on_false })
}

/// `x * cast(p) = select(p, x, 0)` for a bool `p`, in any order.
///
/// Floats: fast. Infinities and NaN give NaN, negative numbers -0.
fn mul_by_bool(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) || is_bool(rw, op.lhs) {
        return None;
    }
    either_order(rw, (op.lhs, op.rhs), |rw, x, factor| {
        let cast = rw.def::<Cast>(factor)?;
        if !is_bool(rw, cast.input) || x == factor {
            return None;
        }
        let on_false = rw.filled_like_result(0.0)?;
        rw.emit(Select { pred: cast.input, on_true: x, on_false })
    })
}

/// `select(p, x, 0) + select(p, 0, y) = select(p, x, y)`, with `-` as `select(p, x, -y)`, and in any order.
///
/// For a difference only if nothing else uses one of the selections.
///
/// Floats: nsz. `-0 + 0` is 0.
fn sum_of_opposite_selects(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (a, b) = (rw.def::<Select>(op.lhs)?, rw.def::<Select>(op.rhs)?);
    if a.pred != b.pred || !rw.allows(FloatMode::Nsz, op.lhs) || is_bool(rw, op.lhs) {
        return None;
    }
    let straight = is_any_zero(rw, a.on_false) && is_any_zero(rw, b.on_true);
    let crossed = is_any_zero(rw, a.on_true) && is_any_zero(rw, b.on_false);
    let (x, y) = match straight {
        true => (a.on_true, b.on_false),
        false if crossed => (a.on_false, b.on_true),
        false => return None,
    };
    let y = match op.key == Sub::key() {
        true if !rw.one_use(op.lhs) && !rw.one_use(op.rhs) => return None,
        true => rw.emit(Neg { input: y })?,
        false => y,
    };
    let (on_true, on_false) = if straight { (x, y) } else { (y, x) };
    rw.emit(Select { pred: a.pred, on_true, on_false })
}

/// `select(x != max, x + 1, max) = min(x, max - 1) + 1` for integers, where `max` is the largest one.
///
/// Only if nothing else uses the comparison and the sum.
///
/// Floats: never.
fn capped_increment(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (compare, sum) = (rw.def::<Compare>(op.pred)?, rw.def::<Add>(op.on_true)?);
    let x = compare.lhs;
    let same = compare.direction == Direction::Ne && sum.lhs == x && rw.is_one(sum.rhs);
    let (_, most) = rw.dtype(x)?.integer_range()?;
    let capped = is_highest(rw, compare.rhs) && is_highest(rw, op.on_false);
    if !same || !capped || !rw.one_use(op.pred) || !rw.one_use(op.on_true) {
        return None;
    }
    let limit = int_like(rw, x, most - 1)?;
    let lhs = rw.emit(Min { lhs: x, rhs: limit })?;
    rw.emit(Add { lhs, rhs: sum.rhs })
}
