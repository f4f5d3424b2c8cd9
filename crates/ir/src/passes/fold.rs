//! Constant folding, and identities of scalar arithmetic.
//!
//! Integers are exact bit for bit, floats bit for bit except which NaN. An operand is dropped only if it is a variable or a
//! constant, since a call may have effects.

use sapwood_types::DataType;

use super::PassError;
use crate::interpret::constant_value;
use crate::interpret::scalar::{self, Scalar};
use crate::mutate::{Mutate, mutate};
use crate::nodes::{BinaryOp, Expr, ExprRef, Program, ProgramRef, UnaryOp, small_types_equal};

/// Folds every expression of a program.
///
/// # Errors
/// Fails if a node cannot hold a folded child, which does not happen for well-formed programs.
pub fn fold(program: &Program) -> Result<ProgramRef, PassError> {
    program.map_functions(|function| Ok(mutate(function, &mut ConstantFolder)?))
}

/// Folds an expression bottom up.
///
/// # Errors
/// Fails like [`fold`].
pub fn fold_expr(expr: &ExprRef) -> Result<ExprRef, PassError> {
    Ok(mutate(expr, &mut ConstantFolder)?)
}

/// A mutator that folds each expression.
struct ConstantFolder;

impl Mutate for ConstantFolder {
    fn mutate_expr(&mut self, expr: &ExprRef) -> Option<ExprRef> {
        let new = fold_constants(expr).or_else(|| apply_identity(expr))?;
        // A replacement must have the same type.
        small_types_equal(new.ty(), expr.ty()).then_some(new)
    }
}

/// Computes an operator of constants.
fn fold_constants(expr: &ExprRef) -> Option<ExprRef> {
    let dtype = expr.ty().as_scalar()?;
    let value = if let Some((op, left, right)) = expr.as_binary() {
        let value = scalar::binary(op, constant_value(left)?, constant_value(right)?)?;
        if op.is_predicate() { value.cast(dtype)? } else { value }
    } else {
        let (op, operand) = expr.as_unary()?;
        let operand = constant_value(operand)?;
        match op {
            UnaryOp::Cast => operand.cast(dtype)?,
            UnaryOp::Not => scalar::unary(op, operand)?.cast(dtype)?,
            _ => scalar::unary(op, operand)?,
        }
    };
    constant_like(value, expr)
}

fn constant_like(value: Scalar, like: &Expr) -> Option<ExprRef> {
    match value {
        Scalar::Bool(value) => Some(Expr::const_bool(value, like.span())),
        Scalar::Int(dtype, value) => Expr::const_int(value, dtype, like.span()).ok(),
        Scalar::Float(dtype, value) => Expr::const_float(value, dtype, like.span()).ok(),
    }
}

fn is_var_or_const(expr: &Expr) -> bool {
    expr.is_var() || expr.is_const()
}

fn apply_identity(expr: &ExprRef) -> Option<ExprRef> {
    if let Some((op, left, right)) = expr.as_binary() {
        return apply_binary_identity(expr, op, left, right);
    }
    match (&**expr, expr.as_unary()) {
        // --x = x, ~~x = x
        (_, Some((op @ (UnaryOp::Neg | UnaryOp::BitNot), operand))) => {
            let (inner, innermost) = operand.as_unary()?;
            (inner == op && has_scalar_type(innermost, DataType::is_integer))
                .then(|| innermost.clone())
        }
        // cast(x, T) = x if x is a T
        (_, Some((UnaryOp::Cast, operand))) => Some(operand.clone()),
        // (a, b)[0] = a
        (Expr::TupleGetItemExpr { tuple, index, .. }, _) => match &**tuple {
            Expr::MakeTuple { elements, .. } => {
                let kept = elements.get(*index as usize)?;
                let others = elements.iter().enumerate().filter(|(at, _)| *at != *index as usize);
                others.into_iter().all(|(_, other)| is_var_or_const(other)).then(|| kept.clone())
            }
            _ => None,
        },
        _ => None,
    }
}

fn has_scalar_type(expr: &Expr, class: fn(DataType) -> bool) -> bool {
    expr.ty().as_scalar().is_some_and(class)
}

fn apply_binary_identity(
    expr: &ExprRef,
    op: BinaryOp,
    left: &ExprRef,
    right: &ExprRef,
) -> Option<ExprRef> {
    use BinaryOp::{
        Add, And, BitAnd, BitOr, BitShiftLeft, BitShiftRight, BitXor, FloatDiv, FloorDiv, Max, Min,
        Mul, Or, Pow, Sub,
    };
    let (a, b) = (left.as_int(), right.as_int());
    let zero = || constant_like(Scalar::int(expr.ty().as_scalar()?, 0), expr);
    if has_scalar_type(left, DataType::is_integer) {
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
            (Mul | BitAnd, _, Some(0)) if is_var_or_const(left) => zero(),
            // 0 * x = 0, 0 & x = 0
            (Mul | BitAnd, Some(0), _) if is_var_or_const(right) => zero(),
            // x - x = 0, x ^ x = 0
            (Sub | BitXor, ..) if same => zero(),
            // x & x = x, x | x = x, min(x, x) = x, max(x, x) = x
            (BitAnd | BitOr | Min | Max, ..) if same => Some(left.clone()),
            _ => None,
        };
    }
    if has_scalar_type(left, DataType::is_float) {
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
    // Integers are not bools, and predicates of tensors are tensors.
    let is_predicate = |expr: &Expr| has_scalar_type(expr, DataType::is_bool);
    if !is_predicate(left) || !is_predicate(right) {
        return None;
    }
    match (op, truth(left), truth(right)) {
        // x and True = x, x or False = x
        (And, _, Some(true)) | (Or, _, Some(false)) => Some(left.clone()),
        // True and x = x, False or x = x
        (And, Some(true), _) | (Or, Some(false), _) => Some(right.clone()),
        // x and False = False, x or True = True
        (And, _, Some(false)) | (Or, _, Some(true)) if is_var_or_const(left) => Some(right.clone()),
        // False and x = False, True or x = True
        (And, Some(false), _) | (Or, Some(true), _) if is_var_or_const(right) => Some(left.clone()),
        _ => None,
    }
}
