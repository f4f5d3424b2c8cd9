//! A map over the parts of a statement, shared by all passes. A statement that does not change keeps its identity.

use crate::nodes::{ExprRef, IterArg, Stmt, StmtRef, Var};

/// The source of the result variables of a statement.
pub(super) enum ResultSource<'a> {
    /// The first branch of an `if`.
    Branch(&'a StmtRef),
    /// The iteration arguments of a loop.
    Loop(&'a [IterArg]),
}

/// A mapper of the parts of a statement, called in evaluation order. The defaults keep each part.
pub(super) trait StmtMapper {
    /// Maps an expression that the statement itself holds.
    fn map_expr(&mut self, expr: &ExprRef) -> ExprRef {
        expr.clone()
    }

    /// Maps a nested statement: a body, or an item of a sequence.
    fn map_body(&mut self, body: &StmtRef) -> StmtRef;

    /// Maps the variable of an assignment, given its new value.
    fn map_target(&mut self, var: &Var, _value: &ExprRef) -> Var {
        var.clone()
    }

    /// Maps the loop variable, given the new start.
    fn map_loop_var(&mut self, var: &Var, _start: &ExprRef) -> Var {
        var.clone()
    }

    /// Maps the iteration arguments of a loop with this body, given their new initial values.
    fn map_iter_args(
        &mut self,
        args: &[IterArg],
        _inits: &[ExprRef],
        _body: &StmtRef,
    ) -> Vec<IterArg> {
        // A pass that changes initial values must create new arguments.
        args.to_vec()
    }

    /// Maps the results of an `if` or a loop.
    fn map_results(&mut self, vars: &[Var], _inside: ResultSource<'_>) -> Vec<Var> {
        vars.to_vec()
    }
}

/// Returns whether both lists have the same variables in the same order.
fn same_vars<V: std::ops::Deref<Target = ExprRef>>(old: &[V], new: &[V]) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.same(new))
}

fn map_exprs(mapper: &mut impl StmtMapper, exprs: &[ExprRef]) -> Vec<ExprRef> {
    exprs.iter().map(|expr| mapper.map_expr(expr)).collect()
}

fn same_exprs(old: &[ExprRef], new: &[ExprRef]) -> bool {
    old.iter().zip(new).all(|(old, new)| old.same(new))
}

/// Returns the statement with its parts mapped.
pub(super) fn map_stmt(stmt: &StmtRef, mapper: &mut impl StmtMapper) -> StmtRef {
    match &**stmt {
        Stmt::Assign { var, value, span } => {
            let new = mapper.map_expr(value);
            let target = mapper.map_target(var, &new);
            if new.same(value) && target.same(var) {
                return stmt.clone();
            }
            Stmt::assign(&target, &new, *span)
        }
        Stmt::Eval { expr, span } => {
            let new = mapper.map_expr(expr);
            if new.same(expr) { stmt.clone() } else { Stmt::eval(&new, *span) }
        }
        Stmt::Yield { values, span } => {
            let new = map_exprs(mapper, values);
            if same_exprs(values, &new) { stmt.clone() } else { Stmt::yield_(new, *span) }
        }
        Stmt::Return { values, span } => {
            let new = map_exprs(mapper, values);
            if same_exprs(values, &new) { stmt.clone() } else { Stmt::return_(new, *span) }
        }
        Stmt::Seq { stmts, span } => {
            map_bodies(stmts, mapper).map_or_else(|| stmt.clone(), |new| Stmt::seq(new, *span))
        }
        Stmt::Ops { stmts, span } => {
            map_bodies(stmts, mapper).map_or_else(|| stmt.clone(), |new| Stmt::ops(new, *span))
        }
        Stmt::If { condition, then_body, else_body, return_vars, span } => {
            let new_condition = mapper.map_expr(condition);
            let new_then = mapper.map_body(then_body);
            let new_else = else_body.as_ref().map(|body| mapper.map_body(body));
            let results = mapper.map_results(return_vars, ResultSource::Branch(&new_then));
            let same_else = match (else_body, &new_else) {
                (Some(old), Some(new)) => old.same(new),
                _ => true,
            };
            if new_condition.same(condition)
                && new_then.same(then_body)
                && same_else
                && same_vars(return_vars, &results)
            {
                return stmt.clone();
            }
            Stmt::if_(&new_condition, &new_then, new_else.as_ref(), results, *span)
        }
        Stmt::For { loop_var, start, stop, step, iter_args, body, return_vars, span, .. } => {
            let range = [start, stop, step].map(|expr| mapper.map_expr(expr));
            let inits = map_exprs(mapper, stmt.init_values());
            let args = mapper.map_iter_args(iter_args, &inits, body);
            let counter = mapper.map_loop_var(loop_var, &range[0]);
            let new_body = mapper.map_body(body);
            let results = mapper.map_results(return_vars, ResultSource::Loop(&args));
            let same_range = [start, stop, step].iter().zip(&range).all(|(old, new)| old.same(new));
            if same_range
                && same_vars(iter_args, &args)
                && counter.same(loop_var)
                && new_body.same(body)
                && same_vars(return_vars, &results)
            {
                return stmt.clone();
            }
            let [start, stop, step] = &range;
            Stmt::for_(&counter, [start, stop, step], args, &new_body, results, *span)
        }
        Stmt::While { init_values, iter_args, condition, body, return_vars, span } => {
            let inits = map_exprs(mapper, init_values);
            let args = mapper.map_iter_args(iter_args, &inits, body);
            let new_condition = mapper.map_expr(condition);
            let new_body = mapper.map_body(body);
            let results = mapper.map_results(return_vars, ResultSource::Loop(&args));
            if new_condition.same(condition)
                && same_vars(iter_args, &args)
                && new_body.same(body)
                && same_vars(return_vars, &results)
            {
                return stmt.clone();
            }
            Stmt::while_(args, &new_condition, &new_body, results, *span)
        }
    }
}

/// Maps the statements of a sequence; returns none if no statement changes.
fn map_bodies(stmts: &[StmtRef], mapper: &mut impl StmtMapper) -> Option<Vec<StmtRef>> {
    let new: Vec<StmtRef> = stmts.iter().map(|stmt| mapper.map_body(stmt)).collect();
    let same = new.iter().zip(stmts).all(|(new, old)| new.same(old));
    (!same).then_some(new)
}
