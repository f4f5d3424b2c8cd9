//! The symbols of signatures: the order in which parameters bind them, and the dims that a call gives them.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::dim::Dim;
use super::expr::DimExpr;
use super::facts::Facts;
use super::relation::Relation;
use super::solving_order::{SolvingOrder, Unbound, only_unbound};
use crate::name::Name;
use crate::types::ValueType;

/// Returns the symbols that types bind, besides those that are bound before, in the order in which they are bound: first the dims that are
/// symbols, then the expressions that are linear in one symbol that is not yet bound. The order does not depend on the names of symbols.
pub(crate) fn binding_order<'a>(
    types: impl Iterator<Item = &'a ValueType>,
    bound_before: impl Fn(Name) -> bool,
) -> Vec<Name> {
    let mut dims = Vec::new();
    for ty in types {
        ty.for_each_dim(&mut |dim| {
            if let Dim::Expr(expr) = dim {
                dims.push(expr);
            }
        });
    }
    binding_positions(&dims, bound_before, |_, _| true).into_iter().map(|(name, _)| name).collect()
}

/// Returns the symbols that dims bind, in the order in which they are bound, each with the position of the dim that binds it: the dim is the symbol, or is linear
/// in it and has no other symbol that is bound later.
#[must_use]
pub fn symbols_with_dims(dims: &[DimExpr]) -> Vec<(Name, usize)> {
    binding_positions(dims, |_| false, |_, _| true)
}

/// Returns the symbols that dims determine, whatever the values of the others are: `?n*?m` does not determine `?n`, because `?m` may be zero.
#[must_use]
pub fn determined_symbols(dims: &[DimExpr]) -> Vec<Name> {
    let has_constant_coefficient = |expr: DimExpr, name: Name| {
        expr.linear_in(name).is_some_and(|(coefficient, _)| coefficient.as_constant().is_some())
    };
    let found = binding_positions(dims, |_| false, has_constant_coefficient);
    found.into_iter().map(|(name, _)| name).collect()
}

// Returns the symbols that dims bind. A dim that `determines` refuses for its only symbol without a value binds none: it will have no other such symbol.
fn binding_positions(
    dims: &[DimExpr],
    bound_before: impl Fn(Name) -> bool,
    determines: impl Fn(DimExpr, Name) -> bool,
) -> Vec<(Name, usize)> {
    let (mut order, mut positions) = (Vec::new(), Vec::new());
    let mut found: HashSet<Name, FxBuildHasher> = HashSet::default();
    for (position, expr) in dims.iter().enumerate() {
        match expr.as_symbol() {
            Some(name) if !bound_before(name) && found.insert(name) => order.push((name, position)),
            Some(_) => {}
            None => positions.push(position),
        }
    }
    let is_bound = |name: Name| found.contains(&name) || bound_before(name);
    let mut solving = SolvingOrder::new(positions.iter().map(|&at| dims[at]), is_bound);
    while let Some(next) = solving.pop() {
        let position = positions[next];
        let expr = dims[position];
        if let Unbound::One(name) =
            only_unbound(expr, |name| found.contains(&name) || bound_before(name))
            && expr.linear_in(name).is_some()
            && determines(expr, name)
        {
            found.insert(name);
            order.push((name, position));
            solving.bind(name);
        }
    }
    order
}

/// Returns the symbols that parameters of these types bind. Other symbols in the types are not determined: `?A*?B` alone binds none.
#[must_use]
pub fn bound_symbols<'a>(types: impl Iterator<Item = &'a ValueType>) -> Vec<Name> {
    binding_order(types, |_| false)
}

/// The dims of a caller that take the place of the symbols of a callee's parameters.
#[derive(Clone, Default, Debug)]
pub struct SymbolBindings {
    bound: HashMap<Name, Dim, FxBuildHasher>,
}

