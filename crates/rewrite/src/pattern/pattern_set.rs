//! Sets of patterns.

use std::panic::Location;

use sapwood_ptir::{Function, InstId, Name, OpKey};
use sapwood_types::did_you_mean;

use super::gate::{FloatModes, Gate, GateConditions, MAX_GATED, TypeFactCache};
use super::into_pattern::{IntoPattern, StagedFn};
use super::root_view::{Roots, is_built_in, user_elementwise_key, user_elementwise_keys};
use crate::ProgramRewriter;
use crate::fold::{FoldFn, FoldResult};
use crate::rewriter::MAX_CACHED_HOPS;

/// Returns the name of a pattern as an interned text.
pub(super) fn interned_name(name: &str) -> &'static str {
    Name::new(name).as_str()
}

/// The index of a pattern in its set, in the order of adding.
pub type PatternId = u32;

/// A pattern with its settings, as stored in a set.
#[doc(hidden)]
pub struct RegisteredPattern {
    // Interned, so that the statistics of each run share it.
    pub(crate) name: &'static str,
    pub(crate) roots: Roots,
    pub(crate) benefit: u16,
    pub(crate) hops: u8,
    pub(crate) conditions: GateConditions,
    /// True if instructions that cannot be staged are not reported.
    pub(crate) expects_refusals: bool,
    pub(crate) kind: PatternKind,
}

