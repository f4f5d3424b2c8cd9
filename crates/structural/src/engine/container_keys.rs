//! Keys of maps and members of sets. They never bind variables, and are matched by hash before any value is
//! visited.

use super::compare_frames::EntryMatching;
use super::compare_state::{CompareState, Side};
use super::field_hasher::{FieldHasher, ORDERED_FACTS};
use super::hash_state::HashState;
use super::hook_context::with_enough_stack;
use super::key_memo::{KeyMemo, OuterBinding, VariableUse};
use super::ordered_equal::{CompareMode, OrderedComparison};
use super::scopes::Dependencies;
use super::tied_keys::{hash_tied_values_in_isolation, tied_entries_with_variables};
use super::{BindingRegion, StructuralOptions, scalars};
use crate::child_cursor::ChildOwner;
use crate::error::Error;
use crate::hasher::Hash128;
use crate::kind::Facts;
use crate::path::PathStep;
use crate::reference::NodeRef;
use crate::type_info::ChildLayout;
use crate::values::Value;
use crate::view::View;

/// The results of hashing values in isolation: each under the bindings that exist before all of them.
#[derive(Default)]
pub(super) struct IsolatedHashes {
    pub(super) hashes: Vec<Hash128>,
    /// The scopes and hidden variables that the hashes depend on.
    pub(super) dependencies: Dependencies,
    /// Variables that nothing binds so far, in the order of creation: creation number and identity.
    pub(super) free: Vec<(u64, usize)>,
    /// Variables that scopes inside the values bind.
    pub(super) scoped: Vec<usize>,
    /// Variables that the values bind in scopes around them. Keys have none.
    pub(super) bound: Vec<OuterBinding>,
    /// Variables that the values use.
    pub(super) uses: Vec<VariableUse>,
}

impl IsolatedHashes {
    pub(super) fn extend_from(&mut self, other: Self) {
        self.hashes.extend(other.hashes);
        self.dependencies.merge(other.dependencies);
        self.free.extend(other.free);
        self.scoped.extend(other.scoped);
        self.bound.extend(other.bound);
        self.uses.extend(other.uses);
    }

    /// Sorts the variables and removes duplicates.
    pub(super) fn sort_and_dedup(&mut self) {
        self.free.sort_unstable();
        self.free.dedup();
        self.scoped.sort_unstable();
        self.scoped.dedup();
        self.uses.sort_unstable();
        self.uses.dedup();
        self.bound.sort_unstable();
        self.bound.dedup();
    }

    /// Returns whether a variable that is free in one key is bound by a scope in another. Once it is marked as
    /// free it is free there too, and the keys must be hashed once more.
    pub(super) fn has_free_variable_bound_in_another_key(&self) -> bool {
        self.free.iter().any(|(_, variable)| self.scoped.binary_search(variable).is_ok())
    }
}

/// Hashes a value in isolation, under `bindings`.
pub(super) fn hash_isolated(
    view: View<'_>,
    region: BindingRegion,
    bindings: &dyn BindingLookup,
    singletons_by_identity: bool,
) -> Result<IsolatedHashes, Error> {
    let mut state = HashState::new(bindings.options(), Some(bindings), singletons_by_identity);
    // Keys may hold maps with such keys.
    let hash = with_enough_stack(|| FieldHasher::new(&mut state, 0).run(view, region))
        .map_err(|error| *error)?;
    let used = state.used_variables.pop().unwrap_or_default();
    Ok(IsolatedHashes {
        hashes: vec![hash],
        dependencies: state.scopes.untrack(true),
        free: state.free,
        scoped: state.scoped,
        bound: used.bound,
        uses: used.uses,
    })
}

/// The hashes of the keys of a map (or of the members of a set).
pub(super) struct KeyHashes {
    /// The sort hash and the index of each entry, in the order in which comparison and hashing visit entries.
    pub(super) entries_in_hash_order: Vec<(Hash128, u32)>,
    pub(super) found: IsolatedHashes,
}

