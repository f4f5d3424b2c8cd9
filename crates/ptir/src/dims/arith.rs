//! Arithmetic on dim expressions.

use std::cmp::Ordering;

use super::bounds::Interval;
use super::expr::{DimExpr, MAX_MONOMIALS, Sum, Term, Terms};
use super::monomial::{Atom, Monomial};

impl DimExpr {
    /// Returns `self + other`.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.sum().plus(other.sum(), 1)?.intern()
    }

    /// Returns `self - other`.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.sum().plus(other.sum(), -1)?.intern()
    }

    /// Returns `self * other`.
    #[must_use]
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        self.sum().times(other.sum())?.intern()
    }

    /// Returns the quotient rounded down. The divisor is at least one.
    #[must_use]
    pub fn floordiv(self, divisor: i64) -> Option<Self> {
        self.sum().floordiv(divisor)?.intern()
    }

    /// Returns the terms and the number that they are compared with if the expression is compared with zero. The last part is true if both are
    /// negated, because all terms are negative.
    pub(super) fn without_constant(self) -> Option<(Self, i64, bool)> {
        let mut terms = self.sum().clone();
        terms.constant = 0;
        let constant = self.sum().constant;
        let negative =
            !terms.terms.is_empty() && terms.terms.iter().all(|term| term.coefficient < 0);
        match negative {
            true => Some((terms.scaled(-1)?.intern()?, constant, true)),
            false => Some((terms.intern()?, constant.checked_neg()?, false)),
        }
    }

    /// Returns the quotient by a number, if the number divides all coefficients and the constant.
    pub(crate) fn exact_quotient(self, divisor: i64) -> Option<Self> {
        let sum = self.sum();
        let mut all = sum.terms.iter().map(|term| term.coefficient).chain([sum.constant]);
        let divides = |n: i64| n.checked_rem(divisor) == Some(0);
        all.all(divides).then(|| sum.shrink(divisor).intern()).flatten()
    }

    /// Returns the quotient by an expression, if that is one monomial and divides all others: `2*?B*?S` by `?S`. The divisor must not be zero.
    #[must_use]
    pub fn divide_exactly(self, divisor: Self) -> Option<Self> {
        if let Some(number) = divisor.as_constant() {
            return self.exact_quotient(number);
        }
        let ([by], 0) = (&divisor.sum().terms[..], divisor.sum().constant) else { return None };
        let mut quotient = Sum::default();
        for term in &self.sum().terms {
            let mut factors = term.factors;
            for factor in by.factors.iter() {
                factors = factors.without(factors.iter().position(|other| other == factor)?)?;
            }
            let exact = term.coefficient.checked_rem(by.coefficient)? == 0;
            let coefficient = exact.then(|| term.coefficient / by.coefficient)?;
            quotient = quotient.plus(&Sum::term(coefficient, factors), 1)?;
        }
        (self.sum().constant == 0).then(|| quotient.intern()).flatten()
    }

    /// Returns the remainder of [`floordiv`](Self::floordiv), which is at least zero and less than the divisor.
    #[must_use]
    pub fn modulo(self, divisor: i64) -> Option<Self> {
        // `mod_by_floordiv`: mod(e, d) = e - d*floordiv(e, d)
        let quotient = self.sum().floordiv(divisor)?;
        self.sum().plus(&quotient, divisor.checked_neg()?)?.intern()
    }

    /// Returns the larger of two expressions.
    #[must_use]
    pub fn max(self, other: Self) -> Option<Self> {
        // `max_by_positive_part`: max(a, b) = b + max(a - b, 0)
        let positive = self.sum().plus(other.sum(), -1)?.positive_part()?;
        other.sum().plus(&positive, 1)?.intern()
    }

    /// Returns the smaller of two expressions.
    #[must_use]
    pub fn min(self, other: Self) -> Option<Self> {
        // `min_by_positive_part`: min(a, b) = a - max(a - b, 0)
        let positive = self.sum().plus(other.sum(), -1)?.positive_part()?;
        self.sum().plus(&positive, -1)?.intern()
    }
}

