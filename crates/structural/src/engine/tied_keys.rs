//! Tied keys: entries of a map (or members of a set) whose keys differ and have the same hash.
//!
//! Keys tie where equality distinguishes more than the hash: singletons of one content are distinguished by
//! identity, dag nodes by how they are shared, and a hook may hash as little as it likes. No order of tied
//! entries is the same in two containers, so they are treated as a set:
//!
//! - Keys of one container are pairwise unequal, so each has at most one counterpart in another container.
//!   `container_keys.rs` finds it; the *identity* of a key, a hash in which singletons count by identity,
//!   leaves few candidates.
//! - To the hash of the container, tied entries contribute the sorted list of their contributions.
//! - Values of tied entries that hold variables are visited after all other values of the container, and each
//!   is hashed under the bindings that exist before all of them. The variables that they bind share one index,
//!   so later uses do not distinguish them. The order of visits cannot matter if every variable occurs in the
//!   same way in all values that use it: bound in the same scope, or free, or bound by a scope inside the
//!   value. Otherwise comparison and hashing both refuse the container.

use super::BindingRegion;
use super::container_keys::{BindingLookup, IsolatedHashes, hash_isolated};
use super::field_hasher::FieldHasher;
use crate::error::Error;
use crate::hasher::{ChildPosition, Hash128, HashSum};
use crate::kind::Facts;
use crate::path::{NodePath, PathStep};
use crate::reference::NodeRef;
use crate::values::Value;
use crate::view::View;

/// The largest number of values of tied entries that one walk hashes. Shared values are memoized, so this is a
/// backstop against nested containers with ties that the memo does not fit.
pub(super) const MAX_TIED_VALUES: u32 = 1 << 20;

/// The children of a map (or set) with ties, or with keys that depend on bindings, while its hash is computed.
pub(super) struct HashEntries {
    /// The sort hash of each entry, and its index in the container.
    entries_in_hash_order: Vec<(Hash128, u32)>,
    per_entry: usize,
    /// The known contributions of the children, in that order.
    parts: Vec<Option<Hash128>>,
    /// Entries whose values are hashed after all others, each in isolation.
    deferred: Vec<usize>,
}

impl HashEntries {
    /// Creates the entries without contributions.
    pub(super) fn new(order: Vec<(Hash128, u32)>, per_entry: usize) -> Self {
        let parts = vec![None; order.len() * per_entry];
        Self { entries_in_hash_order: order, per_entry, parts, deferred: Vec::new() }
    }

    /// Creates the entries with the contributions of the keys, which are their sort hashes.
    pub(super) fn with_keys(order: Vec<(Hash128, u32)>, per_entry: usize) -> Self {
        let mut entries = Self::new(order, per_entry);
        for (index, (key, _)) in entries.entries_in_hash_order.iter().enumerate() {
            entries.parts[index * per_entry] = Some(*key);
        }
        entries
    }

    /// Defers the values of tied entries of a map that hold variables.
    pub(super) fn defer_tied(&mut self, map: NodeRef<'_>) {
        let tied = tied_entries_with_variables(map, &self.entries_in_hash_order);
        if !tied.is_empty() {
            let is_tied =
                |at: &usize| tied.binary_search(&self.entries_in_hash_order[*at].1).is_ok();
            self.deferred = (0..self.entries_in_hash_order.len()).filter(is_tied).collect();
            for &at in &self.deferred {
                self.parts[at * 2 + 1] = Some(Hash128::default());
            }
        }
    }

