//! The state of one hash computation.

use rustc_hash::FxBuildHasher;

use super::binding_slots::BindingSlots;
use super::compare_state::{BindingSite, Side};
use super::container_keys::BindingLookup;
use super::field_hasher::BinderSum;
use super::hash_memo::HashMemo;
use super::key_memo::{KNOWN_FREE, KeyMemo, KeyVariables, OuterBinding, VariableUse};
use super::node_map::NodeMap;
use super::scopes::{ScopeId, ScopeStack, StoredDependencies};
use super::{BindingRegion, StructuralOptions};
use crate::hasher::Hash128;
use crate::reference::NodeRef;
use crate::values::Value;

type HashMap<K, V> = hashbrown::HashMap<K, V, FxBuildHasher>;

impl BindingLookup for HashState<'_> {
    fn depth(&self) -> u32 {
        self.scopes.depth()
    }

    fn options(&self) -> StructuralOptions {
        self.options
    }

    fn counts_singletons_by_identity(&self) -> bool {
        self.singletons_by_identity
    }

    fn key_memo(&self, singletons_by_identity: bool) -> KeyMemo {
        if self.singletons_by_identity == singletons_by_identity {
            self.key_memo.clone()
        } else {
            KeyMemo::default()
        }
    }

    fn next_index(&self, depth: u32) -> u32 {
        match self.outer {
            Some(outer) if depth <= outer.depth() => outer.next_index(depth),
            _ => self.scopes.next_index(depth),
        }
    }

    fn binding(&self, variable: usize) -> Option<(u32, Option<u32>, usize)> {
        self.open_binding(self.slots.get_by_id(Side::Left, variable), variable)
    }
}

/// The state of one hash computation: bindings, scopes, and memoized hashes.
pub(super) struct HashState<'o> {
    pub(super) options: StructuralOptions,
    /// True if singletons count by identity, not by their fields.
    pub(super) singletons_by_identity: bool,
    pub(super) scopes: ScopeStack,
    slots: BindingSlots,
    bindings: Vec<HashBinding>,
    /// The variables that each open scope binds.
    pub(super) binders: Vec<BinderSum>,
    pub(super) hash_memo: HashMemo,
    /// The number of times the memoized hashes were dropped. Nodes begun in an earlier epoch are not memoized.
    pub(super) epoch: u32,
    /// Hashes of shared nodes that hold in every context.
    pub(super) context_free_hashes: NodeMap<(Hash128, StoredDependencies)>,
    /// Hashes of shared nodes at a scope depth, valid while their owner is open.
    pub(super) hashes_at_depth: HashMap<(usize, u32), HashAtDepth>,
    /// The memo of nodes inside keys and, inside a key, the variables that each tracked frame uses.
    pub(super) key_memo: KeyMemo,
    pub(super) used_variables: Vec<KeyVariables>,
    /// The bindings around a key that is being hashed.
    pub(super) outer: Option<&'o dyn BindingLookup>,
    /// Variables that were found to be free: creation number and identity. Used while hashing a key.
    pub(super) free: Vec<(u64, usize)>,
    /// Variables bound in a scope. Used while hashing a key.
    pub(super) scoped: Vec<usize>,
    pub(super) kept_alive: Vec<Value>,
    pub(super) bindings_made: usize,
    pub(super) stop_at: Option<usize>,
    pub(super) stopped: Option<BindingSite>,
    /// The error of a part that a hook hashed. The hook may continue, but the walk was left in the middle, so
    /// the whole hash fails.
    pub(super) failed: Option<String>,
}

/// The binding of a variable in a hash.
#[derive(Clone, Copy)]
struct HashBinding {
    variable: usize,
    owner: ScopeId,
    /// [`NO_INDEX`] for a free variable.
    index: u32,
    number: u32,
}

const NO_INDEX: u32 = u32::MAX;

impl HashBinding {
    #[inline]
    fn index(self) -> Option<u32> {
        (self.index != NO_INDEX).then_some(self.index)
    }
}

/// The hash of a shared node at a scope depth.
pub(super) struct HashAtDepth {
    pub(super) hash: Hash128,
    pub(super) owner: ScopeId,
    pub(super) dependencies: StoredDependencies,
}

impl<'o> HashState<'o> {
    /// Creates a state in which only the bindings of `outer` exist.
    pub(super) fn new(
        options: StructuralOptions,
        outer: Option<&'o dyn BindingLookup>,
        singletons_by_identity: bool,
    ) -> Self {
        let depth = outer.map_or(0, BindingLookup::depth);
        Self {
            options,
            singletons_by_identity,
            scopes: ScopeStack::at_depth(depth),
            slots: if outer.is_some() {
                BindingSlots::without_slots()
            } else {
                BindingSlots::default()
            },
            bindings: Vec::new(),
            binders: vec![BinderSum::EMPTY; depth as usize + 1],
            hash_memo: HashMemo::new(options, singletons_by_identity),
            epoch: 0,
            context_free_hashes: NodeMap::default(),
            hashes_at_depth: HashMap::default(),
            key_memo: outer.map(|outer| outer.key_memo(singletons_by_identity)).unwrap_or_default(),
            used_variables: vec![KeyVariables::default()],
            outer,
            free: Vec::new(),
            scoped: Vec::new(),
            kept_alive: Vec::new(),
            bindings_made: 0,
            stop_at: None,
            stopped: None,
            failed: None,
        }
    }

