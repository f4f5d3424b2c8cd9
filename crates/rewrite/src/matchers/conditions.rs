//! Conditions on a value besides its definition, and captures of values inside a matcher.

use std::marker::PhantomData;

use sapwood_ptir::{TensorType, ValueId};
use sapwood_types::DataType;

use super::{Capture, MatchScope, Matcher};
use crate::pattern::RootView;

/// A test of a value.
pub trait ValueTest {
    /// Returns true if the value passes.
    fn passes<S: MatchScope>(&mut self, value: ValueId, scope: &mut S) -> bool;
}

/// A matcher with one more condition.
pub struct Condition<M, T> {
    pub(super) matcher: M,
    pub(super) test: T,
}

impl<M: Matcher, T: ValueTest> Matcher for Condition<M, T> {
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        value: ValueId,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        self.test.passes(value, scope) && self.matcher.search(value, scope, rest)
    }

    fn clear(&mut self) {
        self.matcher.clear();
    }
}

/// The matcher of [`Matcher::bind`].
pub struct Bind<M, C> {
    pub(super) matcher: M,
    pub(super) capture: C,
}

impl<M: Matcher, C: Capture> Matcher for Bind<M, C> {
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        value: ValueId,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        self.capture.set(Some(value));
        self.matcher.search(value, scope, rest)
    }

    fn clear(&mut self) {
        self.capture.set(None);
        self.matcher.clear();
    }
}

/// The test of [`Matcher::one_use`].
pub struct OneUse;

impl ValueTest for OneUse {
    #[inline]
    fn passes<S: MatchScope>(&mut self, value: ValueId, scope: &mut S) -> bool {
        scope.one_use(value)
    }
}

/// The test of [`Matcher::dtype`].
pub struct DtypeIs(pub(super) DataType);

impl ValueTest for DtypeIs {
    #[inline]
    fn passes<S: MatchScope>(&mut self, value: ValueId, scope: &mut S) -> bool {
        scope.tensor(value).is_some_and(|ty| ty.dtype == self.0)
    }
}

/// The test of [`Matcher::rank`].
pub struct RankIs(pub(super) usize);

impl ValueTest for RankIs {
    #[inline]
    fn passes<S: MatchScope>(&mut self, value: ValueId, scope: &mut S) -> bool {
        scope.tensor(value).is_some_and(|ty| ty.rank() == self.0)
    }
}

/// The test of [`Matcher::shape`].
pub struct TypeTest<F>(pub(super) F);

impl<F: FnMut(&TensorType) -> bool> ValueTest for TypeTest<F> {
    #[inline]
    fn passes<S: MatchScope>(&mut self, value: ValueId, scope: &mut S) -> bool {
        scope.tensor(value).is_some_and(&mut self.0)
    }
}

/// The test of [`Matcher::view`].
pub struct ViewTest<V, F> {
    test: F,
    view: PhantomData<V>,
}

impl<V, F> ViewTest<V, F> {
    pub(super) fn new(test: F) -> Self {
        Self { test, view: PhantomData }
    }
}

impl<V: RootView, F: FnMut(&V) -> bool> ValueTest for ViewTest<V, F> {
    #[inline]
    fn passes<S: MatchScope>(&mut self, value: ValueId, scope: &mut S) -> bool {
        let Some(inst) = scope.def_inst(value) else { return false };
        V::read(scope.function(), inst).is_some_and(|view| (self.test)(&view))
    }
}
