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
        if let Expr::Call { callee, args, r#type, .. } = &**expr
            && !callee.is_global()
            && r#type.is_unknown()
            && self.signatures.registry.by_name(callee.name()).is_none()
        {
            let args = self.exprs(args);
            if let Some(args) = args.into_iter().collect::<Option<Vec<_>>>() {
                let span = self.span_of(expr);
                self.custom(callee.name(), &args, Vec::new(), span);
            }
            return;
        }
        self.expr(expr);
    }
}
