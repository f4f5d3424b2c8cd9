//! Assignments to variables that nothing reads are dropped, unless they call something.

use super::walk::{Parts, map_parts};
use super::{Anywhere, Map, PassError, check_sharing, deeper, each_stmt};
use crate::interpret::implicit_results;
use crate::nodes::{ExprRef, FunctionRef, Program, ProgramRef, Stmt, StmtRef, TypeRef};

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
    for var in implicit_results(function) {
        *uses.counts.entry(var.id()).or_default() += 1;
    }
    let mut assignments: Map<Vec<(&TypeRef, &ExprRef)>> = Map::default();
    each_stmt(&function.body, |stmt| {
        for expr in stmt.expressions() {
            uses.in_expr(expr, 1);
        }
        if let Stmt::Assign { var, value, .. } = &**stmt {
            uses.in_type(var.expr().ty(), 1);
            assignments.entry(var.id()).or_default().push((var.expr().ty(), value));
        }
        // A result without a yield names what the body assigns: that is a use.
        for var in stmt.return_vars() {
            *uses.counts.entry(var.id()).or_default() += 1;
            uses.in_type(var.expr().ty(), 1);
        }
        stmt.iter_args().iter().for_each(|arg| uses.in_type(arg.expr().ty(), 1));
    });
    // A variable that nothing reads takes its values with it, which may free others.
    let mut dead: Map<()> = Map::default();
    let mut todo: Vec<usize> = Vec::new();
    let mut all_calls = Anywhere::default();
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
            if !all_calls.calls(value) {
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
    let mut kept = Kept { dead, calls: all_calls };
    let body = kept.stmt(&function.body).unwrap_or_else(|| Stmt::seq([], function.body.span()));
    let new = super::with_body(function, &body);
    if implicit_results(&new).len() == implicit_results(function).len() {
        return new;
    }
    // The statement that is the last one now is not what the function returns.
    super::with_stmts(function, vec![body], Vec::new())
}

/// Leaves out the assignments to variables that are dead.
struct Kept {
    dead: Map<()>,
    calls: Anywhere,
}

impl Kept {
    /// The statement without what is not kept; nothing if nothing is left.
    fn stmt(&mut self, stmt: &StmtRef) -> Option<StmtRef> {
        match &**stmt {
            Stmt::Assign { var, value, .. } => {
                let kept = !self.dead.contains_key(&var.id()) || self.calls.calls(value);
                kept.then(|| stmt.clone())
            }
            Stmt::Seq { stmts, span } | Stmt::Ops { stmts, span } => {
                let kept: Vec<StmtRef> =
                    stmts.iter().filter_map(|stmt| deeper(|| self.stmt(stmt))).collect();
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
            _ => Some(deeper(|| map_parts(stmt, self))),
        }
    }
}

impl Parts for Kept {
    fn body(&mut self, body: &StmtRef) -> StmtRef {
        self.stmt(body).unwrap_or_else(|| Stmt::seq([], body.span()))
    }
}

/// How often variables, and parts of expressions, are read: by statements and by parts that are read
/// themselves. So a part that many statements share is looked at once.
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

    /// One read more, or one less, and whether that is the first or was the last.
    fn add(&mut self, id: usize, change: i64) -> bool {
        let count = self.counts.entry(id).or_default();
        *count += change;
        *count == change.max(0)
    }

    fn in_expr(&mut self, root: &ExprRef, change: i64) {
        let mut todo = vec![root];
        while let Some(expr) = todo.pop() {
            if expr.is_const() || !self.add(expr.node().id(), change) {
                continue;
            }
            self.in_type(expr.ty(), change);
            if !expr.is_var() {
                todo.extend(expr.operands());
            } else if change < 0 {
                self.freed.push(expr.node().id());
            }
        }
    }

    fn in_type(&mut self, ty: &TypeRef, change: i64) {
        if !ty.node().facts().any(sapwood_structural::Facts::VAR)
            || !self.add(ty.node().id(), change)
        {
            return;
        }
        for var in sapwood_structural::free_variables(ty) {
            let id = var.node().id();
            if self.add(id, change) && change < 0 {
                self.freed.push(id);
            }
        }
    }
}
