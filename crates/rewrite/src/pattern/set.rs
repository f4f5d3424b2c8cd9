//! Collections of patterns.

use sapwood_ptir::{Function, InstId, OpKey};
use sapwood_types::did_you_mean;

use super::into::{IntoPattern, Stage};
use super::view::{Roots, is_built_in, user_elementwise, user_elementwise_key};
use super::when::{GATED, Gate, Needs};
use crate::ProgramRewriter;
use crate::fold::{FoldFn, FoldResult};

/// The number of a pattern in its set, in the order of adding.
pub type PatternId = u32;

/// A pattern as a set holds it.
#[doc(hidden)]
pub struct Entry {
    pub(crate) name: Box<str>,
    pub(crate) roots: Roots,
    pub(crate) benefit: u16,
    pub(crate) hops: u8,
    pub(crate) needs: Needs,
    pub(crate) kind: Kind,
}

pub(crate) type DirectFn = dyn Fn(InstId, &mut ProgramRewriter<'_>) -> bool + Send + Sync;

pub(crate) enum Kind {
    /// Gives values; the driver makes the change.
    Staged(Box<Stage>),
    /// Edits by itself, under a journal.
    Direct(Box<DirectFn>),
}

/// Patterns being collected.
#[derive(Default)]
pub struct PatternSet {
    entries: Vec<Entry>,
    folds: Vec<(OpKey, Box<FoldFn>)>,
}

impl PatternSet {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pattern: a function over [`Rewrite`](super::Rewrite), an [`OpRewritePattern`](super::OpRewritePattern) or a
    /// [`Pattern`](super::Pattern).
    pub fn add<M>(&mut self, pattern: impl IntoPattern<M>) -> PatternId {
        self.entries.push(pattern.into_entry());
        self.entries.len() as PatternId - 1
    }

    /// Gives an op a fold of its own, tried before evaluation.
    pub fn add_fold(
        &mut self,
        key: OpKey,
        fold: impl Fn(InstId, &ProgramRewriter<'_>) -> FoldResult + Send + Sync + 'static,
    ) {
        self.folds.push((key, Box::new(fold)));
    }

    /// The names, in the order of adding.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| &*e.name)
    }

    /// Keeps only the patterns of these names.
    ///
    /// # Errors
    /// If a name is that of no pattern.
    pub fn only(&mut self, names: &[&str]) -> Result<(), String> {
        for name in names {
            if !self.names().any(|n| n == *name) {
                return Err(match did_you_mean(name, self.names()) {
                    Some(close) => format!("there is no pattern `{name}`; did you mean `{close}`?"),
                    None => format!("there is no pattern `{name}`"),
                });
            }
        }
        self.entries.retain(|e| names.contains(&&*e.name));
        Ok(())
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
            let gate = Gate::new(key, ids.iter().map(|&id| &self.entries[id as usize].needs));
            let hops = ids.iter().map(|&id| self.entries[id as usize].hops).max();
            let soon = ids.partition_point(|&id| self.entries[id as usize].benefit > 0);
            Bucket { ids: ids.into(), gate, hops: hops.unwrap_or(1).max(1), soon }
        };
        let mut buckets: Vec<Option<Bucket>> = Vec::new();
        for key in keys {
            if buckets.len() <= key.index() {
                buckets.resize_with(key.index() + 1, || None);
            }
            if buckets[key.index()].is_some() {
                continue;
            }
            // An op that is not built in may be elementwise; the views of the patterns check that.
            let others = user_elementwise();
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

/// The patterns tried at an op, in order, and where they are worth a try.
pub(crate) struct Bucket {
    pub(crate) ids: Box<[PatternId]>,
    pub(crate) gate: Gate,
    // How far they look along definitions; a fold looks one far.
    pub(crate) hops: u8,
    // How many have a benefit. The others wait until nothing else is left to do.
    pub(crate) soon: usize,
}

impl Bucket {
    /// Those of the first patterns that do not wait, a bit each.
    pub(crate) fn soon(&self) -> u64 {
        if self.soon < GATED { (1 << self.soon) - 1 } else { u64::MAX }
    }
}

/// Patterns ready to run, in buckets by the key of their root.
pub struct FrozenPatternSet {
    entries: Vec<Entry>,
    buckets: Vec<Option<Bucket>>,
    any: Bucket,
    hops: u8,
    folds: Vec<(OpKey, Box<FoldFn>)>,
}

impl FrozenPatternSet {
    /// How many patterns there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The names, in the order of adding.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| &*e.name)
    }

    /// The name of a pattern.
    #[must_use]
    pub fn name(&self, id: PatternId) -> &str {
        self.entries.get(id as usize).map_or("", |e| &e.name)
    }

    /// The patterns tried at an op, in the order they are tried in without a cost model.
    #[must_use]
    pub fn bucket(&self, key: OpKey) -> &[PatternId] {
        &self.listed(key).unwrap_or(&self.any).ids
    }

    fn listed(&self, key: OpKey) -> Option<&Bucket> {
        self.buckets.get(key.index()).and_then(Option::as_ref)
    }

    pub(crate) fn gated(&self, f: &Function, inst: InstId) -> &Bucket {
        self.listed(f.op_key(inst)).unwrap_or_else(|| self.unlisted(f, inst))
    }

    // For an op that no pattern names: an elementwise one has patterns nevertheless.
    fn unlisted(&self, f: &Function, inst: InstId) -> &Bucket {
        user_elementwise_key(f, inst).and_then(|key| self.listed(key)).unwrap_or(&self.any)
    }

    /// How far the patterns look along definitions.
    #[must_use]
    pub fn hops(&self) -> u8 {
        self.hops
    }

    pub(crate) fn entry(&self, id: PatternId) -> &Entry {
        &self.entries[id as usize]
    }

    /// The folds registered for an op.
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
