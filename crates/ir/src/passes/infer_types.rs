//! Unknown types are filled in: of calls from the signatures of the program, of operations from
//! their operands, of variables from the value they are assigned, of iteration arguments from their
//! initial values, if what is yielded has that type too. A variable that is bound in several places
//! keeps an unknown type: its values may have different ones.

use super::rename::Renaming;
use super::{Map, PassError, bindings, check_sharing, deeper};
use crate::nodes::{
    Expr, ExprRef, Function, FunctionRef, IterArg, Program, ProgramRef, Stmt, StmtRef, TypeRef,
    Var, types_match,
};
use crate::rebuild::with_type;

/// Fills in unknown types.
///
/// # Errors
/// If shared statements stand for too many.
pub fn infer_types(program: &Program) -> Result<ProgramRef, PassError> {
    program.map_functions(|function| {
        check_sharing(&function.name, &function.body)?;
        Ok(in_function(program, function))
    })
}

fn in_function(program: &Program, function: &FunctionRef) -> FunctionRef {
    let mut infer = Infer { program, vars: Renaming::default(), bindings: bindings(function) };
    let body = infer.stmt(&function.body);
    if body.same(&function.body) {
        return function.clone();
    }
    let (params, types) = (function.params.iter().cloned(), function.return_types.iter().cloned());
    Function::new(&function.name, params, types, &body, function.span)
}

struct Infer<'p> {
    program: &'p Program,
    /// Variables with an unknown type, and those that stand for them.
    vars: Renaming,
    /// How often each variable is bound.
    bindings: Map<u32>,
}

