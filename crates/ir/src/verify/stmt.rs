//! Statements: what they define on every path, and what their bodies yield.

use sapwood_types::{DataType, Span, counted};

use super::types::shown;
use super::{Level, Set, Verifier};
use crate::nodes::{ExprRef, IterArg, Stmt, StmtRef, Type, TypeRef, Var};

/// Where a statement stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// The body of the function; a `yield` at its end gives what the function returns.
    Function,
    /// The end of a body; a `yield` may stand here.
    End,
    /// Anywhere else.
    Inside,
}

/// A statement with a body that was looked at before.
pub(super) struct Known {
    then: u64,
    start: usize,
    defines: Box<[usize]>,
    /// Whether it defines anything, also inside.
    binds: bool,
    ends: bool,
    complained: bool,
}

/// The values of the `yield` at the end of a body.
pub(crate) fn trailing_yield(body: &StmtRef) -> Option<(&[ExprRef], Span)> {
    let mut last = body;
    loop {
        match &**last {
            Stmt::Yield { values, span } => return Some((values, *span)),
            Stmt::Seq { stmts, .. } => last = stmts.last()?,
            _ => return None,
        }
    }
}

impl<'a> Verifier<'a> {
    /// Looks at a statement; true if no path leads to its end.
    pub(super) fn stmt(&mut self, stmt: &'a StmtRef, place: Place) -> bool {
        stacker::maybe_grow(128 << 10, 4 << 20, || self.stmt_here(stmt, place))
    }

    fn stmt_here(&mut self, stmt: &'a StmtRef, place: Place) -> bool {
        if self.is_full() {
            return false;
        }
        let span = stmt.span();
        match &**stmt {
            Stmt::Assign { var, value, .. } => {
                self.expr(value, span);
                self.assigned(var, span);
                if !self.fits(var.ty(), value.ty()) {
                    let message = format!(
                        "`{}` has the type {}; it is assigned a value of type {}",
                        var.name(),
                        shown(var.ty()),
                        shown(value.ty())
                    );
                    self.problem(span, message);
                }
                self.define(var, span);
                false
            }
            Stmt::Eval { expr, .. } => {
                self.expr(expr, span);
                false
            }
            Stmt::Return { values, .. } => {
                values.iter().for_each(|value| self.expr(value, span));
                self.returned(values, "return", span);
                true
            }
            Stmt::Yield { values, .. } => {
                values.iter().for_each(|value| self.expr(value, span));
                match place {
                    Place::Function => self.returned(values, "yield", span),
                    Place::End => {}
                    Place::Inside => {
                        let help = "it is the last statement of a body";
                        self.problem_with_help(span, "a yield with statements after it", help);
                    }
                }
                false
            }
            _ => {
                // A `yield` at its end is judged by where a sequence stands; others hold their own.
                let is_seq = matches!(&**stmt, Stmt::Seq { .. });
                let key = (stmt.node().id(), if is_seq { place } else { Place::Inside });
                if let Some(ends) = self.seen_before(key, span) {
                    return ends;
                }
                let (then, start) = (self.defined.now(), self.defined.len());
                let before = self.definitions;
                let ends = self.with_body(stmt, place, span);
                if stmt.node().owners() > 1 {
                    let defines = self.defined.since(start).into();
                    let binds = self.definitions > before;
                    let known = Known { then, start, defines, binds, ends, complained: false };
                    self.stmts.insert(key, known);
                }
                ends
            }
        }
    }

    /// A shared statement that was fine where less was defined than here needs no second look: it
    /// defines what it defined.
    fn seen_before(&mut self, key: (usize, Place), span: Span) -> Option<bool> {
        let known = self.stmts.get_mut(&key)?;
        if !self.defined.still(known.then, known.start) {
            return None;
        }
        let ends = known.ends;
        for &var in &known.defines {
            self.defined.define(var);
        }
        if self.level == Level::Ssa && known.binds && !known.complained {
            known.complained = true;
            let help = "run to-ssa, which gives each definition a variable of its own";
            let message =
                "a statement that stands twice in the function defines its variables twice";
            self.problem_with_help(span, message, help);
        }
        Some(ends)
    }

