//! Inlining of function calls.
//!
//! A call is inlined if it is the whole value of an assignment or an expression statement, and if the callee returns only
//! at its end and cannot reach itself. When a call is inlined, its arguments and results become such values too. Other calls stay.

use sapwood_types::Span;

use super::map_stmt::{ResultSource, StmtMapper, map_stmt};
use super::rename::VarRenaming;
use super::{
    ExprPredicateMemo, PassError, call_graph, check_sharing, ends_in_return_or_yield,
    for_each_stmt, with_grown_stack,
};
use crate::interpret::implicit_results;
use crate::nodes::{
    Expr, ExprRef, FunctionRef, IterArg, Program, ProgramRef, Stmt, StmtRef, TypeRef, Var,
};

/// The maximum number of statements of a function after inlining.
const MAX_FUNCTION_STATEMENTS: usize = 100_000;

/// Replaces calls by the bodies of their callees.
///
/// # Errors
/// Fails if shared statements have too many occurrences.
pub fn inline(program: &Program) -> Result<ProgramRef, PassError> {
    for function in program.functions() {
        check_sharing(&function.name, &function.body)?;
    }
    // Callees come before their callers, so an inlined body is already inlined itself.
    let mut done = InlinedFunctions::default();
    let mut functions = Vec::new();
    for (function, in_cycle) in call_graph::callees_first(program) {
        let new = inline_in_function(&function, &done);
        done.insert(function.name.to_string(), InlineCandidate::of(&new, in_cycle));
        functions.push(new);
    }
    Ok(program.with_functions(functions)?)
}

/// The functions that are already processed, by name.
type InlinedFunctions = hashbrown::HashMap<String, InlineCandidate, rustc_hash::FxBuildHasher>;

/// A function that is already processed, with the facts that decide whether it is inlined.
struct InlineCandidate {
    function: FunctionRef,
    statements: usize,
    /// True if calls of the function can be inlined.
    is_inlinable: bool,
}

impl InlineCandidate {
    fn of(function: &FunctionRef, in_cycle: bool) -> Self {
        let (mut statements, mut returns) = (0, 0);
        for_each_stmt(&function.body, |stmt| {
            statements += 1;
            returns += usize::from(matches!(&**stmt, Stmt::Return { .. }));
        });
        let at_end = trailing_results(&function.body);
        let returns_at_end = matches!(at_end, Some((_, true)));
        let is_inlinable = !in_cycle
            && returns == usize::from(returns_at_end)
            && (at_end.is_some()
                || function.return_types.is_empty()
                || !implicit_results(function).is_empty());
        Self { function: function.clone(), statements, is_inlinable }
    }
}

fn inline_in_function(function: &FunctionRef, done: &InlinedFunctions) -> FunctionRef {
    let mut size = 0;
    for_each_stmt(&function.body, |_| size += 1);
    let mut inliner = Inliner { done, size, changed: false, calls: ExprPredicateMemo::default() };
    let mut out = Vec::new();
    inliner.inline_stmt(&function.body, &mut out);
    if !inliner.changed {
        return function.clone();
    }
    let results = if ends_in_return_or_yield(&function.body) {
        Vec::new()
    } else {
        implicit_results(function)
    };
    super::with_stmts(function, out, results.iter().map(|var| var.expr().clone()).collect())
}

/// The state of inlining into one function.
struct Inliner<'a> {
    done: &'a InlinedFunctions,
    size: usize,
    changed: bool,
    calls: ExprPredicateMemo,
}

