//! Checks of statements: their definitions on every path, and the yields of their bodies.

use sapwood_types::{DataType, Span, counted};

use super::types::display_type;
use super::{IdSet, Verifier, VerifyLevel};
use crate::nodes::{ExprRef, IterArg, Stmt, StmtRef, Type, TypeRef, Var};

/// The position of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum StmtPosition {
    /// The body of the function, where a `yield` at the end returns the function's results.
    FunctionBody,
    /// The end of a body, where a `yield` is allowed.
    BodyEnd,
    /// Any other position.
    Elsewhere,
}

/// A compound statement that was verified before.
pub(super) struct VerifiedStmt {
    then: u64,
    start: usize,
    defines: Box<[usize]>,
    /// True if it defines a variable, also in a nested body.
    binds: bool,
    ends: bool,
    reported: bool,
}

/// Returns the values of the `yield` at the end of a body.
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
    /// Checks a statement; returns true if its end is unreachable.
    pub(super) fn check_stmt(&mut self, stmt: &'a StmtRef, place: StmtPosition) -> bool {
        stacker::maybe_grow(128 << 10, 4 << 20, || self.check_stmt_inner(stmt, place))
    }

    fn check_stmt_inner(&mut self, stmt: &'a StmtRef, place: StmtPosition) -> bool {
        if self.has_too_many_errors() {
            return false;
        }
        let span = stmt.span();
        match &**stmt {
            Stmt::Assign { var, value, .. } => {
                self.check_expr(value, span);
                self.check_target(var, span);
                if !self.is_compatible(var.ty(), value.ty()) {
                    let message = format!(
                        "`{}` has the type {}; it is assigned a value of type {}",
                        var.name(),
                        display_type(var.ty()),
                        display_type(value.ty())
                    );
                    // Numbers can be converted.
                    if value.ty().as_scalar().is_some() && var.ty().as_scalar().is_some() {
                        let (from, to) = (display_type(value.ty()), display_type(var.ty()));
                        let help = format!(
                            "convert the value, `pi.cast(…, {to})`, or begin with the other type, `{}: {from} = …`",
                            var.name(),
                        );
                        self.report_with_help(span, message, help);
                    } else {
                        self.report(span, message);
                    }
                }
                self.define(var, span);
                false
            }
            Stmt::Eval { expr, .. } => {
                self.check_expr(expr, span);
                false
            }
            Stmt::Return { values, .. } => {
                values.iter().for_each(|value| self.check_expr(value, span));
                self.check_return(values, "return", span);
                true
            }
            Stmt::Yield { values, .. } => {
                values.iter().for_each(|value| self.check_expr(value, span));
                match place {
                    StmtPosition::FunctionBody => self.check_return(values, "yield", span),
                    StmtPosition::BodyEnd => {}
                    StmtPosition::Elsewhere => {
                        let help = "it is the last statement of a body";
                        self.report_with_help(span, "a yield with statements after it", help);
                    }
                }
                false
            }
            _ => {
                // Whether a trailing `yield` is allowed depends on the position of a sequence, but not of other statements.
                let is_seq = matches!(&**stmt, Stmt::Seq { .. });
                let key = (stmt.node().id(), if is_seq { place } else { StmtPosition::Elsewhere });
                if let Some(ends) = self.reuse_verified(key, span) {
                    return ends;
                }
                let (then, start) = (self.defined.now(), self.defined.len());
                let before = self.definition_count;
                let ends = self.check_compound(stmt, place, span);
                if stmt.node().owners() > 1 {
                    let defines = self.defined.defined_since(start).into();
                    let binds = self.definition_count > before;
                    let verified =
                        VerifiedStmt { then, start, defines, binds, ends, reported: false };
                    self.verified_stmts.insert(key, verified);
                }
                ends
            }
        }
    }

    /// Reuses the result for a shared statement whose required definitions are still valid, and repeats its definitions.
    fn reuse_verified(&mut self, key: (usize, StmtPosition), span: Span) -> Option<bool> {
        let verified = self.verified_stmts.get_mut(&key)?;
        if !self.defined.still_defined(verified.then, verified.start) {
            return None;
        }
        let ends = verified.ends;
        for &var in &verified.defines {
            self.defined.define(var);
        }
        if self.level == VerifyLevel::Ssa && verified.binds && !verified.reported {
            verified.reported = true;
            let help = "run to-ssa, which gives each definition a variable of its own";
            let message =
                "a statement that occurs twice in the function defines its variables twice";
            self.report_with_help(span, message, help);
        }
        Some(ends)
    }

    fn check_compound(&mut self, stmt: &'a Stmt, place: StmtPosition, span: Span) -> bool {
        match stmt {
            Stmt::Seq { stmts, .. } => {
                let mut ends = false;
                for (index, stmt) in stmts.iter().enumerate() {
                    let last = index + 1 == stmts.len();
                    ends |=
                        self.check_stmt(stmt, if last { place } else { StmtPosition::Elsewhere });
                }
                ends
            }
            Stmt::Ops { stmts, .. } => {
                for stmt in stmts {
                    if !matches!(&**stmt, Stmt::Assign { .. }) {
                        let message =
                            format!("OpStmts hold assignments only, found {}", stmt.type_name());
                        let span = if stmt.span().is_unknown() { span } else { stmt.span() };
                        self.report_with_help(span, message, "use SeqStmts for other statements");
                    }
                    self.check_stmt(stmt, StmtPosition::Elsewhere);
                }
                false
            }
            Stmt::If { condition, then_body, else_body, return_vars, .. } => {
                self.check_expr(condition, span);
                self.check_condition(condition, span);
                self.check_branches(then_body, else_body.as_ref(), return_vars, span)
            }
            Stmt::For { loop_var, start, stop, step, iter_args, body, return_vars, .. } => {
                for expr in stmt.expressions() {
                    self.check_expr(expr, span);
                }
                self.check_range(loop_var, [start, stop, step], span);
                let before = self.defined.len();
                self.check_target(loop_var, span);
                self.check_iter_args(stmt, iter_args, span);
                self.define(loop_var, loop_var.span());
                iter_args.iter().for_each(|arg| self.define(&arg.var(), arg.span()));
                let ends = self.check_stmt(body, StmtPosition::BodyEnd);
                self.check_loop_end((before, ends), iter_args, body, return_vars, span);
                false
            }
            Stmt::While { init_values, iter_args, condition, body, return_vars, .. } => {
                init_values.iter().for_each(|value| self.check_expr(value, span));
                let before = self.defined.len();
                self.check_iter_args(stmt, iter_args, span);
                iter_args.iter().for_each(|arg| self.define(&arg.var(), arg.span()));
                self.check_expr(condition, span);
                self.check_condition(condition, span);
                let ends = self.check_stmt(body, StmtPosition::BodyEnd);
                self.check_loop_end((before, ends), iter_args, body, return_vars, span);
                false
            }
            _ => false,
        }
    }

    /// Checks a variable that is bound by an assignment, a loop or a result.
    fn check_target(&mut self, var: &'a Var, span: Span) {
        if var.is_iter_arg() {
            let message =
                format!("`{}` is an iteration argument; only a yield changes it", var.name());
            let help = "take the result of the loop under another name";
            self.report_with_help(span, message, help);
        }
        self.check_binding_type(var, span);
    }

    fn check_condition(&mut self, condition: &ExprRef, span: Span) {
        let own = condition.span();
        let span = if own.is_unknown() || condition.is_var() { span } else { own };
        let is_valid = match &**condition.ty() {
            Type::Scalar { dtype, .. } => dtype.is_integer() || dtype.is_bool(),
            Type::Unknown { .. } => true,
            _ => false,
        };
        if !is_valid {
            let message = format!("a condition has the type {}", display_type(condition.ty()));
            self.report_with_help(span, message, "it needs a scalar integer or BOOL");
        }
    }

    fn check_range(&mut self, loop_var: &Var, range: [&ExprRef; 3], span: Span) {
        let mut dtypes: Vec<(&str, DataType)> = Vec::new();
        let types = [loop_var.ty(), range[0].ty(), range[1].ty(), range[2].ty()];
        for (what, ty) in ["loop variable", "start", "stop", "step"].into_iter().zip(types) {
            match &**ty {
                Type::Scalar { dtype, .. } if dtype.is_integer() => dtypes.push((what, *dtype)),
                Type::Unknown { .. } => {}
                _ => {
                    let message = format!("the {what} of a loop has the type {}", display_type(ty));
                    self.report_with_help(span, message, "it needs a scalar integer");
                }
            }
        }
        if let Some((&(first, dtype), rest)) = dtypes.split_first()
            && let Some((other, odd)) = rest.iter().find(|(_, other)| *other != dtype)
        {
            let message = format!(
                "the {first} of a loop has the type {} and its {other} has {}",
                dtype.document_name(),
                odd.document_name()
            );
            self.report_with_help(span, message, "cast one of them");
        }
        if range[2].as_int() == Some(0) {
            self.report(span, "the step of a loop is 0; it must count up or down");
        }
    }

    /// Checks the iteration arguments of a loop before its variables are defined, since their types are the same on every trip.
    fn check_iter_args(&mut self, stmt: &Stmt, iter_args: &'a [IterArg], span: Span) {
        let agree = stmt.init_values_agree(|init, other| {
            init.same(other) || sapwood_structural::equal(init, other).unwrap_or(false)
        });
        if !agree {
            let message = "the initial values of the loop are not those of its iteration arguments";
            self.report(span, message);
        }
        for arg in iter_args {
            let ty: &'a TypeRef = arg.expr().ty();
            self.check_type(ty, span);
            if !self.is_compatible(arg.ty(), arg.init_value().ty()) {
                let message = format!(
                    "`{}` has the type {}; its initial value has the type {}",
                    arg.name(),
                    display_type(arg.ty()),
                    display_type(arg.init_value().ty())
                );
                self.report(span, message);
            }
            if !self.loop_iter_args.insert(arg.id()) {
                let message =
                    format!("the iteration argument `{}` belongs to two loops", arg.name());
                self.report(span, message);
            }
        }
    }

    /// Checks the `yield` and the results of a loop; if `ends`, the end of the body is unreachable and needs no `yield`.
    fn check_loop_end(
        &mut self,
        (before, ends): (usize, bool),
        iter_args: &'a [IterArg],
        body: &'a StmtRef,
        return_vars: &'a [Var],
        span: Span,
    ) {
        let missing: Vec<&Var> = if iter_args.is_empty() && !return_vars.is_empty() {
            let assigned = assigned_vars(body);
            return_vars.iter().filter(|var| !assigned.contains(&var.id())).collect()
        } else {
            Vec::new()
        };
        self.defined.truncate(before);
        let types: Vec<&TypeRef> = iter_args.iter().map(IterArg::ty).collect();
        if !ends {
            self.check_yield(body, &types, "iteration argument", span);
        }
        if iter_args.is_empty() {
            for var in missing {
                let message =
                    format!("the body of the loop does not assign its result `{}`", var.name());
                self.report(span, message);
            }
            for var in return_vars {
                if !self.defined.contains(var.id()) {
                    let message =
                        format!("`{}` has no value if the loop makes no trip", var.name());
                    self.report_with_help(span, message, "assign it before the loop");
                }
            }
            if self.level == VerifyLevel::Ssa && !return_vars.is_empty() {
                let message = "in SSA, results leave a loop by a yield of iteration arguments";
                self.report_with_help(span, message, "run to-ssa");
            }
        } else if return_vars.len() != iter_args.len() {
            let message = format!(
                "the loop has {} and {}",
                counted(iter_args.len(), "iteration argument"),
                counted(return_vars.len(), "result")
            );
            let help = "take each result after the loop: `x = pi.result(0)`, `y = pi.result(1)`, …";
            self.report_with_help(span, message, help);
        } else {
            for (arg, var) in iter_args.iter().zip(return_vars) {
                if !self.is_compatible(var.ty(), arg.ty()) {
                    let message = format!(
                        "the result `{}` has the type {}; its iteration argument has {}",
                        var.name(),
                        display_type(var.ty()),
                        display_type(arg.ty())
                    );
                    self.report(span, message);
                }
            }
        }
        for var in return_vars {
            self.check_target(var, span);
            self.define(var, span);
        }
    }

    /// Checks the `yield` at the end of a body against the wanted types.
    fn check_yield(&mut self, body: &StmtRef, wanted: &[&TypeRef], what: &str, span: Span) {
        let (values, place) = match trailing_yield(body) {
            Some((values, place)) => (values, if place.is_unknown() { span } else { place }),
            None if wanted.is_empty() => return,
            None => {
                let message =
                    format!("the body ends without a yield of {}", counted(wanted.len(), "value"));
                self.report_with_help(span, message, format!("one for each {what}"));
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
            self.report(place, message);
            return;
        }
        for (index, (value, wanted)) in values.iter().zip(wanted).enumerate() {
            if !self.is_compatible(wanted, value.ty()) {
                let message = format!(
                    "value {index} of the yield has the type {}; its {what} has {}",
                    display_type(value.ty()),
                    display_type(wanted)
                );
                self.report(place, message);
            }
        }
    }

    fn check_branches(
        &mut self,
        then_body: &'a StmtRef,
        else_body: Option<&'a StmtRef>,
        return_vars: &'a [Var],
        span: Span,
    ) -> bool {
        let before = self.defined.len();
        let then_ends = self.check_stmt(then_body, StmtPosition::BodyEnd);
        let in_then: Vec<usize> = self.defined.defined_since(before).to_vec();
        self.defined.truncate(before);
        let mut else_ends = false;
        let mut in_else: Vec<usize> = Vec::new();
        if let Some(body) = else_body {
            else_ends = self.check_stmt(body, StmtPosition::BodyEnd);
            in_else = self.defined.defined_since(before).to_vec();
            self.defined.truncate(before);
        }
        let bodies: Vec<(&StmtRef, bool)> = std::iter::once((then_body, then_ends))
            .chain(else_body.map(|body| (body, else_ends)))
            .collect();
        let yields = bodies.iter().any(|(body, _)| trailing_yield(body).is_some());
        if yields || (self.level == VerifyLevel::Ssa && !return_vars.is_empty()) {
            let types: Vec<&TypeRef> = return_vars.iter().map(Var::ty).collect();
            for (body, ends) in bodies {
                if !ends {
                    self.check_yield(body, &types, "result", span);
                }
            }
            if else_body.is_none() && !return_vars.is_empty() {
                self.report(span, "an `if` without `else` cannot yield its results on both paths");
            }
        } else {
            let assigned: Vec<IdSet> = bodies
                .iter()
                .filter(|(_, ends)| !ends && !return_vars.is_empty())
                .map(|(body, _)| assigned_vars(body))
                .collect();
            for var in return_vars {
                for _ in assigned.iter().filter(|branch| !branch.contains(&var.id())) {
                    let message = format!("a branch does not assign the result `{}`", var.name());
                    self.report(span, message);
                }
                if else_body.is_none() && !self.defined.contains(var.id()) {
                    let message =
                        format!("`{}` has no value where the condition does not hold", var.name());
                    self.report_with_help(span, message, "add an `else` that assigns it");
                }
            }
        }
        if self.level == VerifyLevel::WellFormed && else_body.is_some() {
            let in_else_set: IdSet = in_else.iter().copied().collect();
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
            self.check_target(var, span);
            self.define(var, span);
        }
        then_ends && else_ends
    }

    fn check_return(&mut self, values: &[ExprRef], what: &str, span: Span) {
        let types = self.return_types;
        if values.len() != types.len() {
            let message = format!(
                "a {what} of {}; the function returns {}",
                counted(values.len(), "value"),
                types.len()
            );
            let known = !values.iter().any(|value| value.ty().is_unknown());
            if types.is_empty() && !values.is_empty() && known {
                let stated: Vec<_> = values.iter().map(|value| display_type(value.ty())).collect();
                let stated = match &stated[..] {
                    [one] => one.clone(),
                    several => format!("({})", several.join(", ")),
                };
                let help = format!("state the types of the results in the header: `-> {stated}:`");
                self.report_with_help(span, message, &help);
            } else if let [ty] = types
                && ty.as_tuple().is_some_and(|types| types.len() == values.len())
            {
                let help = "the result is one tuple: write `return (…),` with a comma at the end";
                self.report_with_help(span, message, help);
            } else if let [value] = values
                && value.ty().as_tuple().is_some_and(|types| types.len() == self.return_types.len())
            {
                let help = "a tuple is one value; return its elements: `return t[0], t[1]`";
                self.report_with_help(span, message, help);
            } else {
                self.report(span, message);
            }
            return;
        }
        for (index, (value, ty)) in values.iter().zip(types).enumerate() {
            if !self.is_compatible(ty, value.ty()) {
                let message = format!(
                    "value {index} of the {what} has the type {}; the function returns {}",
                    display_type(value.ty()),
                    display_type(ty)
                );
                self.report(span, message);
            }
        }
    }
}

/// Returns the variables that a body assigns anywhere; shared statements are visited once.
fn assigned_vars(body: &StmtRef) -> IdSet {
    let (mut seen, mut assigned) = (IdSet::default(), IdSet::default());
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
