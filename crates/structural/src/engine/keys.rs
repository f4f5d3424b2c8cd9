//! Keys of maps and members of sets: they never bind, and are matched by hash before any value is
//! looked at.

use super::equal::{Comparison, Mode};
use super::feed::{Feed, ORDERED};
use super::frames::{Cursor, Matching};
use super::hash_state::HashState;
use super::hook_context::grow;
use super::key_memo::{KeyMemo, OuterBinding, Use};
use super::scopes::Basis;
use super::state::{Side, State};
use super::ties::{tied_values, tied_with_variables};
use super::{Options, Region, scalars};
use crate::error::Error;
use crate::graph::{Graph, Heap, ViewOf};
use crate::hasher::Hash128;
use crate::kind::Facts;
use crate::path::Step;
use crate::type_info::Layout;
use crate::view::View;

/// What is found of values that are hashed apart: each as things stand before all of them.
#[derive(Default)]
pub(super) struct Apart {
    pub(super) hashes: Vec<Hash128>,
    /// What they rest on.
    pub(super) basis: Basis,
    /// Variables that nothing bound so far, in the order of creation: creation number and identity.
    pub(super) free: Vec<(u64, usize)>,
    /// Variables that scopes inside them bind.
    pub(super) scoped: Vec<usize>,
    /// Variables that they bind in scopes around them. Keys have none.
    pub(super) bound: Vec<OuterBinding>,
    /// Variables that they use.
    pub(super) uses: Vec<Use>,
}

impl Apart {
    pub(super) fn add(&mut self, other: Self) {
        self.hashes.extend(other.hashes);
        self.basis.merge(other.basis);
        self.free.extend(other.free);
        self.scoped.extend(other.scoped);
        self.bound.extend(other.bound);
        self.uses.extend(other.uses);
    }

    /// Each variable once.
    pub(super) fn tidy(&mut self) {
        self.free.sort_unstable();
        self.free.dedup();
        self.scoped.sort_unstable();
        self.scoped.dedup();
        self.uses.sort_unstable();
        self.uses.dedup();
        self.bound.sort_unstable();
        self.bound.dedup();
    }

    /// Whether a variable that is free in one key is bound by a scope in another: once it is marked
    /// as free it is so there too, and the keys must be hashed once more.
    pub(super) fn bound_elsewhere(&self) -> bool {
        self.free.iter().any(|(_, variable)| self.scoped.binary_search(variable).is_ok())
    }
}

/// Hashes a value as things stand in `bindings`. With `identify`, singletons count by identity.
pub(super) fn hash_apart<'a, G: Graph<'a>>(
    g: G,
    view: ViewOf<'a, G>,
    region: Region,
    bindings: &dyn Bindings,
    identify: bool,
) -> Result<Apart, Error> {
    let mut state = HashState::new(bindings.options(), Some(bindings), identify);
    // Keys may hold maps with such keys.
    let hash = grow(|| Feed::new(g, &mut state, 0).run(view, region)).map_err(|error| *error)?;
    let used = state.used.pop().unwrap_or_default();
    Ok(Apart {
        hashes: vec![hash],
        basis: state.scopes.untrack(true),
        free: state.free,
        scoped: state.scoped,
        bound: used.bound,
        uses: used.uses,
    })
}

/// The keys of a map (or the members of a set) once they are hashed.
pub(super) struct KeyHashes {
    /// What each entry is sorted by, in the order in which both functions visit entries.
    pub(super) order: Vec<(Hash128, u32)>,
    pub(super) found: Apart,
}

/// The hashes of keys that are the same wherever their container stands; nothing if they are not.
pub(super) fn fixed_hashes<'a, G: Graph<'a>>(g: G, map: G::Node) -> Option<Vec<(Hash128, u32)>> {
    let entries = g.len(map) / g.info(map).layout().per_entry();
    (0..entries).map(|entry| Some((g.key_hash(map, entry)?, entry as u32))).collect()
}