impl Infer<'_> {
    fn expr(&self, expr: &ExprRef) -> ExprRef {
        self.vars.expr_with(expr, |expr| {
            if !expr.ty().is_unknown() {
                return expr;
            }
            let ty = match &*expr {
                Expr::Call { callee, .. } if callee.is_global() => self
                    .program
                    .get_function(callee.name())
                    .map(|function| crate::verify::call_type(&function.return_types))
                    // A type over the callee's variables says nothing here.
                    .filter(|ty| !ty.node().facts().any(sapwood_structural::Facts::VAR)),
                other => other.natural_type(),
            };
            match ty {
                Some(ty) if !ty.is_unknown() => with_type(&expr, ty, expr.span()),
                _ => expr,
            }
        })
    }

    fn exprs(&self, exprs: &[ExprRef]) -> Vec<ExprRef> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    /// The variable that stands for `var` where it is bound to a value of this type.
    fn target(&mut self, var: &Var, ty: &TypeRef) -> Var {
        if let Some(known) = self.vars.get(var.id()) {
            return Var::try_from(known).unwrap_or_else(|_| var.clone());
        }
        let once = self.bindings.get(&var.id()) == Some(&1);
        if !var.ty().is_unknown() || ty.is_unknown() || var.is_iter_arg() || !once {
            return var.clone();
        }
        let typed = Var::new(var.name(), ty, var.span());
        self.vars.set(var.id(), typed.expr().clone());
        typed
    }

    fn results(&mut self, vars: &[Var], types: &[TypeRef]) -> Vec<Var> {
        let unknown = crate::nodes::Type::unknown();
        let mut types = types.iter();
        vars.iter().map(|var| self.target(var, types.next().unwrap_or(&unknown))).collect()
    }

    fn arguments(
        &mut self,
        iter_args: &[IterArg],
        inits: &[ExprRef],
        body: &StmtRef,
    ) -> Vec<IterArg> {
        let types = self.argument_types(iter_args, inits, body);
        let mut new = Vec::with_capacity(iter_args.len());
        for (arg, init) in iter_args.iter().zip(inits) {
            let ty = types.get(&arg.id()).unwrap_or(arg.expr().ty());
            if arg.init_value().same(init) && ty.same(arg.ty()) {
                new.push(arg.clone());
                continue;
            }
            let fresh = IterArg::new(arg.name(), ty, init, arg.span());
            self.vars.set(arg.id(), fresh.expr().clone());
            new.push(fresh);
        }
        new
    }

    /// The types of arguments that have the type of their initial value in every trip: taking it to
    /// be so, what is yielded for them has it as well.
    fn argument_types(
        &self,
        iter_args: &[IterArg],
        inits: &[ExprRef],
        body: &StmtRef,
    ) -> Map<TypeRef> {
        let mut types: Map<TypeRef> = Map::default();
        for (arg, init) in iter_args.iter().zip(inits) {
            if arg.ty().is_unknown() && init.ty().as_scalar().is_some() {
                types.insert(arg.id(), init.ty().clone());
            }
        }
        let yielded = crate::verify::trailing_yield(body).map_or(&[][..], |(values, _)| values);
        loop {
            let odd = iter_args.iter().enumerate().find(|(index, arg)| {
                types.get(&arg.id()).is_some_and(|ty| {
                    let value = yielded.get(*index);
                    let found = value.and_then(|value| self.type_under(value, &types, &mut 1000));
                    !found.is_some_and(|found| types_match(&found, ty))
                })
            });
            match odd {
                Some((_, arg)) => types.remove(&arg.id()),
                None => return types,
            };
        }
    }

    /// The type of an expression if variables have these types; nothing if that is not known, or
    /// takes too many looks.
    fn type_under(&self, expr: &ExprRef, types: &Map<TypeRef>, looks: &mut u32) -> Option<TypeRef> {
        *looks = looks.checked_sub(1)?;
        if !expr.ty().is_unknown() {
            return Some(expr.ty().clone());
        }
        if expr.is_var() {
            let known = self.vars.get(expr.node().id()).map(|known| known.ty());
            let known = types.get(&expr.node().id()).or(known);
            return known.filter(|ty| !ty.is_unknown()).cloned();
        }
        let (_, left, right) = expr.as_binary().filter(|(op, ..)| !op.is_truth())?;
        let left = deeper(|| self.type_under(left, types, looks))?;
        let right = deeper(|| self.type_under(right, types, looks))?;
        types_match(&left, &right).then_some(left)
    }

    fn stmt(&mut self, stmt: &StmtRef) -> StmtRef {
        deeper(|| self.stmt_here(stmt))
    }

    fn stmt_here(&mut self, stmt: &StmtRef) -> StmtRef {
        match &**stmt {
            Stmt::Assign { var, value, span } => {
                let new = self.expr(value);
                let target = self.target(var, new.ty());
                if new.same(value) && target.expr().same(var) {
                    return stmt.clone();
                }
                Stmt::assign(&target, &new, *span)
            }
            Stmt::Eval { expr, span } => Stmt::eval(&self.expr(expr), *span),
            Stmt::Yield { values, span } => Stmt::yield_(self.exprs(values), *span),
            Stmt::Return { values, span } => Stmt::return_(self.exprs(values), *span),
            Stmt::Seq { stmts, span } | Stmt::Ops { stmts, span } => {
                let new: Vec<StmtRef> = stmts.iter().map(|stmt| self.stmt(stmt)).collect();
                if new.iter().zip(stmts).all(|(new, old)| new.same(old)) {
                    return stmt.clone();
                }
                match &**stmt {
                    Stmt::Ops { .. } => Stmt::ops(new, *span),
                    _ => Stmt::seq(new, *span),
                }
            }
            Stmt::If { condition, then_body, else_body, return_vars, span } => {
                let condition = self.expr(condition);
                let then_body = self.stmt(then_body);
                let else_body = else_body.as_ref().map(|body| self.stmt(body));
                let types: Vec<TypeRef> = crate::verify::trailing_yield(&then_body)
                    .map(|(values, _)| values.iter().map(|value| value.ty().clone()).collect())
                    .unwrap_or_default();
                let results = self.results(return_vars, &types);
                Stmt::if_(&condition, &then_body, else_body.as_ref(), results, *span)
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
                let [start, stop, step] = [start, stop, step].map(|expr| self.expr(expr));
                let inits = self.exprs(init_values);
                let loop_var = self.target(loop_var, start.ty());
                let args = self.arguments(iter_args, &inits, body);
                let body = self.stmt(body);
                let types: Vec<TypeRef> = args.iter().map(|arg| arg.ty().clone()).collect();
                let results = self.results(return_vars, &types);
                Stmt::for_(&loop_var, [&start, &stop, &step], args, &body, results, *span)
            }
            Stmt::While { init_values, iter_args, condition, body, return_vars, span } => {
                let inits = self.exprs(init_values);
                let args = self.arguments(iter_args, &inits, body);
                let condition = self.expr(condition);
                let body = self.stmt(body);
                let types: Vec<TypeRef> = args.iter().map(|arg| arg.ty().clone()).collect();
                let results = self.results(return_vars, &types);
                Stmt::while_(args, &condition, &body, results, *span)
            }
        }
    }
}
