//! The body of a function in the place of its call.
//!
//! A call is replaced where it is the whole value of an assignment or stands on its own, and the
//! function returns at its end alone and does not lead back to itself. Other calls stay.

use sapwood_types::Span;

use super::rename::Renaming;
use super::{PassError, calls, check_sharing, deeper, each_stmt, ends};
use crate::interpret::implicit_results;
use crate::nodes::{
    Expr, ExprRef, Function, FunctionRef, IterArg, Program, ProgramRef, Stmt, StmtRef, Var,
};

/// A function may not grow beyond this many statements.
const MOST_STATEMENTS: usize = 100_000;

/// Puts the bodies of functions where they are called.
///
/// # Errors
/// If shared statements stand for too many.
pub fn inline(program: &Program) -> Result<ProgramRef, PassError> {
    for function in program.functions() {
        check_sharing(&function.name, &function.body)?;
    }
    // Callees come before their callers, so that what is put in place is inlined itself.
    let mut done: Vec<(String, Option<FunctionRef>)> = Vec::new();
    for function in order(program) {
        let new = in_function(&function, &done);
        done.push((function.name.to_string(), Some(new)));
    }
    let functions: Vec<FunctionRef> =
        done.into_iter().filter_map(|(_, function)| function).collect();
    Ok(program.with_functions(functions)?)
}

/// The names that a function calls, in order.
fn callees(function: &Function) -> Vec<String> {
    let mut names = Vec::new();
    each_stmt(&function.body, |stmt| {
        for expr in stmt.expressions() {
            super::any_node(expr, |expr| {
                if let Expr::Call { callee, .. } = expr
                    && callee.is_global()
                    && !names.iter().any(|name| name == callee.name())
                {
                    names.push(callee.name().to_owned());
                }
                false
            });
        }
    });
    names
}

/// The functions, callees first.
fn order(program: &Program) -> Vec<FunctionRef> {
    let mut state: std::collections::BTreeMap<String, bool> = std::collections::BTreeMap::new();
    let mut out = Vec::new();
    for root in program.functions() {
        let mut stack: Vec<(FunctionRef, Vec<String>)> = Vec::new();
        if state.insert(root.name.to_string(), false).is_none() {
            stack.push((root.clone(), callees(root)));
        }
        while let Some((function, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(name) => {
                    if let Some(callee) = program.get_function(&name)
                        && !state.contains_key(&name)
                    {
                        state.insert(name, false);
                        stack.push((callee.clone(), callees(callee)));
                    }
                }
                None => {
                    out.push(function.clone());
                    stack.pop();
                }
            }
        }
    }
    out
}

fn in_function(function: &FunctionRef, done: &[(String, Option<FunctionRef>)]) -> FunctionRef {
    let mut size = 0;
    each_stmt(&function.body, |_| size += 1);
    let mut inline = Inline { done, caller: &function.name, size, changed: false };
    let mut out = Vec::new();
    inline.stmt(&function.body, &mut out);
    if !inline.changed {
        return function.clone();
    }
    // A function that returns what its last statement binds goes on doing so.
    let results = implicit_results(function);
    if !results.is_empty() && !ends(&function.body) {
        out.push(Stmt::return_(results.iter().map(|var| var.expr().clone()), function.span));
    }
    let body = Stmt::block(out, function.body.span());
    let (params, types) = (function.params.iter().cloned(), function.return_types.iter().cloned());
    Function::new(&function.name, params, types, &body, function.span)
}

struct Inline<'a> {
    done: &'a [(String, Option<FunctionRef>)],
    caller: &'a str,
    size: usize,
    changed: bool,
}