/// Hashes the keys of a map, each as things stand before the container: keys never bind, so that
/// no order among them matters.
///
/// Variables that are free in a key must then be marked as free: what a key contributes must not
/// depend on whether the container was met before.
pub(super) fn key_hashes<'a, G: Graph<'a>>(
    g: G,
    bindings: &dyn Bindings,
    map: G::Node,
) -> Result<KeyHashes, Error> {
    if let Some(order) = fixed_hashes(g, map) {
        return Ok(KeyHashes { order, found: Apart::default() });
    }
    let per_entry = g.info(map).layout().per_entry();
    let mut found = Apart::default();
    for entry in 0..g.len(map) / per_entry {
        let key = g.child(map, entry * per_entry);
        let one = hash_apart(g, key, Region::KEY, bindings, bindings.identifies())
            .map_err(|error| error.within(Step::Key(g.shown(key)).into()))?;
        found.add(one);
    }
    found.tidy();
    let mut order: Vec<(Hash128, u32)> = found.hashes.iter().copied().zip(0..).collect();
    order.sort_unstable();
    Ok(KeyHashes { order, found })
}

/// The identity of a key: equal keys have the same, and singletons count by identity. Not a hash to
/// keep or to show: it depends on addresses. A hook may compare what it likes, so keys with hooks
/// have none that tells them apart.
fn identity<'a, G: Graph<'a>>(
    g: G,
    key: ViewOf<'a, G>,
    bindings: &dyn Bindings,
) -> Result<Hash128, Error> {
    match key {
        View::Node(node) if !g.facts(node).any(Facts::HOOK) => {
            Ok(hash_apart(g, key, Region::KEY, bindings, true)?.hashes[0])
        }
        _ => Ok(Hash128::default()),
    }
}

/// The identity of a key of a container that is being made.
pub(crate) fn identity_of_key(key: View<'_>) -> Result<Hash128, Error> {
    identity(Heap, key, &(&State::new(Options::default()), Side::Left))
}

/// What is bound where keys are hashed.
pub(super) trait Bindings {
    fn options(&self) -> Options;

    /// Whether singletons count by identity.
    fn identifies(&self) -> bool;

    /// The depth of the innermost open scope.
    fn depth(&self) -> u32;

    /// What is remembered of nodes inside keys, where singletons count by identity or not.
    fn key_memo(&self, identify: bool) -> KeyMemo;

    /// Depth, index (nothing if free) and number of the binding of a variable.
    fn binding(&self, variable: usize) -> Option<(u32, Option<u32>, usize)>;

    /// The index that the scope at `depth` gives to the next variable.
    fn next_index(&self, depth: u32) -> u32;
}

impl Bindings for (&State, Side) {
    fn depth(&self) -> u32 {
        self.0.scopes.depth()
    }

    fn options(&self) -> Options {
        self.0.options
    }

    fn identifies(&self) -> bool {
        false
    }

    fn key_memo(&self, identify: bool) -> KeyMemo {
        self.0.key_memos[usize::from(identify)].clone()
    }

