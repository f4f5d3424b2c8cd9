//! Intervals that contain the value of an expression.

use super::expr::Sum;
use super::monomial::Atom;
use super::shorten::{Call, shorten};
use crate::name::Name;

/// A range of integers, which may have no lower or no upper end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    lo: i128,
    hi: i128,
}

// An end that is not bounded.
const MIN: i128 = i128::MIN;
const MAX: i128 = i128::MAX;

impl Interval {
    /// All integers.
    pub const ALL: Self = Self { lo: MIN, hi: MAX };
    /// The integers from zero on: the values of a symbol.
    pub const NOT_NEGATIVE: Self = Self { lo: 0, hi: MAX };

    /// Returns the interval of one number.
    #[must_use]
    pub fn point(number: i64) -> Self {
        Self { lo: number.into(), hi: number.into() }
    }

    /// Returns the numbers from `lo` on.
    #[must_use]
    pub fn at_least(lo: i64) -> Self {
        Self { lo: lo.into(), hi: MAX }
    }

    /// Returns the smallest number, if there is one that fits 64 bits.
    #[must_use]
    pub fn lowest(self) -> Option<i64> {
        i64::try_from(self.lo).ok()
    }

    /// Returns the largest number, if there is one that fits 64 bits.
    #[must_use]
    pub fn highest(self) -> Option<i64> {
        i64::try_from(self.hi).ok()
    }

    /// Returns the number, if the interval has only one.
    #[must_use]
    pub fn single(self) -> Option<i64> {
        if self.lo == self.hi { self.lowest() } else { None }
    }

    /// Returns whether every number is at least `bound`.
    #[must_use]
    pub fn is_at_least(self, bound: i64) -> bool {
        self.lo >= bound.into()
    }

    /// Returns whether every number is at most `bound`.
    #[must_use]
    pub fn is_at_most(self, bound: i64) -> bool {
        self.hi <= bound.into()
    }

    /// Returns whether the interval contains no number.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    /// Returns the numbers that are in both intervals.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }

    pub(super) fn of(sum: &Sum) -> Self {
        if !sum.has_only_symbols() {
            return Self::with(sum, &|_| Self::NOT_NEGATIVE);
        }
        // Every monomial is at least zero and has no upper bound.
        let has = |positive: bool| sum.terms.iter().any(|term| (term.coefficient > 0) == positive);
        let (lo, hi) = (has(false).then_some(MIN), has(true).then_some(MAX));
        let constant = i128::from(sum.constant);
        Self { lo: lo.unwrap_or(constant), hi: hi.unwrap_or(constant) }
    }