impl Inline<'_> {
    /// The function to put in the place of a call, if it can be.
    fn callee(&mut self, expr: &Expr) -> Option<(FunctionRef, Vec<ExprRef>)> {
        let Expr::Call { callee, args, .. } = expr else { return None };
        if !callee.is_global() || callee.name() == self.caller {
            return None;
        }
        let entry = self.done.iter().find(|(name, _)| name == callee.name())?;
        let function = entry.1.as_ref()?;
        let mut returns = 0;
        let mut size = 0;
        each_stmt(&function.body, |stmt| {
            size += 1;
            returns += usize::from(matches!(&**stmt, Stmt::Return { .. }));
        });
        let at_end = usize::from(returned(&function.body).is_some());
        let fits = returns == at_end
            && args.len() == function.params.len()
            && self.size + size <= MOST_STATEMENTS
            && !callees(function).iter().any(|name| name == self.caller || *name == *function.name)
            && (at_end == 1
                || function.return_types.is_empty()
                || !implicit_results(function).is_empty());
        if !fits {
            return None;
        }
        self.size += size;
        Some((function.clone(), args.to_vec()))
    }

    fn stmt(&mut self, stmt: &StmtRef, out: &mut Vec<StmtRef>) {
        deeper(|| self.stmt_here(stmt, out));
    }

    fn body(&mut self, body: &StmtRef) -> StmtRef {
        let before = std::mem::replace(&mut self.changed, false);
        let mut inner = Vec::new();
        self.stmt(body, &mut inner);
        let changed = std::mem::replace(&mut self.changed, before);
        self.changed |= changed;
        if changed { Stmt::block(inner, body.span()) } else { body.clone() }
    }

    fn stmt_here(&mut self, stmt: &StmtRef, out: &mut Vec<StmtRef>) {
        match &**stmt {
            Stmt::Assign { var, value, span } => match self.callee(value) {
                Some((function, args)) => {
                    let values = self.expand(&function, &args, *span, out);
                    let value = match &values[..] {
                        [one] => one.clone(),
                        _ => Expr::make_tuple(values, *span),
                    };
                    out.push(Stmt::assign(var, &value, *span));
                }
                None => out.push(stmt.clone()),
            },
            Stmt::Eval { expr, span } => match self.callee(expr) {
                Some((function, args)) => {
                    // What it returns is not wanted, what that calls is.
                    let values = self.expand(&function, &args, *span, out);
                    let values = values.iter().filter(|value| calls(value));
                    out.extend(values.map(|value| Stmt::eval(value, *span)));
                }
                None => out.push(stmt.clone()),
            },
            Stmt::Seq { stmts, .. } => {
                for stmt in stmts {
                    match &**stmt {
                        // A sequence within a sequence stays one.
                        Stmt::Seq { span, .. } => {
                            let mut inner = Vec::new();
                            let before = std::mem::replace(&mut self.changed, false);
                            self.stmt(stmt, &mut inner);
                            let changed = std::mem::replace(&mut self.changed, before);
                            self.changed |= changed;
                            out.push(if changed { Stmt::seq(inner, *span) } else { stmt.clone() });
                        }
                        _ => self.stmt(stmt, out),
                    }
                }
            }
            Stmt::Ops { stmts, span } => {
                let mut inner = Vec::new();
                let before = std::mem::replace(&mut self.changed, false);
                stmts.iter().for_each(|stmt| self.stmt(stmt, &mut inner));
                let changed = std::mem::replace(&mut self.changed, before);
                self.changed |= changed;
                // What is put in place may be more than assignments.
                out.push(if changed { Stmt::seq(inner, *span) } else { stmt.clone() });
            }
            Stmt::If { condition, then_body, else_body, return_vars, span } => {
                let then_body = self.body(then_body);
                let else_body = else_body.as_ref().map(|body| self.body(body));
                let results = return_vars.iter().cloned();
                out.push(Stmt::if_(condition, &then_body, else_body.as_ref(), results, *span));
            }
            Stmt::For {
                loop_var, start, stop, step, iter_args, body, return_vars, span, ..
            } => {
                let body = self.body(body);
                let (args, results) = (iter_args.iter().cloned(), return_vars.iter().cloned());
                out.push(Stmt::for_(loop_var, [start, stop, step], args, &body, results, *span));
            }
            Stmt::While { iter_args, condition, body, return_vars, span, .. } => {
                let body = self.body(body);
                let (args, results) = (iter_args.iter().cloned(), return_vars.iter().cloned());
                out.push(Stmt::while_(args, condition, &body, results, *span));
            }
            Stmt::Yield { .. } | Stmt::Return { .. } => out.push(stmt.clone()),
        }
    }

    /// Writes the statements of a function with variables of its own; what it returns.
    fn expand(
        &mut self,
        function: &FunctionRef,
        args: &[ExprRef],
        span: Span,
        out: &mut Vec<StmtRef>,
    ) -> Vec<ExprRef> {
        self.changed = true;
        let mut copy = Copy { vars: Renaming::default() };
        for (param, arg) in function.params.iter().zip(args) {
            let var = copy.fresh(param);
            out.push(Stmt::assign(&var, arg, span));
        }
        let results = match returned(&function.body) {
            Some(values) => values.to_vec(),
            None => implicit_results(function).iter().map(|var| var.expr().clone()).collect(),
        };
        copy.block(&function.body, out);
        copy.vars.exprs(&results)
    }
}

