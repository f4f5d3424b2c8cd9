//! Assignments, and expressions on their own.

use sapwood_ir::{Expr, ExprRef, Var};

use crate::function::Lowering;

impl<'a> Lowering<'a> {
    /// `var = value`: from here on the variable is the value, which is called after it.
    pub(crate) fn assign(&mut self, var: &'a Var, value: &'a ExprRef) {
        let value = self.expr(value);
        self.name(value, var.name());
        self.bind(var.expr(), value);
    }

    /// An expression whose value nobody takes. Only here may a call of an unknown op have no type: it gives nothing.
    pub(crate) fn eval(&mut self, expr: &'a ExprRef) {
        let Expr::Call { callee, args, r#type, .. } = &**expr else {
            self.expr(expr);
            return;
        };
        let known = self.signatures.registry.by_name(callee.name()).is_some();
        if !callee.is_global() && (known || !r#type.is_unknown()) {
            self.expr(expr);
            return;
        }
        let args: Option<Vec<_>> = self.exprs(args).into_iter().collect();
        let Some(args) = args else { return };
        let span = self.span_of(expr);
        if callee.is_global() {
            self.call_function(callee.name(), &args, span);
        } else {
            self.custom(callee.name(), &args, Vec::new(), span);
        }
    }
}