impl Term {
    fn scaled(self, scale: i64) -> Option<Self> {
        Some(Self { coefficient: self.coefficient.checked_mul(scale)?, ..self })
    }
}

impl Sum {
    /// Returns `self + scale * other`, or `None` on overflow or if it is too large.
    pub(super) fn plus(&self, other: &Self, scale: i64) -> Option<Self> {
        if scale == 0 {
            return Some(self.clone());
        }
        let constant = self.constant.checked_add(other.constant.checked_mul(scale)?)?;
        let mut terms = Terms::new();
        let (mut left, mut right) = (&self.terms[..], &other.terms[..]);
        while let ([a, after_a @ ..], [b, after_b @ ..]) = (left, right) {
            match a.factors.cmp(&b.factors) {
                Ordering::Less => {
                    terms.push(*a);
                    left = after_a;
                }
                Ordering::Greater => {
                    terms.push(b.scaled(scale)?);
                    right = after_b;
                }
                // `sums_are_collected`: a*m + b*m = (a + b)*m
                Ordering::Equal => {
                    let scaled = b.coefficient.checked_mul(scale)?;
                    let coefficient = a.coefficient.checked_add(scaled)?;
                    if coefficient != 0 {
                        terms.push(Term { coefficient, factors: a.factors });
                    }
                    (left, right) = (after_a, after_b);
                }
            }
        }
        terms.extend_from_slice(left);
        for term in right {
            terms.push(term.scaled(scale)?);
        }
        // Twice the limit, so that sums which cancel later are not lost at once.
        (terms.len() <= 2 * MAX_MONOMIALS).then_some(Self { constant, terms })
    }

    /// Returns the product with a number, which is not zero.
    pub(super) fn scaled(&self, scale: i64) -> Option<Self> {
        let constant = self.constant.checked_mul(scale)?;
        let terms = self.terms.iter().map(|term| term.scaled(scale)).collect::<Option<Terms>>()?;
        Some(Self { constant, terms })
    }