/// The values of the `return` or `yield` at the end of a body.
fn returned(body: &StmtRef) -> Option<&[ExprRef]> {
    let mut last = body;
    loop {
        match &**last {
            Stmt::Return { values, .. } => return Some(values),
            Stmt::Seq { stmts, .. } => last = stmts.last()?,
            _ => return None,
        }
    }
}

/// A body with variables of its own.
struct Copy {
    vars: Renaming,
}

impl Copy {
    fn fresh(&mut self, var: &Var) -> Var {
        if let Some(known) = self.vars.get(var.id()) {
            return Var::try_from(known).unwrap_or_else(|_| var.clone());
        }
        let fresh = Var::new(var.name(), self.vars.ty(var.ty()), var.span());
        self.vars.set(var.id(), fresh.expr().clone());
        fresh
    }

    fn fresh_all(&mut self, vars: &[Var]) -> Vec<Var> {
        vars.iter().map(|var| self.fresh(var)).collect()
    }

    fn args(&mut self, iter_args: &[IterArg], inits: &[ExprRef]) -> Vec<IterArg> {
        let inits = self.vars.exprs(inits);
        let mut new = Vec::with_capacity(iter_args.len());
        for (arg, init) in iter_args.iter().zip(&inits) {
            let fresh = IterArg::new(arg.name(), self.vars.ty(arg.ty()), init, arg.span());
            self.vars.set(arg.id(), fresh.expr().clone());
            new.push(fresh);
        }
        new
    }

    /// The statements of a body, without the `return` at its end.
    fn block(&mut self, body: &StmtRef, out: &mut Vec<StmtRef>) {
        match &**body {
            Stmt::Seq { stmts, .. } => {
                deeper(|| stmts.iter().for_each(|stmt| self.block(stmt, out)));
            }
            // A yield at the end of a function is its return.
            Stmt::Return { .. } | Stmt::Yield { .. } => {}
            _ => out.push(self.stmt(body)),
        }
    }

    fn stmt(&mut self, stmt: &StmtRef) -> StmtRef {
        deeper(|| self.stmt_here(stmt))
    }

    fn stmt_here(&mut self, stmt: &StmtRef) -> StmtRef {
        match &**stmt {
            Stmt::Assign { var, value, span } => {
                let value = self.vars.expr(value);
                Stmt::assign(&self.fresh(var), &value, *span)
            }
            Stmt::Eval { expr, span } => Stmt::eval(&self.vars.expr(expr), *span),
            Stmt::Yield { values, span } => Stmt::yield_(self.vars.exprs(values), *span),
            Stmt::Return { values, span } => Stmt::return_(self.vars.exprs(values), *span),
            Stmt::Seq { stmts, span } => {
                let stmts: Vec<StmtRef> = stmts.iter().map(|stmt| self.stmt(stmt)).collect();
                Stmt::seq(stmts, *span)
            }
            Stmt::Ops { stmts, span } => {
                let stmts: Vec<StmtRef> = stmts.iter().map(|stmt| self.stmt(stmt)).collect();
                Stmt::ops(stmts, *span)
            }
            Stmt::If { condition, then_body, else_body, return_vars, span } => {
                let condition = self.vars.expr(condition);
                let then_body = self.stmt(then_body);
                let else_body = else_body.as_ref().map(|body| self.stmt(body));
                let results = self.fresh_all(return_vars);
                Stmt::if_(&condition, &then_body, else_body.as_ref(), results, *span)
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
                span,
            } => {
                let [start, stop, step] = [start, stop, step].map(|expr| self.vars.expr(expr));
                let args = self.args(iter_args, init_values);
                let loop_var = self.fresh(loop_var);
                let body = self.stmt(body);
                let results = self.fresh_all(return_vars);
                Stmt::for_(&loop_var, [&start, &stop, &step], args, &body, results, *span)
            }
            Stmt::While { init_values, iter_args, condition, body, return_vars, span } => {
                let args = self.args(iter_args, init_values);
                let condition = self.vars.expr(condition);
                let body = self.stmt(body);
                let results = self.fresh_all(return_vars);
                Stmt::while_(args, &condition, &body, results, *span)
            }
        }
    }
}
