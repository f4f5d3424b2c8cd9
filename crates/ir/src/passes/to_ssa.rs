//! One definition for each variable; values leave loops and branches only through results.
//!
//! A variable that a branch or a loop body assigns, and that has a value on every path, becomes a
//! result of the branch or loop: both branches yield it, a loop carries it as an iteration argument. The end of
//! a function that returns what its last statement binds becomes a `return`.

use sapwood_types::Span;

use super::live::Live;
use super::rename::Renaming;
use super::{Map, PassError, Set, check_sharing, deeper};
use crate::interpret::implicit_results;
use crate::nodes::{ExprRef, FunctionRef, IterArg, Program, ProgramRef, Stmt, StmtRef, Var};

/// Turns a well-formed program into SSA.
///
/// # Errors
/// If shared statements stand for too many, or a loop does not yield what it carries.
pub fn to_ssa(program: &Program) -> Result<ProgramRef, PassError> {
    program.map_functions(|function| {
        check_sharing(&function.name, &function.body)?;
        function_to_ssa(function)
    })
}

fn function_to_ssa(function: &FunctionRef) -> Result<FunctionRef, PassError> {
    let mut ssa = Ssa {
        current: Renaming::default(),
        undo: Vec::new(),
        live: Live::of(function),
        loops: Vec::new(),
        odd_yield: None,
    };
    for param in &function.params {
        ssa.current.set(param.id(), param.expr().clone());
    }
    let mut out = Vec::new();
    let mut results = Vec::new();
    match ssa.stmt(&function.body, &mut out) {
        End::Yields(values, span) => out.push(Stmt::return_(values, span)),
        End::Returns => {}
        End::Next => results.extend(implicit_results(function).iter().map(|var| ssa.value(var))),
    }
    if let Some((expected, found)) = ssa.odd_yield {
        let function = function.name.to_string();
        return Err(PassError::Yield { function, expected, found });
    }
    Ok(super::with_stmts(function, out, results))
}

/// How a body ends.
enum End {
    Next,
    Yields(Vec<ExprRef>, Span),
    Returns,
}

struct Ssa {
    /// The variable that holds the value of each variable now.
    current: Renaming,
    /// Variables that changed, and what `current` was before, for the way out of a body.
    undo: Vec<(ExprRef, Option<ExprRef>)>,
    live: Live,
    /// Where the loops around began.
    loops: Vec<usize>,
    /// How many values a loop should yield and does, where that is not the same.
    odd_yield: Option<(usize, usize)>,
}

impl Ssa {
    fn value(&self, var: &Var) -> ExprRef {
        self.current.get(var.id()).unwrap_or(var).clone()
    }

    fn set(&mut self, var: &ExprRef, value: ExprRef) {
        let before = self.current.set(var.node().id(), value);
        self.undo.push((var.clone(), before));
    }

    /// A new variable in the place of `var`, from here on.
    fn fresh(&mut self, var: &Var) -> Var {
        let ty = self.current.ty(var.ty());
        let fresh = Var::new(var.name(), ty, var.span());
        self.set(var.expr(), fresh.expr().clone());
        fresh
    }

