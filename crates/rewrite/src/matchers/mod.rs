//! Matchers: descriptions of the definitions of a value, built from small parts.
//!
//! ```
//! use sapwood_ptir::{Value, ops::Add};
//! use sapwood_rewrite::{PatternSet, Rewrite, matchers as m};
//! use sapwood_rewrite::matchers::Matcher as _;
//!
//! /// `x*a + x*b = x*(a + b)`.
//! fn factor(_: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
//!     let (x, [mut a, mut b]) = (m::slot(), [None; 2]);
//!     let product = m::mul(m::any(&x), m::any(&mut a)).commutative().one_use();
//!     rw.matches_root(m::add(product, m::mul(m::same(&x), m::any(&mut b)).commutative()))?;
//!     let sum = rw.emit(Add { lhs: a?, rhs: b? })?;
//!     rw.emit(sapwood_ptir::ops::Mul { lhs: x.get()?, rhs: sum })
//! }
//!
//! let mut program = sapwood_ptir::parse(
//!     "ptir 1
//!     func @f(%a: i32[4], %b: i32[4], %x: i32[4]) -> i32[4] {
//!       %p = mul %a, %x : i32[4]
//!       %q = mul %x, %b : i32[4]
//!       %s = add %p, %q : i32[4]
//!       return %s
//!     }",
//! )?;
//! let mut set = PatternSet::new();
//! set.add(factor);
//! let f = program.function_mut("f").unwrap();
//! sapwood_rewrite::apply_patterns_and_fold_greedily(f, &set.freeze(), &Default::default())?;
//! assert!(program.to_string().contains("mul %x, %0 : i32[4]"));
//! # Ok::<(), sapwood_types::Diagnostics>(())
//! ```
//!
//! A matcher is exact: where operands may be swapped or there are alternatives, all combinations are tried until the whole matcher
//! holds. It is a value of its own type, so that the compiler turns it into the comparisons that one would write by hand.
//!
//! | matcher | matches |
//! | --- | --- |
//! | [`any`], [`anything`], [`same`] | any value, which is captured or not; the value captured before |
//! | [`add`], [`exp`], … | the result of this op, whose operands match |
//! | [`op`] | the result of any op, also one of your own, by its key |
//! | [`splat`], [`zero`], [`one`], [`constant`], [`constant_where`] | constants, and broadcasts of scalar constants |
//! | [`either`] | one or the other |
//!
//! The methods of [`Matcher`] and [`OpMatcher`] add conditions: [`commutative`](OpMatcher::commutative), [`attr`](OpMatcher::attr),
//! [`view`](Matcher::view), [`one_use`](Matcher::one_use), [`dtype`](Matcher::dtype), [`rank`](Matcher::rank), [`shape`](Matcher::shape),
//! [`bind`](Matcher::bind).

mod conditions;
mod constants;
mod op_matcher;
mod ops;
mod scope;

use std::cell::Cell;

use sapwood_ptir::{TensorType, ValueId};
use sapwood_types::DataType;

use crate::pattern::RootView;
use conditions::{Bind, Condition, DtypeIs, OneUse, RankIs, TypeTest, ViewTest};

pub use constants::{constant, constant_where, one, splat, zero};
pub use op_matcher::{OpMatcher, Operands, op};
pub use ops::*;
pub use scope::{MatchScope, matches};

/// A description of values by their definitions.
pub trait Matcher: Sized {
    /// Searches for a way in which a value matches and `rest` holds too, with the captures set.
    fn search<S: MatchScope>(
        &mut self,
        value: ValueId,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool;

    /// Clears the captures.
    fn clear(&mut self);

    /// Captures the value that matches.
    fn bind<C: Capture>(self, capture: C) -> Bind<Self, C> {
        Bind { matcher: self, capture }
    }

    /// Requires that exactly one operand is this value.
    fn one_use(self) -> Condition<Self, OneUse> {
        Condition { matcher: self, test: OneUse }
    }

    /// Requires tensors of this element type.
    fn dtype(self, dtype: DataType) -> Condition<Self, DtypeIs> {
        Condition { matcher: self, test: DtypeIs(dtype) }
    }

    /// Requires tensors of this number of dims.
    fn rank(self, rank: usize) -> Condition<Self, RankIs> {
        Condition { matcher: self, test: RankIs(rank) }
    }

    /// Requires tensors whose type passes a test.
    fn shape<F: FnMut(&TensorType) -> bool>(self, test: F) -> Condition<Self, TypeTest<F>> {
        Condition { matcher: self, test: TypeTest(test) }
    }

    /// Requires that the definition can be read as a `V`, such as an op, and passes a test.
    fn view<V: RootView, F: FnMut(&V) -> bool>(self, test: F) -> Condition<Self, ViewTest<V, F>> {
        Condition { matcher: self, test: ViewTest::new(test) }
    }
}

/// A place for a captured value: `&mut x` where `x` is an `Option<Value>`, or `&x` where `x` is a [`slot`].
pub trait Capture {
    /// Sets or clears the captured value.
    fn set(&mut self, value: Option<ValueId>);
}

impl Capture for &mut Option<ValueId> {
    fn set(&mut self, value: Option<ValueId>) {
        **self = value;
    }
}

impl Capture for &Slot {
    fn set(&mut self, value: Option<ValueId>) {
        Cell::set(self, value);
    }
}

/// A captured value that the same matcher can refer to with [`same`].
pub type Slot = Cell<Option<ValueId>>;

/// Returns an empty slot.
#[must_use]
pub const fn slot() -> Slot {
    Cell::new(None)
}

/// The matcher of [`any`].
pub struct Any<C>(C);

/// Matches any value, and captures it.
pub fn any<C: Capture>(capture: C) -> Any<C> {
    Any(capture)
}

impl<C: Capture> Matcher for Any<C> {
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        value: ValueId,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        self.0.set(Some(value));
        rest(scope)
    }

    fn clear(&mut self) {
        self.0.set(None);
    }
}

/// The matcher of [`anything`].
pub struct Anything;

/// Matches any value.
#[must_use]
pub fn anything() -> Anything {
    Anything
}

impl Matcher for Anything {
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        _: ValueId,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        rest(scope)
    }

    fn clear(&mut self) {}
}

/// The matcher of [`same`].
pub struct Same<'a>(&'a Slot);

/// Matches the value in a slot. The slot must be filled by a part of the matcher that comes before, in the order of operands.
#[must_use]
pub fn same(slot: &Slot) -> Same<'_> {
    Same(slot)
}

impl Matcher for Same<'_> {
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        value: ValueId,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        self.0.get() == Some(value) && rest(scope)
    }

    fn clear(&mut self) {}
}

/// The matcher of [`either`].
pub struct Either<A, B>(A, B);

/// Matches if one of two matchers does; the first is tried first. Captures of the other are empty.
pub fn either<A: Matcher, B: Matcher>(first: A, second: B) -> Either<A, B> {
    Either(first, second)
}

impl<A: Matcher, B: Matcher> Matcher for Either<A, B> {
    #[inline]
    fn search<S: MatchScope>(
        &mut self,
        value: ValueId,
        scope: &mut S,
        rest: &mut impl FnMut(&mut S) -> bool,
    ) -> bool {
        self.1.clear();
        if self.0.search(value, scope, rest) {
            return true;
        }
        self.0.clear();
        self.1.search(value, scope, rest)
    }

    fn clear(&mut self) {
        self.0.clear();
        self.1.clear();
    }
}
