//! Copies of expressions with a field replaced.

use sapwood_types::Span;

use crate::nodes::{Expr, ExprRef, IntoType};
use sapwood_structural::Ref;

/// Returns a copy of an operation with another type and span; returns variables and constants unchanged.
#[must_use]
pub(crate) fn with_type(expr: &ExprRef, ty: impl IntoType, span: Span) -> ExprRef {
    if let Some((op, left, right)) = expr.as_binary() {
        return Expr::binary(op, left, right, ty, span);
    }
    if let Some((op, operand)) = expr.as_unary() {
        return Expr::unary(op, operand, ty, span);
    }
    let r#type = ty.into_type();
    Ref::new(match &**expr {
        Expr::Call { callee, args, .. } => {
            Expr::Call { span, r#type, callee: callee.clone(), args: args.clone() }
        }
        Expr::TupleGetItemExpr { tuple, index, .. } => {
            Expr::TupleGetItemExpr { span, r#type, tuple: tuple.clone(), index: *index }
        }
        Expr::MakeTuple { elements, .. } => {
            Expr::MakeTuple { span, r#type, elements: elements.clone() }
        }
        _ => return expr.clone(),
    })
}

/// Returns a copy of an operation with other operands, of the same number, and another type.
#[must_use]
pub(crate) fn with_operands(expr: &ExprRef, operands: &[ExprRef], ty: impl IntoType) -> ExprRef {
    let span = expr.span();
    if let (Some((op, ..)), [left, right]) = (expr.as_binary(), operands) {
        return Expr::binary(op, left, right, ty, span);
    }
    if let (Some((op, _)), [operand]) = (expr.as_unary(), operands) {
        return Expr::unary(op, operand, ty, span);
    }
    let r#type = ty.into_type();
    Ref::new(match (&**expr, operands) {
        (Expr::Call { callee, .. }, args) => {
            Expr::Call { span, r#type, callee: callee.clone(), args: Box::new(args.into()) }
        }
        (Expr::TupleGetItemExpr { index, .. }, [tuple]) => {
            Expr::TupleGetItemExpr { span, r#type, tuple: tuple.clone(), index: *index }
        }
        (Expr::MakeTuple { .. }, elements) => {
            Expr::MakeTuple { span, r#type, elements: elements.into() }
        }
        _ => return expr.clone(),
    })
}
