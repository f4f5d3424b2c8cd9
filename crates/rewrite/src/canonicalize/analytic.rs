//! Canonicalizations of exponentials, logarithms and roots. All of them change the number of roundings.

use sapwood_ptir::Value;
use sapwood_ptir::ops::{Abs, Add, Div, Exp, Expm1, Log, Log1p, Logistic, Mul, Neg, Sqrt, Sub};

use super::numeric_constants::is_float;
use crate::pattern::Rewrite;

crate::patterns! { "analytic":
    exp_of_log hops 1 when 0 in [Log] floats fast,
    log_of_exp when 0 in [Exp] floats fast,
    exp_minus_one when 0 in [Exp] and 1 in constants floats fast,
    exp_plus_minus_one when 0 in [Exp] and 1 in constants floats fast,
    log_of_one_more when 0 in [Add] floats fast,
    product_of_exps when 0 in [Exp] and 1 in [Exp] floats fast,
    sqrt_of_square when 0 in [Mul] floats fast,
    logistic_written_out hops 3 when 1 in [Add] and 0 in constants floats fast,
}

/// `exp(log(x)) = x`.
///
/// Floats: fast.
fn exp_of_log(op: Exp, rw: &mut Rewrite<'_>) -> Option<Value> {
    let log = rw.def::<Log>(op.input)?;
    rw.floats().fast().then_some(log.input)
}

/// `log(exp(x)) = x` for floats.
///
/// Not for complex numbers, whose logarithm has branches.
///
/// Floats: fast.
fn log_of_exp(op: Log, rw: &mut Rewrite<'_>) -> Option<Value> {
    let exp = rw.def::<Exp>(op.input)?;
    (rw.floats().fast() && is_float(rw, op.input)).then_some(exp.input)
}

/// `exp(x) - 1 = expm1(x)`.
///
/// Floats: fast. The result is more precise near zero.
fn exp_minus_one(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !rw.is_one(op.rhs) {
        return None;
    }
    let exp = rw.def::<Exp>(op.lhs)?;
    rw.emit(Expm1 { input: exp.input })
}

/// `exp(x) + -1 = expm1(x)`.
///
/// Floats: fast. The result is more precise near zero.
fn exp_plus_minus_one(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !rw.is_number(op.rhs, -1.0) {
        return None;
    }
    let exp = rw.def::<Exp>(op.lhs)?;
    rw.emit(Expm1 { input: exp.input })
}

/// `log(x + 1) = log1p(x)`.
///
/// Floats: fast. The result is more precise near zero.
fn log_of_one_more(op: Log, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() {
        return None;
    }
    let sum = rw.def::<Add>(op.input)?;
    if !rw.is_one(sum.rhs) {
        return None;
    }
    rw.emit(Log1p { input: sum.lhs })
}

/// `exp(x) * exp(y) = exp(x + y)`, if the factors have no other use.
///
/// Floats: fast.
fn product_of_exps(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !rw.one_use(op.lhs) || !rw.one_use(op.rhs) {
        return None;
    }
    let (x, y) = (rw.def::<Exp>(op.lhs)?, rw.def::<Exp>(op.rhs)?);
    let input = rw.emit(Add { lhs: x.input, rhs: y.input })?;
    rw.emit(Exp { input })
}

/// `sqrt(x * x) = |x|` for floats.
///
/// Floats: fast. The square may overflow.
fn sqrt_of_square(op: Sqrt, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !is_float(rw, op.input) {
        return None;
    }
    let square = rw.def::<Mul>(op.input)?;
    if square.lhs != square.rhs {
        return None;
    }
    rw.emit(Abs { input: square.lhs })
}

/// `1 / (exp(-x) + 1) = logistic(x)`.
///
/// Floats: fast.
fn logistic_written_out(op: Div, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.floats().fast() || !rw.is_one(op.lhs) {
        return None;
    }
    let sum = rw.def::<Add>(op.rhs)?;
    let exp = rw.def::<Exp>(sum.lhs)?;
    if !rw.is_one(sum.rhs) {
        return None;
    }
    let neg = rw.def::<Neg>(exp.input)?;
    rw.emit(Logistic { input: neg.input })
}