    /// Returns `self * other`, or `None` on overflow or if it is too large.
    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        // `products_are_multiplied_out`: (a + b)*c = a*c + b*c
        // Row by row, so that a product beyond the limit ends before all its monomials are interned.
        let mut result = self.times_term(other.constant, Monomial::ONE)?;
        for term in &other.terms {
            result = result.plus(&self.times_term(term.coefficient, term.factors)?, 1)?;
        }
        Some(result)
    }

    /// Returns the product with one monomial.
    pub(super) fn times_term(&self, coefficient: i64, factors: Monomial) -> Option<Self> {
        if coefficient == 0 {
            return Some(Self::default());
        }
        if factors.is_empty() {
            return self.scaled(coefficient);
        }
        let mut result = Self::default();
        for term in &self.terms {
            let coefficient = term.coefficient.checked_mul(coefficient)?;
            result.terms.push(Term { coefficient, factors: term.factors.times(factors)? });
        }
        if self.constant != 0 {
            let coefficient = self.constant.checked_mul(coefficient)?;
            result.terms.push(Term { coefficient, factors });
        }
        result.terms.sort_unstable_by_key(|term| term.factors);
        Some(result)
    }

    /// Divides all coefficients and the constant by a number, rounding the constant down.
    fn shrink(&self, divisor: i64) -> Self {
        let mut result = self.clone();
        result.constant = self.constant.div_euclid(divisor);
        for term in &mut result.terms {
            term.coefficient /= divisor;
        }
        result
    }

    /// Returns the greatest common divisor of the coefficients and of a number, the constant not counted.
    pub(super) fn content(&self, start: u64) -> u64 {
        let mut common = start;
        for term in &self.terms {
            if common == 1 {
                break;
            }
            common = greatest_common_divisor(common, term.coefficient.unsigned_abs());
        }
        common
    }

    /// Returns whether the sum is zero for no values of its monomials, because the constant is not a multiple of what divides them: `2*s + 1` is odd.
    pub(super) fn is_never_zero(&self) -> bool {
        match self.content(0) {
            0 => self.constant != 0,
            common => !self.constant.unsigned_abs().is_multiple_of(common),
        }
    }

    /// Returns `q` and `r` of `divisor*q + r`, with given coefficients for `q`. The constant of `r` is less than the divisor.
    fn split(&self, divisor: i64, quotient_of: impl Fn(i64) -> i64) -> (Self, Self) {
        let mut quotient = Self::constant(self.constant.div_euclid(divisor));
        let mut rest = Self::constant(self.constant.rem_euclid(divisor));
        for term in &self.terms {
            let taken = quotient_of(term.coefficient);
            // The difference fits 64 bits, even if the product does not.
            for (sum, coefficient) in [
                (&mut quotient, taken),
                (&mut rest, term.coefficient.wrapping_sub(taken.wrapping_mul(divisor))),
            ] {
                if coefficient != 0 {
                    sum.terms.push(Term { coefficient, factors: term.factors });
                }
            }
        }
        (quotient, rest)
    }

    /// Returns the quotient rounded down, for a divisor of at least one.
    pub(super) fn floordiv(&self, divisor: i64) -> Option<Self> {
        if divisor < 1 {
            return None;
        }
        // `floordiv_takes_out_multiples`: floordiv(d*q + r, d) = q + floordiv(r, d)
        // First r keeps the coefficients that d does not divide, because `mod(?S, 4)` has closer bounds than its terms; then they are reduced to 0..d.
        // Sums of symbols have no upper bound.
        if !self.has_only_symbols() {
            let divided =
                |coefficient| if coefficient % divisor == 0 { coefficient / divisor } else { 0 };
            let (quotient, rest) = self.split(divisor, divided);
            if let Some(known) = Interval::of(&rest).floordiv(divisor).single() {
                return quotient.plus(&Self::constant(known), 1);
            }
        }
        let (quotient, rest) = self.split(divisor, |coefficient| coefficient.div_euclid(divisor));
        // `floordiv_with_a_common_factor`: floordiv(g*r + c, g*d) = floordiv(r + floordiv(c, g), d)
        let common = rest.content(divisor.unsigned_abs()) as i64;
        let rest = if common == 1 { rest } else { rest.shrink(common) };
        let divisor = divisor / common;
        // `floordiv_that_bounds_decide`: floordiv(e, d) = n if d*n <= e < d*(n + 1)
        let bounds = Interval::of(&rest);
        if let Some(known) = bounds.floordiv(divisor).single() {
            return quotient.plus(&Self::constant(known), 1);
        }
        // `floordiv_of_floordiv`: floordiv(floordiv(e, a) + c, b) = floordiv(e + a*c, a*b)
        if let Some(Atom::FloorDiv(inner, first)) = rest.single_atom() {
            let moved = Self::constant(rest.constant.checked_mul(first)?);
            let whole = inner.sum().plus(&moved, 1)?.floordiv(first.checked_mul(divisor)?)?;
            return quotient.plus(&whole, 1);
        }
        quotient.plus(&Self::atom(Atom::FloorDiv(rest.intern()?, divisor))?, 1)
    }

    /// Returns `max(self, 0)`.
    pub(super) fn positive_part(&self) -> Option<Self> {
        let bounds = Interval::of(self);
        // `positive_part_of_positive`: max(e, 0) = e if e >= 0
        if bounds.is_at_least(0) {
            return Some(self.clone());
        }
        // `positive_part_of_negative`: max(e, 0) = 0 if e <= 0
        if bounds.is_at_most(0) {
            return Some(Self::default());
        }
        // `positive_part_has_one_sign`: max(-e, 0) = max(e, 0) - e
        // The first coefficient is positive.
        if self.terms.first().is_some_and(|term| term.coefficient < 0) {
            let negated = self.scaled(-1)?;
            return negated.positive_part()?.plus(self, 1);
        }
        // `positive_part_with_a_common_factor`: max(g*e, 0) = g*max(e, 0)
        let common = self.content(self.constant.unsigned_abs());
        let common = i64::try_from(common).ok().filter(|&g| g > 0)?;
        let atom = Atom::Positive(self.shrink(common).intern()?);
        Some(Self::term(common, Monomial::of(&[atom])?))
    }
}

pub(super) fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