impl Inliner<'_> {
    /// Returns the function to inline for a call, with the arguments, if it can be inlined.
    fn inlinable_callee(&mut self, expr: &Expr) -> Option<(FunctionRef, Vec<ExprRef>)> {
        let Expr::Call { callee, args, .. } = expr else { return None };
        let found = self.done.get(callee.name()).filter(|_| callee.is_global())?;
        if !found.is_inlinable
            || args.len() != found.function.params.len()
            || self.size + found.statements > MAX_FUNCTION_STATEMENTS
        {
            return None;
        }
        self.size += found.statements;
        Some((found.function.clone(), args.to_vec()))
    }

    /// Collects the statements that `work` writes; returns none if it changed nothing.
    fn collect_if_changed(
        &mut self,
        work: impl FnOnce(&mut Self, &mut Vec<StmtRef>),
    ) -> Option<Vec<StmtRef>> {
        let before = std::mem::replace(&mut self.changed, false);
        let mut inner = Vec::new();
        work(self, &mut inner);
        let changed = std::mem::replace(&mut self.changed, before);
        self.changed |= changed;
        changed.then_some(inner)
    }

    fn inline_stmt(&mut self, stmt: &StmtRef, out: &mut Vec<StmtRef>) {
        with_grown_stack(|| self.inline_stmt_inner(stmt, out));
    }

    fn inline_stmt_inner(&mut self, stmt: &StmtRef, out: &mut Vec<StmtRef>) {
        match &**stmt {
            Stmt::Assign { var, value, span } => match self.inlinable_callee(value) {
                Some((function, args)) => {
                    let values = self.inline_call(&function, &args, *span, out);
                    let value = match &values[..] {
                        [one] => one.clone(),
                        _ => Expr::make_tuple(values, *span),
                    };
                    // The returned value may itself be a call.
                    self.inline_stmt(&Stmt::assign(var, &value, *span), out);
                }
                None => out.push(stmt.clone()),
            },
            Stmt::Eval { expr, span } => match self.inlinable_callee(expr) {
                Some((function, args)) => {
                    // The returned values are not needed, but calls in them are.
                    let values = self.inline_call(&function, &args, *span, out);
                    for value in values {
                        if self.calls.contains_call(&value) {
                            self.inline_stmt(&Stmt::eval(&value, *span), out);
                        }
                    }
                }
                None => out.push(stmt.clone()),
            },
            Stmt::Seq { stmts, .. } => {
                for stmt in stmts {
                    match &**stmt {
                        // A nested sequence stays a sequence.
                        Stmt::Seq { span, .. } => {
                            let new = self
                                .collect_if_changed(|this, inner| this.inline_stmt(stmt, inner));
                            out.push(new.map_or_else(|| stmt.clone(), |new| Stmt::seq(new, *span)));
                        }
                        _ => self.inline_stmt(stmt, out),
                    }
                }
            }
            Stmt::Ops { stmts, span } => {
                let new = self.collect_if_changed(|this, inner| {
                    stmts.iter().for_each(|stmt| this.inline_stmt(stmt, inner));
                });
                // The inlined statements may be other than assignments.
                out.push(new.map_or_else(|| stmt.clone(), |new| Stmt::seq(new, *span)));
            }
            _ => out.push(map_stmt(stmt, self)),
        }
    }

    /// Writes the statements of a function with fresh variables; returns its results.
    fn inline_call(
        &mut self,
        function: &FunctionRef,
        args: &[ExprRef],
        span: Span,
        out: &mut Vec<StmtRef>,
    ) -> Vec<ExprRef> {
        self.changed = true;
        let mut copier = BodyCopier { vars: VarRenaming::default() };
        for (param, arg) in function.params.iter().zip(args) {
            let var = copier.fresh_var(param);
            self.inline_stmt(&Stmt::assign(&var, arg, span), out);
        }
        let results = match trailing_results(&function.body) {
            Some((values, _)) => values.to_vec(),
            None => implicit_results(function).iter().map(|var| var.expr().clone()).collect(),
        };
        copier.copy_stmts(&function.body, out);
        copier.vars.rename_exprs(&results)
    }
}

impl StmtMapper for Inliner<'_> {
    fn map_body(&mut self, body: &StmtRef) -> StmtRef {
        let new = self.collect_if_changed(|this, inner| this.inline_stmt(body, inner));
        new.map_or_else(|| body.clone(), |new| Stmt::block(new, body.span()))
    }
}

/// Returns the values of the `return` or `yield` at the end of a body, and whether it is a `return`.
fn trailing_results(body: &StmtRef) -> Option<(&[ExprRef], bool)> {
    let mut last = body;
    loop {
        match &**last {
            Stmt::Return { values, .. } => return Some((values, true)),
            Stmt::Yield { values, .. } => return Some((values, false)),
            Stmt::Seq { stmts, .. } => last = stmts.last()?,
            _ => return None,
        }
    }
}

/// A copier of bodies that gives every bound variable a fresh copy.
struct BodyCopier {
    vars: VarRenaming,
}

impl BodyCopier {
    fn fresh_var(&mut self, var: &Var) -> Var {
        if let Some(copy) = self.vars.get(var.id()) {
            return Var::try_from(copy).unwrap_or_else(|_| var.clone());
        }
        let fresh = Var::new(var.name(), self.vars.rename_type(var.ty()), var.span());
        self.vars.set(var.id(), fresh.expr().clone());
        fresh
    }

    /// Copies the statements of a body, without the `return` at its end.
    fn copy_stmts(&mut self, body: &StmtRef, out: &mut Vec<StmtRef>) {
        match &**body {
            Stmt::Seq { stmts, .. } => {
                with_grown_stack(|| stmts.iter().for_each(|stmt| self.copy_stmts(stmt, out)));
            }
            // A `yield` at the end of a function is its return.
            Stmt::Return { .. } | Stmt::Yield { .. } => {}
            _ => out.push(self.map_body(body)),
        }
    }
}

impl StmtMapper for BodyCopier {
    fn map_expr(&mut self, expr: &ExprRef) -> ExprRef {
        self.vars.rename_expr(expr)
    }

    fn map_body(&mut self, body: &StmtRef) -> StmtRef {
        with_grown_stack(|| map_stmt(body, self))
    }

    fn map_target(&mut self, var: &Var, _: &ExprRef) -> Var {
        self.fresh_var(var)
    }

    fn map_loop_var(&mut self, var: &Var, _: &ExprRef) -> Var {
        self.fresh_var(var)
    }

    fn map_iter_args(&mut self, args: &[IterArg], inits: &[ExprRef], _: &StmtRef) -> Vec<IterArg> {
        let types: Vec<TypeRef> = args.iter().map(|arg| self.vars.rename_type(arg.ty())).collect();
        let mut new = Vec::with_capacity(args.len());
        for ((arg, init), ty) in args.iter().zip(inits).zip(types) {
            let fresh = IterArg::new(arg.name(), ty, init, arg.span());
            self.vars.set(arg.id(), fresh.expr().clone());
            new.push(fresh);
        }
        new
    }

    fn map_results(&mut self, vars: &[Var], _: ResultSource<'_>) -> Vec<Var> {
        vars.iter().map(|var| self.fresh_var(var)).collect()
    }
}
