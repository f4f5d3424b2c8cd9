//! Conversion to SSA: one definition for each variable; values leave loops and branches only as results.
//!
//! A variable that a branch or a loop body assigns, and that has a value on every path, becomes a result of the `if` or
//! loop: both branches yield it, a loop carries it as an iteration argument. A function with implicit results gets a `return`.

use sapwood_types::Span;

use super::liveness::Liveness;
use super::rename::VarRenaming;
use super::{IdMap, IdSet, PassError, check_sharing, with_grown_stack};
use crate::interpret::implicit_results;
use crate::nodes::{ExprRef, FunctionRef, IterArg, Program, ProgramRef, Stmt, StmtRef, Var};

/// Converts a well-formed program to SSA.
///
/// # Errors
/// Fails if shared statements have too many occurrences, or a loop yields a wrong number of values.
pub fn to_ssa(program: &Program) -> Result<ProgramRef, PassError> {
    program.map_functions(|function| {
        check_sharing(&function.name, &function.body)?;
        function_to_ssa(function)
    })
}

fn function_to_ssa(function: &FunctionRef) -> Result<FunctionRef, PassError> {
    let mut ssa = SsaBuilder {
        current: VarRenaming::default(),
        undo: Vec::new(),
        liveness: Liveness::of(function),
        loop_starts: Vec::new(),
        yield_mismatch: None,
    };
    for param in &function.params {
        ssa.current.set(param.id(), param.expr().clone());
    }
    let mut out = Vec::new();
    let mut results = Vec::new();
    match ssa.convert_stmt(&function.body, &mut out) {
        SsaBlockEnd::Yields(values, span) => out.push(Stmt::return_(values, span)),
        SsaBlockEnd::Returns => {}
        SsaBlockEnd::FallsThrough => {
            results.extend(implicit_results(function).iter().map(|var| ssa.current_value(var)));
        }
    }
    if let Some((expected, found)) = ssa.yield_mismatch {
        let function = function.name.to_string();
        return Err(PassError::Yield { function, expected, found });
    }
    Ok(super::with_stmts(function, out, results))
}

/// The way in which a converted body ends.
enum SsaBlockEnd {
    FallsThrough,
    Yields(Vec<ExprRef>, Span),
    Returns,
}

/// The state of converting one function to SSA.
struct SsaBuilder {
    /// The current SSA variable of each variable.
    current: VarRenaming,
    /// The undo log of `current`: variables and their previous SSA variables.
    undo: Vec<(ExprRef, Option<ExprRef>)>,
    liveness: Liveness,
    /// The start positions of the enclosing loops.
    loop_starts: Vec<usize>,
    /// The expected and the found number of yielded values of the first loop in which they differ.
    yield_mismatch: Option<(usize, usize)>,
}

impl SsaBuilder {
    fn current_value(&self, var: &Var) -> ExprRef {
        self.current.get(var.id()).unwrap_or(var).clone()
    }

    fn set(&mut self, var: &ExprRef, value: ExprRef) {
        let before = self.current.set(var.node().id(), value);
        self.undo.push((var.clone(), before));
    }

    /// Replaces `var` by a new variable from here on.
    fn fresh_var(&mut self, var: &Var) -> Var {
        let ty = self.current.rename_type(var.ty());
        let fresh = Var::new(var.name(), ty, var.span());
        self.set(var.expr(), fresh.expr().clone());
        fresh
    }

    fn rollback_to(&mut self, snapshot: usize) {
        while self.undo.len() > snapshot {
            let Some((var, before)) = self.undo.pop() else { break };
            match before {
                Some(value) => {
                    self.current.set(var.node().id(), value);
                }
                None => self.current.unset(var.node().id()),
            }
        }
    }

    fn convert_stmt(&mut self, stmt: &StmtRef, out: &mut Vec<StmtRef>) -> SsaBlockEnd {
        with_grown_stack(|| self.convert_stmt_inner(stmt, out))
    }

