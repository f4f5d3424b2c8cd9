//! Expressions, on a stack of our own. What is shared is lowered once where it stays the same.

use sapwood_ir::{Expr, ExprRef};
use sapwood_ptir::ValueId;
use sapwood_types::DataType;

use crate::function::Lowering;
use crate::scope::{Lasts, Val};

impl<'a> Lowering<'a> {
    /// The value of an expression.
    pub(crate) fn expr(&mut self, root: &'a ExprRef) -> Val {
        if let Some((value, _)) = self.leaf(root) {
            return value;
        }
        let mut values: Vec<(Val, Lasts)> = Vec::new();
        // An expression is met twice: first to look at its operands, then to compute it.
        let mut todo: Vec<(&'a ExprRef, bool)> = vec![(root, false)];
        let mut operands: Vec<Val> = Vec::new();
        while let Some((expr, ready)) = todo.pop() {
            if let Some(leaf) = self.leaf(expr) {
                values.push(leaf);
            } else if ready {
                let first = values.len() - expr.operands().len();
                let mut lasts = self.lasts(expr);
                operands.clear();
                for (value, operand_lasts) in values.drain(first..) {
                    operands.push(value);
                    lasts = lasts.and(operand_lasts);
                }
                let whole: Option<Vec<ValueId>> = operands.iter().copied().collect();
                let value = whole.and_then(|operands| self.operation(expr, &operands));
                if lasts != Lasts::Never && expr.node().owners() > 1 {
                    self.scope.remember(expr, value, lasts);
                }
                values.push((value, lasts));
            } else if let Some(known) = self.known(expr) {
                values.push(known);
            } else {
                todo.push((expr, true));
                todo.extend(expr.operands().rev().map(|operand| (operand, false)));
            }
        }
        values.pop().and_then(|(value, _)| value)
    }

    fn leaf(&mut self, expr: &'a ExprRef) -> Option<(Val, Lasts)> {
        if !expr.is_var() {
            let span = self.span_of(expr);
            return self.constant(expr, span).map(|value| (value, Lasts::Always));
        }
        let lasts = if self.survey.changes(expr) { Lasts::UntilBound } else { Lasts::Always };
        let value = self.scope.get(expr);
        if value.is_none() {
            self.no_value(expr);
        }
        Some((value.flatten(), lasts))
    }

    fn no_value(&mut self, var: &ExprRef) {
        let name = var.name().unwrap_or("");
        let Some(ty) = self.lost.get(&var.node().id()) else {
            let message = format!("`{name}` has no value here");
            return self.problem(self.span, message);
        };
        let message = format!(
            "`{name}` after a return on another path cannot be lowered where it is {ty}: its dims must be known"
        );
        let help = format!("give `{name}` a value before the `if`");
        self.problem_with_help(self.span, message, help);
    }

    fn known(&mut self, expr: &'a ExprRef) -> Option<(Val, Lasts)> {
        if expr.node().owners() > 1
            && let Some(known) = self.scope.known(expr)
        {
            return Some(known);
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                None
            }
            None => {
                if self.left_is_told() {
                    let message = format!(
                        "shared parts of `{}` that cannot be computed once make too many operations",
                        self.function.name
                    );
                    let help = "assign the value of a shared call to a variable";
                    self.problem_with_help(self.span_of(expr), message, help);
                }
                Some((None, Lasts::Never))
            }
        }
    }

    fn left_is_told(&mut self) -> bool {
        !std::mem::replace(&mut self.out_of_operations, true)
    }

    fn lasts(&self, expr: &Expr) -> Lasts {
        let Expr::Call { callee, .. } = expr else { return Lasts::Always };
        let effects = if callee.is_global() {
            self.signatures.get(callee.name()).is_none_or(|callee| callee.effects)
        } else {
            self.signatures.op_has_effects(callee.name())
        };
        if effects { Lasts::Never } else { Lasts::Always }
    }

    fn operation(&mut self, expr: &'a ExprRef, operands: &[ValueId]) -> Val {
        let span = self.span_of(expr);
        if let Some((op, ..)) = expr.as_binary() {
            let &[left, right] = operands else { return None };
            return self.binary(op, left, right, expr.ty(), span);
        }
        if let Some((op, _)) = expr.as_unary() {
            return self.unary(op, *operands.first()?, expr.ty(), span);
        }
        match &**expr {
            Expr::MakeTuple { .. } => self.make_tuple(operands, span),
            Expr::TupleGetItemExpr { index, .. } => {
                self.tuple_element(*operands.first()?, *index, span)
            }
            Expr::Call { callee, r#type, .. } if callee.is_global() => {
                self.call(callee.name(), operands, r#type, span)
            }
            Expr::Call { callee, r#type, .. } => {
                self.call_op(callee.name(), operands, r#type, span)
            }
            _ => None,
        }
    }

    /// A condition as a bool scalar.
    pub(crate) fn condition(&mut self, condition: &'a ExprRef) -> Val {
        let value = self.expr(condition)?;
        let span = self.span_of(condition);
        let ty = self.tensor(value, "a condition", span)?;
        if ty.rank() > 0 {
            let message = format!("a condition is {ty}, expected a scalar");
            self.problem(span, message);
            return None;
        }
        self.cast(value, DataType::Bool, span)
    }
}
