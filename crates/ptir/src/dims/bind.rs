//! Values for symbols: evaluation, substitution, solving.

use super::expr::{DimExpr, Sum};
use super::monomial::Atom;
use crate::name::Name;
use crate::types::Dim;

impl DimExpr {
    /// Returns the value of the expression, or `None` if a symbol has no value or a number overflows.
    #[must_use]
    pub fn evaluate(self, value: &dyn Fn(Name) -> Option<i64>) -> Option<i64> {
        i64::try_from(self.evaluate_wide(value)?).ok()
    }

    /// Returns the value of the expression with 128 bits, so that its sign is known where it does not fit 64.
    pub(super) fn evaluate_wide(self, value: &dyn Fn(Name) -> Option<i64>) -> Option<i128> {
        let mut total = i128::from(self.sum().constant);
        for term in &self.sum().terms {
            let mut product = i128::from(term.coefficient);
            for &factor in term.factors.iter() {
                product = product.checked_mul(evaluate_atom(factor, value)?.into())?;
            }
            total = total.checked_add(product)?;
        }
        Some(total)
    }

    /// Returns the expression with other expressions in place of symbols. Symbols without one stay.
    #[must_use]
    pub fn substitute(self, replacement: &dyn Fn(Name) -> Option<Self>) -> Option<Self> {
        let mut total = Sum::constant(self.sum().constant);
        for term in &self.sum().terms {
            let mut product = Sum::constant(term.coefficient);
            for &factor in term.factors.iter() {
                product = product.times(&substitute_in_atom(factor, replacement)?)?;
            }
            total = total.plus(&product, 1)?;
        }
        total.intern()
    }

    /// Returns the expression with dims in place of its symbols, or `None` if one of these is unknown.
    pub(crate) fn substitute_dims(self, replacement: &mut dyn FnMut(Name) -> Dim) -> Option<Self> {
        let mut found: Vec<(Name, Self)> = Vec::new();
        for &name in self.symbols() {
            found.push((name, replacement(name).to_expr()?));
        }
        let replace = |name: Name| found.iter().find(|(n, _)| *n == name).map(|&(_, expr)| expr);
        self.substitute(&replace)
    }

    /// Returns the expression with `by` in place of `part`: a multiple of `part` is subtracted, and the same multiple of `by` is added, so that
    /// the first monomial of `part` does not remain. The result is equal wherever `part` and `by` are. Returns `None` if that is not possible.
    #[must_use]
    pub fn replace_part(self, part: Self, by: Self) -> Option<Self> {
        let pivot = part.sum().terms.first()?;
        let found = self.sum().terms.iter().find(|term| term.factors == pivot.factors)?;
        if found.coefficient.checked_rem(pivot.coefficient)? != 0 {
            return None;
        }
        let multiple = found.coefficient.checked_div(pivot.coefficient)?;
        let rest = self.sum().plus(part.sum(), multiple.checked_neg()?)?;
        rest.plus(by.sum(), multiple)?.intern()
    }

    /// Returns the value of a symbol for which the expression has a given value. The expression must be linear in the symbol, and the other symbols
    /// must have values. Returns `None` if this is not so, or if no integer of at least zero is a solution.
    #[must_use]
    pub fn solve(
        self,
        symbol: Name,
        result: i64,
        value: &dyn Fn(Name) -> Option<i64>,
    ) -> Option<i64> {
        let (coefficient, rest) = self.linear_in(symbol)?;
        let (coefficient, rest) = (coefficient.evaluate(value)?, rest.evaluate(value)?);
        let difference = result.checked_sub(rest)?;
        let solution = difference.checked_div(coefficient)?;
        (solution >= 0 && solution.checked_mul(coefficient)? == difference).then_some(solution)
    }

    /// Returns `a` and `b` of `a*symbol + b`, if neither contains the symbol and `a` is not zero.
    #[must_use]
    pub fn linear_in(self, symbol: Name) -> Option<(Self, Self)> {
        let (mut coefficient, mut rest) = (Sum::default(), Sum::constant(self.sum().constant));
        for term in &self.sum().terms {
            let is_symbol = |&a: &Atom| matches!(a, Atom::Symbol(s) if s.name == symbol);
            match term.factors.iter().position(is_symbol) {
                None => rest.terms.push(*term),
                Some(position) => {
                    let others = term.factors.without(position)?;
                    coefficient = coefficient.plus(&Sum::term(term.coefficient, others), 1)?;
                }
            }
        }
        let (coefficient, rest) = (coefficient.intern()?, rest.intern()?);
        let contains = |e: Self| e.symbols().contains(&symbol);
        let is_linear =
            coefficient.as_constant() != Some(0) && !contains(coefficient) && !contains(rest);
        is_linear.then_some((coefficient, rest))
    }
}

fn evaluate_atom(atom: Atom, value: &dyn Fn(Name) -> Option<i64>) -> Option<i64> {
    match atom {
        Atom::Symbol(symbol) => value(symbol.name),
        Atom::FloorDiv(inner, divisor) => Some(inner.evaluate(value)?.div_euclid(divisor)),
        Atom::Positive(inner) => Some(inner.evaluate(value)?.max(0)),
    }
}

fn substitute_in_atom(atom: Atom, replacement: &dyn Fn(Name) -> Option<DimExpr>) -> Option<Sum> {
    match atom {
        Atom::Symbol(symbol) => match replacement(symbol.name) {
            Some(expr) => Some(expr.sum().clone()),
            None => Sum::atom(atom),
        },
        Atom::FloorDiv(inner, divisor) => inner.substitute(replacement)?.sum().floordiv(divisor),
        Atom::Positive(inner) => inner.substitute(replacement)?.sum().positive_part(),
    }
}