    /// Returns the depth, the index and the number of the current binding of a variable.
    #[inline]
    pub(super) fn binding_of(&self, variable: NodeRef<'_>) -> Option<(u32, Option<u32>, usize)> {
        let number = self.slots.get(Side::Left, variable, variable_of_number(&self.bindings));
        self.open_binding(number, variable.id())
    }

    #[inline]
    fn open_binding(
        &self,
        number: Option<u32>,
        variable: usize,
    ) -> Option<(u32, Option<u32>, usize)> {
        let own = number.map(|number| &self.bindings[number as usize]);
        match own.filter(|bind| self.scopes.is_open(bind.owner)) {
            Some(bind) => Some((bind.owner.depth, bind.index(), bind.number as usize)),
            None => self.outer?.binding(variable),
        }
    }

    /// Returns whether the scope at `depth` surrounds the value that is hashed in isolation.
    #[inline]
    fn is_outer(&self, depth: u32) -> bool {
        self.outer.is_some_and(|outer| depth <= outer.depth())
    }

    /// Binds a variable whose fields hash to `hash` in the scope at `depth`. `hidden` tells that the scope
    /// binds it only because no outer scope does. Returns its index in the scope.
    #[inline]
    pub(super) fn bind_in(
        &mut self,
        variable: NodeRef<'_>,
        depth: u32,
        hidden: bool,
        hash: Hash128,
    ) -> u32 {
        let id = variable.id();
        let index = if self.is_outer(depth) {
            self.bind_outer(OuterBinding { variable: id, depth, hidden, hash })
        } else {
            self.binders[depth as usize].add(hash);
            self.scopes.bind(depth, hidden.then_some([id, id]))
        };
        let number = self.bindings.len() as u32;
        let old = self.slots.set(Side::Left, variable, number, variable_of_number(&self.bindings));
        if hidden {
            self.slots.track_by_id(Side::Left, id, number);
        }
        self.add_binding(id, depth, Some(index), old.is_some());
        index
    }

    /// Records that a variable is free.
    pub(super) fn bind_free(&mut self, variable: NodeRef<'_>) {
        let number = self.bindings.len() as u32;
        let old = self.slots.set(Side::Left, variable, number, variable_of_number(&self.bindings));
        self.add_binding(variable.id(), 0, None, old.is_some());
    }

    /// Records that a variable that a key uses is free, given its id.
    pub(super) fn bind_free_in_key(&mut self, variable: usize) {
        let number = self.bindings.len() as u32;
        let old = self.slots.set_by_id(Side::Left, variable, Some(number));
        self.add_binding(variable, 0, None, old.is_some());
    }

    /// Binds the variables that values of tied entries bind. All variables of a scope share one index, so that
    /// the order of the values does not matter.
    #[cold]
    pub(super) fn bind_tied(&mut self, all: &[OuterBinding]) {
        let next = |depth| (self.next_index(depth), self.binders[depth as usize].next_position());
        let shared: Vec<_> = all.iter().map(|bound| next(bound.depth)).collect();
        let mut last = None;
        for (bound, (index, position)) in all.iter().zip(shared) {
            let &OuterBinding { variable, depth, hidden, hash } = bound;
            // One variable may occur with several hashes of its fields.
            let first = last.replace(variable) != Some(variable);
            if self.is_outer(depth) {
                self.bind_outer(*bound);
            } else {
                self.binders[depth as usize].add_at(position, hash);
                if first {
                    self.scopes.bind(depth, hidden.then_some([variable, variable]));
                }
            }
            if first {
                let number = self.bindings.len() as u32;
                let old = self.slots.set_by_id(Side::Left, variable, Some(number));
                self.add_binding(variable, depth, Some(index), old.is_some());
            }
        }
    }

    #[inline(always)]
    fn add_binding(&mut self, variable: usize, depth: u32, index: Option<u32>, was_scoped: bool) {
        let owner = self.scopes.scope_id(depth);
        let (index, number) = (index.unwrap_or(NO_INDEX), self.bindings_made as u32);
        self.bindings.push(HashBinding { variable, owner, index, number });
        self.bindings_made += 1;
        if self.in_key() && depth > 0 && !self.is_outer(depth) {
            self.record_bound_inside(variable);
        }
        if was_scoped && depth == 0 {
            self.forget_hashes();
        }
        self.scopes.touch(depth);
    }

    /// Drops all memoized hashes: a variable of an ended scope now means the same everywhere.
    #[cold]
    fn forget_hashes(&mut self) {
        self.epoch += 1;
        self.context_free_hashes.clear();
        self.hashes_at_depth.clear();
    }

    /// Moves bindings to tables, so that variables can be looked up by id.
    pub(super) fn enable_lookup_by_id(&mut self) {
        self.slots.move_to_tables(self.bindings.iter().map(|bind| [Some(bind.variable), None]));
    }

