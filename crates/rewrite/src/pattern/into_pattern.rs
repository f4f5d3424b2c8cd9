//! Conversion of functions, typed patterns and untyped patterns to elements of a set. Marker types keep the impls apart.

use std::marker::PhantomData;

use sapwood_ptir::{Function, InstId, OpKey, Values};

use super::gate::{ElementClass, GateCondition, GateConditions};
use super::pattern_set::{PatternKind, RegisteredPattern, interned_name};
use super::rewrite::{Replacement, Rewrite};
use super::root_view::{OpView, RootView, Roots};
use super::{DEFAULT_HOPS, OpRewritePattern, Pattern, type_name};
use crate::{FloatMode, ProgramRewriter};

/// A pattern that can be added to a [`PatternSet`](super::PatternSet). `Marker` only keeps the impls apart.
pub trait IntoPattern<Marker> {
    #[doc(hidden)]
    fn into_registered(self) -> RegisteredPattern;
}

/// The marker of plain functions over [`Rewrite`].
pub struct FunctionMarker<V, R>(PhantomData<(V, R)>);
/// The marker of functions with settings: see [`PatternFn`].
pub struct ConfiguredMarker;
/// The marker of [`OpRewritePattern`]s.
pub struct TypedMarker<V>(PhantomData<V>);
/// The marker of [`Pattern`]s.
pub struct UntypedMarker;

