//! Sequences of statements.

use sapwood_ir::{ExprRef, Stmt, StmtRef, Var};

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;
use crate::with_grown_stack;

/// Statements that are pending for the current body; a stack of these is a continuation.
pub(crate) enum PendingStmts<'a> {
    List(std::slice::Iter<'a, StmtRef>),
    One(&'a StmtRef),
    /// The end of a branch that is lowered together with the statements after it: its yield binds these variables.
    BindYield(&'a [Var]),
}

/// The way in which a block ends.
pub(crate) enum BlockEnd {
    /// Control reaches the end without a `yield` or `return`.
    FallsThrough,
    Yields(Vec<LoweredValue>),
    Returns(Vec<LoweredValue>),
    /// The flag of an early return is set, so values computed after it are never used.
    ReturnedEarly,
}

impl<'a> FunctionLowering<'a> {
    /// Lowers statements into the current body; with `tail` they end the function, so a `return` ends the block.
    pub(crate) fn lower_block(&mut self, pending: Vec<PendingStmts<'a>>, tail: bool) -> BlockEnd {
        with_grown_stack(|| self.lower_block_inner(pending, tail))
    }

    fn lower_block_inner(&mut self, mut pending: Vec<PendingStmts<'a>>, tail: bool) -> BlockEnd {
        while let Some(entry) = pending.last_mut() {
            let stmt: &'a StmtRef = match entry {
                PendingStmts::List(stmts) => match stmts.next() {
                    Some(stmt) => stmt,
                    None => {
                        pending.pop();
                        continue;
                    }
                },
                &mut PendingStmts::One(stmt) => {
                    pending.pop();
                    stmt
                }
                PendingStmts::BindYield(_) => {
                    pending.pop();
                    continue;
                }
            };
            if !stmt.span().is_unknown() {
                self.span = stmt.span();
            }
            match &**stmt {
                Stmt::Assign { var, value, .. } => self.lower_assign(var, value),
                Stmt::Eval { expr, .. } => self.lower_eval(expr),
                Stmt::Seq { stmts, .. } | Stmt::Ops { stmts, .. } => {
                    pending.push(PendingStmts::List(stmts.iter()));
                }
                Stmt::Yield { values, .. } => {
                    let values = self.lower_exprs(values);
                    let is_branch_end =
                        |entry: &PendingStmts<'a>| matches!(entry, PendingStmts::BindYield(_));
                    let Some(place) = pending.iter().rposition(is_branch_end) else {
                        return BlockEnd::Yields(values);
                    };
                    if let PendingStmts::BindYield(vars) = pending[place] {
                        self.bind_results(vars, values);
                    }
                    pending.truncate(place);
                }
                Stmt::Return { values, .. } => {
                    let values = self.lower_exprs(values);
                    if tail {
                        return BlockEnd::Returns(values);
                    }
                    self.lower_early_return(values);
                    return BlockEnd::ReturnedEarly;
                }
                Stmt::If { condition, then_body, else_body, return_vars, .. } => {
                    let bodies = (then_body, else_body.as_ref());
                    let ends = self.summary.always_returns(then_body)
                        || else_body.as_ref().is_some_and(|body| self.summary.always_returns(body));
                    if tail && ends {
                        return self.lower_returning_if(condition, bodies, return_vars, pending);
                    }
                    let may_return = self.summary.contains_return(stmt) && self.init_return_vars();
                    if self.lower_if(condition, bodies, return_vars) {
                        return BlockEnd::ReturnedEarly;
                    }
                    if may_return {
                        return self.lower_rest_unless_returned(pending, tail);
                    }
                }
                Stmt::For { .. } | Stmt::While { .. } => {
                    let may_return = self.summary.contains_return(stmt) && self.init_return_vars();
                    match **stmt {
                        Stmt::For { .. } => self.lower_for(stmt, may_return),
                        _ => self.lower_while(stmt, may_return),
                    }
                    if self.summary.always_returns(stmt) {
                        return self.end_after_return(tail);
                    }
                    if may_return {
                        return self.lower_rest_unless_returned(pending, tail);
                    }
                }
            }
        }
        BlockEnd::FallsThrough
    }

    pub(crate) fn lower_exprs(&mut self, exprs: &'a [ExprRef]) -> Vec<LoweredValue> {
        exprs.iter().map(|expr| self.lower_expr(expr)).collect()
    }

    /// Binds the result variables of a statement to the values that were yielded for them.
    pub(crate) fn bind_results(&mut self, vars: &'a [Var], values: Vec<LoweredValue>) {
        let missing = std::iter::repeat(None);
        for (var, value) in vars.iter().zip(values.into_iter().chain(missing)) {
            self.hint_name(value, var.name());
            self.bind(var.expr(), value);
        }
    }
}
