//! `while` statements, which become `while` ops.

use sapwood_ir::{Stmt, StmtRef};
use sapwood_ptir::Op;
use sapwood_ptir::ops::While;

use crate::function::FunctionLowering;

impl<'a> FunctionLowering<'a> {
    /// Lowers a `while`; with `may_return` it also stops when the function has returned.
    pub(crate) fn lower_while(&mut self, stmt: &'a StmtRef, may_return: bool) {
        let Stmt::While { init_values, iter_args, condition, body, return_vars, .. } = &**stmt
        else {
            return;
        };
        let span = self.span;
        let inits = self.lower_exprs(init_values);
        let carries = self.loop_carries(iter_args, inits, body, None);
        let region = self.open_loop_region(&[], None, &carries);
        let holds = match may_return {
            true => self.condition_unless_returned(condition),
            false => self.lower_condition(condition),
        };
        let cond = self.close_loop_region(&region, vec![holds]);
        let region = self.open_loop_region(&[], None, &carries);
        let next = self.lower_loop_body(body, &carries);
        self.span = span;
        let body = self.close_loop_region(&region, next);
        let results = match (self.initial_values(&[], &carries), cond, body) {
            (Some(inits), Some(cond), Some(body)) => {
                let inits = inits.into_iter().collect();
                self.append(&While { inits, cond, body }.into_parts(), span)
            }
            _ => None,
        };
        self.bind_loop_results(results.as_deref(), 0, &carries, return_vars);
    }
}
