//! Assignments to variables that nothing reads are dropped, unless they call something.

use super::{Map, PassError, calls, check_sharing, deeper, each_stmt};
use crate::interpret::implicit_results;
use crate::nodes::{
    ExprRef, Function, FunctionRef, Program, ProgramRef, Stmt, StmtRef, Type, TypeRef,
};

/// Drops assignments whose variable no expression, result or type reads.
///
/// # Errors
/// If shared statements stand for too many.
pub fn remove_dead_assignments(program: &Program) -> Result<ProgramRef, PassError> {
    program.map_functions(|function| {
        check_sharing(&function.name, &function.body)?;
        Ok(in_function(function))
    })
}

fn in_function(function: &FunctionRef) -> FunctionRef {
    let mut uses = Uses::default();
    function.params.iter().for_each(|param| uses.in_type(param.ty(), 1));
    function.return_types.iter().for_each(|ty| uses.in_type(ty, 1));
    let results = implicit_results(function);
    if results.is_empty() && !function.return_types.is_empty() && !super::ends(&function.body) {
        // Nothing says what it returns, and dropping its last statement must not.
        return function.clone();
    }
    for var in results {
        *uses.counts.entry(var.id()).or_default() += 1;
    }
    let mut assignments: Map<Vec<(&TypeRef, &ExprRef)>> = Map::default();
    each_stmt(&function.body, |stmt| {
        for expr in stmt.expressions() {
            uses.in_expr(expr, 1);
        }
        match &**stmt {
            Stmt::Assign { var, value, .. } => {
                uses.in_type(var.ty(), 1);
                assignments.entry(var.id()).or_default().push((var.expr().ty(), value));
            }
            // A result without a yield names what the body assigns: that is a use.
            Stmt::If { return_vars, .. }
            | Stmt::For { return_vars, .. }
            | Stmt::While { return_vars, .. } => {
                for var in return_vars {
                    *uses.counts.entry(var.id()).or_default() += 1;
                    uses.in_type(var.ty(), 1);
                }
            }
            _ => {}
        }
        if let Stmt::For { iter_args, .. } | Stmt::While { iter_args, .. } = &**stmt {
            iter_args.iter().for_each(|arg| uses.in_type(arg.ty(), 1));
        }
    });
    // A variable that nothing reads takes its values with it, which may free others.
    let mut dead: Map<()> = Map::default();
    let mut todo: Vec<usize> = Vec::new();
    each_stmt(&function.body, |stmt| {
        if let Stmt::Assign { var, .. } = &**stmt
            && uses.count(var.id()) == 0
        {
            todo.push(var.id());
        }
    });
    while let Some(var) = todo.pop() {
        if dead.insert(var, ()).is_some() {
            continue;
        }
        for (ty, value) in assignments.get(&var).into_iter().flatten() {
            if !calls(value) {
                uses.in_expr(value, -1);
                uses.in_type(ty, -1);
                for freed in uses.freed.drain(..) {
                    if assignments.contains_key(&freed) {
                        todo.push(freed);
                    }
                }
            }
        }
    }
    if dead.is_empty() {
        return function.clone();
    }
    let keep = |stmt: &Stmt| match stmt {
        Stmt::Assign { var, value, .. } => !dead.contains_key(&var.id()) || calls(value),
        _ => true,
    };
    let body =
        without(&function.body, &keep).unwrap_or_else(|| Stmt::seq([], function.body.span()));
    let (params, types) = (function.params.iter().cloned(), function.return_types.iter().cloned());
    Function::new(&function.name, params, types, &body, function.span)
}

/// The statement without what is not kept; nothing if nothing is left.
fn without(stmt: &StmtRef, keep: &impl Fn(&Stmt) -> bool) -> Option<StmtRef> {
    deeper(|| {
        let body =
            |body: &StmtRef| without(body, keep).unwrap_or_else(|| Stmt::seq([], body.span()));
        match &**stmt {
            Stmt::Seq { stmts, span } | Stmt::Ops { stmts, span } => {
                let kept: Vec<StmtRef> =
                    stmts.iter().filter_map(|stmt| without(stmt, keep)).collect();
                if kept.len() == stmts.len() && kept.iter().zip(stmts).all(|(a, b)| a.same(b)) {
                    return Some(stmt.clone());
                }
                if kept.is_empty() {
                    return None;
                }
                Some(match &**stmt {
                    Stmt::Ops { .. } => Stmt::ops(kept, *span),
                    _ => Stmt::block(kept, *span),
                })
            }
            Stmt::If { condition, then_body, else_body, return_vars, span } => {
                let then_body = body(then_body);
                let else_body = else_body.as_ref().map(body);
                let results = return_vars.iter().cloned();
                Some(Stmt::if_(condition, &then_body, else_body.as_ref(), results, *span))
            }
            Stmt::For {
                loop_var,
                start,
                stop,
                step,
                iter_args,
                body: inner,
                return_vars,
                span,
                ..
            } => {
                let (args, results) = (iter_args.iter().cloned(), return_vars.iter().cloned());
                Some(Stmt::for_(loop_var, [start, stop, step], args, &body(inner), results, *span))
            }
            Stmt::While { iter_args, condition, body: inner, return_vars, span, .. } => {
                let (args, results) = (iter_args.iter().cloned(), return_vars.iter().cloned());
                Some(Stmt::while_(args, condition, &body(inner), results, *span))
            }
            other => keep(other).then(|| stmt.clone()),
        }
    })
}

/// How often variables are read.
#[derive(Default)]
struct Uses {
    counts: Map<i64>,
    /// Variables whose count has come down to nothing.
    freed: Vec<usize>,
}

impl Uses {
    fn count(&self, var: usize) -> i64 {
        self.counts.get(&var).copied().unwrap_or(0)
    }

    fn in_expr(&mut self, expr: &ExprRef, change: i64) {
        let mut types = Vec::new();
        super::any_node(expr, |node| {
            if !matches!(&**node.ty(), Type::Scalar { .. } | Type::Unknown {}) {
                types.push(node.ty().clone());
            }
            false
        });
        for var in super::variables(expr) {
            self.add(var, change);
        }
        for ty in types {
            self.in_type(&ty, change);
        }
    }

    fn in_type(&mut self, ty: &TypeRef, change: i64) {
        if ty.node().facts().any(sapwood_structural::Facts::VAR) {
            for var in sapwood_structural::free_variables(ty) {
                self.add(var.node().id(), change);
            }
        }
    }

    fn add(&mut self, var: usize, change: i64) {
        let count = self.counts.entry(var).or_default();
        *count += change;
        if *count == 0 {
            self.freed.push(var);
        }
    }
}
