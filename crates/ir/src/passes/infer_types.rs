//! Unknown types are filled in: of calls from the signatures of the program, of operations from
//! their operands, of variables from the value they are assigned, of iteration arguments from their
//! initial values, if what is yielded has that type too. A variable that is bound in several places
//! keeps an unknown type: its values may have different ones. A function in which what is found
//! contradicts a type that is written down stays as it is.

use super::rename::Renaming;
use super::walk::{Inside, Parts, map_parts};
use super::{Map, PassError, bindings, check_sharing, deeper};
use crate::interpret::implicit_results;
use crate::nodes::{
    Expr, ExprRef, FunctionRef, IterArg, Program, ProgramRef, StmtRef, TypeRef, Var, types_match,
};
use crate::rebuild::with_type;
use crate::verify::{Level, verify_function};

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
    let body = infer.body(&function.body);
    let new = super::with_body(function, &body);
    let returns_as_before = || implicit_results(&new).len() == implicit_results(function).len();
    let is_fine = |function| verify_function(function, Some(program), Level::WellFormed).is_empty();
    if new.same(function) || returns_as_before() && (is_fine(&new) || !is_fine(function)) {
        return new;
    }
    function.clone()
}

struct Infer<'p> {
    program: &'p Program,
    /// Variables with an unknown type, and those that stand for them.
    vars: Renaming,
    /// How often each variable is bound.
    bindings: Map<u32>,
}

impl Infer<'_> {
    /// The expression with what is known of types.
    fn typed(&self, expr: &ExprRef) -> ExprRef {
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

    /// The variable that stands for `var` where it is bound to a value of this type.
    fn bound_to(&mut self, var: &Var, ty: &TypeRef) -> Var {
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
}

impl Parts for Infer<'_> {
    fn expr(&mut self, expr: &ExprRef) -> ExprRef {
        self.typed(expr)
    }

    fn body(&mut self, body: &StmtRef) -> StmtRef {
        deeper(|| map_parts(body, self))
    }

    fn target(&mut self, var: &Var, value: &ExprRef) -> Var {
        self.bound_to(var, value.ty())
    }

    fn loop_var(&mut self, var: &Var, start: &ExprRef) -> Var {
        self.bound_to(var, start.ty())
    }

    fn args(&mut self, args: &[IterArg], inits: &[ExprRef], body: &StmtRef) -> Vec<IterArg> {
        self.arguments(args, inits, body)
    }

    fn results(&mut self, vars: &[Var], inside: Inside<'_>) -> Vec<Var> {
        let types: Vec<TypeRef> = match inside {
            Inside::Branch(body) => crate::verify::trailing_yield(body)
                .map(|(values, _)| values.iter().map(|value| value.ty().clone()).collect())
                .unwrap_or_default(),
            Inside::Loop(args) => args.iter().map(|arg| arg.ty().clone()).collect(),
        };
        let unknown = crate::nodes::Type::unknown();
        let mut types = types.iter();
        vars.iter().map(|var| self.bound_to(var, types.next().unwrap_or(&unknown))).collect()
    }
}
