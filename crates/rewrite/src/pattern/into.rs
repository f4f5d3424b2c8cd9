//! Everything that can be added to a set: functions, typed patterns, untyped ones. Marker types tell them apart.

use std::marker::PhantomData;

use sapwood_ptir::{Function, InstId, OpKey, Values};

use super::set::{Entry, Kind};
use super::stage::{Replacement, Rewrite};
use super::view::{OpView, RootView, Roots};
use super::when::{Elements, Needs, When};
use super::{DEFAULT_HOPS, OpRewritePattern, Pattern, type_name};
use crate::{FloatMode, ProgramRewriter};

/// Something that can be added to a [`PatternSet`](super::PatternSet). `Marker` only tells the ways apart.
pub trait IntoPattern<Marker> {
    #[doc(hidden)]
    fn into_entry(self) -> Entry;
}

/// Marks plain functions over [`Rewrite`].
pub struct Plain<V, R>(PhantomData<(V, R)>);
/// Marks functions with settings: see [`PatternFn`].
pub struct Staged;
/// Marks [`OpRewritePattern`]s.
pub struct Typed<V>(PhantomData<V>);
/// Marks [`Pattern`]s.
pub struct Direct;

pub(crate) type Stage = dyn Fn(&Function, InstId, &mut Rewrite<'_>) -> Option<Values> + Send + Sync;

impl<F, V, R> IntoPattern<Plain<V, R>> for F
where
    F: Fn(V, &mut Rewrite<'_>) -> Option<R> + Send + Sync + 'static,
    V: RootView,
    R: Replacement,
{
    fn into_entry(self) -> Entry {
        staged_entry(
            type_name::<F>(),
            V::roots(),
            Box::new(move |function, root, rw| {
                self(V::read(function, root)?, rw).map(Replacement::into_values)
            }),
        )
    }
}

// Apart from `into_entry`, so that it is compiled once and not for each pattern.
fn staged_entry(name: &'static str, roots: Roots, stage: Box<Stage>) -> Entry {
    Entry {
        name: name.into(),
        roots,
        benefit: 1,
        hops: DEFAULT_HOPS,
        needs: Needs::default(),
        kind: Kind::Staged(stage),
    }
}

/// A function pattern with settings of its own.
pub struct Tuned(Entry);

/// Settings for plain function patterns: `idempotent.on([And::key(), Or::key()]).benefit(2)`.
pub trait PatternFn<Marker>: IntoPattern<Marker> + Sized {
    /// With its settings, to be changed.
    fn tuned(self) -> Tuned {
        Tuned(self.into_entry())
    }
    /// Tried at these ops only.
    fn on(self, keys: impl IntoIterator<Item = OpKey>) -> Tuned {
        self.tuned().on(keys)
    }
    /// With this benefit: see [`Pattern::benefit`].
    fn benefit(self, benefit: u16) -> Tuned {
        self.tuned().benefit(benefit)
    }
    /// Under this name.
    fn named(self, name: &str) -> Tuned {
        self.tuned().named(name)
    }
    /// Looking this far along definitions.
    fn hops(self, hops: u8) -> Tuned {
        self.tuned().hops(hops)
    }
    /// Tried only where one of these holds.
    fn when(self, ways: impl IntoIterator<Item = When>) -> Tuned {
        self.tuned().when(ways)
    }
    /// Tried only where the first operand has such elements.
    fn elements(self, elements: impl IntoIterator<Item = Elements>) -> Tuned {
        self.tuned().elements(elements)
    }
    /// Tried at floats and complex numbers only in this mode or a freer one.
    fn floats(self, mode: FloatMode) -> Tuned {
        self.tuned().floats(mode)
    }
}

impl<F, V, R> PatternFn<Plain<V, R>> for F where F: IntoPattern<Plain<V, R>> {}

impl Tuned {
    /// Tried at these ops only.
    #[must_use]
    pub fn on(mut self, keys: impl IntoIterator<Item = OpKey>) -> Self {
        self.0.roots = Roots::Keys(keys.into_iter().collect());
        self
    }

    /// With this benefit: see [`Pattern::benefit`].
    #[must_use]
    pub fn benefit(mut self, benefit: u16) -> Self {
        self.0.benefit = benefit;
        self
    }

    /// Under this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.0.name = name.into();
        self
    }

    /// Looking this far along definitions.
    #[must_use]
    pub fn hops(mut self, hops: u8) -> Self {
        self.0.hops = hops;
        self
    }

    /// Tried only where one of these holds, and so for every call. It has to be so that the pattern gives nothing
    /// elsewhere: expensive checks name one that would.
    #[must_use]
    pub fn when(mut self, ways: impl IntoIterator<Item = When>) -> Self {
        self.0.needs.ways.push(ways.into_iter().collect());
        self
    }

    /// Tried only where the first operand is no tensor or has such elements.
    #[must_use]
    pub fn elements(mut self, elements: impl IntoIterator<Item = Elements>) -> Self {
        self.0.needs.elements.extend(elements);
        self
    }

    /// Tried at floats and complex numbers only in this mode or a freer one. What counts is the first operand.
    #[must_use]
    pub fn floats(mut self, mode: FloatMode) -> Self {
        self.0.needs.floats = mode;
        self
    }
}

impl IntoPattern<Staged> for Tuned {
    fn into_entry(self) -> Entry {
        self.0
    }
}

impl<P, V> IntoPattern<Typed<V>> for P
where
    P: OpRewritePattern<V> + 'static,
    V: RootView + 'static,
{
    fn into_entry(self) -> Entry {
        Entry {
            name: self.name().into(),
            roots: V::roots(),
            benefit: self.benefit(),
            hops: self.hops(),
            needs: Needs::default(),
            kind: Kind::Direct(Box::new(move |root: InstId, rw: &mut ProgramRewriter<'_>| {
                let Some(op) = V::read(rw.function(), root) else { return false };
                let view = OpView { root, op };
                self.may_match(&view, rw) && self.match_and_rewrite(view, rw)
            })),
        }
    }
}

impl<P: Pattern + 'static> IntoPattern<Direct> for P {
    fn into_entry(self) -> Entry {
        Entry {
            name: self.name().into(),
            roots: self.roots(),
            benefit: self.benefit(),
            hops: self.hops(),
            needs: Needs::default(),
            kind: Kind::Direct(Box::new(move |root, rw| self.match_and_rewrite(root, rw))),
        }
    }
}