    fn back_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            let Some((var, before)) = self.undo.pop() else { break };
            match before {
                Some(value) => {
                    self.current.set(var.node().id(), value);
                }
                None => self.current.unset(var.node().id()),
            }
        }
    }

    fn stmt(&mut self, stmt: &StmtRef, out: &mut Vec<StmtRef>) -> End {
        deeper(|| self.stmt_here(stmt, out))
    }

    fn stmt_here(&mut self, stmt: &StmtRef, out: &mut Vec<StmtRef>) -> End {
        match &**stmt {
            Stmt::Assign { var, value, span } => {
                let value = self.current.expr(value);
                let var = self.fresh(var);
                out.push(Stmt::assign(&var, &value, *span));
                End::Next
            }
            Stmt::Eval { expr, span } => {
                out.push(Stmt::eval(&self.current.expr(expr), *span));
                End::Next
            }
            Stmt::Yield { values, span } => End::Yields(self.current.exprs(values), *span),
            Stmt::Return { values, span } => {
                out.push(Stmt::return_(self.current.exprs(values), *span));
                End::Returns
            }
            Stmt::Seq { stmts, .. } => {
                for stmt in stmts {
                    match self.stmt(stmt, out) {
                        End::Next => {}
                        // What comes after is never reached.
                        end => return end,
                    }
                }
                End::Next
            }
            Stmt::Ops { stmts, span } => {
                let mut inner = Vec::with_capacity(stmts.len());
                for stmt in stmts {
                    self.stmt(stmt, &mut inner);
                }
                out.push(Stmt::ops(inner, *span));
                End::Next
            }
            Stmt::If { condition, then_body, else_body, return_vars, span } => {
                let condition = self.current.expr(condition);
                let bodies = (then_body, else_body.as_ref());
                self.branches(stmt, &condition, bodies, return_vars, *span, out)
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
                let range = [start, stop, step].map(|expr| self.current.expr(expr));
                let inits = self.current.exprs(init_values);
                let mark = self.undo.len();
                let carried = self.carried(stmt);
                let args = self.enter(iter_args, &inits, &carried);
                let loop_var = self.fresh(loop_var);
                self.loops.push(self.live.begin(stmt.node().id()));
                let body = self.body(body, iter_args.len(), &carried);
                self.loops.pop();
                self.back_to(mark);
                let results = self.leave(return_vars, iter_args.len(), &carried);
                let [start, stop, step] = &range;
                out.push(Stmt::for_(&loop_var, [start, stop, step], args, &body, results, *span));
                End::Next
            }
            Stmt::While { init_values, iter_args, condition, body, return_vars, span } => {
                let inits = self.current.exprs(init_values);
                let mark = self.undo.len();
                let carried = self.carried(stmt);
                let args = self.enter(iter_args, &inits, &carried);
                let condition = self.current.expr(condition);
                self.loops.push(self.live.begin(stmt.node().id()));
                let body = self.body(body, iter_args.len(), &carried);
                self.loops.pop();
                self.back_to(mark);
                let results = self.leave(return_vars, iter_args.len(), &carried);
                out.push(Stmt::while_(args, &condition, &body, results, *span));
                End::Next
            }
        }
    }

    /// Variables with a value before the loop that its body, or the loop itself, changes, and that
    /// something may read afterwards.
    fn carried(&self, stmt: &StmtRef) -> Vec<Var> {
        let mut vars = self.live.changed(stmt.node().id()).to_vec();
        vars.retain(|var| self.current.get(var.id()).is_some());
        vars
    }

    /// Iteration arguments: those of the loop, then one for each carried variable.
    fn enter(&mut self, iter_args: &[IterArg], inits: &[ExprRef], carried: &[Var]) -> Vec<IterArg> {
        let mut args = Vec::with_capacity(iter_args.len() + carried.len());
        for (arg, init) in iter_args.iter().zip(inits) {
            let ty = self.current.ty(arg.ty());
            args.push(IterArg::new(arg.name(), ty, init, arg.span()));
        }
        let outer: Vec<ExprRef> = carried.iter().map(|var| self.value(var)).collect();
        for (var, init) in carried.iter().zip(&outer) {
            let ty = self.current.ty(var.ty());
            args.push(IterArg::new(var.name(), ty, init, var.span()));
        }
        let names = iter_args.iter().map(IterArg::expr).chain(carried.iter().map(Var::expr));
        for (var, arg) in names.zip(&args) {
            self.set(var, arg.expr().clone());
        }
        args
    }

    /// A loop's body, ending in a yield of everything that is carried.
    fn body(&mut self, body: &StmtRef, own: usize, carried: &[Var]) -> StmtRef {
        let mut inner = Vec::new();
        let end = self.stmt(body, &mut inner);
        let (mut values, place) = match end {
            End::Returns => return Stmt::block(inner, body.span()),
            End::Yields(values, place) => (values, place),
            End::Next => (Vec::new(), body.span()),
        };
        if values.len() != own {
            self.odd_yield.get_or_insert((own, values.len()));
        }
        values.extend(carried.iter().map(|var| self.value(var)));
        if !values.is_empty() {
            inner.push(Stmt::yield_(values, place));
        }
        Stmt::block(inner, body.span())
    }

    /// The results of a loop: its own, then the carried variables.
    fn leave(&mut self, return_vars: &[Var], own: usize, carried: &[Var]) -> Vec<Var> {
        let mut results = Vec::with_capacity(own + carried.len());
        if own > 0 {
            // Its own results are bound after the carried variables are, so that a result that
            // is also carried has the value of the yield.
            let carried: Vec<Var> = carried.iter().map(|var| self.fresh(var)).collect();
            results.extend(return_vars.iter().map(|var| self.fresh(var)));
            results.extend(carried);
        } else {
            results.extend(carried.iter().map(|var| self.fresh(var)));
        }
        results
    }

    fn branches(
        &mut self,
        stmt: &StmtRef,
        condition: &ExprRef,
        (then_body, else_body): (&StmtRef, Option<&StmtRef>),
        return_vars: &[Var],
        span: Span,
        out: &mut Vec<StmtRef>,
    ) -> End {
        let mut changed: Vec<ExprRef> = Vec::new();
        let mut branch = |body: Option<&StmtRef>, changed: &mut Vec<ExprRef>| {
            let mark = self.undo.len();
            let mut inner = Vec::new();
            let end = body.map_or(End::Next, |body| self.stmt(body, &mut inner));
            // What changed in here is what there is to take back, and only that.
            let after: Vec<(ExprRef, Option<ExprRef>)> = self.undo[mark..]
                .iter()
                .map(|(var, _)| (var.clone(), self.current.get(var.node().id()).cloned()))
                .collect();
            self.back_to(mark);
            let mut values: Map<ExprRef> = Map::default();
            for (var, value) in after {
                if let (false, Some(value)) = (values.contains_key(&var.node().id()), value) {
                    values.insert(var.node().id(), value);
                    changed.push(var);
                }
            }
            (inner, end, values)
        };
        let (mut then_stmts, then_end, then_values) = branch(Some(then_body), &mut changed);
        let (mut else_stmts, else_end, else_values) = branch(else_body, &mut changed);
        let then_returns = matches!(then_end, End::Returns);
        let else_returns = matches!(else_end, End::Returns);
        // A result is a variable that has a value on every path that goes on, not the same one, and
        // that something may read.
        let named: Set = return_vars.iter().map(Var::id).collect();
        let mut seen = Set::default();
        let mut leaving: Vec<(Var, Option<ExprRef>, Option<ExprRef>)> = Vec::new();
        for var in changed.iter().filter_map(|var| Var::try_from(var).ok()) {
            let id = var.id();
            if !seen.insert(id)
                || !self.live.after(stmt.node().id(), id, &self.loops) && !named.contains(&id)
            {
                continue;
            }
            let before = self.current.get(id);
            let [a, b] =
                [&then_values, &else_values].map(|values| values.get(&id).or(before).cloned());
            let goes_on = (a.is_some() || then_returns) && (b.is_some() || else_returns);
            let differs = match (&a, &b) {
                (Some(a), Some(b)) => !a.same(b),
                _ => true,
            };
            if goes_on && differs && !(then_returns && else_returns) {
                leaving.push((var, a, b));
            }
        }
        let yields = matches!(then_end, End::Yields(..)) || matches!(else_end, End::Yields(..));
        // Results that both branches assign are among those that leave.
        let own: &[Var] = if yields { return_vars } else { &[] };
        let close = |stmts: &mut Vec<StmtRef>, end: End, first: bool, body: Span| {
            let (mut values, place) = match end {
                End::Returns => return,
                End::Yields(values, place) => (values, place),
                End::Next => (Vec::new(), body),
            };
            for (_, a, b) in &leaving {
                values.extend(if first { a.clone() } else { b.clone() });
            }
            if !values.is_empty() {
                stmts.push(Stmt::yield_(values, place));
            }
        };
        let else_span = else_body.map_or(span, |body| body.span());
        close(&mut then_stmts, then_end, true, then_body.span());
        close(&mut else_stmts, else_end, false, else_span);
        let carried: Vec<Var> = leaving.iter().map(|(var, ..)| self.fresh(var)).collect();
        let mut results: Vec<Var> = own.iter().map(|var| self.fresh(var)).collect();
        results.extend(carried);
        let then_body = Stmt::block(then_stmts, then_body.span());
        let else_body = (else_body.is_some() || !else_stmts.is_empty())
            .then(|| Stmt::block(else_stmts, else_span));
        out.push(Stmt::if_(condition, &then_body, else_body.as_ref(), results, span));
        if then_returns && else_returns { End::Returns } else { End::Next }
    }
}