pub(crate) type StagedFn =
    dyn Fn(&Function, InstId, &mut Rewrite<'_>) -> Option<Values> + Send + Sync;

impl<F, V, R> IntoPattern<FunctionMarker<V, R>> for F
where
    F: Fn(V, &mut Rewrite<'_>) -> Option<R> + Send + Sync + 'static,
    V: RootView,
    R: Replacement,
{
    fn into_registered(self) -> RegisteredPattern {
        registered_function(
            type_name::<F>(),
            V::roots(),
            Box::new(move |function, root, rw| {
                self(V::read(function, root)?, rw).map(Replacement::into_values)
            }),
        )
    }
}

// Apart from `into_registered`, so that it is compiled once and not for each pattern.
fn registered_function(
    name: &'static str,
    roots: Roots,
    function: Box<StagedFn>,
) -> RegisteredPattern {
    RegisteredPattern {
        name,
        roots,
        benefit: 1,
        hops: DEFAULT_HOPS,
        conditions: GateConditions::default(),
        expects_refusals: false,
        kind: PatternKind::Staged(function),
    }
}

/// A function pattern with settings: the builder that the methods of [`PatternFn`] return.
pub struct ConfiguredPattern(RegisteredPattern);

/// Settings for plain function patterns: `idempotent.on([And::key(), Or::key()]).benefit(2)`.
pub trait PatternFn<Marker>: IntoPattern<Marker> + Sized {
    /// Returns the pattern with its default settings, to be changed.
    fn configured(self) -> ConfiguredPattern {
        ConfiguredPattern(self.into_registered())
    }
    /// Restricts the roots to these ops.
    fn on(self, keys: impl IntoIterator<Item = OpKey>) -> ConfiguredPattern {
        self.configured().on(keys)
    }
    /// Sets the benefit: see [`Pattern::benefit`].
    fn benefit(self, benefit: u16) -> ConfiguredPattern {
        self.configured().benefit(benefit)
    }
    /// Sets the name.
    fn named(self, name: &str) -> ConfiguredPattern {
        self.configured().named(name)
    }
    /// Sets how many definitions away from the root the pattern may read.
    fn hops(self, hops: u8) -> ConfiguredPattern {
        self.configured().hops(hops)
    }
    /// Restricts the roots to those where one of these conditions holds.
    fn when(self, any_of: impl IntoIterator<Item = GateCondition>) -> ConfiguredPattern {
        self.configured().when(any_of)
    }
    /// Restricts the roots to those whose first operand has elements of these classes.
    fn elements(self, elements: impl IntoIterator<Item = ElementClass>) -> ConfiguredPattern {
        self.configured().elements(elements)
    }
    /// Declares that the pattern relies on the refusal of instructions that do not fit: they are not reported.
    fn expects_refusals(self) -> ConfiguredPattern {
        self.configured().expects_refusals()
    }
    /// Restricts the pattern at floats and complex numbers to this float mode and freer ones.
    fn floats(self, mode: FloatMode) -> ConfiguredPattern {
        self.configured().floats(mode)
    }
}

impl<F, V, R> PatternFn<FunctionMarker<V, R>> for F where F: IntoPattern<FunctionMarker<V, R>> {}

impl ConfiguredPattern {
    /// Restricts the roots to these ops.
    #[must_use]
    pub fn on(mut self, keys: impl IntoIterator<Item = OpKey>) -> Self {
        self.0.roots = Roots::Keys(keys.into_iter().collect());
        self
    }

    /// Sets the benefit: see [`Pattern::benefit`].
    #[must_use]
    pub fn benefit(mut self, benefit: u16) -> Self {
        self.0.benefit = benefit;
        self
    }

    /// Sets the name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.0.name = interned_name(name);
        self
    }

    /// Sets how many definitions away from the root the pattern may read.
    #[must_use]
    pub fn hops(mut self, hops: u8) -> Self {
        self.0.hops = hops;
        self
    }

    /// Restricts the roots to those where one of these conditions holds. After several calls, one of each must hold. At other
    /// roots the pattern must not fire: expensive checks report one that would.
    #[must_use]
    pub fn when(mut self, any_of: impl IntoIterator<Item = GateCondition>) -> Self {
        self.0.conditions.any_of.push(any_of.into_iter().collect());
        self
    }

    /// Restricts the roots to those whose first operand has elements of these classes, or is not a tensor.
    #[must_use]
    pub fn elements(mut self, elements: impl IntoIterator<Item = ElementClass>) -> Self {
        self.0.conditions.elements.extend(elements);
        self
    }

    /// Declares that the pattern relies on the refusal of instructions that do not fit: they are not reported.
    #[must_use]
    pub fn expects_refusals(mut self) -> Self {
        self.0.expects_refusals = true;
        self
    }

    /// Restricts the pattern to this float mode and freer ones where the first operand has float or complex elements.
    #[must_use]
    pub fn floats(mut self, mode: FloatMode) -> Self {
        self.0.conditions.floats = mode;
        self
    }
}

impl IntoPattern<ConfiguredMarker> for ConfiguredPattern {
    fn into_registered(self) -> RegisteredPattern {
        self.0
    }
}

impl<P, V> IntoPattern<TypedMarker<V>> for P
where
    P: OpRewritePattern<V> + 'static,
    V: RootView + 'static,
{
    fn into_registered(self) -> RegisteredPattern {
        RegisteredPattern {
            name: interned_name(self.name()),
            roots: V::roots(),
            benefit: self.benefit(),
            hops: self.hops(),
            conditions: GateConditions::default(),
            expects_refusals: false,
            kind: PatternKind::Direct(Box::new(
                move |root: InstId, rw: &mut ProgramRewriter<'_>| {
                    let Some(op) = V::read(rw.function(), root) else { return false };
                    let view = OpView { root, op };
                    self.may_match(&view, rw) && self.match_and_rewrite(view, rw)
                },
            )),
        }
    }
}

impl<P: Pattern + 'static> IntoPattern<UntypedMarker> for P {
    fn into_registered(self) -> RegisteredPattern {
        RegisteredPattern {
            name: interned_name(self.name()),
            roots: self.roots(),
            benefit: self.benefit(),
            hops: self.hops(),
            conditions: GateConditions::default(),
            expects_refusals: false,
            kind: PatternKind::Direct(Box::new(move |root, rw| self.match_and_rewrite(root, rw))),
        }
    }
}