    /// Records that a scope inside a key bound the variable and has ended.
    pub(super) fn record_scoped(&mut self, variable: usize) {
        if self.slots.get_by_id(Side::Left, variable).is_none() {
            let number = self.bindings.len() as u32;
            let (owner, index) = (ScopeId::ENDED, NO_INDEX);
            self.bindings.push(HashBinding { variable, owner, index, number: u32::MAX });
            self.slots.set_by_id(Side::Left, variable, Some(number));
        }
        self.record_bound_inside(variable);
    }

    /// Returns whether the state has no context: nothing was bound or found free, all scopes are closed, and
    /// the walk is outside keys. Then results depend on nothing.
    pub(super) fn has_no_context(&self) -> bool {
        self.bindings.is_empty() && self.scopes.depth() == 0 && !self.in_key()
    }

    /// Returns whether a key is being hashed.
    pub(super) fn in_key(&self) -> bool {
        self.outer.is_some()
    }

    #[cold]
    pub(super) fn record_use(&mut self, used: VariableUse) {
        if let Some(all) = self.used_variables.last_mut() {
            all.uses.push(used);
        }
    }

    /// Records that a variable is bound in a scope around the value that is hashed in isolation. Returns its
    /// index there.
    #[cold]
    fn bind_outer(&mut self, bound: OuterBinding) -> u32 {
        if let Some(used) = self.used_variables.last_mut() {
            used.bound.push(bound);
        }
        self.next_index(bound.depth)
    }

    pub(super) fn record_bound_inside(&mut self, variable: usize) {
        if self.in_key() {
            self.scoped.push(variable);
            if let Some(used) = self.used_variables.last_mut() {
                used.scoped.push(variable);
            }
        }
    }

    /// Returns the memoized hash of a node inside a key, if it was found under the current bindings. Variables
    /// found free in the node are then free here too.
    pub(super) fn memoized_key_hash(
        &mut self,
        node: usize,
        region: BindingRegion,
    ) -> Option<Hash128> {
        let entry = self.key_memo.get((node, self.scopes.depth(), region))?;
        let binds = |variable: usize, index: u32| {
            let is_same = |bound: &OuterBinding| {
                self.is_outer(bound.depth) && self.next_index(bound.depth) == index
            };
            // The bindings are sorted by variable.
            let all = &entry.variables.bound;
            let from = all.partition_point(|bound| bound.variable < variable);
            all[from..].iter().take_while(|bound| bound.variable == variable).any(is_same)
        };
        let same = |used: &VariableUse| match self.binding(used.variable) {
            None => used.bound.is_none_or(|(_, index)| binds(used.variable, index)),
            Some((at, index, _)) => match used.bound {
                None => index.is_none(),
                Some(bound) => bound == (at, index.unwrap_or(KNOWN_FREE)),
            },
        };
        // Variables that scopes inside the node bind must be unbound here: otherwise the node would mean
        // something else.
        let unbound = |variable: &usize| self.binding(*variable).is_none();
        if !entry.variables.uses.iter().all(same) || !entry.variables.scoped.iter().all(unbound) {
            return None;
        }
        // Keep only what hashing would find here: drop variables already known to be free or bound.
        let mut found = KeyVariables::clone(&entry.variables);
        found.bound.retain(|bound| self.binding(bound.variable).is_none());
        for used in found.uses.iter_mut().filter(|used| used.bound.is_none()) {
            if self.binding(used.variable).is_some() {
                used.bound = Some((0, KNOWN_FREE));
            } else {
                self.bind_free_in_key(used.variable);
                self.free.push((used.serial, used.variable));
            }
        }
        if !found.bound.is_empty() {
            self.bind_tied(&found.bound);
        }
        self.scoped.extend(&found.scoped);
        if let Some(used) = self.used_variables.last_mut() {
            used.extend_from(&found);
        }
        if let Some(dependencies) = entry.dependencies.get() {
            self.scopes.add_dependencies(dependencies);
        }
        Some(entry.hash)
    }

    pub(super) fn memoized_hash(&mut self, node: usize, region: BindingRegion) -> Option<Hash128> {
        if self.in_key() {
            return self.memoized_key_hash(node, region);
        }
        let at_depth = |this: &Self| {
            let entry = this.hashes_at_depth.get(&(node, this.scopes.depth()))?;
            this.scopes.is_open(entry.owner).then(|| (entry.hash, entry.dependencies.clone()))
        };
        let (hash, stored) =
            at_depth(self).or_else(|| self.context_free_hashes.get(&node).cloned())?;
        // A variable hidden in the node is bound here, so the node means something else.
        if stored.hidden(0).iter().any(|&variable| self.binding(variable).is_some()) {
            return None;
        }
        if let Some(dependencies) = stored.get() {
            self.scopes.add_dependencies(dependencies);
        }
        Some(hash)
    }
}

/// Returns a function that maps the number of a binding to its variable.
#[inline]
fn variable_of_number(binds: &[HashBinding]) -> impl FnOnce(u32) -> Option<usize> {
    move |number| binds.get(number as usize).map(|bind| bind.variable)
}