    fn with_body(&mut self, stmt: &'a Stmt, place: Place, span: Span) -> bool {
        match stmt {
            Stmt::Seq { stmts, .. } => {
                let mut ends = false;
                for (index, stmt) in stmts.iter().enumerate() {
                    let last = index + 1 == stmts.len();
                    ends |= self.stmt(stmt, if last { place } else { Place::Inside });
                }
                ends
            }
            Stmt::Ops { stmts, .. } => {
                for stmt in stmts {
                    if !matches!(&**stmt, Stmt::Assign { .. }) {
                        let message =
                            format!("OpStmts hold assignments only, found {}", stmt.type_name());
                        let span = if stmt.span().is_unknown() { span } else { stmt.span() };
                        self.problem_with_help(span, message, "use SeqStmts for other statements");
                    }
                    self.stmt(stmt, Place::Inside);
                }
                false
            }
            Stmt::If { condition, then_body, else_body, return_vars, .. } => {
                self.expr(condition, span);
                self.condition(condition, span);
                self.branches(then_body, else_body.as_ref(), return_vars, span)
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
                ..
            } => {
                for expr in [start, stop, step].into_iter().chain(init_values) {
                    self.expr(expr, span);
                }
                self.range(loop_var, [start, stop, step], span);
                let before = self.defined.len();
                self.assigned(loop_var, span);
                self.enter_loop(stmt, iter_args, span);
                self.define(loop_var, loop_var.span());
                iter_args.iter().for_each(|arg| self.define(&arg.var(), arg.span()));
                let ends = self.stmt(body, Place::End);
                self.leave_loop((before, ends), iter_args, body, return_vars, span);
                false
            }
            Stmt::While { init_values, iter_args, condition, body, return_vars, .. } => {
                init_values.iter().for_each(|value| self.expr(value, span));
                let before = self.defined.len();
                self.enter_loop(stmt, iter_args, span);
                iter_args.iter().for_each(|arg| self.define(&arg.var(), arg.span()));
                self.expr(condition, span);
                self.condition(condition, span);
                let ends = self.stmt(body, Place::End);
                self.leave_loop((before, ends), iter_args, body, return_vars, span);
                false
            }
            _ => false,
        }
    }

    /// A variable that is bound by an assignment, a loop or a result.
    fn assigned(&mut self, var: &'a Var, span: Span) {
        if var.is_iter_arg() {
            let message =
                format!("`{}` is an iteration argument; only a yield changes it", var.name());
            self.problem(span, message);
        }
        self.type_of_binding(var, span);
    }

    fn condition(&mut self, condition: &ExprRef, span: Span) {
        let own = condition.span();
        let span = if own.is_unknown() || condition.is_var() { span } else { own };
        let fine = match &**condition.ty() {
            Type::Scalar { dtype } => dtype.is_integer() || dtype.is_bool(),
            Type::Unknown {} => true,
            _ => false,
        };
        if !fine {
            let message = format!("a condition has the type {}", shown(condition.ty()));
            self.problem_with_help(span, message, "it needs a scalar integer or BOOL");
        }
    }

    fn range(&mut self, loop_var: &Var, range: [&ExprRef; 3], span: Span) {
        let mut dtypes: Vec<(&str, DataType)> = Vec::new();
        let types = [loop_var.ty(), range[0].ty(), range[1].ty(), range[2].ty()];
        for (what, ty) in ["loop variable", "start", "stop", "step"].into_iter().zip(types) {
            match &**ty {
                Type::Scalar { dtype } if dtype.is_integer() => dtypes.push((what, *dtype)),
                Type::Unknown {} => {}
                _ => {
                    let message = format!("the {what} of a loop has the type {}", shown(ty));
                    self.problem_with_help(span, message, "it needs a scalar integer");
                }
            }
        }
        if let Some((&(first, dtype), rest)) = dtypes.split_first()
            && let Some((other, odd)) = rest.iter().find(|(_, other)| *other != dtype)
        {
            let message = format!(
                "the {first} of a loop is of {} and its {other} of {}",
                dtype.document_name(),
                odd.document_name()
            );
            self.problem_with_help(span, message, "cast one of them");
        }
        if range[2].as_int() == Some(0) {
            self.problem(span, "the step of a loop is 0; it must count up or down");
        }
    }

