//! Statements, one after the other.

use sapwood_ir::{ExprRef, Stmt, StmtRef, Var};

use crate::deeper;
use crate::function::Lowering;
use crate::scope::Val;

/// What is still to be lowered into a body.
pub(crate) enum Frame<'a> {
    Stmts(std::slice::Iter<'a, StmtRef>),
    One(&'a StmtRef),
    /// A branch that is lowered with what comes after it ends here: its yield binds these.
    Bind(&'a [Var]),
}

/// How a body ends.
pub(crate) enum End {
    Next,
    Yields(Vec<Val>),
    Returns(Vec<Val>),
    /// The flag is set: whatever comes after it is never looked at.
    Returned,
}

impl<'a> Lowering<'a> {
    /// Lowers statements into the current body. At the `tail` of the function a `return` may stand.
    pub(crate) fn block(&mut self, frames: Vec<Frame<'a>>, tail: bool) -> End {
        deeper(|| self.block_here(frames, tail))
    }

    fn block_here(&mut self, mut frames: Vec<Frame<'a>>, tail: bool) -> End {
        while let Some(frame) = frames.last_mut() {
            let stmt: &'a StmtRef = match frame {
                Frame::Stmts(stmts) => match stmts.next() {
                    Some(stmt) => stmt,
                    None => {
                        frames.pop();
                        continue;
                    }
                },
                &mut Frame::One(stmt) => {
                    frames.pop();
                    stmt
                }
                Frame::Bind(_) => {
                    frames.pop();
                    continue;
                }
            };
            if !stmt.span().is_unknown() {
                self.span = stmt.span();
            }
            match &**stmt {
                Stmt::Assign { var, value, .. } => self.assign(var, value),
                Stmt::Eval { expr, .. } => self.eval(expr),
                Stmt::Seq { stmts, .. } | Stmt::Ops { stmts, .. } => {
                    frames.push(Frame::Stmts(stmts.iter()));
                }
                Stmt::Yield { values, .. } => {
                    let values = self.exprs(values);
                    let around = |frame: &Frame<'a>| matches!(frame, Frame::Bind(_));
                    let Some(place) = frames.iter().rposition(around) else {
                        return End::Yields(values);
                    };
                    if let Frame::Bind(vars) = frames[place] {
                        self.bind_results(vars, values);
                    }
                    frames.truncate(place);
                }
                Stmt::Return { values, .. } => {
                    let values = self.exprs(values);
                    if tail {
                        return End::Returns(values);
                    }
                    self.return_early(values);
                    return End::Returned;
                }
                Stmt::If { condition, then_body, else_body, return_vars, .. } => {
                    let bodies = (then_body, else_body.as_ref());
                    let ends = self.survey.ends(then_body)
                        || else_body.as_ref().is_some_and(|body| self.survey.ends(body));
                    if tail && ends {
                        return self.if_returns(condition, bodies, return_vars, frames);
                    }
                    let may_return = self.survey.returns(stmt) && self.may_return();
                    if self.if_stmt(condition, bodies, return_vars) {
                        return End::Returned;
                    }
                    if may_return {
                        return self.unless_returned(frames, tail);
                    }
                }
                Stmt::For { .. } | Stmt::While { .. } => {
                    let may_return = self.survey.returns(stmt) && self.may_return();
                    match **stmt {
                        Stmt::For { .. } => self.for_stmt(stmt, may_return),
                        _ => self.while_stmt(stmt, may_return),
                    }
                    if self.survey.ends(stmt) {
                        return self.has_returned(tail);
                    }
                    if may_return {
                        return self.unless_returned(frames, tail);
                    }
                }
            }
        }
        End::Next
    }

    pub(crate) fn exprs(&mut self, exprs: &'a [ExprRef]) -> Vec<Val> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    /// Binds results to the values that were yielded for them.
    pub(crate) fn bind_results(&mut self, vars: &'a [Var], values: Vec<Val>) {
        let missing = std::iter::repeat(None);
        for (var, value) in vars.iter().zip(values.into_iter().chain(missing)) {
            self.name(value, var.name());
            self.bind(var.expr(), value);
        }
    }
}
