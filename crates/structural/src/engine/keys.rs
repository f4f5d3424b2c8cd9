//! Keys of maps and members of sets: they never bind, and are matched by hash before any value is
//! looked at.

use super::equal::{Comparison, Mode};
use super::frames::Matching;
use super::hash::hash_key;
use super::hook_context::grow;
use super::key_memo::{KeyMemo, Use};
use super::scopes::{Basis, Scopes};
use super::state::{Side, State};
use super::{Options, Region, scalars};
use crate::error::Error;
use crate::graph::{Graph, ViewOf};
use crate::hasher::Hash128;
use crate::path::Step;
use crate::type_info::Layout;
use crate::view::View;

/// What is known of the keys of a map (or the members of a set) once they are hashed.
pub(super) struct KeyHashes {
    /// What each entry is sorted by, in the order in which both functions visit entries.
    pub(super) order: Vec<(Hash128, u32)>,
    /// What the keys rest on.
    pub(super) basis: Basis,
    /// Variables of the keys that nothing bound so far, in the order of creation.
    pub(super) free: Vec<(u64, usize)>,
    /// Variables that scopes inside the keys bind.
    pub(super) scoped: Vec<usize>,
    /// Variables that the keys use.
    pub(super) uses: Vec<Use>,
}

impl KeyHashes {
    /// Whether a variable that is free in one key is bound by a scope in another: once it is marked
    /// as free it is so there too, and the keys must be hashed once more.
    pub(super) fn bound_elsewhere(&self) -> bool {
        self.free.iter().any(|(_, variable)| self.scoped.binary_search(variable).is_ok())
    }
}

/// Hashes the keys of a map, each as things stand before the container: keys never bind, so that
/// no order among them matters.
///
/// Variables that are free in a key must then be marked as free: what a key contributes must not
/// depend on whether the container was met before.
pub(super) fn key_hashes<'a, G: Graph<'a>>(
    g: G,
    bindings: &dyn Bindings,
    options: Options,
    map: G::Node,
) -> Result<KeyHashes, Error> {
    let per_entry = if g.info(map).layout() == Layout::Map { 2 } else { 1 };
    let entries = g.len(map) / per_entry;
    let fixed: Option<Vec<(Hash128, u32)>> =
        (0..entries).map(|entry| Some((g.key_hash(map, entry)?, entry as u32))).collect();
    if let Some(order) = fixed {
        return Ok(KeyHashes {
            order,
            basis: Basis::default(),
            free: Vec::new(),
            scoped: Vec::new(),
            uses: Vec::new(),
        });
    }
    let mut order = Vec::with_capacity(entries);
    let mut scopes = Scopes::at_depth(bindings.depth());
    let (mut free, mut scoped, mut uses) = (Vec::new(), Vec::new(), Vec::new());
    for entry in 0..entries {
        let key = g.child(map, entry * per_entry);
        let found = hash_key(g, key, options, bindings)
            .map_err(|error| error.within(Step::Key(g.shown(key)).into()))?;
        order.push((found.hash, entry as u32));
        scopes.rest_on(&found.basis);
        free.extend(found.free);
        scoped.extend(found.scoped);
        uses.extend(found.uses);
    }
    order.sort_unstable();
    free.sort_unstable();
    free.dedup();
    scoped.sort_unstable();
    scoped.dedup();
    uses.sort_unstable();
    uses.dedup();
    Ok(KeyHashes { order, basis: scopes.untrack(true), free, scoped, uses })
}

/// What is bound where keys are hashed.
pub(super) trait Bindings {
    /// The depth of the innermost open scope.
    fn depth(&self) -> u32;

    /// What is remembered of nodes inside keys.
    fn key_memo(&self) -> KeyMemo;

    /// Depth, index (nothing if free) and number of the binding of a variable.
    fn binding(&self, variable: usize) -> Option<(u32, Option<u32>, usize)>;
}

impl Bindings for (&State, Side) {
    fn depth(&self) -> u32 {
        self.0.scopes.depth()
    }

