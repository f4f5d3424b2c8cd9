//! Writing statements and functions.

use super::survey::Item;
use super::{MOST_NESTED_BLOCKS, PrintError, Printer};
use crate::names::{is_identifier, quoted, sanitized};
use crate::nodes::{Expr, ExprRef, FunctionRef, IterArg, Stmt, StmtRef, Var};

/// Refuses a function that text cannot hold.
pub(super) fn check_size(function: &FunctionRef) -> Result<(), PrintError> {
    check_body(&function.name, &function.body)
}

pub(super) fn check_body(function: &str, body: &StmtRef) -> Result<(), PrintError> {
    let shape = crate::size::shape(body);
    // A body that is a sequence shares its block with it, so it nests one less.
    if shape.blocks > MOST_NESTED_BLOCKS as u64 {
        return Err(PrintError::TooDeep { function: function.to_owned() });
    }
    if shape.is_too_shared() {
        let times = shape.unfolded / shape.nodes.max(1);
        return Err(PrintError::TooShared { function: function.to_owned(), times });
    }
    Ok(())
}

impl<'a> Printer<'a> {
    pub(super) fn function(&mut self, function: &'a FunctionRef) {
        self.next_local = 0;
        self.survey.next_function();
        for param in &function.params {
            self.hoist(Item::Type(param.ty()), 0, true);
        }
        for ty in &function.return_types {
            self.hoist(Item::Type(ty), 0, true);
        }
        if is_identifier(&function.name) {
            self.out.push_str("def ");
            self.out.push_str(&function.name);
        } else {
            self.out.push_str("@pi.name(");
            self.out.push_str(&quoted(&function.name));
            self.out.push_str(")\ndef ");
            self.out.push_str(&sanitized(&function.name));
        }
        self.out.push('(');
        for (index, param) in function.params.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            if self.target(param) && !param.ty().is_unknown() {
                self.out.push_str(": ");
                self.ty(param.ty());
            }
        }
        self.out.push(')');
        match &*function.return_types {
            [] => {}
            [one] => {
                self.out.push_str(" -> ");
                self.ty(one);
            }
            several => {
                self.out.push_str(" -> (");
                for (index, ty) in several.iter().enumerate() {
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    self.ty(ty);
                }
                self.out.push(')');
            }
        }
        self.out.push_str(":\n");
        self.block(&function.body, 1, false);
    }

    pub(super) fn indent(&mut self, indent: usize) {
        for _ in 0..indent {
            self.out.push_str("    ");
        }
    }

    /// A body: the statements of a sequence, or one statement. In a `with pi.seq()` block the
    /// sequence is said already.
    pub(super) fn block(&mut self, body: &'a StmtRef, indent: usize, explicit: bool) {
        match &**body {
            Stmt::Seq { stmts, .. } if stmts.len() != 1 || explicit => self.lines(stmts, indent),
            _ => self.stmt(body, indent),
        }
    }

    fn lines(&mut self, stmts: &'a [StmtRef], indent: usize) {
        if stmts.is_empty() {
            self.indent(indent);
            self.out.push_str("pass\n");
        }
        for stmt in stmts {
            self.stmt(stmt, indent);
        }
    }

    fn stmt(&mut self, stmt: &'a StmtRef, indent: usize) {
        match &**stmt {
            Stmt::Assign { var, value, .. } => {
                let shown = !self.is_declared(var) && !follows(var, value);
                if shown {
                    self.hoist(Item::Type(var.ty()), indent, false);
                }
                self.hoist(Item::Expr(value), indent, false);
                self.indent(indent);
                self.target(var);
                if shown {
                    self.out.push_str(": ");
                    self.ty(var.ty());
                }
                self.out.push_str(" = ");
                self.inline(value);
                self.out.push('\n');
            }
            Stmt::If { condition, then_body, else_body, return_vars, .. } => {
                self.hoist(Item::Expr(condition), indent, false);
                self.indent(indent);
                self.out.push_str("if ");
                self.inline(condition);
                self.out.push_str(":\n");
                self.block(then_body, indent + 1, false);
                if let Some(body) = else_body {
                    self.indent(indent);
                    self.out.push_str("else:\n");
                    self.block(body, indent + 1, false);
                }
                self.results(return_vars, indent);
            }
            Stmt::For {
                init_values,
                loop_var,
                start,
                stop,
                step,
                iter_args,
                body,
                return_vars,
                ..
            } => {
                for expr in [start, stop, step].into_iter().chain(init_values) {
                    self.hoist(Item::Expr(expr), indent, false);
                }
                self.indent(indent);
                self.out.push_str("for ");
                let declared = self.is_declared(loop_var);
                self.target(loop_var);
                if !iter_args.is_empty() {
                    self.out.push_str(", ");
                    self.iter_args(iter_args);
                }
                self.out.push_str(if iter_args.is_empty() {
                    " in range("
                } else {
                    " in pi.range("
                });
                self.exprs([start, stop, step]);
                if !declared && !follows(loop_var, start) {
                    self.out.push_str(", loop_type=");
                    self.ty(loop_var.ty());
                }
                self.init_values(iter_args, init_values, true);
                self.out.push_str("):\n");
                self.block(body, indent + 1, false);
                self.results(return_vars, indent);
            }
            Stmt::While { init_values, iter_args, condition, body, return_vars, .. } => {
                if iter_args.is_empty() {
                    self.hoist(Item::Expr(condition), indent, false);
                    self.indent(indent);
                    self.out.push_str("while ");
                    self.inline(condition);
                    self.out.push_str(":\n");
                } else {
                    for expr in init_values {
                        self.hoist(Item::Expr(expr), indent, false);
                    }
                    self.indent(indent);
                    self.out.push_str("for ");
                    self.iter_args(iter_args);
                    self.out.push_str(" in pi.while_(");
                    self.init_values(iter_args, init_values, false);
                    self.out.push_str("):\n");
                    self.hoist(Item::Expr(condition), indent + 1, false);
                    self.indent(indent + 1);
                    self.out.push_str("pi.cond(");
                    self.inline(condition);
                    self.out.push_str(")\n");
                }
                self.block(body, indent + 1, false);
                self.results(return_vars, indent);
            }
            Stmt::Yield { values, .. } => {
                self.hoist_all(values, indent);
                self.indent(indent);
                self.out.push_str("pi.yield_(");
                self.exprs(values);
                self.out.push_str(")\n");
            }
            Stmt::Return { values, .. } => {
                self.hoist_all(values, indent);
                self.indent(indent);
                self.out.push_str("return");
                match &**values {
                    [] => {}
                    // A tuple in a return is the list of values, so one value that is a tuple
                    // stands in a tuple of one.
                    [one] if matches!(&**one, Expr::MakeTuple { .. }) => {
                        self.out.push_str(" (");
                        self.inline(one);
                        self.out.push_str(",)");
                    }
                    values => {
                        self.out.push(' ');
                        self.exprs(values);
                    }
                }
                self.out.push('\n');
            }
            Stmt::Eval { expr, .. } => {
                self.hoist(Item::Expr(expr), indent, false);
                self.indent(indent);
                self.inline(expr);
                self.out.push('\n');
            }
            Stmt::Seq { stmts, .. } => {
                self.indent(indent);
                self.out.push_str("with pi.seq():\n");
                self.lines(stmts, indent + 1);
            }
            Stmt::Ops { stmts, .. } => {
                self.indent(indent);
                self.out.push_str("with pi.ops():\n");
                self.lines(stmts, indent + 1);
            }
        }
    }

    fn hoist_all(&mut self, exprs: &'a [ExprRef], indent: usize) {
        for expr in exprs {
            self.hoist(Item::Expr(expr), indent, false);
        }
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'a ExprRef>) {
        for (index, expr) in exprs.into_iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.inline(expr);
        }
    }

    /// `(a, b)`, `(a,)`
    fn iter_args(&mut self, iter_args: &'a [IterArg]) {
        self.out.push('(');
        for (index, arg) in iter_args.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.inline(arg.expr());
        }
        self.out.push_str(if iter_args.len() == 1 { ",)" } else { ")" });
    }

    /// `init_values=[…]`, and the types of the arguments where they are not those of the values.
    fn init_values(&mut self, iter_args: &'a [IterArg], values: &'a [ExprRef], comma: bool) {
        if iter_args.is_empty() {
            return;
        }
        self.out.push_str(if comma { ", init_values=[" } else { "init_values=[" });
        self.exprs(values);
        self.out.push(']');
        let follow = |(arg, value): (&IterArg, &ExprRef)| follows(&arg.var(), value);
        if !iter_args.iter().zip(values).all(follow) {
            self.out.push_str(", iter_types=[");
            for (index, arg) in iter_args.iter().enumerate() {
                if index > 0 {
                    self.out.push_str(", ");
                }
                self.ty(arg.ty());
            }
            self.out.push(']');
        }
    }

    /// `x: T = pi.result(0)`
    fn results(&mut self, vars: &'a [Var], indent: usize) {
        for (index, var) in vars.iter().enumerate() {
            self.indent(indent);
            if self.target(var) {
                self.out.push_str(": ");
                self.ty(var.ty());
            }
            self.out.push_str(" = pi.result(");
            self.out.push_str(&index.to_string());
            self.out.push_str(")\n");
        }
    }

    fn is_declared(&self, var: &Var) -> bool {
        self.survey.local.vars.get(&var.id()).is_some_and(|named| named.declared)
    }

    /// The name of a variable that is bound here; true the first time.
    fn target(&mut self, var: &Var) -> bool {
        match self.survey.local.vars.get_mut(&var.id()) {
            Some(named) => {
                self.out.push_str(&named.name);
                !std::mem::replace(&mut named.declared, true)
            }
            None => {
                self.out.push_str(&sanitized(var.name()));
                true
            }
        }
    }
}

/// Whether the type of a variable is that of the value it is first bound to.
fn follows(var: &Var, value: &ExprRef) -> bool {
    crate::nodes::types_match(var.ty(), value.ty())
}
