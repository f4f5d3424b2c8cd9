//! Inference of unknown types.
//!
//! The type of a call comes from the signature of the callee, of an operation from its operands, of a variable from the value
//! it is assigned, and of an iteration argument from its initial value if the yielded value has that type too. A variable that is
//! bound in several places keeps an unknown type, since its values may have different types. A function in which an inferred type
//! contradicts a declared one stays unchanged.

use super::map_stmt::{ResultSource, StmtMapper, map_stmt};
use super::rename::VarRenaming;
use super::{IdMap, PassError, check_sharing, count_bindings, with_grown_stack};
use crate::call_types::{SignatureTypes, natural_call_type};
use crate::interpret::implicit_results;
use crate::nodes::{
    Expr, ExprRef, FunctionRef, IterArg, Program, ProgramRef, StmtRef, TypeRef, Var,
    small_types_equal,
};
use crate::rebuild::with_type;
use crate::verify::{VerifyLevel, verify_function};

/// Fills in unknown types that can be inferred.
///
/// # Errors
/// Fails if shared statements have too many occurrences.
pub fn infer_types(program: &Program) -> Result<ProgramRef, PassError> {
    program.map_functions(|function| {
        check_sharing(&function.name, &function.body)?;
        Ok(infer_function_types(program, function))
    })
}

fn infer_function_types(program: &Program, function: &FunctionRef) -> FunctionRef {
    let mut infer = TypeInferrer {
        program,
        vars: VarRenaming::default(),
        binding_counts: count_bindings(function),
    };
    let body = infer.map_body(&function.body);
    let new = super::with_body(function, &body);
    let returns_as_before = || implicit_results(&new).len() == implicit_results(function).len();
    let is_fine =
        |function| verify_function(function, Some(program), VerifyLevel::WellFormed).is_empty();
    if new.same(function) || returns_as_before() && (is_fine(&new) || !is_fine(function)) {
        return new;
    }
    function.clone()
}

/// A mapper that fills in the types of one function.
struct TypeInferrer<'p> {
    program: &'p Program,
    /// The typed replacements of variables with an unknown type.
    vars: VarRenaming,
    /// The number of bindings of each variable.
    binding_counts: IdMap<u32>,
}

