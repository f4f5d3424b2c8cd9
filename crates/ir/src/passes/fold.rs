//! Constants are computed, and identities of scalar arithmetic applied. Integers bit for bit, floats
//! bit for bit except which NaN. An operand is dropped only where it is a variable or a constant:
//! a call may do something.

use sapwood_types::DataType;

use super::PassError;
use crate::interpret::constant;
use crate::interpret::scalar::{self, Scalar};
use crate::mutate::{Mutate, mutate};
use crate::nodes::{BinaryOp, Expr, ExprRef, Program, ProgramRef, UnaryOp, types_match};

/// Folds every expression of a program.
///
/// # Errors
/// If a node cannot hold what became of its parts, which no well-formed program does.
pub fn fold(program: &Program) -> Result<ProgramRef, PassError> {
    program.map_functions(|function| Ok(mutate(function, &mut Fold)?))
}

/// Folds an expression from its leaves up.
///
/// # Errors
/// As [`fold`].
pub fn fold_expr(expr: &ExprRef) -> Result<ExprRef, PassError> {
    Ok(mutate(expr, &mut Fold)?)
}

struct Fold;

impl Mutate for Fold {
    fn mutate_expr(&mut self, expr: &ExprRef) -> Option<ExprRef> {
        let new = compute(expr).or_else(|| identity(expr))?;
        // The type stays, whatever the operands are.
        types_match(new.ty(), expr.ty()).then_some(new)
    }
}

/// An operator of constants is a constant.
fn compute(expr: &ExprRef) -> Option<ExprRef> {
    let dtype = expr.ty().as_scalar()?;
    let value = if let Some((op, left, right)) = expr.as_binary() {
        let value = scalar::binary(op, constant(left)?, constant(right)?)?;
        if op.is_truth() { value.cast(dtype)? } else { value }
    } else {
        let (op, operand) = expr.as_unary()?;
        let operand = constant(operand)?;
        match op {
            UnaryOp::Cast => operand.cast(dtype)?,
            UnaryOp::Not => scalar::unary(op, operand)?.cast(dtype)?,
            _ => scalar::unary(op, operand)?,
        }
    };
    make(value, expr)
}

fn make(value: Scalar, like: &Expr) -> Option<ExprRef> {
    match value {
        Scalar::Bool(value) => Some(Expr::const_bool(value, like.span())),
        Scalar::Int(dtype, value) => Expr::const_int(value, dtype, like.span()).ok(),
        Scalar::Float(dtype, value) => Expr::const_float(value, dtype, like.span()).ok(),
    }
}

fn is_plain(expr: &Expr) -> bool {
    expr.is_var() || expr.is_const()
}

fn identity(expr: &ExprRef) -> Option<ExprRef> {
    if let Some((op, left, right)) = expr.as_binary() {
        return of_two(expr, op, left, right);
    }
    match (&**expr, expr.as_unary()) {
        // --x = x, ~~x = x
        (_, Some((op @ (UnaryOp::Neg | UnaryOp::BitNot), operand))) => {
            let (inner, innermost) = operand.as_unary()?;
            (inner == op && is_number(innermost, DataType::is_integer)).then(|| innermost.clone())
        }
        // cast(x, T) = x if x is a T
        (_, Some((UnaryOp::Cast, operand))) => Some(operand.clone()),
        // (a, b)[0] = a
        (Expr::TupleGetItemExpr { tuple, index, .. }, _) => match &**tuple {
            Expr::MakeTuple { elements, .. } => {
                let kept = elements.get(*index as usize)?;
                let others = elements.iter().enumerate().filter(|(at, _)| *at != *index as usize);
                others.into_iter().all(|(_, other)| is_plain(other)).then(|| kept.clone())
            }
            _ => None,
        },
        _ => None,
    }
}

fn is_number(expr: &Expr, class: fn(DataType) -> bool) -> bool {
    expr.ty().as_scalar().is_some_and(class)
}

fn of_two(expr: &ExprRef, op: BinaryOp, left: &ExprRef, right: &ExprRef) -> Option<ExprRef> {
    use BinaryOp::{
        Add, And, BitAnd, BitOr, BitShiftLeft, BitShiftRight, BitXor, FloatDiv, FloorDiv, Max, Min,
        Mul, Or, Pow, Sub,
    };
    let (a, b) = (left.as_int(), right.as_int());
    let zero = || make(Scalar::int(expr.ty().as_scalar()?, 0), expr);
    if is_number(left, DataType::is_integer) {
        let same = left.is_var() && left.same(right);
        return match (op, a, b) {
            // x + 0 = x, x - 0 = x, x | 0 = x, x ^ 0 = x, x << 0 = x, x >> 0 = x
            (Add | Sub | BitOr | BitXor | BitShiftLeft | BitShiftRight, _, Some(0)) => {
                Some(left.clone())
            }
            // 0 + x = x, 0 | x = x, 0 ^ x = x
            (Add | BitOr | BitXor, Some(0), _) => Some(right.clone()),
            // x * 1 = x, x // 1 = x, x / 1 = x, x ** 1 = x
            (Mul | FloorDiv | FloatDiv | Pow, _, Some(1)) => Some(left.clone()),
            // 1 * x = x
            (Mul, Some(1), _) => Some(right.clone()),
            // x * 0 = 0, x & 0 = 0
            (Mul | BitAnd, _, Some(0)) if is_plain(left) => zero(),
            // 0 * x = 0, 0 & x = 0
            (Mul | BitAnd, Some(0), _) if is_plain(right) => zero(),
            // x - x = 0, x ^ x = 0
            (Sub | BitXor, ..) if same => zero(),
            // x & x = x, x | x = x, min(x, x) = x, max(x, x) = x
            (BitAnd | BitOr | Min | Max, ..) if same => Some(left.clone()),
            _ => None,
        };
    }
    if is_number(left, DataType::is_float) {
        let one = |expr: &Expr| matches!(expr, Expr::ConstFloat { value, .. } if *value == 1.0);
        return match op {
            // x * 1.0 = x, x / 1.0 = x
            Mul | FloatDiv if one(right) => Some(left.clone()),
            // 1.0 * x = x
            Mul if one(left) => Some(right.clone()),
            _ => None,
        };
    }
    let truth = |expr: &Expr| match expr {
        Expr::ConstBool { value, .. } => Some(*value),
        _ => None,
    };
    // An integer is no truth value, and a tensor gives a tensor of them.
    let is_truth = |expr: &Expr| is_number(expr, DataType::is_bool);
    if !is_truth(left) || !is_truth(right) {
        return None;
    }
    match (op, truth(left), truth(right)) {
        // x and True = x, x or False = x
        (And, _, Some(true)) | (Or, _, Some(false)) => Some(left.clone()),
        // True and x = x, False or x = x
        (And, Some(true), _) | (Or, Some(false), _) => Some(right.clone()),
        // x and False = False, x or True = True
        (And, _, Some(false)) | (Or, _, Some(true)) if is_plain(left) => Some(right.clone()),
        // False and x = False, True or x = True
        (And, Some(false), _) | (Or, Some(true), _) if is_plain(right) => Some(left.clone()),
        _ => None,
    }
}
