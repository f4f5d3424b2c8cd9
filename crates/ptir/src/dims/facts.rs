//! Facts about symbols, and comparison under them.

use std::borrow::Cow;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::bounds::Interval;
use super::expr::{DimExpr, Sum, Term};
use super::monomial::{Atom, Monomial};
use super::relation::Relation;
use crate::name::Name;

// How many facts a comparison combines, one after the other, and how many combinations it tries in all.
const MAX_COMBINED_FACTS: usize = 3;
const MAX_COMBINATIONS: usize = 64;

// How many equations are used to eliminate monomials of one sum.
const MAX_ELIMINATIONS: usize = 256;

/// A verdict on two expressions, whatever the values of their symbols.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// They are equal for all values that the facts allow.
    Equal,
    /// They are different for all values that the facts allow.
    Different,
    /// Neither was shown.
    Unknown,
}

/// A fact that cannot be true together with those before it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{fact}` contradicts the facts before it")]
pub struct Contradiction {
    /// The fact as text, such as `?S >= 1`.
    pub fact: String,
}

/// The assumptions of a function about its symbols, besides that they are at least zero.
#[derive(Clone, Default, Debug)]
pub struct Facts {
    // In the order in which they were assumed, for printing.
    at_least_zero: Vec<DimExpr>,
    zero: Vec<DimExpr>,
    // The intervals of symbols that some fact restricts, and whether one of them is a number.
    intervals: HashMap<Name, Interval, FxBuildHasher>,
    has_numbers: bool,
    // Facts about several monomials: sums that are at least zero.
    inequalities: Vec<Sum>,
    // The inequalities that contain a monomial with a negative coefficient (true) or with a positive one.
    inequalities_of: HashMap<(Monomial, bool), Vec<u32>, FxBuildHasher>,
    // The bits of the keys of this table.
    inequality_bits: u64,
    // Sums that are zero, each with the monomial that it eliminates.
    equations: Vec<(Monomial, Sum)>,
    // The equations that eliminate a monomial.
    equations_of: HashMap<Monomial, SmallVec<[u32; 1]>, FxBuildHasher>,
}

impl std::fmt::Debug for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.clone().intern() {
            Some(expr) => write!(f, "{expr}"),
            None => f.write_str("a large sum"),
        }
    }
}

impl std::fmt::Debug for Atom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match Sum::atom(*self) {
            Some(sum) => sum.fmt(f),
            None => f.write_str("a symbol"),
        }
    }
}

impl std::fmt::Debug for Monomial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Sum::term(1, *self).fmt(f)
    }
}