/// Returns the key hashes of a container, if they do not depend on context.
pub(super) fn fixed_key_hashes(map: NodeRef<'_>) -> Option<Vec<(Hash128, u32)>> {
    let entries = map.len() / map.info().layout().per_entry();
    (0..entries).map(|entry| Some((map.key_hash(entry)?, entry as u32))).collect()
}

/// Hashes the keys of a map, each under the bindings that exist before the container. Keys never bind, so their
/// order does not matter.
///
/// Variables that are free in a key must then be marked as free, so that the contribution of a key does not
/// depend on earlier visits of the container.
pub(super) fn key_hashes(
    bindings: &dyn BindingLookup,
    map: NodeRef<'_>,
) -> Result<KeyHashes, Error> {
    if let Some(order) = fixed_key_hashes(map) {
        return Ok(KeyHashes { entries_in_hash_order: order, found: IsolatedHashes::default() });
    }
    let per_entry = map.info().layout().per_entry();
    let mut found = IsolatedHashes::default();
    for entry in 0..map.len() / per_entry {
        let key = map.child(entry * per_entry);
        let hashed = hash_isolated(
            key,
            BindingRegion::KEY,
            bindings,
            bindings.counts_singletons_by_identity(),
        )
        .map_err(|error| error.with_outer_path(PathStep::Key(Value::of(key)).into()))?;
        found.extend_from(hashed);
    }
    found.sort_and_dedup();
    let mut order: Vec<(Hash128, u32)> = found.hashes.iter().copied().zip(0..).collect();
    order.sort_unstable();
    Ok(KeyHashes { entries_in_hash_order: order, found })
}

/// Returns the identity of a key: a hash in which singletons count by identity, so that equal keys have equal
/// identities. It depends on addresses, so it is never stored or shown. A hook may compare anything, so all
/// keys with hooks have the same identity.
fn key_identity(key: View<'_>, bindings: &dyn BindingLookup) -> Result<Hash128, Error> {
    match key {
        View::Node(node) if !node.facts().any(Facts::HOOK) => {
            Ok(hash_isolated(key, BindingRegion::KEY, bindings, true)?.hashes[0])
        }
        _ => Ok(Hash128::default()),
    }
}

/// Returns the identity of a key of a container that is being built.
pub(crate) fn key_identity_at_root(key: View<'_>) -> Result<Hash128, Error> {
    key_identity(key, &(&CompareState::new(StructuralOptions::default()), Side::Left))
}

/// Read access to the bindings under which keys are hashed.
pub(super) trait BindingLookup {
    fn options(&self) -> StructuralOptions;

    /// Returns whether singletons count by identity.
    fn counts_singletons_by_identity(&self) -> bool;

    /// Returns the depth of the innermost open scope.
    fn depth(&self) -> u32;

    /// Returns the memo of nodes inside keys, for singletons that count by identity or by their fields.
    fn key_memo(&self, singletons_by_identity: bool) -> KeyMemo;

    /// Returns the depth, the index (`None` if free) and the number of the binding of a variable.
    fn binding(&self, variable: usize) -> Option<(u32, Option<u32>, usize)>;

    /// Returns the index that the scope at `depth` gives to the next variable.
    fn next_index(&self, depth: u32) -> u32;
}

impl BindingLookup for (&CompareState, Side) {
    fn depth(&self) -> u32 {
        self.0.scopes.depth()
    }

    fn options(&self) -> StructuralOptions {
        self.0.options
    }

    fn counts_singletons_by_identity(&self) -> bool {
        false
    }

    fn key_memo(&self, singletons_by_identity: bool) -> KeyMemo {
        self.0.key_memos[usize::from(singletons_by_identity)].clone()
    }

    fn next_index(&self, depth: u32) -> u32 {
        self.0.scopes.next_index(depth)
    }

    fn binding(&self, variable: usize) -> Option<(u32, Option<u32>, usize)> {
        let (number, binding) = self.0.binding_of(self.1, variable)?;
        Some((binding.depth(), binding.index(), number))
    }
}