    /// The iteration arguments of a loop, before any of its variables is defined: they have the same
    /// types on every trip.
    fn enter_loop(&mut self, stmt: &Stmt, iter_args: &'a [IterArg], span: Span) {
        let agree = stmt.init_values_agree(|init, other| {
            init.same(other) || sapwood_structural::equal(init, other).unwrap_or(false)
        });
        if !agree {
            let message = "the initial values of the loop are not those of its iteration arguments";
            self.problem(span, message);
        }
        for arg in iter_args {
            let ty: &'a TypeRef = arg.expr().ty();
            self.ty(ty, span);
            if !self.fits(arg.ty(), arg.init_value().ty()) {
                let message = format!(
                    "`{}` has the type {}; its initial value has the type {}",
                    arg.name(),
                    shown(arg.ty()),
                    shown(arg.init_value().ty())
                );
                self.problem(span, message);
            }
            if !self.iter_args.insert(arg.id()) {
                let message =
                    format!("the iteration argument `{}` belongs to two loops", arg.name());
                self.problem(span, message);
            }
        }
    }

    /// `ends` says that no path leads to the end of the body: then nothing has to be yielded there.
    fn leave_loop(
        &mut self,
        (before, ends): (usize, bool),
        iter_args: &'a [IterArg],
        body: &'a StmtRef,
        return_vars: &'a [Var],
        span: Span,
    ) {
        let missing: Vec<&Var> = if iter_args.is_empty() && !return_vars.is_empty() {
            let assigned = assigned_in(body);
            return_vars.iter().filter(|var| !assigned.contains(&var.id())).collect()
        } else {
            Vec::new()
        };
        self.defined.cut(before);
        let types: Vec<&TypeRef> = iter_args.iter().map(IterArg::ty).collect();
        if !ends {
            self.yields(body, &types, "iteration argument", span);
        }
        if iter_args.is_empty() {
            for var in missing {
                let message =
                    format!("the body of the loop does not assign its result `{}`", var.name());
                self.problem(span, message);
            }
            for var in return_vars {
                if !self.defined.contains(var.id()) {
                    let message =
                        format!("`{}` has no value if the loop makes no trip", var.name());
                    self.problem_with_help(span, message, "assign it before the loop");
                }
            }
            if self.level == Level::Ssa && !return_vars.is_empty() {
                let message = "in SSA, results leave a loop by a yield of iteration arguments";
                self.problem_with_help(span, message, "run to-ssa");
            }
        } else if return_vars.len() != iter_args.len() {
            let message = format!(
                "the loop has {} and {}",
                counted(iter_args.len(), "iteration argument"),
                counted(return_vars.len(), "result")
            );
            self.problem(span, message);
        } else {
            for (arg, var) in iter_args.iter().zip(return_vars) {
                if !self.fits(var.ty(), arg.ty()) {
                    let message = format!(
                        "the result `{}` has the type {}; its iteration argument has {}",
                        var.name(),
                        shown(var.ty()),
                        shown(arg.ty())
                    );
                    self.problem(span, message);
                }
            }
        }
        for var in return_vars {
            self.assigned(var, span);
            self.define(var, span);
        }
    }

    /// The `yield` at the end of a body against the types that are asked for.
    fn yields(&mut self, body: &StmtRef, wanted: &[&TypeRef], what: &str, span: Span) {
        let (values, place) = match trailing_yield(body) {
            Some((values, place)) => (values, if place.is_unknown() { span } else { place }),
            None if wanted.is_empty() => return,
            None => {
                let message =
                    format!("the body ends without a yield of {}", counted(wanted.len(), "value"));
                self.problem_with_help(span, message, format!("one for each {what}"));
                return;
            }
        };
        if values.len() != wanted.len() {
            let are = if wanted.len() == 1 { "is" } else { "are" };
            let message = format!(
                "a yield of {} where there {are} {}",
                counted(values.len(), "value"),
                counted(wanted.len(), what)
            );
            self.problem(place, message);
            return;
        }
        for (index, (value, wanted)) in values.iter().zip(wanted).enumerate() {
            if !self.fits(wanted, value.ty()) {
                let message = format!(
                    "value {index} of the yield has the type {}; its {what} has {}",
                    shown(value.ty()),
                    shown(wanted)
                );
                self.problem(place, message);
            }
        }
    }