impl SymbolBindings {
    /// Binds the symbols of parameter types to the dims of argument types, and checks that the arguments fit. Returns the errors with the
    /// positions of their arguments.
    #[must_use]
    pub fn of_call<'a>(
        pairs: impl Iterator<Item = (&'a ValueType, &'a ValueType)>,
    ) -> (Self, Vec<(usize, String)>) {
        let (mut bindings, mut errors) = (Self::default(), Vec::new());
        let mut expressions: Vec<Expression<'a>> = Vec::new();
        for (argument, (param, arg)) in pairs.enumerate() {
            let start = expressions.len();
            if let Err(why) = bindings.bind(argument, (param, param), (arg, arg), &mut expressions)
            {
                expressions.truncate(start);
                errors.push((argument, why));
            }
        }
        // Expressions are solved as soon as all symbols but one are bound, and checked when all are.
        let all = expressions.iter().map(|expression| expression.expr);
        let mut order = SolvingOrder::new(all, |name| bindings.bound.contains_key(&name));
        while let Some(position) = order.pop() {
            let expression = &expressions[position];
            match bindings.solve(expression) {
                Ok(Some(name)) => order.bind(name),
                Ok(None) => {}
                Err(why) => errors.push((expression.argument, why)),
            }
        }
        errors.sort_by_key(|(argument, _)| *argument);
        errors.dedup_by_key(|(argument, _)| *argument);
        (bindings, errors)
    }

    /// Returns the dim that a symbol is bound to.
    #[must_use]
    pub fn get(&self, symbol: Name) -> Option<Dim> {
        self.bound.get(&symbol).copied()
    }

    /// Returns whether a relation of the callee is certainly false in a caller with these facts.
    pub(crate) fn contradicts(&self, relation: Relation, facts: Option<&Facts>) -> bool {
        let mut bound: Vec<(Name, DimExpr)> = Vec::new();
        for &name in relation.expr.symbols() {
            match self.get(name).and_then(Dim::to_expr) {
                Some(expr) => bound.push((name, expr)),
                None => return false,
            }
        }
        let replace = |name: Name| bound.iter().find(|(n, _)| *n == name).map(|&(_, expr)| expr);
        let Some(expr) = relation.expr.substitute(&replace) else { return false };
        let relation = Relation { expr, ..relation };
        match facts {
            Some(facts) => facts.refutes(relation),
            None => Facts::new().refutes(relation),
        }
    }

    /// Returns a type of the callee as the caller sees it. Symbols that no argument binds are unknown there.
    #[must_use]
    pub fn apply(&self, ty: &ValueType) -> ValueType {
        ty.map_dims(&mut |dim| dim.substitute(&mut |name| self.get(name).unwrap_or(Dim::Unknown)))
    }

    // Binds the dims that are symbols, checks the numbers, and collects the expressions. The outer types are for messages.
    fn bind<'a>(
        &mut self,
        argument: usize,
        (param, whole_param): (&ValueType, &'a ValueType),
        (arg, whole_arg): (&ValueType, &'a ValueType),
        expressions: &mut Vec<Expression<'a>>,
    ) -> Result<(), String> {
        match (param, arg) {
            (ValueType::Tensor(p), ValueType::Tensor(a)) => {
                if p.dtype != a.dtype || p.rank() != a.rank() {
                    return Err(format!("expected {p}, found {a}"));
                }
                for (axis, (&dim, &found)) in p.dims.iter().zip(&a.dims).enumerate() {
                    let expected = match dim {
                        Dim::Expr(expr) => match expr.as_symbol() {
                            Some(name) => *self.bound.entry(name).or_insert(found),
                            None => {
                                let types = (whole_param, whole_arg);
                                expressions.push(Expression { argument, types, axis, expr, found });
                                continue;
                            }
                        },
                        Dim::Known(_) | Dim::Unknown => dim,
                    };
                    match (expected.unify(found), dim.as_symbol()) {
                        (None, _) => return Err(mismatch(param, arg, axis, found, expected)),
                        (Some(more), Some(name)) => {
                            self.bound.insert(name, more);
                        }
                        (Some(_), None) => {}
                    }
                }
                Ok(())
            }
            (ValueType::Tuple(p), ValueType::Tuple(a)) if p.len() == a.len() => {
                let mut pairs = p.iter().zip(a.iter());
                pairs.try_for_each(|(p, a)| {
                    self.bind(argument, (p, whole_param), (a, whole_arg), expressions)
                })
            }
            (ValueType::Token, ValueType::Token) | (ValueType::Opaque, ValueType::Opaque) => Ok(()),
            _ => Err(format!("expected {param}, found {arg}")),
        }
    }

    // Checks an expression, or solves it for its only symbol that is not bound, and returns this symbol.
    fn solve(&mut self, expression: &Expression<'_>) -> Result<Option<Name>, String> {
        let &Expression { types: (param, arg), axis, expr, found, .. } = expression;
        match only_unbound(expr, |name| self.bound.contains_key(&name)) {
            Unbound::Several => Ok(None),
            Unbound::None => {
                let expected =
                    Dim::Expr(expr).substitute(&mut |name| self.get(name).unwrap_or(Dim::Unknown));
                match expected.compatible(found) {
                    true => Ok(None),
                    false => Err(mismatch(param, arg, axis, found, expected)),
                }
            }
            Unbound::One(name) => {
                let solution = self.solution(expr, name, found);
                if solution.is_none() && found.known().is_some() && self.is_known_but(expr, name) {
                    return Err(format!(
                        "expected {param}, found {arg}: no extent ?{name} makes axis {axis} {found}"
                    ));
                }
                self.bound.insert(name, solution.unwrap_or(Dim::Unknown));
                Ok(Some(name))
            }
        }
    }

    // Returns whether all other symbols are bound to numbers.
    fn is_known_but(&self, expr: DimExpr, unbound: Name) -> bool {
        let known = |name: Name| self.get(name).is_some_and(|dim| dim.known().is_some());
        expr.symbols().iter().all(|&name| name == unbound || known(name))
            && expr.linear_in(unbound).is_some()
    }

    // Returns the dim of a symbol for which the expression is the found dim, if it is known.
    fn solution(&self, expr: DimExpr, symbol: Name, found: Dim) -> Option<Dim> {
        let (coefficient, rest) = expr.linear_in(symbol)?;
        let mut bound = |name: Name| self.get(name).unwrap_or(Dim::Unknown);
        let mut apply = |expr: DimExpr| match expr.as_constant() {
            Some(_) => Some(expr),
            None => Dim::Expr(expr).substitute(&mut bound).to_expr(),
        };
        let coefficient = apply(coefficient)?.as_constant()?;
        let difference = found.to_expr()?.checked_sub(apply(rest)?)?;
        let quotient = difference.exact_quotient(coefficient)?;
        match quotient.as_constant() {
            Some(number) => u64::try_from(number).ok().map(Dim::Known),
            None => Some(Dim::Expr(quotient)),
        }
    }
}

// An expression of a parameter's type, with the dim of the argument.
struct Expression<'a> {
    argument: usize,
    types: (&'a ValueType, &'a ValueType),
    axis: usize,
    expr: DimExpr,
    found: Dim,
}

fn mismatch(param: &ValueType, arg: &ValueType, axis: usize, found: Dim, expected: Dim) -> String {
    format!("expected {param}, found {arg}: axis {axis} is {found}, not {expected}")
}
