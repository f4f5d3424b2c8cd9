//! Expressions, lowered with an explicit stack. A shared expression is lowered once while its value stays valid.

use sapwood_ir::{Expr, ExprRef};
use sapwood_ptir::ValueId;
use sapwood_types::DataType;

use crate::function::FunctionLowering;
use crate::scope::{LoweredValue, ValueReuse};

impl<'a> FunctionLowering<'a> {
    /// Lowers an expression and returns its value.
    pub(crate) fn lower_expr(&mut self, root: &'a ExprRef) -> LoweredValue {
        if let Some((value, _)) = self.lower_leaf(root) {
            return value;
        }
        let mut values: Vec<(LoweredValue, ValueReuse)> = Vec::new();
        // Each expression is popped twice: first to push its operands, then to emit its operation.
        let mut stack: Vec<(&'a ExprRef, bool)> = vec![(root, false)];
        let mut operands: Vec<LoweredValue> = Vec::new();
        while let Some((expr, ready)) = stack.pop() {
            if let Some(leaf) = self.lower_leaf(expr) {
                values.push(leaf);
            } else if ready {
                let first = values.len() - expr.operands().len();
                let mut reuse = self.reuse_of_call(expr);
                operands.clear();
                for (value, operand_reuse) in values.drain(first..) {
                    operands.push(value);
                    reuse = reuse.stricter(operand_reuse);
                }
                let all_operands: Option<Vec<ValueId>> = operands.iter().copied().collect();
                let value = all_operands.and_then(|operands| self.lower_operation(expr, &operands));
                if reuse != ValueReuse::Never && expr.node().owners() > 1 {
                    self.scope.cache_expr(expr, value, reuse);
                }
                values.push((value, reuse));
            } else if let Some(cached) = self.reuse_or_charge(expr) {
                values.push(cached);
            } else {
                stack.push((expr, true));
                stack.extend(expr.operands().rev().map(|operand| (operand, false)));
            }
        }
        values.pop().and_then(|(value, _)| value)
    }

    fn lower_leaf(&mut self, expr: &'a ExprRef) -> Option<(LoweredValue, ValueReuse)> {
        if !expr.is_var() {
            let span = self.span_of(expr);
            return self.lower_constant(expr, span).map(|value| (value, ValueReuse::Always));
        }
        let reuse = if self.summary.is_reassigned(expr) {
            ValueReuse::UntilRebound
        } else {
            ValueReuse::Always
        };
        let value = self.scope.get(expr);
        if value.is_none() {
            self.report_missing_value(expr);
        }
        Some((value.flatten(), reuse))
    }

    fn report_missing_value(&mut self, var: &ExprRef) {
        let name = var.name().unwrap_or("");
        let Some(ty) = self.vars_without_placeholder.get(&var.node().id()) else {
            let message = format!("`{name}` has no value here");
            return self.report(self.span, message);
        };
        let message = format!(
            "`{name}` after a return on another path cannot be lowered where it is {ty}: its dims must be known"
        );
        let help = format!("give `{name}` a value before the `if`");
        self.report_with_help(self.span, message, help);
    }

    /// Returns the cached value of a shared expression; otherwise counts one operation against the limit.
    fn reuse_or_charge(&mut self, expr: &'a ExprRef) -> Option<(LoweredValue, ValueReuse)> {
        if expr.node().owners() > 1
            && let Some(cached) = self.scope.cached(expr)
        {
            return Some(cached);
        }
        match self.operations_left.checked_sub(1) {
            Some(left) => {
                self.operations_left = left;
                None
            }
            None => {
                if !std::mem::replace(&mut self.reported_operation_limit, true) {
                    let message = format!(
                        "`{}` lowers to too many operations, because shared parts with effects are repeated",
                        self.function.name
                    );
                    let help = "assign the value of a shared call to a variable";
                    self.report_with_help(self.span_of(expr), message, help);
                }
                Some((None, ValueReuse::Never))
            }
        }
    }

    fn reuse_of_call(&self, expr: &Expr) -> ValueReuse {
        let Expr::Call { callee, .. } = expr else { return ValueReuse::Always };
        let effects = if callee.is_global() {
            self.signatures.get(callee.name()).is_none_or(|callee| callee.has_effects)
        } else {
            self.signatures.op_has_effects(callee.name())
        };
        if effects { ValueReuse::Never } else { ValueReuse::Always }
    }

    fn lower_operation(&mut self, expr: &'a ExprRef, operands: &[ValueId]) -> LoweredValue {
        let span = self.span_of(expr);
        if let Some((op, ..)) = expr.as_binary() {
            let &[left, right] = operands else { return None };
            return self.lower_binary(op, left, right, expr.ty(), span);
        }
        if let Some((op, _)) = expr.as_unary() {
            return self.lower_unary(op, *operands.first()?, expr.ty(), span);
        }
        match &**expr {
            Expr::MakeTuple { .. } => self.make_tuple(operands, span),
            Expr::TupleGetItemExpr { index, .. } => {
                self.tuple_element(*operands.first()?, *index, span)
            }
            Expr::Call { callee, r#type, .. } if callee.is_global() => {
                self.lower_function_call(callee.name(), operands, r#type, span)
            }
            Expr::Call { callee, r#type, .. } => self.lower_op_call(callee, operands, r#type, span),
            _ => None,
        }
    }

    /// Lowers a condition to a bool scalar.
    pub(crate) fn lower_condition(&mut self, condition: &'a ExprRef) -> LoweredValue {
        let value = self.lower_expr(condition)?;
        let span = self.span_of(condition);
        let ty = self.expect_tensor(value, "a condition", span)?;
        if ty.rank() > 0 {
            let message = format!("a condition is {ty}, expected a scalar");
            self.report(span, message);
            return None;
        }
        self.emit_cast(value, DataType::Bool, span)
    }
}