    /// Returns an interval that contains the sum, if each symbol is in its interval.
    pub(super) fn with(sum: &Sum, symbol: &dyn Fn(Name) -> Self) -> Self {
        let plain = Self::by_terms(sum, symbol);
        if plain.lo != MIN && plain.hi != MAX || sum.has_only_symbols() {
            return plain;
        }
        // The terms of `mod`, `min` and `max` are not independent; together they have closer bounds.
        let (calls, rest) = shorten(sum);
        if calls.is_empty() {
            return plain;
        }
        let mut total = Self::by_terms(&rest, symbol);
        for (coefficient, call, factors) in &calls {
            let mut product = Self::point(*coefficient).mul(match call {
                Call::Mod(_, divisor) => Self { lo: 0, hi: i128::from(*divisor) - 1 },
                Call::Max(a, b) => {
                    let (a, b) = (Self::with(a, symbol), Self::with(b, symbol));
                    Self { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) }
                }
                Call::Min(a, b) => {
                    let (a, b) = (Self::with(a, symbol), Self::with(b, symbol));
                    Self { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) }
                }
            });
            for &factor in factors.iter() {
                product = product.mul(Self::of_atom(factor, symbol));
            }
            total = total.add(product);
        }
        plain.intersect(total)
    }

    fn by_terms(sum: &Sum, symbol: &dyn Fn(Name) -> Self) -> Self {
        let mut total = Self::point(sum.constant);
        for term in &sum.terms {
            let mut factors = term.factors.iter().map(|&factor| Self::of_atom(factor, symbol));
            let first = factors.next().unwrap_or(Self::point(1));
            let product = factors.fold(first, Self::mul);
            if product == Self::NOT_NEGATIVE {
                // Most products, and their multiples have no end on one side.
                match term.coefficient > 0 {
                    true => total.hi = MAX,
                    false => total.lo = MIN,
                }
            } else {
                total = total.add(product.scale(term.coefficient));
            }
            if total == Self::ALL {
                break;
            }
        }
        total
    }

    fn of_atom(atom: Atom, symbol: &dyn Fn(Name) -> Self) -> Self {
        match atom {
            Atom::Symbol(s) => symbol(s.name),
            Atom::FloorDiv(inner, divisor) => Self::with(inner.sum(), symbol).floordiv(divisor),
            Atom::Positive(inner) => {
                let inner = Self::with(inner.sum(), symbol);
                Self { lo: inner.lo.max(0), hi: inner.hi.max(0) }
            }
        }
    }

    pub(super) fn floordiv(self, divisor: i64) -> Self {
        let quotient = |end: i128| match end {
            MIN | MAX => end,
            end => end.div_euclid(divisor.into()),
        };
        Self { lo: quotient(self.lo), hi: quotient(self.hi) }
    }

    /// Returns the numbers whose product with a positive number is in the interval.
    pub(super) fn unscale(self, scale: i64) -> Self {
        let lo = if self.lo == MIN { MIN } else { -(-self.lo).div_euclid(scale.into()) };
        let hi = if self.hi == MAX { MAX } else { self.hi.div_euclid(scale.into()) };
        Self { lo, hi }
    }

    pub(super) fn without_upper_end(self) -> Self {
        Self { hi: MAX, ..self }
    }

    pub(super) fn negate(self) -> Self {
        let negated = |end: i128| match end {
            MIN => MAX,
            MAX => MIN,
            end => -end,
        };
        Self { lo: negated(self.hi), hi: negated(self.lo) }
    }

    pub(super) fn add(self, other: Self) -> Self {
        let lo =
            if self.lo == MIN || other.lo == MIN { MIN } else { self.lo.saturating_add(other.lo) };
        let hi =
            if self.hi == MAX || other.hi == MAX { MAX } else { self.hi.saturating_add(other.hi) };
        Self { lo, hi }
    }

    // Returns the product with a number.
    fn scale(self, by: i64) -> Self {
        let ends = (product(self.lo, by.into()), product(self.hi, by.into()));
        let (lo, hi) = if by < 0 { (ends.1, ends.0) } else { ends };
        Self { lo, hi }
    }

    pub(super) fn mul(self, other: Self) -> Self {
        let ends = [
            product(self.lo, other.lo),
            product(self.lo, other.hi),
            product(self.hi, other.lo),
            product(self.hi, other.hi),
        ];
        let (mut lo, mut hi) = (ends[0], ends[0]);
        for end in ends {
            (lo, hi) = (lo.min(end), hi.max(end));
        }
        Self { lo, hi }
    }
}

// Multiplies two ends. Zero times an end that is not bounded is zero: the number is finite, only not known.
#[inline]
fn product(a: i128, b: i128) -> i128 {
    if a == 0 || b == 0 {
        return 0;
    }
    // Most ends are small, and the product of two numbers of 64 bits fits.
    if let (Ok(a), Ok(b)) = (i64::try_from(a), i64::try_from(b)) {
        return i128::from(a) * i128::from(b);
    }
    let unbounded = |end: i128| end == MIN || end == MAX;
    if !unbounded(a)
        && !unbounded(b)
        && let Some(product) = a.checked_mul(b)
    {
        return product;
    }
    if (a < 0) == (b < 0) { MAX } else { MIN }
}
