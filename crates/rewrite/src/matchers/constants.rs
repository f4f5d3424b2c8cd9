//! Matchers of constants.

use sapwood_ptir::{TensorLiteral, ValueId};

use super::{MatchScope, Matcher};

/// The matcher of [`splat`].
pub struct Splat(f64);

/// Matches values whose elements are all this number. Positive and negative zero are different numbers.
#[must_use]
pub fn splat(number: f64) -> Splat {
    Splat(number)
}

/// Matches values whose elements are all zero; -0 does not count.
#[must_use]
pub fn zero() -> Splat {
    Splat(0.0)
}

/// Matches values whose elements are all one.
#[must_use]
pub fn one() -> Splat {
    Splat(1.0)
}

impl Matcher for Splat {
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        value: ValueId,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        scope.is_number(value, self.0) && rest(scope)
    }

    fn clear(&mut self) {}
}

/// The matcher of [`constant`].
pub struct Constant<'a>(&'a mut Option<TensorLiteral>);

/// Matches constants and broadcasts of scalar constants, and captures the literal.
pub fn constant(capture: &mut Option<TensorLiteral>) -> Constant<'_> {
    Constant(capture)
}

impl Matcher for Constant<'_> {
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        value: ValueId,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        *self.0 = scope.constant_of(value);
        self.0.is_some() && rest(scope)
    }

    fn clear(&mut self) {
        *self.0 = None;
    }
}

/// The matcher of [`constant_where`].
pub struct ConstantWhere<F>(F);

/// Matches constants and broadcasts of scalar constants whose literal passes a test.
pub fn constant_where<F: FnMut(&TensorLiteral) -> bool>(test: F) -> ConstantWhere<F> {
    ConstantWhere(test)
}

impl<F: FnMut(&TensorLiteral) -> bool> Matcher for ConstantWhere<F> {
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        value: ValueId,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        scope.constant_of(value).is_some_and(|literal| (self.0)(&literal)) && rest(scope)
    }

    fn clear(&mut self) {}
}
