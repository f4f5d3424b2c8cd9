//! The body of a function in the place of its call.
//!
//! A call is replaced where it is the whole value of an assignment or stands on its own, and the
//! function returns at its end alone and does not lead back to itself, through however many others.
//! Arguments and what is returned become such values when a call is replaced. Other calls stay.

use sapwood_types::Span;

use super::rename::Renaming;
use super::walk::{Inside, Parts, map_parts};
use super::{Anywhere, PassError, calls, check_sharing, deeper, each_stmt, ends};
use crate::interpret::implicit_results;
use crate::nodes::{
    Expr, ExprRef, FunctionRef, IterArg, Program, ProgramRef, Stmt, StmtRef, TypeRef, Var,
};

/// A function may not grow beyond this many statements.
const MOST_STATEMENTS: usize = 100_000;

/// Puts the bodies of functions where they are called.
///
/// # Errors
/// If shared statements stand for too many.
pub fn inline(program: &Program) -> Result<ProgramRef, PassError> {
    for function in program.functions() {
        check_sharing(&function.name, &function.body)?;
    }
    // Callees come before their callers, so that what is put in place is inlined itself.
    let mut done = Done::default();
    let mut functions = Vec::new();
    for (function, in_cycle) in calls::callees_first(program) {
        let new = in_function(&function, &done);
        done.insert(function.name.to_string(), Summary::of(&new, in_cycle));
        functions.push(new);
    }
    Ok(program.with_functions(functions)?)
}

type Done = hashbrown::HashMap<String, Summary, rustc_hash::FxBuildHasher>;

/// What there is to know of a function that is done, found once.
struct Summary {
    function: FunctionRef,
    statements: usize,
    /// Whether a call of it can be replaced at all.
    fits: bool,
}

impl Summary {
    fn of(function: &FunctionRef, in_cycle: bool) -> Self {
        let (mut statements, mut returns) = (0, 0);
        each_stmt(&function.body, |stmt| {
            statements += 1;
            returns += usize::from(matches!(&**stmt, Stmt::Return { .. }));
        });
        let at_end = returned(&function.body);
        let returns_at_end = matches!(at_end, Some((_, true)));
        let fits = !in_cycle
            && returns == usize::from(returns_at_end)
            && (at_end.is_some()
                || function.return_types.is_empty()
                || !implicit_results(function).is_empty());
        Self { function: function.clone(), statements, fits }
    }
}

fn in_function(function: &FunctionRef, done: &Done) -> FunctionRef {
    let mut size = 0;
    each_stmt(&function.body, |_| size += 1);
    let mut inline = Inline { done, size, changed: false, calls: Anywhere::default() };
    let mut out = Vec::new();
    inline.stmt(&function.body, &mut out);
    if !inline.changed {
        return function.clone();
    }
    let results = if ends(&function.body) { Vec::new() } else { implicit_results(function) };
    super::with_stmts(function, out, results.iter().map(|var| var.expr().clone()).collect())
}

struct Inline<'a> {
    done: &'a Done,
    size: usize,
    changed: bool,
    calls: Anywhere,
}