impl Facts {
    /// Returns no facts: symbols are at least zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether nothing is assumed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at_least_zero.is_empty() && self.zero.is_empty()
    }

    /// Assumes that an expression is at least zero.
    ///
    /// # Errors
    /// If this contradicts the facts before it. Then nothing is assumed.
    pub fn assume_at_least(&mut self, expr: DimExpr) -> Result<(), Contradiction> {
        self.check(Relation { expr, equation: false })?;
        self.at_least_zero.push(expr);
        self.add_inequality(expr.sum());
        Ok(())
    }

    /// Assumes that an expression is zero.
    ///
    /// # Errors
    /// If this contradicts the facts before it. Then nothing is assumed.
    pub fn assume_zero(&mut self, expr: DimExpr) -> Result<(), Contradiction> {
        self.check(Relation { expr, equation: true })?;
        self.zero.push(expr);
        let (_, reduced) = self.eliminate(expr.sum());
        // The smallest coefficient scales the other sums least.
        let pivot = reduced.terms.iter().min_by_key(|term| term.coefficient.unsigned_abs());
        if let Some(factors) = pivot.map(|term| term.factors) {
            let position = self.equations.len() as u32;
            let equation = (factors, reduced.into_owned());
            self.equations.push(equation);
            self.equations_of.entry(factors).or_default().push(position);
        }
        self.add_inequality(expr.sum());
        if let Some(negated) = expr.sum().scaled(-1) {
            self.add_inequality(&negated);
        }
        Ok(())
    }

    // Returns an error if a relation contradicts the facts.
    fn check(&self, relation: Relation) -> Result<(), Contradiction> {
        match self.refutes(relation) {
            true => Err(Contradiction { fact: relation.to_string() }),
            false => Ok(()),
        }
    }

    /// Returns whether a relation is certainly false under these facts.
    #[must_use]
    pub fn refutes(&self, relation: Relation) -> bool {
        match relation.equation {
            true => self.is_never_zero(relation.expr.sum()),
            false => self.bounds(relation.expr).highest().is_some_and(|highest| highest < 0),
        }
    }

    fn add_inequality(&mut self, sum: &Sum) {
        let term = match &sum.terms[..] {
            [] => return,
            [term] => term,
            _ => return self.add_combined(sum),
        };
        let [Atom::Symbol(symbol)] = term.factors[..] else { return self.add_combined(sum) };
        // c*s + k >= 0, so that s >= -k/c, or s <= k/-c if c is negative.
        let bound = Interval::at_least(0).add(Interval::point(sum.constant).negate());
        let bound = match term.coefficient {
            c if c > 0 => bound.unscale(c),
            i64::MIN => return,
            c => bound.negate().unscale(-c),
        };
        let interval = self.intervals.entry(symbol.name).or_insert(Interval::NOT_NEGATIVE);
        *interval = interval.intersect(bound);
        self.has_numbers |= interval.single().is_some();
    }

    // Adds a fact that comparisons combine with others.
    fn add_combined(&mut self, sum: &Sum) {
        let position = self.inequalities.len() as u32;
        for term in &sum.terms {
            let (factors, negative) = (term.factors, term.coefficient < 0);
            self.inequalities_of.entry((factors, negative)).or_default().push(position);
            self.inequality_bits |= factors.bit(negative);
        }
        self.inequalities.push(sum.clone());
    }

    // Returns the inequalities that contain a monomial with a coefficient of this sign.
    fn inequalities_with(&self, factors: Monomial, negative: bool) -> &[u32] {
        if self.inequality_bits & factors.bit(negative) == 0 {
            return &[];
        }
        self.inequalities_of.get(&(factors, negative)).map_or(&[], Vec::as_slice)
    }

    /// Returns the assumptions as relations: first the inequalities, then the equations, each in the order in which they were made.
    pub fn relations(&self) -> impl Iterator<Item = Relation> {
        let relation = |equation| move |&expr: &DimExpr| Relation { expr, equation };
        self.at_least_zero.iter().map(relation(false)).chain(self.zero.iter().map(relation(true)))
    }

    /// Assumes a relation.
    ///
    /// # Errors
    /// If it contradicts the facts before it. Then nothing is assumed.
    pub fn assume(&mut self, relation: Relation) -> Result<(), Contradiction> {
        match relation.equation {
            true => self.assume_zero(relation.expr),
            false => self.assume_at_least(relation.expr),
        }
    }

    /// Returns whether the facts hold for some values of the symbols, or `None` if a symbol has no value or a number overflows.
    #[must_use]
    pub fn hold(&self, value: &dyn Fn(Name) -> Option<i64>) -> Option<bool> {
        let mut all = true;
        for expr in &self.at_least_zero {
            all &= expr.evaluate(value)? >= 0;
        }
        for expr in &self.zero {
            all &= expr.evaluate(value)? == 0;
        }
        Some(all)
    }

    /// Compares two expressions for all values that the facts allow.
    #[must_use]
    pub fn compare(&self, left: DimExpr, right: DimExpr) -> Verdict {
        if left == right {
            return Verdict::Equal;
        }
        let Some(difference) = left.sum().plus(right.sum(), -1) else { return Verdict::Unknown };
        let difference = match self.may_simplify(&difference) {
            true => self.simplify_sum(&difference).unwrap_or(difference),
            false => difference,
        };
        let (_, reduced) = self.eliminate(&difference);
        match reduced.terms.is_empty() {
            true if reduced.constant == 0 => return Verdict::Equal,
            _ if reduced.is_never_zero() => return Verdict::Different,
            _ => {}
        }
        let bounds = self.bounds_of(&difference);
        match bounds.single() {
            _ if bounds.is_at_least(1) || bounds.is_at_most(-1) => Verdict::Different,
            Some(0) => Verdict::Equal,
            _ => Verdict::Unknown,
        }
    }

    /// Returns an expression that is equal for all values that the facts allow, without the `floordiv`, `mod`, `min` and `max` that they
    /// decide. Returns `None` on overflow or if it would be too large.
    #[must_use]
    pub fn simplify(&self, expr: DimExpr) -> Option<DimExpr> {
        self.simplify_sum(expr.sum())?.intern()
    }

    // Returns whether the facts may decide a part of the sum. A sum of symbols stays as it is, unless one of them is a number.
    fn may_simplify(&self, sum: &Sum) -> bool {
        !self.is_empty() && (self.has_numbers || !sum.has_only_symbols())
    }

    fn simplify_sum(&self, sum: &Sum) -> Option<Sum> {
        let mut total = Sum::constant(sum.constant);
        for term in &sum.terms {
            let mut product = Sum::constant(term.coefficient);
            for &factor in term.factors.iter() {
                product = product.times(&self.simplify_atom(factor)?)?;
            }
            total = total.plus(&product, 1)?;
        }
        Some(total)
    }

    fn simplify_atom(&self, atom: Atom) -> Option<Sum> {
        match atom {
            Atom::Symbol(symbol) => Some(match self.interval(symbol.name).single() {
                Some(number) => Sum::constant(number),
                None => return Sum::atom(atom),
            }),
            Atom::FloorDiv(inner, divisor) => {
                let inner = self.simplify_sum(inner.sum())?;
                match self.bounds_of(&inner).floordiv(divisor).single() {
                    Some(number) => Some(Sum::constant(number)),
                    None => inner.floordiv(divisor),
                }
            }
            Atom::Positive(inner) => {
                let inner = self.simplify_sum(inner.sum())?;
                let bounds = self.bounds_of(&inner);
                match (bounds.is_at_least(0), bounds.is_at_most(0)) {
                    (true, _) => Some(inner),
                    (_, true) => Some(Sum::default()),
                    _ => inner.positive_part(),
                }
            }
        }
    }

    /// Returns an interval that contains the value of an expression.
    #[must_use]
    pub fn bounds(&self, expr: DimExpr) -> Interval {
        self.bounds_of(expr.sum())
    }

    fn is_never_zero(&self, sum: &Sum) -> bool {
        let (_, reduced) = self.eliminate(sum);
        if reduced.is_never_zero() {
            return true;
        }
        let bounds = self.bounds_of(sum);
        bounds.is_at_least(1) || bounds.is_at_most(-1)
    }

    // Removes the monomials that equations determine. Returns a positive number and a sum that is the given one times this number.
    fn eliminate<'a>(&self, sum: &'a Sum) -> (i64, Cow<'a, Sum>) {
        let (mut scale, mut reduced) = (1i64, Cow::Borrowed(sum));
        if self.equations.is_empty() {
            return (scale, reduced);
        }
        let mut start = 0;
        for _ in 0..MAX_ELIMINATIONS {
            // In the order of the equations, of which each contains only monomials that the ones before it do not eliminate.
            let equations_of = |term: &Term| self.equations_of.get(&term.factors);
            let of_terms = reduced.terms.iter().filter_map(equations_of).flatten();
            let Some(&next) = of_terms.filter(|&&equation| equation >= start).min() else { break };
            start = next + 1;
            let (pivot, equation) = &self.equations[next as usize];
            let step = cancel(&reduced, equation, *pivot);
            let Some((factor, next)) = step else { continue };
            let Some(product) = scale.checked_mul(factor) else { continue };
            (scale, reduced) = (product, Cow::Owned(next));
        }
        (scale, reduced)
    }

    fn bounds_of(&self, sum: &Sum) -> Interval {
        let symbol = |name: Name| self.interval(name);
        let mut bounds = Interval::with(sum, &symbol);
        if !self.equations.is_empty() {
            let (scale, reduced) = self.eliminate(sum);
            bounds = bounds.intersect(Interval::with(&reduced, &symbol).unscale(scale));
        }
        if !self.inequalities.is_empty() {
            let start = bounds;
            let mut tries = MAX_COMBINATIONS;
            let lower = self.combine(sum, start, 1, MAX_COMBINED_FACTS, &mut tries);
            bounds = bounds.intersect(lower);
            let bounds_negated = |term: &Term| {
                !self.inequalities_with(term.factors, term.coefficient >= 0).is_empty()
            };
            if sum.terms.iter().any(bounds_negated)
                && let Some(negated) = sum.scaled(-1)
            {
                let mut tries = MAX_COMBINATIONS;
                let upper =
                    self.combine(&negated, start.negate(), 1, MAX_COMBINED_FACTS, &mut tries);
                bounds = bounds.intersect(upper.negate());
            }
        }
        bounds
    }

    fn interval(&self, name: Name) -> Interval {
        self.intervals.get(&name).copied().unwrap_or(Interval::NOT_NEGATIVE)
    }

    // Subtracts multiples of facts from a sum, so that monomials without a lower bound cancel. A lower bound of the rest is one of the sum,
    // because facts are at least zero. The sum is `scale` times the one that was asked for, whose bounds are given as far as they are known.
    fn combine(
        &self,
        sum: &Sum,
        bounds: Interval,
        scale: i64,
        depth: usize,
        tries: &mut usize,
    ) -> Interval {
        let mut best = bounds.without_upper_end();
        if depth == 0 {
            return best;
        }
        for term in &sum.terms {
            for &fact in self.inequalities_with(term.factors, term.coefficient < 0) {
                if *tries == 0 {
                    return best;
                }
                *tries -= 1;
                let fact = &self.inequalities[fact as usize];
                let Some((factor, rest)) = cancel(sum, fact, term.factors) else { continue };
                let Some(scale) = scale.checked_mul(factor) else { continue };
                let lowest = Interval::with(&rest, &|name| self.interval(name)).unscale(scale);
                best = best.intersect(self.combine(&rest, lowest, scale, depth - 1, tries));
            }
        }
        best
    }
}

// Returns `a > 0` and `a*sum - b*other`, in which the monomial does not occur. `b` is positive if the coefficients have the same sign.
fn cancel(sum: &Sum, other: &Sum, factors: Monomial) -> Option<(i64, Sum)> {
    let coefficient = |sum: &Sum| {
        sum.terms.iter().find(|term| term.factors == factors).map(|term| term.coefficient)
    };
    let (ours, theirs) = (coefficient(sum)?, coefficient(other)?);
    let common = super::arith::greatest_common_divisor(ours.unsigned_abs(), theirs.unsigned_abs());
    let common = i64::try_from(common).ok()?;
    let factor = (theirs / common).checked_abs()?;
    let multiple = (ours / common).checked_mul(theirs.signum())?;
    let multiple = multiple.checked_neg()?;
    match factor {
        1 => Some((factor, sum.plus(other, multiple)?)),
        _ => Some((factor, sum.scaled(factor)?.plus(other, multiple)?)),
    }
}