impl TypeInferrer<'_> {
    /// Returns the expression with inferred types.
    fn infer_expr(&self, expr: &ExprRef) -> ExprRef {
        self.vars.rename_expr_with(expr, |expr| {
            if !expr.ty().is_unknown() {
                return expr;
            }
            let ty = match &*expr {
                Expr::Call { callee, args, .. } => {
                    let signature = SignatureTypes::of(self.program, callee.name());
                    natural_call_type(callee, args, signature)
                }
                other => other.inferred_type(),
            };
            match ty {
                Some(ty) if !ty.is_unknown() => with_type(&expr, ty, expr.span()),
                _ => expr,
            }
        })
    }

    /// Returns the variable to bind to a value of this type: `var`, or a typed replacement of it.
    fn bind_with_type(&mut self, var: &Var, ty: &TypeRef) -> Var {
        if let Some(typed) = self.vars.get(var.id()) {
            return Var::try_from(typed).unwrap_or_else(|_| var.clone());
        }
        let once = self.binding_counts.get(&var.id()) == Some(&1);
        if !var.ty().is_unknown() || ty.is_unknown() || var.is_iter_arg() || !once {
            return var.clone();
        }
        let typed = Var::new(var.name(), ty, var.span());
        self.vars.set(var.id(), typed.expr().clone());
        typed
    }

    fn infer_iter_args(
        &mut self,
        iter_args: &[IterArg],
        inits: &[ExprRef],
        body: &StmtRef,
    ) -> Vec<IterArg> {
        let types = self.stable_iter_arg_types(iter_args, inits, body);
        let type_of = |arg: &IterArg| types.get(&arg.id()).unwrap_or(arg.expr().ty()).clone();
        let types: Vec<_> = iter_args.iter().map(type_of).collect();
        self.vars.renew_iter_args(iter_args, inits, &types)
    }

    /// Returns the types of iteration arguments that keep the type of their initial value on every trip.
    ///
    /// These are assumed first, then removed until the yielded values have the assumed types.
    fn stable_iter_arg_types(
        &self,
        iter_args: &[IterArg],
        inits: &[ExprRef],
        body: &StmtRef,
    ) -> IdMap<TypeRef> {
        let mut types: IdMap<TypeRef> = IdMap::default();
        for (arg, init) in iter_args.iter().zip(inits) {
            if arg.ty().is_unknown() && init.ty().as_scalar().is_some() {
                types.insert(arg.id(), init.ty().clone());
            }
        }
        let yielded = crate::verify::trailing_yield(body).map_or(&[][..], |(values, _)| values);
        loop {
            let unstable = iter_args.iter().enumerate().find(|(index, arg)| {
                types.get(&arg.id()).is_some_and(|ty| {
                    let value = yielded.get(*index);
                    let found =
                        value.and_then(|value| self.type_assuming(value, &types, &mut 1000));
                    !found.is_some_and(|found| small_types_equal(&found, ty))
                })
            });
            match unstable {
                Some((_, arg)) => types.remove(&arg.id()),
                None => return types,
            };
        }
    }

    /// Returns the type of an expression if variables have these types; none if it is unknown or the budget is used up.
    fn type_assuming(
        &self,
        expr: &ExprRef,
        types: &IdMap<TypeRef>,
        budget: &mut u32,
    ) -> Option<TypeRef> {
        *budget = budget.checked_sub(1)?;
        if !expr.ty().is_unknown() {
            return Some(expr.ty().clone());
        }
        if expr.is_var() {
            let typed = self.vars.get(expr.node().id()).map(|typed| typed.ty());
            let typed = types.get(&expr.node().id()).or(typed);
            return typed.filter(|ty| !ty.is_unknown()).cloned();
        }
        let (_, left, right) = expr.as_binary().filter(|(op, ..)| !op.is_predicate())?;
        let left = with_grown_stack(|| self.type_assuming(left, types, budget))?;
        let right = with_grown_stack(|| self.type_assuming(right, types, budget))?;
        small_types_equal(&left, &right).then_some(left)
    }
}

impl StmtMapper for TypeInferrer<'_> {
    fn map_expr(&mut self, expr: &ExprRef) -> ExprRef {
        self.infer_expr(expr)
    }

    fn map_body(&mut self, body: &StmtRef) -> StmtRef {
        with_grown_stack(|| map_stmt(body, self))
    }

    fn map_target(&mut self, var: &Var, value: &ExprRef) -> Var {
        self.bind_with_type(var, value.ty())
    }

    fn map_loop_var(&mut self, var: &Var, start: &ExprRef) -> Var {
        self.bind_with_type(var, start.ty())
    }

    fn map_iter_args(
        &mut self,
        args: &[IterArg],
        inits: &[ExprRef],
        body: &StmtRef,
    ) -> Vec<IterArg> {
        self.infer_iter_args(args, inits, body)
    }

    fn map_results(&mut self, vars: &[Var], inside: ResultSource<'_>) -> Vec<Var> {
        let types: Vec<TypeRef> = match inside {
            ResultSource::Branch(body) => crate::verify::trailing_yield(body)
                .map(|(values, _)| values.iter().map(|value| value.ty().clone()).collect())
                .unwrap_or_default(),
            ResultSource::Loop(args) => args.iter().map(|arg| arg.ty().clone()).collect(),
        };
        let unknown = crate::nodes::Type::unknown();
        let mut types = types.iter();
        vars.iter().map(|var| self.bind_with_type(var, types.next().unwrap_or(&unknown))).collect()
    }
}
