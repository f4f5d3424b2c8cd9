//! Matchers of the results of ops.

use sapwood_ptir::{Attr, AttrField, OpKey, ValueId};

use super::{MatchScope, Matcher};

/// Matches the result of an op: see [`op`].
pub struct OpMatcher<A, T = ()> {
    key: OpKey,
    operands: A,
    swap: bool,
    attrs: T,
}

/// Matches the result of an op with one result, whose operands match. The operands are a tuple of matchers, one for each.
///
/// ```
/// use sapwood_ptir::{Op as _, ops::Select};
/// use sapwood_rewrite::matchers as m;
///
/// let mut x = None;
/// let relu = m::op(Select::key(), (m::anything(), m::any(&mut x), m::zero()));
/// ```
pub fn op<A: Operands>(key: OpKey, operands: A) -> OpMatcher<A> {
    OpMatcher { key, operands, swap: false, attrs: () }
}

impl<A: Operands, T> OpMatcher<A, T> {
    /// Requires that an attribute has this value: an integer, `Axes`, a `DataType` and so on. An attribute that is not written
    /// has its default value.
    #[allow(clippy::needless_pass_by_value, reason = "callers write literals")]
    pub fn attr(self, name: &'static str, value: impl AttrField) -> OpMatcher<A, AttrIs<T>> {
        let Self { key, operands, swap, attrs } = self;
        let attrs = AttrIs { others: attrs, name, value: value.to_attr() };
        OpMatcher { key, operands, swap, attrs }
    }

    /// Requires that an attribute passes a test.
    pub fn attr_where<F: FnMut(&Attr) -> bool>(
        self,
        name: &'static str,
        test: F,
    ) -> OpMatcher<A, AttrTest<T, F>> {
        let Self { key, operands, swap, attrs } = self;
        OpMatcher { key, operands, swap, attrs: AttrTest { others: attrs, name, test } }
    }
}

impl<A: Matcher, B: Matcher, T> OpMatcher<(A, B), T> {
    /// Lets the operands match in the other order too.
    #[must_use]
    pub fn commutative(mut self) -> Self {
        self.swap = true;
        self
    }
}

impl<A: Operands, T: AttrConditions> Matcher for OpMatcher<A, T> {
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        value: ValueId,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        let Some(inst) = scope.def_inst(value) else { return false };
        let f = scope.function();
        if f.op_key(inst) != self.key || f.inst_results(inst).len() != 1 {
            return false;
        }
        let Some(values) = A::values(f.operands(inst)) else { return false };
        self.attrs.hold(&|name| f.attr(inst, name))
            && self.operands.search(values, self.swap, scope, rest)
    }

    fn clear(&mut self) {
        self.operands.clear();
    }
}

/// A tuple of one to three matchers for the operands of an op.
pub trait Operands {
    /// The values of the operands.
    type Values: Copy + for<'a> TryFrom<&'a [ValueId]>;
    /// Returns the operands, if their number is that of the matchers.
    #[inline]
    fn values(operands: &[ValueId]) -> Option<Self::Values> {
        operands.try_into().ok()
    }
    /// Searches for a way in which the operands match and `rest` holds too. If `swap` is true, two operands may be in the other
    /// order.
    fn search<S: MatchScope>(
        &mut self,
        values: Self::Values,
        swap: bool,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool;
    /// Clears the captures.
    fn clear(&mut self);
}

impl<A: Matcher> Operands for (A,) {
    type Values = [ValueId; 1];
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        [a]: Self::Values,
        _: bool,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        self.0.search(a, scope, rest)
    }
    fn clear(&mut self) {
        self.0.clear();
    }
}

impl<A: Matcher, B: Matcher> Operands for (A, B) {
    type Values = [ValueId; 2];
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        [a, b]: Self::Values,
        swap: bool,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        let (first, second) = self;
        first.search(a, scope, &mut |scope| second.search(b, scope, rest))
            || swap && a != b && first.search(b, scope, &mut |scope| second.search(a, scope, rest))
    }
    fn clear(&mut self) {
        self.0.clear();
        self.1.clear();
    }
}

impl<A: Matcher, B: Matcher, C: Matcher> Operands for (A, B, C) {
    type Values = [ValueId; 3];
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        [a, b, c]: Self::Values,
        _: bool,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        let (first, second, third) = self;
        first.search(a, scope, &mut |scope| {
            second.search(b, scope, &mut |scope| third.search(c, scope, rest))
        })
    }
    fn clear(&mut self) {
        self.0.clear();
        self.1.clear();
        self.2.clear();
    }
}

/// Conditions on the attributes of an op; `()` is none.
pub trait AttrConditions {
    /// Returns true if the conditions hold for the attributes that a function returns by name.
    fn hold<'a>(&mut self, attr: &dyn Fn(&str) -> Option<&'a Attr>) -> bool;
}

impl AttrConditions for () {
    #[inline]
    fn hold<'a>(&mut self, _: &dyn Fn(&str) -> Option<&'a Attr>) -> bool {
        true
    }
}

/// The condition of [`OpMatcher::attr`].
pub struct AttrIs<T> {
    others: T,
    name: &'static str,
    value: Attr,
}

impl<T: AttrConditions> AttrConditions for AttrIs<T> {
    #[inline]
    fn hold<'a>(&mut self, attr: &dyn Fn(&str) -> Option<&'a Attr>) -> bool {
        self.others.hold(attr) && attr(self.name) == Some(&self.value)
    }
}

/// The condition of [`OpMatcher::attr_where`].
pub struct AttrTest<T, F> {
    others: T,
    name: &'static str,
    test: F,
}

impl<T: AttrConditions, F: FnMut(&Attr) -> bool> AttrConditions for AttrTest<T, F> {
    #[inline]
    fn hold<'a>(&mut self, attr: &dyn Fn(&str) -> Option<&'a Attr>) -> bool {
        self.others.hold(attr) && attr(self.name).is_some_and(&mut self.test)
    }
}