    /// Returns whether values were deferred.
    pub(super) fn has_deferred(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// Returns the number of children.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Returns whether the contribution of a child is known.
    pub(super) fn has_contribution(&self, index: usize) -> bool {
        self.parts.get(index).is_some_and(Option::is_some)
    }

    pub(super) fn set_contribution(&mut self, index: usize, part: Hash128) {
        if let Some(place) = self.parts.get_mut(index) {
            *place = Some(part);
        }
    }

    /// Returns the stored index of a child.
    pub(super) fn stored_index(&self, index: usize) -> Option<usize> {
        let (_, entry) = self.entries_in_hash_order.get(index / self.per_entry)?;
        Some(*entry as usize * self.per_entry + index % self.per_entry)
    }

    /// Adds all contributions to `sum`, at the positions that they have in a container without ties.
    pub(super) fn add_to_sum(self, sum: HashSum) -> HashSum {
        let parts: Vec<Hash128> = self.parts.into_iter().map(Option::unwrap_or_default).collect();
        let mut contributions: Vec<(Hash128, &[Hash128])> = self
            .entries_in_hash_order
            .iter()
            .map(|entry| entry.0)
            .zip(parts.chunks(self.per_entry))
            .collect();
        contributions.sort_unstable();
        contributions
            .iter()
            .flat_map(|entry| entry.1)
            .enumerate()
            .fold(sum, |sum, (index, &part)| sum.add(ChildPosition::of(index), part))
    }
}

/// Returns the tied entries of a map, in ascending order, of all ties some of whose values hold variables.
pub(super) fn tied_entries_with_variables(map: NodeRef<'_>, order: &[(Hash128, u32)]) -> Vec<u32> {
    let open = |entry: &(Hash128, u32)| match map.child(entry.1 as usize * 2 + 1) {
        View::Node(node) => node.facts().any(Facts::VAR),
        View::List(_) => true,
        _ => false,
    };
    let ties = order.chunk_by(|a, b| a.0 == b.0);
    let ties = ties.filter(|group| group.len() > 1 && group.iter().any(open));
    let mut tied: Vec<u32> = ties.flatten().map(|entry| entry.1).collect();
    tied.sort_unstable();
    tied
}

/// Hashes the values of tied entries, each under the bindings that exist before all of them.
///
/// # Errors
/// [`Error::KeyCollision`] if the order of visits would matter, or too many values were hashed.
pub(super) fn hash_tied_values_in_isolation(
    bindings: &dyn BindingLookup,
    map: NodeRef<'_>,
    tied: &[u32],
    region: BindingRegion,
) -> Result<IsolatedHashes, Error> {
    let refuse = |reason| Error::KeyCollision { reason, path: NodePath::root() };
    if !bindings
        .key_memo(bindings.counts_singletons_by_identity())
        .charge_tied_values(tied.len() as u32, MAX_TIED_VALUES)
    {
        return Err(refuse("containers with such keys hold each other too often"));
    }
    let mut all = IsolatedHashes::default();
    let mut occurrences: Vec<(usize, VariableOccurrence, u32)> = Vec::new();
    for (value, &entry) in (0..).zip(tied) {
        let view = map.child(entry as usize * 2 + 1);
        let found = hash_isolated(view, region, bindings, bindings.counts_singletons_by_identity());
        let found = found.map_err(|error| {
            error.with_outer_path(PathStep::Key(Value::of(map.child(entry as usize * 2))).into())
        })?;
        occurrences.extend(found.free.iter().map(|free| (free.1, VariableOccurrence::Free, value)));
        occurrences.extend(found.scoped.iter().map(|&id| (id, VariableOccurrence::Scoped, value)));
        occurrences.extend(found.bound.iter().map(|bound| {
            (
                bound.variable,
                VariableOccurrence::Bound { depth: bound.depth, hidden: bound.hidden },
                value,
            )
        }));
        all.extend_from(found);
    }
    all.sort_and_dedup();
    occurrences.sort_unstable();
    // If a variable occurs in two ways and in two values, then two values use it in different ways.
    let differs = |run: &[(usize, VariableOccurrence, u32)]| {
        run[0].1 != run[run.len() - 1].1 && run.iter().any(|occurrence| occurrence.2 != run[0].2)
    };
    if occurrences.chunk_by(|a, b| a.0 == b.0).any(differs) {
        return Err(refuse("their values bind or use the same variable in different ways"));
    }
    Ok(all)
}

/// The way in which a variable that nothing binds before occurs in a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum VariableOccurrence {
    /// The variable stays free.
    Free,
    /// The value binds the variable in a scope around the map.
    Bound { depth: u32, hidden: bool },
    /// A scope inside the value binds the variable.
    Scoped,
}

impl<'a> FieldHasher<'_, '_, 'a> {
    /// Hashes the deferred values, after all other entries contributed.
    pub(super) fn hash_tied_values(
        &mut self,
        map: NodeRef<'a>,
        region: BindingRegion,
        entries: &mut HashEntries,
    ) -> Result<(), Box<Error>> {
        self.state.enable_lookup_by_id();
        let tied: Vec<u32> =
            entries.deferred.iter().map(|&at| entries.entries_in_hash_order[at].1).collect();
        let found = hash_tied_values_in_isolation(&*self.state, map, &tied, region)
            .map_err(|error| error.with_outer_path(self.path()))?;
        for (at, &hash) in std::mem::take(&mut entries.deferred).into_iter().zip(&found.hashes) {
            entries.set_contribution(at * 2 + 1, hash);
        }
        self.adopt_isolated(found)
    }

    /// Adopts the results of values that were hashed in isolation: their free, scoped and bound variables, and
    /// their dependencies.
    pub(super) fn adopt_isolated(&mut self, found: IsolatedHashes) -> Result<(), Box<Error>> {
        for free in found.free {
            self.bind_free_in_key(free)?;
        }
        for variable in found.scoped {
            self.state.record_scoped(variable);
        }
        let made = self.state.bindings_made;
        let made = made..made + found.bound.len();
        if self.state.stop_at.is_some_and(|at| made.contains(&at)) {
            self.state.stop_at = Some(made.start);
            self.stop_if_requested("a variable")?;
        }
        self.state.bind_tied(&found.bound);
        if let Some(used) = self.state.used_variables.last_mut() {
            used.uses.extend(found.uses);
        }
        self.state.scopes.add_dependencies(&found.dependencies);
        Ok(())
    }

    /// Records that a variable, given by creation number and identity, is free.
    pub(super) fn bind_free_in_key(&mut self, free: (u64, usize)) -> Result<(), Box<Error>> {
        self.stop_if_requested("a free variable")?;
        self.state.bind_free_in_key(free.1);
        self.state.free.push(free);
        Ok(())
    }
}
