//! Dead assignment elimination: removes assignments to variables that are never read, unless the value contains a call.

use super::map_stmt::{StmtMapper, map_stmt};
use super::{ExprPredicateMemo, IdMap, PassError, check_sharing, for_each_stmt, with_grown_stack};
use crate::interpret::implicit_results;
use crate::nodes::{ExprRef, FunctionRef, Program, ProgramRef, Stmt, StmtRef, TypeRef};

/// Removes assignments to variables that no expression, result or type reads.
///
/// # Errors
/// Fails if shared statements have too many occurrences.
pub fn remove_dead_assignments(program: &Program) -> Result<ProgramRef, PassError> {
    program.map_functions(|function| {
        check_sharing(&function.name, &function.body)?;
        Ok(remove_dead_in_function(function))
    })
}

fn remove_dead_in_function(function: &FunctionRef) -> FunctionRef {
    let mut uses = UseCounts::default();
    function.params.iter().for_each(|param| uses.count_type(param.ty(), 1));
    function.return_types.iter().for_each(|ty| uses.count_type(ty, 1));
    for var in implicit_results(function) {
        *uses.counts.entry(var.id()).or_default() += 1;
    }
    let mut assignments: IdMap<Vec<(&TypeRef, &ExprRef)>> = IdMap::default();
    for_each_stmt(&function.body, |stmt| {
        for expr in stmt.expressions() {
            uses.count_expr(expr, 1);
        }
        if let Stmt::Assign { var, value, .. } = &**stmt {
            uses.count_type(var.expr().ty(), 1);
            assignments.entry(var.id()).or_default().push((var.expr().ty(), value));
        }
        // A result without a `yield` reads the variable that the body assigns.
        for var in stmt.return_vars() {
            *uses.counts.entry(var.id()).or_default() += 1;
            uses.count_type(var.expr().ty(), 1);
        }
        stmt.iter_args().iter().for_each(|arg| uses.count_type(arg.expr().ty(), 1));
    });
    // Removing an assignment removes the reads in its value, which may make other variables dead.
    let mut dead: IdMap<()> = IdMap::default();
    let mut worklist: Vec<usize> = Vec::new();
    let mut calls_memo = ExprPredicateMemo::default();
    for_each_stmt(&function.body, |stmt| {
        if let Stmt::Assign { var, .. } = &**stmt
            && uses.use_count(var.id()) == 0
        {
            worklist.push(var.id());
        }
    });
    while let Some(var) = worklist.pop() {
        if dead.insert(var, ()).is_some() {
            continue;
        }
        for (ty, value) in assignments.get(&var).into_iter().flatten() {
            if !calls_memo.contains_call(value) {
                uses.count_expr(value, -1);
                uses.count_type(ty, -1);
                for freed in uses.freed.drain(..) {
                    if assignments.contains_key(&freed) {
                        worklist.push(freed);
                    }
                }
            }
        }
    }
    if dead.is_empty() {
        return function.clone();
    }
    let mut remover = DeadAssignmentRemover { dead, calls: calls_memo };
    let body = remover
        .map_or_remove(&function.body)
        .unwrap_or_else(|| Stmt::seq([], function.body.span()));
    let new = super::with_body(function, &body);
    if implicit_results(&new).len() == implicit_results(function).len() {
        return new;
    }
    // The new last statement must not become the implicit results.
    super::with_stmts(function, vec![body], Vec::new())
}

/// A mapper that removes the assignments to dead variables.
struct DeadAssignmentRemover {
    dead: IdMap<()>,
    calls: ExprPredicateMemo,
}

impl DeadAssignmentRemover {
    /// Returns the statement without dead assignments, or none if nothing is left.
    fn map_or_remove(&mut self, stmt: &StmtRef) -> Option<StmtRef> {
        match &**stmt {
            Stmt::Assign { var, value, .. } => {
                let kept = !self.dead.contains_key(&var.id()) || self.calls.contains_call(value);
                kept.then(|| stmt.clone())
            }
            Stmt::Seq { stmts, span } | Stmt::Ops { stmts, span } => {
                let kept: Vec<StmtRef> = stmts
                    .iter()
                    .filter_map(|stmt| with_grown_stack(|| self.map_or_remove(stmt)))
                    .collect();
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
            _ => Some(with_grown_stack(|| map_stmt(stmt, self))),
        }
    }
}

impl StmtMapper for DeadAssignmentRemover {
    fn map_body(&mut self, body: &StmtRef) -> StmtRef {
        self.map_or_remove(body).unwrap_or_else(|| Stmt::seq([], body.span()))
    }
}

/// The number of reads of variables and of parts of expressions, by statements and by live parts.
///
/// A shared part is visited once.
#[derive(Default)]
struct UseCounts {
    counts: IdMap<i64>,
    /// Variables whose count dropped to zero.
    freed: Vec<usize>,
}

impl UseCounts {
    fn use_count(&self, var: usize) -> i64 {
        self.counts.get(&var).copied().unwrap_or(0)
    }

    /// Adds `change` reads of a part; returns whether this was the first read, or the removal of the last.
    fn add_use(&mut self, id: usize, change: i64) -> bool {
        let count = self.counts.entry(id).or_default();
        *count += change;
        *count == change.max(0)
    }

    fn count_expr(&mut self, root: &ExprRef, change: i64) {
        let mut worklist = vec![root];
        while let Some(expr) = worklist.pop() {
            if expr.is_const() || !self.add_use(expr.node().id(), change) {
                continue;
            }
            self.count_type(expr.ty(), change);
            if !expr.is_var() {
                worklist.extend(expr.operands());
            } else if change < 0 {
                self.freed.push(expr.node().id());
            }
        }
    }

    fn count_type(&mut self, ty: &TypeRef, change: i64) {
        if !ty.node().facts().any(sapwood_structural::Facts::VAR)
            || !self.add_use(ty.node().id(), change)
        {
            return;
        }
        for var in sapwood_structural::free_variables(ty) {
            let id = var.node().id();
            if self.add_use(id, change) && change < 0 {
                self.freed.push(id);
            }
        }
    }
}