    fn next_index(&self, depth: u32) -> u32 {
        self.0.scopes.next_index(depth)
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
    ) -> Result<Matching, Error> {
        let g = self.g;
        let fixed = |map| g.len(map) == 0 || g.key_hash(map, 0).is_some();
        if !fixed(left) || !fixed(right) {
            self.state.by_identity();
        }
        let hash_keys = |this: &mut Self, side, map| {
            let keys = key_hashes(g, &(&*this.state, side), map)
                .map_err(|error| error.within(this.path(Side::Left)))?;
            this.state.scopes.rest_on(&keys.found.basis);
            Ok::<_, Error>(keys)
        };
        let mut lefts = hash_keys(self, Side::Left, left)?;
        let mut rights = hash_keys(self, Side::Right, right)?;
        let again = lefts.found.bound_elsewhere() || rights.found.bound_elsewhere();
        let mut free = std::mem::take(&mut lefts.found.free);
        free.retain(|free| rights.found.free.binary_search(free).is_ok());
        if !free.is_empty() {
            for (_, variable) in free {
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
        let (mut r, mut tied) = (0, false);
        for group in lefts.chunk_by(|a, b| a.0 == b.0) {
            let hash = group[0].0;
            while r < rights.len() && rights[r].0 < hash {
                matching.miss(Side::Right, rights[r].1);
                r += 1;
            }
            let others = rights[r..].partition_point(|other| other.0 == hash);
            tied |= group.len() > 1 || others > 1;
            self.match_group((left, group), (right, &rights[r..r + others]), &mut matching)?;
            r += others;
        }
        for other in &rights[r..] {
            matching.miss(Side::Right, other.1);
        }
        if tied && g.info(left).layout() == Layout::Map {
            let tied = [(left, &lefts), (right, &rights)];
            matching.hold_back(tied.map(|(map, order)| tied_with_variables(g, map, order)));
        }
        Ok(matching)
    }

    /// An error if the order in which the entries that were held back are visited would matter, or
    /// cannot be seen not to.
    pub(super) fn check_held_back(&mut self) -> Result<(), Error> {
        let Some(top) = self.frames.last_mut() else { return Ok(()) };
        let (Cursor::Node(left), Cursor::Node(right)) = (top.left, top.right) else {
            return Ok(());
        };
        let region = top.region;
        let held_back = top.matching.as_mut().and_then(|matching| matching.held_back.take());
        let Some([lefts, rights]) = held_back.map(|held_back| held_back.1) else { return Ok(()) };
        self.state.by_identity();
        for (side, map, tied) in [(Side::Left, left, lefts), (Side::Right, right, rights)] {
            if let Err(error) = tied_values(self.g, &(&*self.state, side), map, &tied, region) {
                let path = self.steps(Side::Left, self.frames.len() - 1).collect();
                return Err(error.within(path));
            }
        }
        Ok(())
    }

    /// Matches entries of two containers whose keys have one hash. Keys of one container are
    /// pairwise unequal, so the first counterpart that is found is the only one.
    fn match_group(
        &mut self,
        (left, lefts): (G::Node, &[(Hash128, u32)]),
        (right, rights): (G::Node, &[(Hash128, u32)]),
        matching: &mut Matching,
    ) -> Result<(), Error> {
        let g = self.g;
        let key = |map, entry: u32| g.child(map, entry as usize * g.info(map).layout().per_entry());
        if let ([(_, entry)], [(_, other)]) = (lefts, rights) {
            if self.equal_keys(key(left, *entry), key(right, *other))? {
                matching.pairs.push([*entry, *other]);
            } else {
                matching.miss(Side::Left, *entry);
                matching.miss(Side::Right, *other);
            }
            return Ok(());
        }
        let identify = |this: &Self, side, map, entry| {
            identity(g, key(map, entry), &(&*this.state, side))
                .map_err(|error| error.within(this.path(Side::Left)))
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
                if (alike == 1 || self.equal_alone(pair.0, pair.1)?)
                    && self.equal_keys(pair.0, pair.1)?
                {
                    other.2 = true;
                    partner = Some(other.1);
                    break;
                }
            }
            match partner {
                Some(other) => matching.pairs.push([entry, other]),
                None => matching.miss(Side::Left, entry),
            }
        }
        others.sort_unstable_by_key(|other| other.1);
        for other in others.into_iter().filter(|other| !other.2) {
            matching.miss(Side::Right, other.1);
        }
        Ok(())
    }

    /// Whether two keys are equal by themselves, whatever dag nodes are paired elsewhere; yes if that
    /// depends on variables or hooks. Found once for each pair: a key may be shared by many.
    fn equal_alone(&mut self, left: ViewOf<'a, G>, right: ViewOf<'a, G>) -> Result<bool, Error> {
        let g = self.g;
        let (View::Node(l), View::Node(r)) = (left, right) else { return Ok(true) };
        let ids = (g.id(l), g.id(r));
        if ids.0 == ids.1 || g.facts(l).and(g.facts(r)).any(ORDERED) {
            return Ok(true);
        }
        if let Some(&known) = self.state.equal_alone.get(&ids) {
            return Ok(known);
        }
        let mut state = State::new(self.state.options);
        std::mem::swap(&mut state.equal_alone, &mut self.state.equal_alone);
        let result =
            grow(|| Comparison::new(g, &mut state, Mode::default()).run(left, right, Region::KEY));
        std::mem::swap(&mut state.equal_alone, &mut self.state.equal_alone);
        let equal = result.map_err(|error| error.within(self.path(Side::Left)))?;
        self.state.equal_alone.insert(ids, equal);
        Ok(equal)
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