    fn key_memo(&self) -> KeyMemo {
        self.0.key_memo.clone()
    }

    fn binding(&self, variable: usize) -> Option<(u32, Option<u32>, usize)> {
        let (number, binding) = self.0.binding_of(self.1, variable)?;
        Some((binding.depth(), binding.index(), number))
    }
}

impl<'a, G: Graph<'a>> Comparison<'_, 'a, G> {
    /// Which entries of two maps (or sets) have the same key.
    pub(super) fn match_entries(
        &mut self,
        left: G::Node,
        right: G::Node,
        per_entry: usize,
    ) -> Result<Matching, Error> {
        let g = self.g;
        let fixed = |map| g.len(map) == 0 || g.key_hash(map, 0).is_some();
        if !fixed(left) || !fixed(right) {
            self.state.by_identity();
        }
        let hash_keys = |this: &mut Self, side, map| {
            let keys = key_hashes(g, &(&*this.state, side), this.state.options, map)
                .map_err(|error| error.within(this.path(Side::Left)))?;
            this.state.scopes.rest_on(&keys.basis);
            Ok::<_, Error>(keys)
        };
        let mut lefts = hash_keys(self, Side::Left, left)?;
        let mut rights = hash_keys(self, Side::Right, right)?;
        let again = lefts.bound_elsewhere() || rights.bound_elsewhere();
        lefts.free.retain(|free| rights.free.binary_search(free).is_ok());
        if !lefts.free.is_empty() {
            for (_, variable) in std::mem::take(&mut lefts.free) {
                self.locate(View::Str("a free variable"), View::Str("a free variable"));
                self.state.bind_free_in_key(variable);
            }
            if again {
                lefts = hash_keys(self, Side::Left, left)?;
                rights = hash_keys(self, Side::Right, right)?;
            }
        }
        let (lefts, rights) = (lefts.order, rights.order);
        let mut matching = Matching::default();
        let mut r = 0;
        for group in lefts.chunk_by(|a, b| a.0 == b.0) {
            let hash = group[0].0;
            while r < rights.len() && rights[r].0 < hash {
                matching.miss(Side::Right, rights[r].1);
                r += 1;
            }
            let others = rights[r..].partition_point(|other| other.0 == hash);
            let mut free: Vec<u32> = rights[r..r + others].iter().map(|other| other.1).collect();
            r += others;
            for &(_, entry) in group {
                let mut partner = None;
                for (place, &other) in free.iter().enumerate() {
                    let key = |node, entry: u32| g.child(node, entry as usize * per_entry);
                    if self.equal_keys(key(left, entry), key(right, other))? {
                        partner = Some(place);
                        break;
                    }
                }
                match partner {
                    Some(place) => matching.pairs.push([entry, free.remove(place)]),
                    None => matching.miss(Side::Left, entry),
                }
            }
            for other in free {
                matching.miss(Side::Right, other);
            }
        }
        for other in &rights[r..] {
            matching.miss(Side::Right, other.1);
        }
        Ok(matching)
    }

    /// Whether two keys are equal. Keys never bind, and their free variables are known to be free by
    /// now, so all that is left behind is which dag nodes are paired; by a failed try, nothing.
    pub(super) fn equal_keys(
        &mut self,
        left: ViewOf<'a, G>,
        right: ViewOf<'a, G>,
    ) -> Result<bool, Error> {
        if let Some(equal) = scalars::equal(&left, &right, self.state.options.skip_tensor_content) {
            return Ok(equal);
        }
        self.state.enter_hook();
        let mark = self.state.mark();
        let mode = Mode { differences: 0, ..self.mode };
        // Keys may hold maps with such keys.
        self.begin_inside();
        let result =
            grow(|| Comparison::new(self.g, self.state, mode).run(left, right, Region::KEY));
        self.end_inside();
        if !matches!(result, Ok(true)) {
            self.state.roll_back(mark);
        }
        self.state.leave_hook();
        result.map_err(|error| error.within(self.path(Side::Left)))
    }
}
