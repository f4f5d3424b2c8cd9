//! One walk over the parts of a statement, for all passes. What does not change keeps its identity.

use crate::nodes::{ExprRef, IterArg, Stmt, StmtRef, Var};

/// What became of the bodies or arguments of a statement, for its results.
pub(super) enum Inside<'a> {
    /// The first branch of an `if`.
    Branch(&'a StmtRef),
    /// The iteration arguments of a loop.
    Loop(&'a [IterArg]),
}

/// What a pass does with the parts of a statement. Parts are asked for in the order in which they
/// are evaluated; what is not said here stays as it is.
pub(super) trait Parts {
    /// An expression that the statement holds itself.
    fn expr(&mut self, expr: &ExprRef) -> ExprRef {
        expr.clone()
    }

    /// A statement inside: a body, or one of a sequence.
    fn body(&mut self, body: &StmtRef) -> StmtRef;

    /// The variable of an assignment, given its new value.
    fn target(&mut self, var: &Var, _value: &ExprRef) -> Var {
        var.clone()
    }

    /// The variable that counts, given the new start.
    fn loop_var(&mut self, var: &Var, _start: &ExprRef) -> Var {
        var.clone()
    }

    /// The iteration arguments of a loop with this body, given their new initial values.
    fn args(&mut self, args: &[IterArg], _inits: &[ExprRef], _body: &StmtRef) -> Vec<IterArg> {
        // A pass that changes initial values makes arguments of its own.
        args.to_vec()
    }

    /// The results of an `if` or a loop.
    fn results(&mut self, vars: &[Var], _inside: Inside<'_>) -> Vec<Var> {
        vars.to_vec()
    }
}

/// Whether the same variables stand in the same order.
fn same_all<V: std::ops::Deref<Target = ExprRef>>(old: &[V], new: &[V]) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.same(new))
}

fn exprs(parts: &mut impl Parts, exprs: &[ExprRef]) -> Vec<ExprRef> {
    exprs.iter().map(|expr| parts.expr(expr)).collect()
}

fn same_exprs(old: &[ExprRef], new: &[ExprRef]) -> bool {
    old.iter().zip(new).all(|(old, new)| old.same(new))
}

/// The statement over what becomes of its parts.
pub(super) fn map_parts(stmt: &StmtRef, parts: &mut impl Parts) -> StmtRef {
    match &**stmt {
        Stmt::Assign { var, value, span } => {
            let new = parts.expr(value);
            let target = parts.target(var, &new);
            if new.same(value) && target.same(var) {
                return stmt.clone();
            }
            Stmt::assign(&target, &new, *span)
        }
        Stmt::Eval { expr, span } => {
            let new = parts.expr(expr);
            if new.same(expr) { stmt.clone() } else { Stmt::eval(&new, *span) }
        }
        Stmt::Yield { values, span } => {
            let new = exprs(parts, values);
            if same_exprs(values, &new) { stmt.clone() } else { Stmt::yield_(new, *span) }
        }
        Stmt::Return { values, span } => {
            let new = exprs(parts, values);
            if same_exprs(values, &new) { stmt.clone() } else { Stmt::return_(new, *span) }
        }
        Stmt::Seq { stmts, span } => {
            bodies(stmts, parts).map_or_else(|| stmt.clone(), |new| Stmt::seq(new, *span))
        }
        Stmt::Ops { stmts, span } => {
            bodies(stmts, parts).map_or_else(|| stmt.clone(), |new| Stmt::ops(new, *span))
        }
        Stmt::If { condition, then_body, else_body, return_vars, span } => {
            let new_condition = parts.expr(condition);
            let new_then = parts.body(then_body);
            let new_else = else_body.as_ref().map(|body| parts.body(body));
            let results = parts.results(return_vars, Inside::Branch(&new_then));
            let same_else = match (else_body, &new_else) {
                (Some(old), Some(new)) => old.same(new),
                _ => true,
            };
            if new_condition.same(condition)
                && new_then.same(then_body)
                && same_else
                && same_all(return_vars, &results)
            {
                return stmt.clone();
            }
            Stmt::if_(&new_condition, &new_then, new_else.as_ref(), results, *span)
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
            let range = [start, stop, step].map(|expr| parts.expr(expr));
            let inits = exprs(parts, init_values);
            let args = parts.args(iter_args, &inits, body);
            let counter = parts.loop_var(loop_var, &range[0]);
            let new_body = parts.body(body);
            let results = parts.results(return_vars, Inside::Loop(&args));
            let same_range = [start, stop, step].iter().zip(&range).all(|(old, new)| old.same(new));
            if same_range
                && same_all(iter_args, &args)
                && counter.same(loop_var)
                && new_body.same(body)
                && same_all(return_vars, &results)
            {
                return stmt.clone();
            }
            let [start, stop, step] = &range;
            Stmt::for_(&counter, [start, stop, step], args, &new_body, results, *span)
        }
        Stmt::While { init_values, iter_args, condition, body, return_vars, span } => {
            let inits = exprs(parts, init_values);
            let args = parts.args(iter_args, &inits, body);
            let new_condition = parts.expr(condition);
            let new_body = parts.body(body);
            let results = parts.results(return_vars, Inside::Loop(&args));
            if new_condition.same(condition)
                && same_all(iter_args, &args)
                && new_body.same(body)
                && same_all(return_vars, &results)
            {
                return stmt.clone();
            }
            Stmt::while_(args, &new_condition, &new_body, results, *span)
        }
    }
}

/// The statements of a sequence; nothing if none changes.
fn bodies(stmts: &[StmtRef], parts: &mut impl Parts) -> Option<Vec<StmtRef>> {
    let new: Vec<StmtRef> = stmts.iter().map(|stmt| parts.body(stmt)).collect();
    let same = new.iter().zip(stmts).all(|(new, old)| new.same(old));
    (!same).then_some(new)
}