pub(crate) type DirectFn = dyn Fn(InstId, &mut ProgramRewriter<'_>) -> bool + Send + Sync;

pub(crate) enum PatternKind {
    /// Returns values; the driver makes the change.
    Staged(Box<StagedFn>),
    /// Edits the function itself, in a transaction.
    Direct(Box<DirectFn>),
}

/// A set of patterns and folds, to which more can be added.
#[derive(Default)]
pub struct PatternSet {
    entries: Vec<RegisteredPattern>,
    folds: Vec<(OpKey, Box<FoldFn>)>,
}

impl PatternSet {
    /// Returns an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pattern: a function over [`Rewrite`](super::Rewrite), an [`OpRewritePattern`](super::OpRewritePattern) or a
    /// [`Pattern`](super::Pattern).
    ///
    /// A pattern is named after its function or type, a closure after the line that adds it.
    #[track_caller]
    pub fn add<M>(&mut self, pattern: impl IntoPattern<M>) -> PatternId {
        self.push(pattern.into_registered(), Location::caller())
    }

    // Apart from `add`, so that it is compiled once and not for each pattern.
    fn push(&mut self, mut pattern: RegisteredPattern, place: &Location<'_>) -> PatternId {
        if pattern.name == "{{closure}}" {
            let file = place.file().rsplit(['/', '\\']).next().unwrap_or_default();
            pattern.name = interned_name(&format!("closure_{file}:{}", place.line()));
        }
        self.entries.push(pattern);
        self.entries.len() as PatternId - 1
    }

    /// Adds the patterns that `add` adds, as patterns that [rely on refusals](super::PatternFn::expects_refusals): the shipped ones.
    #[doc(hidden)]
    pub fn add_expecting_refusals(&mut self, add: impl FnOnce(&mut Self)) {
        let known = self.entries.len();
        add(self);
        self.entries[known..].iter_mut().for_each(|entry| entry.expects_refusals = true);
    }

    /// Registers a fold for an op, which is tried before evaluation.
    pub fn add_fold(
        &mut self,
        key: OpKey,
        fold: impl Fn(InstId, &ProgramRewriter<'_>) -> FoldResult + Send + Sync + 'static,
    ) {
        self.folds.push((key, Box::new(fold)));
    }

    /// Returns the names of the patterns, in the order of adding.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.name)
    }

    /// Keeps only the patterns of these names.
    ///
    /// # Errors
    /// If no pattern has one of the names.
    pub fn only(&mut self, names: &[impl AsRef<str>]) -> Result<(), String> {
        self.require_names(names)?;
        self.entries.retain(|e| names.iter().any(|n| n.as_ref() == e.name));
        Ok(())
    }

    /// Removes the patterns of these names.
    ///
    /// # Errors
    /// If no pattern has one of the names.
    pub fn disable(&mut self, names: &[impl AsRef<str>]) -> Result<(), String> {
        self.require_names(names)?;
        self.entries.retain(|e| !names.iter().any(|n| n.as_ref() == e.name));
        Ok(())
    }

    fn require_names(&self, names: &[impl AsRef<str>]) -> Result<(), String> {
        let unknown =
            names.iter().map(AsRef::as_ref).find(|name| !self.names().any(|n| n == *name));
        let Some(name) = unknown else { return Ok(()) };
        Err(match did_you_mean(name, self.names()) {
            Some(close) => format!("unknown pattern `{name}`; did you mean `{close}`?"),
            None => format!("unknown pattern `{name}`"),
        })
    }

    /// Sorts the patterns by root and benefit, ready to run.
    #[must_use]
    pub fn freeze(self) -> FrozenPatternSet {
        let mut any: Vec<PatternId> = Vec::new();
        let mut keys: Vec<OpKey> = Vec::new();
        for (id, entry) in self.entries.iter().enumerate() {
            match &entry.roots {
                Roots::Any => any.push(id as PatternId),
                Roots::Keys(list) => keys.extend(list.iter().copied()),
            }
        }
        let by_benefit = |list: &mut Vec<PatternId>| {
            list.sort_by_key(|&id| (std::cmp::Reverse(self.entries[id as usize].benefit), id));
        };
        let gated = |key: Option<OpKey>, ids: Vec<PatternId>| {
            let gate = Gate::new(key, ids.iter().map(|&id| &self.entries[id as usize].conditions));
            let hops = ids.iter().map(|&id| self.entries[id as usize].hops).max();
            let with_benefit = ids.partition_point(|&id| self.entries[id as usize].benefit > 0);
            let hops = hops.unwrap_or(1).max(1);
            let fewer = |than: u8| {
                let entries = ids.iter().take(MAX_GATED).map(|&id| &self.entries[id as usize]);
                (0..)
                    .zip(entries)
                    .filter(|(_, e)| e.hops < than)
                    .fold(0, |bits, (n, _)| bits | 1 << n)
            };
            let fewer_hops = std::array::from_fn(|hops| fewer(hops as u8));
            PatternBucket { ids: ids.into(), gate, hops, fewer_hops, with_benefit }
        };
        let mut buckets: Vec<Option<PatternBucket>> = Vec::new();
        for key in keys {
            if buckets.len() <= key.index() {
                buckets.resize_with(key.index() + 1, || None);
            }
            if buckets[key.index()].is_some() {
                continue;
            }
            // An op that is not built in may be elementwise; the views of the patterns check that.
            let others = user_elementwise_keys();
            let may_be_elementwise = !is_built_in(key) && !others.contains(&key);
            let is_root =
                |root: &OpKey| *root == key || may_be_elementwise && others.contains(root);
            let listed =
                self.entries.iter().enumerate().filter(
                    |(_, e)| matches!(&e.roots, Roots::Keys(list) if list.iter().any(is_root)),
                );
            let mut bucket: Vec<PatternId> = listed.map(|(id, _)| id as PatternId).collect();
            bucket.extend_from_slice(&any);
            by_benefit(&mut bucket);
            buckets[key.index()] = Some(gated(Some(key), bucket));
        }
        by_benefit(&mut any);
        let any = gated(None, any);
        let hops = self.entries.iter().map(|e| e.hops).max().unwrap_or(1).max(1);
        FrozenPatternSet { entries: self.entries, buckets, any, hops, folds: self.folds }
    }
}

/// The patterns tried at an op, in order, and their gate.
pub(crate) struct PatternBucket {
    pub(crate) ids: Box<[PatternId]>,
    pub(crate) gate: Gate,
    // The number of definitions away from the root that they read; a fold reads one.
    pub(crate) hops: u8,
    // By a number of hops, a bit for each gated pattern that reads fewer.
    fewer_hops: [u64; MAX_CACHED_HOPS as usize + 2],
    // The number of patterns with a benefit, which come first. The others wait until nothing else is left to do.
    pub(crate) with_benefit: usize,
}

impl PatternBucket {
    /// Returns a bit for each gated pattern that reads fewer than a number of definitions away from the root.
    pub(crate) fn with_fewer_hops(&self, hops: u8) -> u64 {
        self.fewer_hops[usize::from(hops.min(MAX_CACHED_HOPS + 1))]
    }

    /// Returns whether a pattern that may match at an instruction reads definitions at this distance.
    pub(crate) fn reads(
        &self,
        hops: u8,
        f: &Function,
        inst: InstId,
        types: &mut TypeFactCache,
        modes: FloatModes,
    ) -> bool {
        if self.ids.len() > MAX_GATED {
            return true;
        }
        let far = !self.with_fewer_hops(hops);
        if !self.gate.may_enable(f, inst, far) {
            return false;
        }
        let enabled = self.gate.enabled_patterns(f, inst, types, modes);
        (enabled.now | enabled.later) & far != 0
    }

    /// Returns a bit for each gated pattern that has a benefit.
    pub(crate) fn with_benefit_mask(&self) -> u64 {
        if self.with_benefit < MAX_GATED { (1 << self.with_benefit) - 1 } else { u64::MAX }
    }
}

/// A set of patterns ready to run, in buckets by the op of their root.
pub struct FrozenPatternSet {
    entries: Vec<RegisteredPattern>,
    buckets: Vec<Option<PatternBucket>>,
    any: PatternBucket,
    hops: u8,
    folds: Vec<(OpKey, Box<FoldFn>)>,
}

impl FrozenPatternSet {
    /// Returns the number of patterns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if the set has no patterns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the names of the patterns, in the order of adding.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|e| e.name)
    }

    /// Returns the name of a pattern.
    #[must_use]
    pub fn name(&self, id: PatternId) -> &'static str {
        self.entries.get(id as usize).map_or("", |e| e.name)
    }

    /// Returns the patterns tried at an op, in the order in which they are tried without a cost model.
    #[must_use]
    pub fn bucket(&self, key: OpKey) -> &[PatternId] {
        &self.bucket_of(key).unwrap_or(&self.any).ids
    }

    /// Returns true if patterns name an op as their root.
    pub(crate) fn has_patterns_on(&self, key: OpKey) -> bool {
        self.bucket_of(key).is_some()
    }

    fn bucket_of(&self, key: OpKey) -> Option<&PatternBucket> {
        self.buckets.get(key.index()).and_then(Option::as_ref)
    }

    pub(crate) fn bucket_at(&self, f: &Function, inst: InstId) -> &PatternBucket {
        self.bucket_of(f.op_key(inst)).unwrap_or_else(|| self.user_op_bucket(f, inst))
    }

    // Returns the bucket for an op that no pattern names: an elementwise op still has the patterns on elementwise ops.
    fn user_op_bucket(&self, f: &Function, inst: InstId) -> &PatternBucket {
        user_elementwise_key(f, inst).and_then(|key| self.bucket_of(key)).unwrap_or(&self.any)
    }

    /// Returns the largest number of definitions away from the root that a pattern reads.
    #[must_use]
    pub fn hops(&self) -> u8 {
        self.hops
    }

    pub(crate) fn entry(&self, id: PatternId) -> &RegisteredPattern {
        &self.entries[id as usize]
    }

    /// Returns the folds registered for an op.
    pub(crate) fn folds(&self, key: OpKey) -> impl Iterator<Item = &FoldFn> {
        self.folds.iter().filter(move |(k, _)| *k == key).map(|(_, fold)| &**fold)
    }

    pub(crate) fn has_folds(&self) -> bool {
        !self.folds.is_empty()
    }
}

impl std::fmt::Debug for FrozenPatternSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