impl<'a> OrderedComparison<'_, 'a> {
    /// Matches the entries of two maps (or sets) that have the same key.
    pub(super) fn match_entries(
        &mut self,
        left: NodeRef<'a>,
        right: NodeRef<'a>,
    ) -> Result<EntryMatching, Error> {
        let fixed = |map: NodeRef<'_>| map.is_empty() || map.key_hash(0).is_some();
        if !fixed(left) || !fixed(right) {
            self.state.enable_lookup_by_id();
        }
        let hash_keys = |this: &mut Self, side, map| {
            let keys = key_hashes(&(&*this.state, side), map)
                .map_err(|error| error.with_outer_path(this.path(Side::Left)))?;
            this.state.scopes.add_dependencies(&keys.found.dependencies);
            Ok::<_, Error>(keys)
        };
        let mut lefts = hash_keys(self, Side::Left, left)?;
        let mut rights = hash_keys(self, Side::Right, right)?;
        let rehash = lefts.found.has_free_variable_bound_in_another_key()
            || rights.found.has_free_variable_bound_in_another_key();
        let mut free = std::mem::take(&mut lefts.found.free);
        free.retain(|free| rights.found.free.binary_search(free).is_ok());
        if !free.is_empty() {
            for (_, variable) in free {
                self.record_binding_site(
                    View::Str("a free variable"),
                    View::Str("a free variable"),
                );
                self.state.bind_free_in_key(variable);
            }
            if rehash {
                lefts = hash_keys(self, Side::Left, left)?;
                rights = hash_keys(self, Side::Right, right)?;
            }
        }
        let (lefts, rights) = (lefts.entries_in_hash_order, rights.entries_in_hash_order);
        let mut matching = EntryMatching::default();
        let (mut r, mut tied) = (0, false);
        for group in lefts.chunk_by(|a, b| a.0 == b.0) {
            let hash = group[0].0;
            while r < rights.len() && rights[r].0 < hash {
                matching.add_missing(Side::Right, rights[r].1);
                r += 1;
            }
            let others = rights[r..].partition_point(|other| other.0 == hash);
            tied |= group.len() > 1 || others > 1;
            self.match_group((left, group), (right, &rights[r..r + others]), &mut matching)?;
            r += others;
        }
        for other in &rights[r..] {
            matching.add_missing(Side::Right, other.1);
        }
        if tied && left.info().layout() == ChildLayout::Map {
            let tied = [(left, &lefts), (right, &rights)];
            matching.defer_tied(tied.map(|(map, order)| tied_entries_with_variables(map, order)));
        }
        Ok(matching)
    }

    /// Returns an error if the order in which the deferred entries are visited would matter, or might matter.
    pub(super) fn check_deferred(&mut self) -> Result<(), Error> {
        let Some(top) = self.frames.last_mut() else { return Ok(()) };
        let (ChildOwner::Node(left), ChildOwner::Node(right)) = (top.left, top.right) else {
            return Ok(());
        };
        let region = top.region;
        let deferred = top.matching.as_mut().and_then(|matching| matching.deferred.take());
        let Some([lefts, rights]) = deferred.map(|deferred| deferred.1) else { return Ok(()) };
        self.state.enable_lookup_by_id();
        for (side, map, tied) in [(Side::Left, left, lefts), (Side::Right, right, rights)] {
            if let Err(error) =
                hash_tied_values_in_isolation(&(&*self.state, side), map, &tied, region)
            {
                let path = self.steps(Side::Left, self.frames.len() - 1).collect();
                return Err(error.with_outer_path(path));
            }
        }
        Ok(())
    }

    /// Matches entries of two containers whose keys have one hash. Keys of one container are pairwise unequal,
    /// so the first counterpart is the only one.
    fn match_group(
        &mut self,
        (left, lefts): (NodeRef<'a>, &[(Hash128, u32)]),
        (right, rights): (NodeRef<'a>, &[(Hash128, u32)]),
        matching: &mut EntryMatching,
    ) -> Result<(), Error> {
        let key = |map: NodeRef<'a>, entry: u32| {
            map.child(entry as usize * map.info().layout().per_entry())
        };
        if let ([(_, entry)], [(_, other)]) = (lefts, rights) {
            if self.equal_keys(key(left, *entry), key(right, *other))? {
                matching.pairs.push([*entry, *other]);
            } else {
                matching.add_missing(Side::Left, *entry);
                matching.add_missing(Side::Right, *other);
            }
            return Ok(());
        }
        let identify = |this: &Self, side, map, entry| {
            key_identity(key(map, entry), &(&*this.state, side))
                .map_err(|error| error.with_outer_path(this.path(Side::Left)))
        };
        // Identity, entry, and whether it is matched.
        let mut others = Vec::with_capacity(rights.len());
        for &(_, entry) in rights {
            others.push((identify(self, Side::Right, right, entry)?, entry, false));
        }
        others.sort_unstable();
        for &(_, entry) in lefts {
            let identity = identify(self, Side::Left, left, entry)?;
            let first = others.partition_point(|other| other.0 < identity);
            let alike = others[first..].partition_point(|other| other.0 == identity);
            let mut partner = None;
            for other in others[first..first + alike].iter_mut().filter(|other| !other.2) {
                let pair = (key(left, entry), key(right, other.1));
                if (alike == 1 || self.equal_in_isolation(pair.0, pair.1)?)
                    && self.equal_keys(pair.0, pair.1)?
                {
                    other.2 = true;
                    partner = Some(other.1);
                    break;
                }
            }
            match partner {
                Some(other) => matching.pairs.push([entry, other]),
                None => matching.add_missing(Side::Left, entry),
            }
        }
        others.sort_unstable_by_key(|other| other.1);
        for other in others.into_iter().filter(|other| !other.2) {
            matching.add_missing(Side::Right, other.1);
        }
        Ok(())
    }

    /// Returns whether two keys are equal in isolation, regardless of dag nodes paired elsewhere; true if that
    /// depends on variables or hooks. Computed once per pair, because a key may be shared by many containers.
    fn equal_in_isolation(&mut self, left: View<'a>, right: View<'a>) -> Result<bool, Error> {
        let (View::Node(l), View::Node(r)) = (left, right) else { return Ok(true) };
        let ids = (l.id(), r.id());
        if ids.0 == ids.1 || l.facts().union(r.facts()).any(ORDERED_FACTS) {
            return Ok(true);
        }
        if let Some(&known) = self.state.equal_in_isolation.get(&ids) {
            return Ok(known);
        }
        let mut state = CompareState::new(self.state.options);
        std::mem::swap(&mut state.equal_in_isolation, &mut self.state.equal_in_isolation);
        let result = with_enough_stack(|| {
            OrderedComparison::new(&mut state, CompareMode::default()).run(
                left,
                right,
                BindingRegion::KEY,
            )
        });
        std::mem::swap(&mut state.equal_in_isolation, &mut self.state.equal_in_isolation);
        let equal = result.map_err(|error| error.with_outer_path(self.path(Side::Left)))?;
        self.state.equal_in_isolation.insert(ids, equal);
        Ok(equal)
    }

    /// Returns whether two keys are equal. Keys never bind, and their free variables are known by now, so a
    /// successful comparison only leaves pairs of dag nodes behind, and a failed one leaves nothing.
    pub(super) fn equal_keys(&mut self, left: View<'a>, right: View<'a>) -> Result<bool, Error> {
        if let Some(equal) = scalars::equal(&left, &right, self.state.options.skip_tensor_content) {
            return Ok(equal);
        }
        self.state.enter_hook();
        let snapshot = self.state.snapshot();
        let mode = CompareMode { differences: 0, ..self.mode };
        // Keys may hold maps with such keys.
        self.enter_nested();
        let result = with_enough_stack(|| {
            OrderedComparison::new(self.state, mode).run(left, right, BindingRegion::KEY)
        });
        self.leave_nested();
        if !matches!(result, Ok(true)) {
            self.state.roll_back(snapshot);
        }
        self.state.leave_hook();
        result.map_err(|error| error.with_outer_path(self.path(Side::Left)))
    }
}
