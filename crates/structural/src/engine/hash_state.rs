//! What one hash knows.

use rustc_hash::FxBuildHasher;

use super::Options;
use super::address::ByNode;
use super::key_memo::{KeyMemo, Use, Variables};
use super::keys::Bindings;
use super::plain::Memo;
use super::scopes::{Kept, Owner, Scopes};
use super::state::Bound;
use crate::hasher::Hash128;
use crate::values::Value;

type HashMap<K, V> = hashbrown::HashMap<K, V, FxBuildHasher>;

impl Bindings for HashState<'_> {
    fn depth(&self) -> u32 {
        self.scopes.depth()
    }

    fn key_memo(&self) -> KeyMemo {
        self.key_memo.clone()
    }

    fn binding(&self, variable: usize) -> Option<(u32, Option<u32>, usize)> {
        let own = self.variables.get(&variable).filter(|bind| self.scopes.current(bind.owner));
        match own {
            Some(bind) => Some((bind.owner.depth, bind.index, bind.number)),
            None => self.outer?.binding(variable),
        }
    }
}

/// What one hash knows: bindings, scopes, and what is remembered of nodes.
pub(super) struct HashState<'o> {
    pub(super) options: Options,
    pub(super) scopes: Scopes,
    pub(super) variables: ByNode<Bind>,
    /// Per open scope, the hash of the fields of each variable it binds.
    pub(super) binders: Vec<Vec<Hash128>>,
    pub(super) plain: Memo,
    /// How often what was remembered had to be forgotten; what was begun before is not remembered.
    pub(super) epoch: u32,
    /// Hashes of shared nodes that hold wherever they stand.
    pub(super) alone: ByNode<(Hash128, Kept)>,
    /// Hashes of shared nodes at a depth, as long as their owner is open.
    pub(super) at_depth: HashMap<(usize, u32), AtDepth>,
    /// What is remembered of nodes inside keys, and, in a key, what each tracked frame uses.
    pub(super) key_memo: KeyMemo,
    pub(super) used: Vec<Variables>,
    /// What is bound around a key.
    pub(super) outer: Option<&'o dyn Bindings>,
    /// Variables found to be free: creation number and identity. Of use where a key is hashed.
    pub(super) free: Vec<(u64, usize)>,
    /// Variables bound in a scope. Of use where a key is hashed.
    pub(super) scoped: Vec<usize>,
    pub(super) kept: Vec<Value>,
    pub(super) bindings_made: usize,
    pub(super) stop_at: Option<usize>,
    pub(super) stopped: Option<Bound>,
    /// What a part failed with that a hook hashed. The hook may go on, but the walk was left in the
    /// middle: the whole hash fails.
    pub(super) failed: Option<String>,
}

#[derive(Clone, Copy)]
pub(super) struct Bind {
    pub(super) owner: Owner,
    /// Nothing for a free variable.
    pub(super) index: Option<u32>,
    pub(super) number: usize,
}

pub(super) struct AtDepth {
    pub(super) hash: Hash128,
    pub(super) owner: Owner,
    pub(super) kept: Kept,
}

impl<'o> HashState<'o> {
    pub(super) fn new(options: Options, outer: Option<&'o dyn Bindings>) -> Self {
        let depth = outer.map_or(0, Bindings::depth);
        Self {
            options,
            scopes: Scopes::at_depth(depth),
            variables: ByNode::default(),
            binders: vec![Vec::new(); depth as usize + 1],
            plain: Memo::new(options),
            epoch: 0,
            alone: ByNode::default(),
            at_depth: HashMap::default(),
            key_memo: outer.map(Bindings::key_memo).unwrap_or_default(),
            used: vec![Variables::default()],
            outer,
            free: Vec::new(),
            scoped: Vec::new(),
            kept: Vec::new(),
            bindings_made: 0,
            stop_at: None,
            stopped: None,
            failed: None,
        }
    }

    pub(super) fn bind(&mut self, variable: usize, depth: u32, index: Option<u32>) {
        let owner = self.scopes.owner(depth);
        let bind = Bind { owner, index, number: self.bindings_made };
        self.bindings_made += 1;
        if depth > 0 {
            self.note_bound_inside(variable);
        }
        let was_scoped = self.variables.insert(variable, bind).is_some();
        if was_scoped && depth == 0 {
            // As in a comparison: what an ended scope bound now means the same everywhere.
            self.epoch += 1;
            self.alone.clear();
            self.at_depth.clear();
        }
        self.scopes.touch(depth);
    }

    /// A scope inside a key bound the variable, and has ended.
    pub(super) fn note_scoped(&mut self, variable: usize) {
        let ended = Bind { owner: Owner::ENDED, index: None, number: usize::MAX };
        self.variables.entry(variable).or_insert(ended);
        self.note_bound_inside(variable);
    }

    /// Whether a key is being hashed.
    pub(super) fn in_key(&self) -> bool {
        self.outer.is_some()
    }

    pub(super) fn note_bound_inside(&mut self, variable: usize) {
        if self.in_key() {
            self.scoped.push(variable);
            if let Some(used) = self.used.last_mut() {
                used.scoped.push(variable);
            }
        }
    }

    /// What is remembered of a node inside a key, if it was found under the bindings of here. What
    /// it found to be free is free here, too.
    pub(super) fn remembered_in_key(&mut self, node: usize) -> Option<Hash128> {
        let entry = self.key_memo.get(node, self.scopes.depth())?;
        let same = |used: &Use| match self.binding(used.variable) {
            None => used.bound.is_none(),
            Some((at, index, _)) => used.bound == index.map(|index| (at, index)),
        };
        // What scopes inside it bind must not be bound here: it would mean something else.
        let unbound = |variable: &usize| self.binding(*variable).is_none();
        if !entry.variables.uses.iter().all(same) || !entry.variables.scoped.iter().all(unbound) {
            return None;
        }
        for used in &entry.variables.uses {
            if used.bound.is_none() && self.binding(used.variable).is_none() {
                self.bind(used.variable, 0, None);
                self.free.push((used.serial, used.variable));
            }
        }
        self.scoped.extend(&entry.variables.scoped);
        if let Some(used) = self.used.last_mut() {
            used.add(&entry.variables);
        }
        if let Some(basis) = entry.kept.basis() {
            self.scopes.rest_on(basis);
        }
        Some(entry.hash)
    }

    pub(super) fn remembered(&mut self, node: usize) -> Option<Hash128> {
        if self.in_key() {
            return self.remembered_in_key(node);
        }
        let at_depth = |this: &Self| {
            let entry = this.at_depth.get(&(node, this.scopes.depth()))?;
            this.scopes.current(entry.owner).then(|| (entry.hash, entry.kept.clone()))
        };
        let (hash, kept) = at_depth(self).or_else(|| self.alone.get(&node).cloned())?;
        // A variable hidden in the node is bound here: the node means something else.
        if kept.hidden(0).iter().any(|&variable| self.binding(variable).is_some()) {
            return None;
        }
        if let Some(basis) = kept.basis() {
            self.scopes.rest_on(basis);
        }
        Some(hash)
    }
}
