//! `while` becomes `while`.

use sapwood_ir::{Stmt, StmtRef};
use sapwood_ptir::Op;
use sapwood_ptir::ops::While;

use crate::function::Lowering;

impl<'a> Lowering<'a> {
    /// A loop with a condition, which sees what goes round. It stops when the function has returned.
    pub(crate) fn while_stmt(&mut self, stmt: &'a StmtRef, may_return: bool) {
        let Stmt::While { init_values, iter_args, condition, body, return_vars, .. } = &**stmt
        else {
            return;
        };
        let span = self.span;
        let inits = self.exprs(init_values);
        let round = self.round(iter_args, inits, body, None);
        let region = self.enter(&[], None, &round);
        let holds = match may_return {
            true => self.condition_unless_returned(condition),
            false => self.condition(condition),
        };
        let cond = self.leave(&region, vec![holds]);
        let region = self.enter(&[], None, &round);
        let next = self.loop_body(body, &round);
        self.span = span;
        let body = self.leave(&region, next);
        let results = match (self.first_values(&[], &round), cond, body) {
            (Some(inits), Some(cond), Some(body)) => {
                let inits = inits.into_iter().collect();
                self.append(&While { inits, cond, body }.into_parts(), span)
            }
            _ => None,
        };
        self.after_loop(results.as_deref(), 0, &round, return_vars);
    }
}