    fn convert_stmt_inner(&mut self, stmt: &StmtRef, out: &mut Vec<StmtRef>) -> SsaBlockEnd {
        match &**stmt {
            Stmt::Assign { var, value, span } => {
                let value = self.current.rename_expr(value);
                let var = self.fresh_var(var);
                out.push(Stmt::assign(&var, &value, *span));
                SsaBlockEnd::FallsThrough
            }
            Stmt::Eval { expr, span } => {
                out.push(Stmt::eval(&self.current.rename_expr(expr), *span));
                SsaBlockEnd::FallsThrough
            }
            Stmt::Yield { values, span } => {
                SsaBlockEnd::Yields(self.current.rename_exprs(values), *span)
            }
            Stmt::Return { values, span } => {
                out.push(Stmt::return_(self.current.rename_exprs(values), *span));
                SsaBlockEnd::Returns
            }
            Stmt::Seq { stmts, .. } => {
                for stmt in stmts {
                    match self.convert_stmt(stmt, out) {
                        SsaBlockEnd::FallsThrough => {}
                        // The statements after it are unreachable.
                        end => return end,
                    }
                }
                SsaBlockEnd::FallsThrough
            }
            Stmt::Ops { stmts, span } => {
                let mut inner = Vec::with_capacity(stmts.len());
                for stmt in stmts {
                    self.convert_stmt(stmt, &mut inner);
                }
                out.push(Stmt::ops(inner, *span));
                SsaBlockEnd::FallsThrough
            }
            Stmt::If { condition, then_body, else_body, return_vars, span } => {
                let condition = self.current.rename_expr(condition);
                let bodies = (then_body, else_body.as_ref());
                self.convert_if(stmt, &condition, bodies, return_vars, *span, out)
            }
            Stmt::For {
                loop_var, start, stop, step, iter_args, body, return_vars, span, ..
            } => {
                let range = [start, stop, step].map(|expr| self.current.rename_expr(expr));
                let inits = self.current.rename_exprs(stmt.init_values());
                let snapshot = self.undo.len();
                let carried = self.carried_vars(stmt);
                let args = self.make_iter_args(iter_args, &inits, &carried);
                let loop_var = self.fresh_var(loop_var);
                self.loop_starts.push(self.liveness.position_of(stmt.node().id()));
                let body = self.convert_loop_body(body, iter_args.len(), &carried);
                self.loop_starts.pop();
                self.rollback_to(snapshot);
                let results = self.make_loop_results(return_vars, iter_args.len(), &carried);
                let [start, stop, step] = &range;
                out.push(Stmt::for_(&loop_var, [start, stop, step], args, &body, results, *span));
                SsaBlockEnd::FallsThrough
            }
            Stmt::While { init_values, iter_args, condition, body, return_vars, span } => {
                let inits = self.current.rename_exprs(init_values);
                let snapshot = self.undo.len();
                let carried = self.carried_vars(stmt);
                let args = self.make_iter_args(iter_args, &inits, &carried);
                let condition = self.current.rename_expr(condition);
                self.loop_starts.push(self.liveness.position_of(stmt.node().id()));
                let body = self.convert_loop_body(body, iter_args.len(), &carried);
                self.loop_starts.pop();
                self.rollback_to(snapshot);
                let results = self.make_loop_results(return_vars, iter_args.len(), &carried);
                out.push(Stmt::while_(args, &condition, &body, results, *span));
                SsaBlockEnd::FallsThrough
            }
        }
    }

    /// Returns the variables that a loop must carry: assigned in it, with a value before it, and possibly read afterwards.
    fn carried_vars(&self, stmt: &StmtRef) -> Vec<Var> {
        let mut vars = self.liveness.carried_by(stmt.node().id()).to_vec();
        vars.retain(|var| self.current.get(var.id()).is_some());
        vars
    }

    /// Returns the new iteration arguments: those of the loop, then one for each carried variable.
    fn make_iter_args(
        &mut self,
        iter_args: &[IterArg],
        inits: &[ExprRef],
        carried: &[Var],
    ) -> Vec<IterArg> {
        let mut args = Vec::with_capacity(iter_args.len() + carried.len());
        for (arg, init) in iter_args.iter().zip(inits) {
            let ty = self.current.rename_type(arg.ty());
            args.push(IterArg::new(arg.name(), ty, init, arg.span()));
        }
        let outer: Vec<ExprRef> = carried.iter().map(|var| self.current_value(var)).collect();
        for (var, init) in carried.iter().zip(&outer) {
            let ty = self.current.rename_type(var.ty());
            args.push(IterArg::new(var.name(), ty, init, var.span()));
        }
        let names = iter_args.iter().map(IterArg::expr).chain(carried.iter().map(Var::expr));
        for (var, arg) in names.zip(&args) {
            self.set(var, arg.expr().clone());
        }
        args
    }

