//! Canonicalizations of `select`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::{
    Abs, And, Cast, Compare, CompareOrder, Direction, Max, Min, Neg, Not, Or, Select,
};

use super::numeric_constants::{is_any_zero, is_bool, is_complex};
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

/// `select(p, f(x), f(y)) = f(select(p, x, y))`, if the arms have no other use.
///
/// Floats: exact.
fn select_of_unaries(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.on_true == op.on_false || !rw.one_use(op.on_true) || !rw.one_use(op.on_false) {
        return None;
    }
    let (f, g) = (rw.def::<Unary>(op.on_true)?, rw.def::<Unary>(op.on_false)?);
    if f.key != g.key || f.attrs != g.attrs || rw.ty(f.input) != rw.ty(g.input) {
        return None;
    }
    let input = rw.emit(Select { pred: op.pred, on_true: f.input, on_false: g.input })?;
    rw.emit_parts(&f.with(input))
}

/// `select(p, x ∘ y, x ∘ z) = x ∘ select(p, y, z)` and `select(p, x ∘ z, y ∘ z) = select(p, x, y) ∘ z`, if the arms have no other use.
///
/// For all elementwise ops of two operands.
///
/// Floats: exact.
fn select_of_binaries(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.on_true == op.on_false || !rw.one_use(op.on_true) || !rw.one_use(op.on_false) {
        return None;
    }
    let (f, g) = (rw.def::<Binary>(op.on_true)?, rw.def::<Binary>(op.on_false)?);
    if f.key != g.key || f.attrs != g.attrs {
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
