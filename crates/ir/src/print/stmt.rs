//! Statements and functions.

use super::expr::{NumberContext, is_number};
use super::plan::PrintItem;
use super::{MAX_NESTED_BLOCKS, PrintError, Printer};
use crate::names::{is_identifier, python_string_literal, sanitized_identifier};
use crate::nodes::{Expr, ExprRef, FunctionRef, IterArg, Stmt, StmtRef, Var};

/// Rejects a function that has no text form.
pub(super) fn check_function_size(function: &FunctionRef) -> Result<(), PrintError> {
    check_body_size(&function.name, &function.body)
}

pub(super) fn check_body_size(function: &str, body: &StmtRef) -> Result<(), PrintError> {
    let size = crate::body_size::measure_body(body);
    // A body that is a sequence shares the block of its parent.
    if size.nested_blocks > MAX_NESTED_BLOCKS as u64 {
        return Err(PrintError::TooDeep { function: function.to_owned() });
    }
    if size.is_too_shared() {
        let times = size.with_repeats / size.statements.max(1);
        return Err(PrintError::TooShared { function: function.to_owned(), times });
    }
    Ok(())
}

impl<'a> Printer<'a> {
    pub(super) fn write_function(&mut self, function: &'a FunctionRef) {
        self.next_local = 0;
        self.return_types = &function.return_types;
        self.plan.next_function();
        for param in &function.params {
            self.hoist_named_parts(PrintItem::Type(param.ty()), 0, true);
        }
        for ty in &function.return_types {
            self.hoist_named_parts(PrintItem::Type(ty), 0, true);
        }
        if is_identifier(&function.name) {
            self.out.push_str("def ");
            self.out.push_str(&function.name);
        } else {
            self.out.push_str("@pi.name(");
            self.out.push_str(&python_string_literal(&function.name));
            self.out.push_str(")\ndef ");
            self.out.push_str(&sanitized_identifier(&function.name));
        }
        self.out.push('(');
        for (index, param) in function.params.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            if self.write_target(param) && !param.ty().is_unknown() {
                self.out.push_str(": ");
                self.write_type(param.ty());
            }
        }
        self.out.push(')');
        match &*function.return_types {
            [] => {}
            [one] => {
                self.out.push_str(" -> ");
                self.write_type(one);
            }
            several => {
                self.out.push_str(" -> (");
                for (index, ty) in several.iter().enumerate() {
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    self.write_type(ty);
                }
                self.out.push(')');
            }
        }
        self.out.push_str(":\n");
        self.write_block(&function.body, 1, false);
    }

    pub(super) fn write_indent(&mut self, indent: usize) {
        for _ in 0..indent {
            self.out.push_str("    ");
        }
    }

    /// Writes a body: the statements of a sequence, or one statement.
    ///
    /// With `explicit`, the body is in a `with pi.seq()` block, so a sequence of one statement needs no block of its own.
    pub(super) fn write_block(&mut self, body: &'a StmtRef, indent: usize, explicit: bool) {
        match &**body {
            Stmt::Seq { stmts, .. } if stmts.len() != 1 || explicit => {
                self.write_stmts(stmts, indent);
            }
            _ => self.write_stmt(body, indent),
        }
    }

    fn write_stmts(&mut self, stmts: &'a [StmtRef], indent: usize) {
        if stmts.is_empty() {
            self.write_indent(indent);
            self.out.push_str("pass\n");
        }
        for stmt in stmts {
            self.write_stmt(stmt, indent);
        }
    }

    fn write_stmt(&mut self, stmt: &'a StmtRef, indent: usize) {
        match &**stmt {
            Stmt::Assign { var, value, .. } => {
                let declared = self.is_declared(var);
                let shown = !declared && !has_type_of(var, value);
                if shown {
                    self.hoist_named_parts(PrintItem::Type(var.ty()), indent, false);
                }
                self.hoist_named_parts(PrintItem::Expr(value), indent, false);
                self.write_indent(indent);
                self.write_target(var);
                if shown {
                    self.out.push_str(": ");
                    self.write_type(var.ty());
                }
                self.out.push_str(" = ");
                let dtype = if shown || declared { var.ty().as_scalar() } else { None };
                self.write_expr_like(value, dtype);
                self.out.push('\n');
            }
            Stmt::If { condition, then_body, else_body, return_vars, .. } => {
                self.hoist_named_parts(PrintItem::Expr(condition), indent, false);
                self.write_indent(indent);
                self.out.push_str("if ");
                self.write_expr(condition);
                self.out.push_str(":\n");
                self.write_block(then_body, indent + 1, false);
                if let Some(body) = else_body {
                    self.write_indent(indent);
                    self.out.push_str("else:\n");
                    self.write_block(body, indent + 1, false);
                }
                self.write_results(return_vars, indent);
            }
            Stmt::For { loop_var, start, stop, step, iter_args, body, return_vars, .. } => {
                for expr in stmt.expressions() {
                    self.hoist_named_parts(PrintItem::Expr(expr), indent, false);
                }
                self.write_indent(indent);
                self.out.push_str("for ");
                let declared = self.is_declared(loop_var);
                self.write_target(loop_var);
                if !iter_args.is_empty() {
                    self.out.push_str(", ");
                    self.write_iter_args(iter_args);
                }
                self.out.push_str(if iter_args.is_empty() {
                    " in range("
                } else {
                    " in pi.range("
                });
                self.write_range([start, stop, step]);
                if !declared && !has_type_of(loop_var, start) {
                    self.out.push_str(", loop_type=");
                    self.write_type(loop_var.ty());
                }
                self.write_init_values(iter_args, stmt.init_values(), true);
                self.out.push_str("):\n");
                self.write_block(body, indent + 1, false);
                self.write_results(return_vars, indent);
            }
            Stmt::While { init_values, iter_args, condition, body, return_vars, .. } => {
                if iter_args.is_empty() {
                    self.hoist_named_parts(PrintItem::Expr(condition), indent, false);
                    self.write_indent(indent);
                    self.out.push_str("while ");
                    self.write_expr(condition);
                    self.out.push_str(":\n");
                } else {
                    for expr in init_values {
                        self.hoist_named_parts(PrintItem::Expr(expr), indent, false);
                    }
                    self.write_indent(indent);
                    self.out.push_str("for ");
                    self.write_iter_args(iter_args);
                    self.out.push_str(" in pi.while_(");
                    self.write_init_values(iter_args, init_values, false);
                    self.out.push_str("):\n");
                    self.hoist_named_parts(PrintItem::Expr(condition), indent + 1, false);
                    self.write_indent(indent + 1);
                    self.out.push_str("pi.cond(");
                    self.write_expr(condition);
                    self.out.push_str(")\n");
                }
                self.write_block(body, indent + 1, false);
                self.write_results(return_vars, indent);
            }
            Stmt::Yield { values, .. } => {
                self.hoist_all_named_parts(values, indent);
                self.write_indent(indent);
                self.out.push_str("pi.yield_(");
                self.write_exprs(values);
                self.out.push_str(")\n");
            }
            Stmt::Return { values, .. } => {
                self.hoist_all_named_parts(values, indent);
                self.write_indent(indent);
                self.out.push_str("return");
                match &**values {
                    [] => {}
                    // A tuple in a `return` is the list of values, so a single value that is a tuple is
                    // written as a tuple of one.
                    [one] if matches!(&**one, Expr::MakeTuple { .. }) => {
                        self.out.push_str(" (");
                        self.write_expr(one);
                        self.out.push_str(",)");
                    }
                    values => {
                        for (index, value) in values.iter().enumerate() {
                            self.out.push_str(if index > 0 { ", " } else { " " });
                            let ty = self.return_types.get(index);
                            self.write_expr_like(value, ty.and_then(|ty| ty.as_scalar()));
                        }
                    }
                }
                self.out.push('\n');
            }
            Stmt::Eval { expr, .. } => {
                self.hoist_named_parts(PrintItem::Expr(expr), indent, false);
                self.write_indent(indent);
                self.write_expr(expr);
                self.out.push('\n');
            }
            Stmt::Seq { stmts, .. } => {
                self.write_indent(indent);
                self.out.push_str("with pi.seq():\n");
                self.write_stmts(stmts, indent + 1);
            }
            Stmt::Ops { stmts, .. } => {
                self.write_indent(indent);
                self.out.push_str("with pi.ops():\n");
                self.write_stmts(stmts, indent + 1);
            }
        }
    }

    /// Writes start, stop and step. Numbers are bare if all have the type of the first bound that is not a number.
    fn write_range(&mut self, range: [&'a ExprRef; 3]) {
        let first = range.iter().find_map(|bound| {
            let dtype = bound.ty().as_scalar().filter(|dtype| dtype.is_integer());
            dtype.filter(|_| !is_number(bound))
        });
        let context = NumberContext::NextTo(first);
        let all_bare = range.iter().all(|bound| !is_number(bound) || context.is_bare(bound));
        for (index, bound) in range.into_iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.write_in_context(bound, if all_bare { context } else { NumberContext::Explicit });
        }
    }

    fn hoist_all_named_parts(&mut self, exprs: &'a [ExprRef], indent: usize) {
        for expr in exprs {
            self.hoist_named_parts(PrintItem::Expr(expr), indent, false);
        }
    }

    fn write_exprs(&mut self, exprs: impl IntoIterator<Item = &'a ExprRef>) {
        for (index, expr) in exprs.into_iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.write_expr(expr);
        }
    }

    /// Writes `(a, b)` or `(a,)`.
    fn write_iter_args(&mut self, iter_args: &'a [IterArg]) {
        self.out.push('(');
        for (index, arg) in iter_args.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.write_expr(arg.expr());
        }
        self.out.push_str(if iter_args.len() == 1 { ",)" } else { ")" });
    }

    /// Writes `init_values=[…]`, and the types of the arguments if they differ from those of the values.
    fn write_init_values(&mut self, iter_args: &'a [IterArg], values: &'a [ExprRef], comma: bool) {
        if iter_args.is_empty() {
            return;
        }
        self.out.push_str(if comma { ", init_values=[" } else { "init_values=[" });
        let follow = |(arg, value): (&IterArg, &ExprRef)| has_type_of(&arg.var(), value);
        let stated = !iter_args.iter().zip(values).all(follow);
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            let dtype = iter_args.get(index).and_then(|arg| arg.ty().as_scalar());
            self.write_expr_like(value, dtype.filter(|_| stated));
        }
        self.out.push(']');
        if stated {
            self.out.push_str(", iter_types=[");
            for (index, arg) in iter_args.iter().enumerate() {
                if index > 0 {
                    self.out.push_str(", ");
                }
                self.write_type(arg.ty());
            }
            self.out.push(']');
        }
    }

    /// Writes a line such as `x: T = pi.result(0)` for each result.
    fn write_results(&mut self, vars: &'a [Var], indent: usize) {
        for (index, var) in vars.iter().enumerate() {
            self.write_indent(indent);
            if self.write_target(var) {
                self.out.push_str(": ");
                self.write_type(var.ty());
            }
            self.out.push_str(" = pi.result(");
            self.out.push_str(&index.to_string());
            self.out.push_str(")\n");
        }
    }

    fn is_declared(&self, var: &Var) -> bool {
        self.plan.local.vars.get(&var.id()).is_some_and(|named| named.declared)
    }

    /// Writes the name of a variable that is bound here; returns true at its first binding.
    fn write_target(&mut self, var: &Var) -> bool {
        match self.plan.local.vars.get_mut(&var.id()) {
            Some(named) => {
                self.out.push_str(&named.name);
                !std::mem::replace(&mut named.declared, true)
            }
            None => {
                self.out.push_str(&sanitized_identifier(var.name()));
                true
            }
        }
    }
}

/// Returns whether a variable has the type of the value.
fn has_type_of(var: &Var, value: &ExprRef) -> bool {
    crate::nodes::small_types_equal(var.ty(), value.ty())
}