    /// Converts the body of a loop, ending in a `yield` of all carried values.
    fn convert_loop_body(&mut self, body: &StmtRef, own: usize, carried: &[Var]) -> StmtRef {
        let mut inner = Vec::new();
        let end = self.convert_stmt(body, &mut inner);
        let (mut values, place) = match end {
            SsaBlockEnd::Returns => return Stmt::block(inner, body.span()),
            SsaBlockEnd::Yields(values, place) => (values, place),
            SsaBlockEnd::FallsThrough => (Vec::new(), body.span()),
        };
        if values.len() != own {
            self.yield_mismatch.get_or_insert((own, values.len()));
        }
        values.extend(carried.iter().map(|var| self.current_value(var)));
        if !values.is_empty() {
            inner.push(Stmt::yield_(values, place));
        }
        Stmt::block(inner, body.span())
    }

    /// Returns the results of a loop: its own, then the carried variables.
    fn make_loop_results(&mut self, return_vars: &[Var], own: usize, carried: &[Var]) -> Vec<Var> {
        let mut results = Vec::with_capacity(own + carried.len());
        if own > 0 {
            // The loop's own results are bound after the carried variables, so a variable that is both has the
            // yielded value.
            let carried: Vec<Var> = carried.iter().map(|var| self.fresh_var(var)).collect();
            results.extend(return_vars.iter().map(|var| self.fresh_var(var)));
            results.extend(carried);
        } else {
            results.extend(carried.iter().map(|var| self.fresh_var(var)));
        }
        results
    }

    fn convert_if(
        &mut self,
        stmt: &StmtRef,
        condition: &ExprRef,
        (then_body, else_body): (&StmtRef, Option<&StmtRef>),
        return_vars: &[Var],
        span: Span,
        out: &mut Vec<StmtRef>,
    ) -> SsaBlockEnd {
        let mut changed: Vec<ExprRef> = Vec::new();
        let mut branch = |body: Option<&StmtRef>, changed: &mut Vec<ExprRef>| {
            let snapshot = self.undo.len();
            let mut inner = Vec::new();
            let end =
                body.map_or(SsaBlockEnd::FallsThrough, |body| self.convert_stmt(body, &mut inner));
            // The undo log has exactly the variables that changed in this branch.
            let after: Vec<(ExprRef, Option<ExprRef>)> = self.undo[snapshot..]
                .iter()
                .map(|(var, _)| (var.clone(), self.current.get(var.node().id()).cloned()))
                .collect();
            self.rollback_to(snapshot);
            let mut values: IdMap<ExprRef> = IdMap::default();
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
        let then_returns = matches!(then_end, SsaBlockEnd::Returns);
        let else_returns = matches!(else_end, SsaBlockEnd::Returns);
        // A result is a variable with different values at the ends of the branches that continue, and that
        // may be read afterwards.
        let named: IdSet = return_vars.iter().map(Var::id).collect();
        let mut seen = IdSet::default();
        let mut merged: Vec<(Var, Option<ExprRef>, Option<ExprRef>)> = Vec::new();
        for var in changed.iter().filter_map(|var| Var::try_from(var).ok()) {
            let id = var.id();
            if !seen.insert(id)
                || !self.liveness.is_read_after(stmt.node().id(), id, &self.loop_starts)
                    && !named.contains(&id)
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
                merged.push((var, a, b));
            }
        }
        let yields = matches!(then_end, SsaBlockEnd::Yields(..))
            || matches!(else_end, SsaBlockEnd::Yields(..));
        // Results that both branches assign are among the merged variables.
        let own: &[Var] = if yields { return_vars } else { &[] };
        let close = |stmts: &mut Vec<StmtRef>, end: SsaBlockEnd, first: bool, body: Span| {
            let (mut values, place) = match end {
                SsaBlockEnd::Returns => return,
                SsaBlockEnd::Yields(values, place) => (values, place),
                SsaBlockEnd::FallsThrough => (Vec::new(), body),
            };
            for (_, a, b) in &merged {
                values.extend(if first { a.clone() } else { b.clone() });
            }
            if !values.is_empty() {
                stmts.push(Stmt::yield_(values, place));
            }
        };
        let else_span = else_body.map_or(span, |body| body.span());
        close(&mut then_stmts, then_end, true, then_body.span());
        close(&mut else_stmts, else_end, false, else_span);
        let carried: Vec<Var> = merged.iter().map(|(var, ..)| self.fresh_var(var)).collect();
        let mut results: Vec<Var> = own.iter().map(|var| self.fresh_var(var)).collect();
        results.extend(carried);
        let then_body = Stmt::block(then_stmts, then_body.span());
        let else_body = (else_body.is_some() || !else_stmts.is_empty())
            .then(|| Stmt::block(else_stmts, else_span));
        out.push(Stmt::if_(condition, &then_body, else_body.as_ref(), results, span));
        if then_returns && else_returns { SsaBlockEnd::Returns } else { SsaBlockEnd::FallsThrough }
    }
}
