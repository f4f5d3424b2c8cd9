//! Assignments and expression statements.

use sapwood_ir::{Expr, ExprRef, Var};

use crate::function::FunctionLowering;

impl<'a> FunctionLowering<'a> {
    /// Lowers `var = value`: binds the variable to the value and uses its name as the name hint.
    pub(crate) fn lower_assign(&mut self, var: &'a Var, value: &'a ExprRef) {
        let value = self.lower_expr(value);
        self.hint_name(value, var.name());
        self.bind(var.expr(), value);
    }

    /// Lowers an expression statement. Only here may a call of an unregistered op have no type: it has no results.
    pub(crate) fn lower_eval(&mut self, expr: &'a ExprRef) {
        let Expr::Call { callee, args, r#type, .. } = &**expr else {
            self.lower_expr(expr);
            return;
        };
        let registered = self.signatures.registry.by_name(callee.name()).is_some();
        if !callee.is_global() && (registered || !r#type.is_unknown()) {
            self.lower_expr(expr);
            return;
        }
        let args: Option<Vec<_>> = self.lower_exprs(args).into_iter().collect();
        let Some(args) = args else { return };
        let span = self.span_of(expr);
        if callee.is_global() {
            self.emit_function_call(callee.name(), &args, span);
        } else {
            self.emit_unregistered_op(callee.name(), &args, Vec::new(), span);
        }
    }
}