impl Inline<'_> {
    /// The function to put in the place of a call, if it can be.
    fn callee(&mut self, expr: &Expr) -> Option<(FunctionRef, Vec<ExprRef>)> {
        let Expr::Call { callee, args, .. } = expr else { return None };
        let found = self.done.get(callee.name()).filter(|_| callee.is_global())?;
        if !found.fits
            || args.len() != found.function.params.len()
            || self.size + found.statements > MOST_STATEMENTS
        {
            return None;
        }
        self.size += found.statements;
        Some((found.function.clone(), args.to_vec()))
    }

    /// What becomes of statements, if something does.
    fn within(&mut self, work: impl FnOnce(&mut Self, &mut Vec<StmtRef>)) -> Option<Vec<StmtRef>> {
        let before = std::mem::replace(&mut self.changed, false);
        let mut inner = Vec::new();
        work(self, &mut inner);
        let changed = std::mem::replace(&mut self.changed, before);
        self.changed |= changed;
        changed.then_some(inner)
    }

    fn stmt(&mut self, stmt: &StmtRef, out: &mut Vec<StmtRef>) {
        deeper(|| self.stmt_here(stmt, out));
    }

    fn stmt_here(&mut self, stmt: &StmtRef, out: &mut Vec<StmtRef>) {
        match &**stmt {
            Stmt::Assign { var, value, span } => match self.callee(value) {
                Some((function, args)) => {
                    let values = self.expand(&function, &args, *span, out);
                    let value = match &values[..] {
                        [one] => one.clone(),
                        _ => Expr::make_tuple(values, *span),
                    };
                    // What it returns may be a call in turn.
                    self.stmt(&Stmt::assign(var, &value, *span), out);
                }
                None => out.push(stmt.clone()),
            },
            Stmt::Eval { expr, span } => match self.callee(expr) {
                Some((function, args)) => {
                    // What it returns is not wanted, what that calls is.
                    let values = self.expand(&function, &args, *span, out);
                    for value in values {
                        if self.calls.calls(&value) {
                            self.stmt(&Stmt::eval(&value, *span), out);
                        }
                    }
                }
                None => out.push(stmt.clone()),
            },
            Stmt::Seq { stmts, .. } => {
                for stmt in stmts {
                    match &**stmt {
                        // A sequence within a sequence stays one.
                        Stmt::Seq { span, .. } => {
                            let new = self.within(|this, inner| this.stmt(stmt, inner));
                            out.push(new.map_or_else(|| stmt.clone(), |new| Stmt::seq(new, *span)));
                        }
                        _ => self.stmt(stmt, out),
                    }
                }
            }
            Stmt::Ops { stmts, span } => {
                let new = self.within(|this, inner| {
                    stmts.iter().for_each(|stmt| this.stmt(stmt, inner));
                });
                // What is put in place may be more than assignments.
                out.push(new.map_or_else(|| stmt.clone(), |new| Stmt::seq(new, *span)));
            }
            _ => out.push(map_parts(stmt, self)),
        }
    }

    /// Writes the statements of a function with variables of its own; what it returns.
    fn expand(
        &mut self,
        function: &FunctionRef,
        args: &[ExprRef],
        span: Span,
        out: &mut Vec<StmtRef>,
    ) -> Vec<ExprRef> {
        self.changed = true;
        let mut copy = Copy { vars: Renaming::default() };
        for (param, arg) in function.params.iter().zip(args) {
            let var = copy.fresh(param);
            self.stmt(&Stmt::assign(&var, arg, span), out);
        }
        let results = match returned(&function.body) {
            Some((values, _)) => values.to_vec(),
            None => implicit_results(function).iter().map(|var| var.expr().clone()).collect(),
        };
        copy.block(&function.body, out);
        copy.vars.exprs(&results)
    }
}

impl Parts for Inline<'_> {
    fn body(&mut self, body: &StmtRef) -> StmtRef {
        let new = self.within(|this, inner| this.stmt(body, inner));
        new.map_or_else(|| body.clone(), |new| Stmt::block(new, body.span()))
    }
}

/// The values of the `return` or `yield` at the end of a body, and whether it is a `return`.
fn returned(body: &StmtRef) -> Option<(&[ExprRef], bool)> {
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

/// A body with variables of its own.
struct Copy {
    vars: Renaming,
}

impl Copy {
    fn fresh(&mut self, var: &Var) -> Var {
        if let Some(known) = self.vars.get(var.id()) {
            return Var::try_from(known).unwrap_or_else(|_| var.clone());
        }
        let fresh = Var::new(var.name(), self.vars.ty(var.ty()), var.span());
        self.vars.set(var.id(), fresh.expr().clone());
        fresh
    }

    /// The statements of a body, without the `return` at its end.
    fn block(&mut self, body: &StmtRef, out: &mut Vec<StmtRef>) {
        match &**body {
            Stmt::Seq { stmts, .. } => {
                deeper(|| stmts.iter().for_each(|stmt| self.block(stmt, out)));
            }
            // A yield at the end of a function is its return.
            Stmt::Return { .. } | Stmt::Yield { .. } => {}
            _ => out.push(self.body(body)),
        }
    }
}

impl Parts for Copy {
    fn expr(&mut self, expr: &ExprRef) -> ExprRef {
        self.vars.expr(expr)
    }

    fn body(&mut self, body: &StmtRef) -> StmtRef {
        deeper(|| map_parts(body, self))
    }

    fn target(&mut self, var: &Var, _: &ExprRef) -> Var {
        self.fresh(var)
    }

    fn loop_var(&mut self, var: &Var, _: &ExprRef) -> Var {
        self.fresh(var)
    }

    fn args(&mut self, args: &[IterArg], inits: &[ExprRef], _: &StmtRef) -> Vec<IterArg> {
        let types: Vec<TypeRef> = args.iter().map(|arg| self.vars.ty(arg.ty())).collect();
        let mut new = Vec::with_capacity(args.len());
        for ((arg, init), ty) in args.iter().zip(inits).zip(types) {
            let fresh = IterArg::new(arg.name(), ty, init, arg.span());
            self.vars.set(arg.id(), fresh.expr().clone());
            new.push(fresh);
        }
        new
    }

    fn results(&mut self, vars: &[Var], _: Inside<'_>) -> Vec<Var> {
        vars.iter().map(|var| self.fresh(var)).collect()
    }
}