    fn branches(
        &mut self,
        then_body: &'a StmtRef,
        else_body: Option<&'a StmtRef>,
        return_vars: &'a [Var],
        span: Span,
    ) -> bool {
        let before = self.defined.len();
        let then_ends = self.stmt(then_body, Place::End);
        let in_then: Vec<usize> = self.defined.since(before).to_vec();
        self.defined.cut(before);
        let mut else_ends = false;
        let mut in_else: Vec<usize> = Vec::new();
        if let Some(body) = else_body {
            else_ends = self.stmt(body, Place::End);
            in_else = self.defined.since(before).to_vec();
            self.defined.cut(before);
        }
        let bodies: Vec<(&StmtRef, bool)> = std::iter::once((then_body, then_ends))
            .chain(else_body.map(|body| (body, else_ends)))
            .collect();
        let yields = bodies.iter().any(|(body, _)| trailing_yield(body).is_some());
        if yields || (self.level == Level::Ssa && !return_vars.is_empty()) {
            let types: Vec<&TypeRef> = return_vars.iter().map(Var::ty).collect();
            for (body, ends) in bodies {
                if !ends {
                    self.yields(body, &types, "result", span);
                }
            }
            if else_body.is_none() && !return_vars.is_empty() {
                self.problem(span, "an `if` without `else` cannot yield its results on both paths");
            }
        } else {
            let assigned: Vec<Set> = bodies
                .iter()
                .filter(|(_, ends)| !ends && !return_vars.is_empty())
                .map(|(body, _)| assigned_in(body))
                .collect();
            for var in return_vars {
                for _ in assigned.iter().filter(|branch| !branch.contains(&var.id())) {
                    let message = format!("a branch does not assign the result `{}`", var.name());
                    self.problem(span, message);
                }
                if else_body.is_none() && !self.defined.contains(var.id()) {
                    let message =
                        format!("`{}` has no value where the condition does not hold", var.name());
                    self.problem_with_help(span, message, "add an `else` that assigns it");
                }
            }
        }
        if self.level == Level::WellFormed && else_body.is_some() {
            let in_else_set: Set = in_else.iter().copied().collect();
            let both: Vec<usize> = match (then_ends, else_ends) {
                (true, _) => in_else,
                (false, true) => in_then,
                (false, false) => {
                    in_then.into_iter().filter(|var| in_else_set.contains(var)).collect()
                }
            };
            both.into_iter().for_each(|var| self.defined.define(var));
        }
        for var in return_vars {
            self.assigned(var, span);
            self.define(var, span);
        }
        then_ends && else_ends
    }

    fn returned(&mut self, values: &[ExprRef], what: &str, span: Span) {
        let types = self.return_types;
        if values.len() != types.len() {
            let message = format!(
                "a {what} of {}; the function returns {}",
                counted(values.len(), "value"),
                types.len()
            );
            self.problem(span, message);
            return;
        }
        for (index, (value, ty)) in values.iter().zip(types).enumerate() {
            if !self.fits(ty, value.ty()) {
                let message = format!(
                    "value {index} of the {what} has the type {}; the function returns {}",
                    shown(value.ty()),
                    shown(ty)
                );
                self.problem(span, message);
            }
        }
    }
}

/// The variables that a body assigns somewhere; shared statements are looked at once.
fn assigned_in(body: &StmtRef) -> Set {
    let (mut seen, mut assigned) = (Set::default(), Set::default());
    let mut stack = vec![body];
    while let Some(stmt) = stack.pop() {
        if stmt.node().owners() > 1 && !seen.insert(stmt.node().id()) {
            continue;
        }
        if let Stmt::Assign { var, .. } = &**stmt {
            assigned.insert(var.id());
        }
        assigned.extend(stmt.return_vars().iter().map(Var::id));
        stack.extend(stmt.children());
    }
    assigned
}
